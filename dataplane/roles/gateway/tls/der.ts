/** Writes DER (X.690), as far as a certificate needs it: each function gives the bytes of one element. */

const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
const CONTEXT = 0x80
const CONSTRUCTED = 0x20
/** Years of two digits end there (RFC 5280, 4.1.2.5). */
const FIRST_LONG_YEAR = 2050

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Uint8Array.of(tag, ...lengthOf(content.length)), content])
}

/** Up to 127 in one byte, else their number before them. */
function lengthOf(bytes: number): readonly number[] {
  if (bytes < 0x80) return [bytes]
  const digits = base256(bytes)
  return [0x80 + digits.length, ...digits]
}

function base256(value: number): readonly number[] {
  return value < 0x100 ? [value] : [...base256(Math.floor(value / 0x100)), value % 0x100]
}

export const sequence = (...parts: readonly Uint8Array[]) => element(SEQUENCE, ...parts)
export const set = (...parts: readonly Uint8Array[]) => element(SET, ...parts)
export const octets = (bytes: Uint8Array) => element(OCTET_STRING, bytes)
export const text = (value: string) => element(UTF8_STRING, Buffer.from(value))
export const yes = () => Buffer.of(0x01, 0x01, 0xff)

/** A whole number that is not negative, the most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex(byte => byte !== 0)
  const digits = first < 0 ? Uint8Array.of(0) : bytes.subarray(first)
  return element(INTEGER, ...(digits[0]! >= 0x80 ? [Uint8Array.of(0)] : []), digits)
}

/** Bits of which the last `unused` do not count. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return element(BIT_STRING, Uint8Array.of(unused), bytes)
}

/** Such as `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return element(OBJECT_IDENTIFIER, Uint8Array.from([40 * first + second, ...rest].flatMap(base128)))
}

/** Each byte but the last has its first bit set. */
function base128(value: number): readonly number[] {
  const high = (digits: number): readonly number[] => (digits === 0 ? [] : [...high(Math.floor(digits / 0x80)), 0x80 + (digits % 0x80)])
  return [...high(Math.floor(value / 0x80)), value % 0x80]
}

/** In whole seconds, UTC. */
export function time(ms: number): Buffer {
  const date = new Date(ms)
  const digits = `${date.toISOString().slice(0, 19).replace(/\D/g, '')}Z`
  const isLong = date.getUTCFullYear() >= FIRST_LONG_YEAR
  return element(isLong ? GENERALIZED_TIME : UTC_TIME, Buffer.from(isLong ? digits : digits.slice(2), 'latin1'))
}

/** `[number]` of a structure, in place of the tag that its content would have. */
export function implicit(number: number, bytes: Uint8Array): Buffer {
  return element(CONTEXT + number, bytes)
}

/** `[number]` of a structure, around an element. */
export function explicit(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT + CONSTRUCTED + number, content)
}
