/** Document ids as bytes, and their hashes. */
import { LANE_HI, scramble } from './term-hash.ts'

/** A document id as it is stored: lower-case UUIDs as their 16 raw bytes, anything else as UTF-8. */
export interface IdKey {
  readonly bytes: Uint8Array
  readonly isUuid: boolean
  readonly hash: number
}

/** The same without its hash. */
export interface StoredId {
  readonly bytes: Uint8Array
  readonly isUuid: boolean
}

/** OpenSearch's limit. */
export const MAX_ID_BYTES = 512

const UUID_LENGTH = 36
export const UUID_BYTES = 16
/** Values of the lower-case hex digits by character code; 255 for the rest. */
const HEX = new Uint8Array(128).fill(255)
for (const [value, digit] of [...'0123456789abcdef'].entries()) HEX[digit.charCodeAt(0)] = value
const HEX_OF_BYTE = new Uint8Array(256).fill(255)
HEX_OF_BYTE.set(HEX)

/** Raw UUIDs are cut from slabs: a buffer each would cost more than all else here. */
const SLAB_BYTES = 1 << 16
let slab = new Uint8Array(SLAB_BYTES)
let slabEnd = 0

export function idKeyOf(id: string): IdKey {
  const uuid = id.length === UUID_LENGTH ? uuidBytes(id) : undefined
  return idKey(uuid ?? Buffer.from(id), uuid !== undefined)
}

/** Undefined when it is no lower-case UUID. */
function uuidBytes(id: string): Uint8Array | undefined {
  if (slabEnd === SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES)
    slabEnd = 0
  }
  let out = slabEnd
  for (let k = 0; k < UUID_LENGTH; k += 2) {
    if (k === 8 || k === 13 || k === 18 || k === 23) if (id.charCodeAt(k++) !== 0x2d) return undefined
    const high = HEX[id.charCodeAt(k)] ?? 255
    const low = HEX[id.charCodeAt(k + 1)] ?? 255
    if ((high | low) > 15) return undefined
    slab[out++] = (high << 4) | low
  }
  const bytes = slab.subarray(slabEnd, slabEnd + UUID_BYTES)
  slabEnd += UUID_BYTES
  return bytes
}

/** Writes the 16 bytes of the lower-case UUID between two positions of `source`; false when none stands there. */
export function putUuid(source: Uint8Array, start: number, end: number, out: Uint8Array, outAt: number): boolean {
  if (end - start !== UUID_LENGTH) return false
  let to = outAt
  for (let at = start; at < end; at += 2) {
    const k = at - start
    if (k === 8 || k === 13 || k === 18 || k === 23) if (source[at++] !== 0x2d) return false
    const high = HEX_OF_BYTE[source[at]!]!
    const low = HEX_OF_BYTE[source[at + 1]!]!
    if ((high | low) > 15) return false
    out[to++] = (high << 4) | low
  }
  return true
}

export function idKey(bytes: Uint8Array, isUuid: boolean): IdKey {
  return { bytes, isUuid, hash: idHash(bytes, 0, bytes.length) }
}

export function idHash(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start
  for (let k = start; k < end; k++) hash = Math.imul(((hash << 5) | (hash >>> 27)) ^ bytes[k]!, LANE_HI)
  return scramble(hash)
}

export function idText(bytes: Uint8Array, isUuid: boolean): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUuid) return buffer.toString('utf8')
  const hex = buffer.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function isSameId(key: IdKey, bytes: Uint8Array, isUuid: boolean): boolean {
  return key.isUuid === isUuid && isSameBytes(key.bytes, bytes)
}

export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let k = 0; k < a.length; k++) if (a[k] !== b[k]) return false
  return true
}
