import { hashBytes } from './term-hash.ts'

/** Document ids as bytes: lower-case UUIDs as their 16 raw bytes, anything else as UTF-8. */
export interface IdKey {
  readonly bytes: Uint8Array
  readonly isUuid: boolean
  readonly lo: number
  readonly hi: number
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SEEDS = { lo: 0x7f4a7c15, hi: 0x3c6ef372 }
const hash = new Int32Array(2)

/** OpenSearch's limit. */
export const MAX_ID_BYTES = 512

export function idKeyOf(id: string): IdKey {
  const isUuid = id.length === 36 && UUID.test(id)
  return idKey(isUuid ? Buffer.from(id.replaceAll('-', ''), 'hex') : Buffer.from(id), isUuid)
}

export function idKey(bytes: Uint8Array, isUuid: boolean): IdKey {
  hashBytes(SEEDS, bytes, 0, bytes.length, hash, 0)
  return { bytes, isUuid, lo: hash[0]!, hi: hash[1]! }
}

export function idText(bytes: Uint8Array, isUuid: boolean): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUuid) return buffer.toString('utf8')
  const hex = buffer.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function isSameId(key: IdKey, bytes: Uint8Array, isUuid: boolean): boolean {
  if (key.isUuid !== isUuid || key.bytes.length !== bytes.length) return false
  for (let k = 0; k < bytes.length; k++) if (key.bytes[k] !== bytes[k]) return false
  return true
}
