import { hash } from 'node:crypto'

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

/** What the hash of a name in this namespace starts with. */
export function namespaceBytes(namespace: string): Buffer {
  return Buffer.from(namespace.replaceAll('-', ''), 'hex')
}

/** Where in a UUID's text each of its hex digits stands. */
const DIGIT_PLACES = Uint8Array.from([...'00000000-0000-0000-0000-000000000000'].flatMap((char, place) => (char === '-' ? [] : [place])))
const DASH = 45
const VERSION = 53

/** Writes the UUID, version 5, of a name that its namespace's bytes precede, as text to `into` at `at`. */
export function writeUuid5(name: Uint8Array, into: Uint8Array, at: number): void {
  const hex = hash('sha1', name, 'hex')
  for (let i = 0; i < DIGIT_PLACES.length; i++) into[at + DIGIT_PLACES[i]!] = hex.charCodeAt(i)
  into[at + 8] = into[at + 13] = into[at + 18] = into[at + 23] = DASH
  into[at + 14] = VERSION
  into[at + 19] = VARIANT[hex[16]!]!.charCodeAt(0)
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
