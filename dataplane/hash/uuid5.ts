/** UUIDs, version 5: the SHA-1 of a namespace and a name. */
import { hash } from 'node:crypto'
import { RecentUuids } from './recent-uuids.ts'

/** Bytes of a name that fit the scratch buffer; longer ones get a buffer of their own. */
const SCRATCH_BYTES = 1_024
const NAMESPACE_BYTES = 16

/** Makes UUIDs, version 5 (RFC 9562), of ASCII or any other names in one namespace. */
export function createUuid5(namespace: string): (name: string) => string {
  const prefix = namespaceBytes(namespace)
  const scratch = Buffer.alloc(NAMESPACE_BYTES + SCRATCH_BYTES * 3)
  prefix.copy(scratch)
  return name => {
    if (name.length > SCRATCH_BYTES) return formatUuid5(hash('sha1', Buffer.concat([prefix, Buffer.from(name)]), 'hex'))
    const written = scratch.write(name, NAMESPACE_BYTES)
    return formatUuid5(hash('sha1', scratch.subarray(0, NAMESPACE_BYTES + written), 'hex'))
  }
}

/** The bytes of a namespace, with which the hash of each of its names starts. */
export function namespaceBytes(namespace: string): Buffer {
  return Buffer.from(namespace.replaceAll('-', ''), 'hex')
}

/** Where in a UUID's text the two hex digits of each of its bytes stand. */
const BYTE_PLACES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34)
const HEX_DIGITS = Buffer.from('0123456789abcdef')
/** By byte: its two hex digits, the first in the lower half. */
const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => HEX_DIGITS[byte >> 4]! | (HEX_DIGITS[byte & 15]! << 8))
const DASH = 45

const recent = new RecentUuids()
const digest = new Uint8Array(NAMESPACE_BYTES)

/**
 * Writes the UUID, version 5, of a name that its namespace's bytes precede, as text to `into` at `at`. One that is `remembered` is recognised by
 * `isUuid5` in the same thread for a while.
 */
export function writeUuid5(name: Uint8Array, into: Uint8Array, at: number, memory: 'remembered' | 'forgotten' = 'forgotten'): void {
  hashUuid5(name, digest)
  if (memory === 'remembered') recent.add(name, digest)
  for (let i = 0; i < BYTE_PLACES.length; i++) {
    const digits = HEX_PAIRS[digest[i]!]!
    const place = at + BYTE_PLACES[i]!
    into[place] = digits
    into[place + 1] = digits >> 8
  }
  into[at + 8] = into[at + 13] = into[at + 18] = into[at + 23] = DASH
}

/** Writes the 16 bytes of the same UUID. */
export function hashUuid5(name: Uint8Array, into: Uint8Array): void {
  // A short string of bytes costs a third of a buffer of them (measured). A SHA-1 in JavaScript takes 1.06 µs for 85 bytes and 2.7 for 250, this one 0.35
  // and 0.47, half of that for the call (2026-11-27).
  const bytes = hash('sha1', name, 'binary')
  for (let i = 0; i < BYTE_PLACES.length; i++) into[i] = bytes.charCodeAt(i)
  into[6] = 0x50 | (into[6]! & 15)
  into[8] = 0x80 | (into[8]! & 63)
}

/** Whether the 16 bytes at `at` of `uuids` are the UUID of the name in the first `length` bytes of a view. */
export function isUuid5(name: DataView, length: number, uuids: Uint8Array, at: number): boolean {
  if (recent.has(name, length, uuids, at)) return true
  hashUuid5(new Uint8Array(name.buffer, name.byteOffset, length), digest)
  for (let k = 0; k < NAMESPACE_BYTES; k++) if (digest[k] !== uuids[at + k]) return false
  return true
}

/** By the hex digit that it replaces: the RFC's variant, `10` in its two high bits. */
const VARIANT: Readonly<Record<string, string>> = Object.fromEntries(
  [...'0123456789abcdef'].map((digit, value) => [digit, '89ab'[value & 3]!]),
)

/** The first 128 bits of a SHA-1 in hex as a UUID with version 5 and the RFC's variant. */
function formatUuid5(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${VARIANT[hex[16]!]!}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** RFC 9562: the namespace of names that are URLs. */
export const URL_NAMESPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8'
