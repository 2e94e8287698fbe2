/** Values within messages: numbers, addresses and ids, whose very bytes come back out of a number or of a few bytes. */

/** The end of a message, in the place of a value. */
export const END = 0
/** A number below 10^9 without zeros in front. */
export const NUMBER = 1
/** The four numbers of an address, a byte each. */
export const ADDRESS = 2
/** Digits that stand as one number: `DIGITS` and their count. */
export const DIGITS = 16
/** `HEX` and a count of bytes: two hex digits in lower case for each. */
export const HEX = 32

export const MAX_DIGITS = 9
const MAX_HEX_BYTES = 32
const MIN_HEX_DIGITS = 4
const ADDRESS_BYTES = 4

export const isNumber = (kind: number): boolean => kind === NUMBER || (kind > DIGITS && kind < HEX)
/** Bytes of a value that is no number. */
export const bytesOf = (kind: number): number => (kind === ADDRESS ? ADDRESS_BYTES : kind - HEX)
const OTHER = 0
const WORD = 1
const HEX_LETTER = 2
const DIGIT = 3
const DOT = 0x2e
const ZERO = 0x30

const CLASSES = new Uint8Array(256)
for (let byte = 0x80; byte < 0x100; byte++) CLASSES[byte] = WORD
for (const byte of Buffer.from('_ABCDEFGHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz')) CLASSES[byte] = WORD
for (const byte of Buffer.from('abcdef')) CLASSES[byte] = HEX_LETTER
for (const byte of Buffer.from('0123456789')) CLASSES[byte] = DIGIT

const HEX_VALUES = new Uint8Array(256).fill(255)
const HEX_DIGITS = Buffer.from('0123456789abcdef')
for (const [value, digit] of HEX_DIGITS.entries()) HEX_VALUES[digit] = value

/** The number that was taken last. */
export let numberTaken = 0
/** The bytes that were taken last. */
export const bytesTaken = new Uint8Array(MAX_HEX_BYTES)

/** Takes a value of a kind at `p`; returns where it ends; −1: there is none. */
export function takeValue(kind: number, bytes: Uint8Array, p: number, end: number): number {
  if (kind === NUMBER) return takeNumber(bytes, p, end)
  if (kind === ADDRESS) return takeAddress(bytes, p, end)
  return kind > HEX ? takeHex(kind - HEX, bytes, p, end) : takeDigits(kind - DIGITS, bytes, p, end)
}

function takeNumber(bytes: Uint8Array, start: number, end: number): number {
  let p = start
  let value = 0
  for (; p < end; p++) {
    const digit = bytes[p]! - ZERO
    if (!(digit >= 0 && digit <= 9)) break
    value = 10 * value + digit
    if (p - start >= MAX_DIGITS) return -1
  }
  // Hex digits behind it: an id, as a rule.
  if (p === start || (p < end && CLASSES[bytes[p]!] === HEX_LETTER) || (bytes[start] === ZERO && p - start > 1)) return -1
  numberTaken = value
  return p
}

function takeDigits(count: number, bytes: Uint8Array, start: number, end: number): number {
  if (start + count > end) return -1
  let value = 0
  for (let p = start; p < start + count; p++) {
    const digit = bytes[p]! - ZERO
    if (!(digit >= 0 && digit <= 9)) return -1
    value = 10 * value + digit
  }
  const p = start + count
  if (p < end && CLASSES[bytes[p]!]! >= HEX_LETTER) return -1
  numberTaken = value
  return p
}

function takeAddress(bytes: Uint8Array, start: number, end: number): number {
  let p = start
  for (let part = 0; part < ADDRESS_BYTES; part++) {
    if (part > 0 && bytes[p++] !== DOT) return -1
    const first = p
    let value = 0
    for (; p < end && p - first < 3 && CLASSES[bytes[p]!] === DIGIT; p++) value = 10 * value + bytes[p]! - ZERO
    if (p === first || value > 255 || (bytes[first] === ZERO && p - first > 1)) return -1
    bytesTaken[part] = value
  }
  return p <= end && (p === end || (CLASSES[bytes[p]!] === OTHER && bytes[p] !== DOT)) ? p : -1
}

function takeHex(count: number, bytes: Uint8Array, start: number, end: number): number {
  const behind = start + 2 * count
  if (behind > end || (behind < end && CLASSES[bytes[behind]!] !== OTHER)) return -1
  let bad = 0
  for (let k = 0, p = start; k < count; k++, p += 2) {
    const high = HEX_VALUES[bytes[p]!]!
    const low = HEX_VALUES[bytes[p + 1]!]!
    bad |= high | low
    bytesTaken[k] = (high << 4) | (low & 15)
  }
  return bad > 15 ? -1 : behind
}

/** Where the value stands that was found last. */
export let foundAt = 0

/** The kind of the next value from `from` on, which is the beginning or the end of a word; `END`: there is none. */
export function findValue(bytes: Uint8Array, from: number, end: number): number {
  for (let p = from; p < end; ) {
    // Every value that is looked for has a digit.
    const digit = bytes[p]! - ZERO
    if (!(digit >= 0 && digit <= 9)) {
      p++
      continue
    }
    let start = p
    let isHex = true
    for (; start > from; start--) {
      const kind = CLASSES[bytes[start - 1]!]
      if (kind === OTHER) break
      if (kind === WORD) isHex = false
    }
    const isAtStart = start === p
    while (p < end && CLASSES[bytes[p]!] === DIGIT) p++
    const digits = isAtStart ? p - start : 0
    for (; p < end; p++) {
      const kind = CLASSES[bytes[p]!]
      if (kind === OTHER) break
      if (kind === WORD) isHex = false
    }
    const kind = kindOf(bytes, start, p, end, digits, isHex)
    if (kind !== END) return kind
  }
  foundAt = end
  return END
}

/** The kind of the value at the beginning of a word, which has so many digits there. */
function kindOf(bytes: Uint8Array, start: number, wordEnd: number, end: number, digits: number, isHex: boolean): number {
  const length = wordEnd - start
  foundAt = start
  if (digits < length) {
    if (isHex) return length >= MIN_HEX_DIGITS && length <= 2 * MAX_HEX_BYTES && length % 2 === 0 ? HEX + length / 2 : END
    if (digits === 0 || CLASSES[bytes[start + digits]!] !== WORD) return END
  }
  if (bytes[start + digits] === DOT && start + digits < end && takeAddress(bytes, start, end) > 0) return ADDRESS
  if (digits > MAX_DIGITS) {
    foundAt = start + digits - MAX_DIGITS
    return DIGITS + MAX_DIGITS
  }
  // A part of a version, as a rule.
  if (digits === 1 && (bytes[start + 1] === DOT || (start > 0 && bytes[start - 1] === DOT))) return END
  return digits === 1 || bytes[start] !== ZERO ? NUMBER : DIGITS + digits
}

const POWERS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

/** Writes a number of a kind as it stood; returns where it ends. */
export function putNumber(kind: number, value: number, out: Uint8Array, at: number): number {
  let length = kind - DIGITS
  if (kind === NUMBER) for (length = 1; length < MAX_DIGITS && value >= POWERS[length]!; ) length++
  let left = value
  for (let k = at + length - 1; k >= at; k--) {
    const rest = (left / 10) | 0
    out[k] = ZERO + left - Math.imul(10, rest)
    left = rest
  }
  return at + length
}

/** Writes the value whose bytes stand at `p`; returns where it ends. */
export function putBytes(kind: number, bytes: Uint8Array, p: number, out: Uint8Array, at: number): number {
  let to = at
  if (kind === ADDRESS) {
    for (let part = 0; part < ADDRESS_BYTES; part++) {
      if (part > 0) out[to++] = DOT
      to = putNumber(NUMBER, bytes[p + part]!, out, to)
    }
    return to
  }
  for (let k = p; k < p + kind - HEX; k++) {
    const byte = bytes[k]!
    out[to++] = HEX_DIGITS[byte >>> 4]!
    out[to++] = HEX_DIGITS[byte & 15]!
  }
  return to
}
