/** The times of a block in the form `"2026-11-26T10:55:21.978000001Z"`, with up to nine digits behind the second. */
import { CLOSE_OBJECT, COMMA, NOWHERE, QUOTE } from '../../../../../json/bytes.ts'
import type { ByteReader, ByteWriter } from '../bytes/byte-writer.ts'

/** `"2026-11-26T10:55:` */
const MINUTE_LENGTH = 18
const MAX_MINUTES = 32
const MINUTE_MS = 60_000
/** Nanoseconds of a millisecond. */
const NANOS = 1_000_000
/** Seconds since 1970 with ten digits. */
const FIRST_EPOCH = 1e9
const LAST_EPOCH = 1e10

/** Whether a byte may stand behind a member's value. */
export const isMember = (byte: number | undefined): boolean => byte === COMMA || byte === CLOSE_OBJECT

export class BlockTimes {
  /** Milliseconds since 1970. */
  readonly #minutes: number[] = []
  readonly #texts: Uint8Array[] = []
  readonly #codes: Uint8Array
  /** Milliseconds within the minute. */
  readonly #millis: Uint16Array
  readonly #nanos: Uint32Array
  /** Digits behind the second. */
  readonly #digits: Uint8Array
  #last = 0

  constructor(docs: number) {
    this.#codes = new Uint8Array(docs)
    this.#millis = new Uint16Array(docs)
    this.#nanos = new Uint32Array(docs)
    this.#digits = new Uint8Array(docs)
  }

  clear(): void {
    this.#minutes.length = 0
    this.#texts.length = 0
    this.#last = 0
    this.#codes.fill(0)
    this.#millis.fill(0)
    this.#nanos.fill(0)
    this.#digits.fill(0)
  }

  #addMinute(ms: number): void {
    this.#minutes.push(ms)
    this.#texts.push(Buffer.from(`"${new Date(ms).toISOString().slice(0, MINUTE_LENGTH - 1)}`))
  }

  /** Returns where the time at `start` ends; `NOWHERE`: there is none. */
  take(doc: number, source: Uint8Array, start: number): number {
    const code = this.#codeAt(source, start)
    if (code < 0) return NOWHERE
    let p = start + MINUTE_LENGTH
    const seconds = digitsAt(source, p, 2)
    p += 2
    let digits = 0
    let fraction = 0
    if (source[p] === 0x2e) {
      p++
      for (let digit = source[p]! - 0x30; digit >= 0 && digit <= 9 && digits <= 9; digit = source[++p]! - 0x30) {
        fraction = 10 * fraction + digit
        digits++
      }
      if (digits === 0 || digits > 9) return NOWHERE
      for (let left = digits; left < 9; left++) fraction *= 10
    }
    const millis = Math.floor(fraction / NANOS)
    if (!(seconds < 60 && seconds >= 0) || source[p] !== 0x5a || source[p + 1] !== QUOTE) return NOWHERE
    this.#codes[doc] = code
    this.#digits[doc] = digits
    this.#millis[doc] = 1000 * seconds + millis
    this.#nanos[doc] = fraction - NANOS * millis
    return p + 2
  }

  /** The code of the minute, in all like that of the time before or else parsed; −1: it is none. */
  #codeAt(source: Uint8Array, start: number): number {
    const known = this.#texts[this.#last]
    if (known !== undefined && isSameMinute(source, start, known)) return this.#last
    const text = Buffer.from(source.subarray(start, start + MINUTE_LENGTH)).toString('latin1')
    const ms = /^"\d{4}-\d\d-\d\dT\d\d:\d\d:$/.test(text) ? Date.parse(`${text.slice(1)}00.000Z`) : Number.NaN
    if (!(ms >= 0) || !new Date(ms).toISOString().startsWith(text.slice(1))) return -1
    this.#last = this.#minutes.indexOf(ms)
    if (this.#last >= 0) return this.#last
    this.#last = 0
    if (this.#minutes.length === MAX_MINUTES) return -1
    this.#addMinute(ms)
    this.#last = this.#minutes.length - 1
    return this.#last
  }

  /** Writes the time of a document in quotes; returns where it ends. */
  put(doc: number, out: Uint8Array, at: number): number {
    const text = this.#texts[this.#codes[doc]!]!
    for (let j = 0; j < MINUTE_LENGTH; j++) out[at + j] = text[j]!
    const millis = this.#millis[doc]!
    const seconds = (millis / 1000) | 0
    let p = putFixed(seconds, 2, out, at + MINUTE_LENGTH)
    const digits = this.#digits[doc]!
    if (digits > 0) {
      out[p++] = 0x2e
      putFixed(millis - 1000 * seconds, 3, out, p)
      if (digits > 3) putFixed(this.#nanos[doc]!, 6, out, p + 3)
      p += digits
    }
    out[p++] = 0x5a
    out[p++] = QUOTE
    return p
  }

  /** Nanoseconds since 1970 in quotes; writes nothing for times that have not ten digits of seconds. */
  putEpoch(doc: number, out: Uint8Array, at: number): number {
    const ms = this.#minutes[this.#codes[doc]!]! + this.#millis[doc]!
    const seconds = Math.floor(ms / 1000)
    if (seconds < FIRST_EPOCH || seconds >= LAST_EPOCH) return at
    out[at] = QUOTE
    const high = Math.floor(seconds / 1e5)
    let p = putFixed(high, 5, out, at + 1)
    p = putFixed(seconds - 1e5 * high, 5, out, p)
    p = putFixed(ms - 1000 * seconds, 3, out, p)
    p = putFixed(this.#nanos[doc]!, 6, out, p)
    out[p] = QUOTE
    return p + 1
  }

  /** Nanoseconds beyond the millisecond, as a number. */
  putSubMillis(doc: number, out: Uint8Array, at: number): number {
    const nanos = this.#nanos[doc]!
    let length = 1
    for (let power = 10; power <= nanos; power *= 10) length++
    return putFixed(nanos, length, out, at)
  }

  /** Writes the times of the first `docs` documents. */
  write(docs: number, texts: ByteWriter): void {
    texts.byte(docs)
    texts.byte(this.#minutes.length)
    for (const minute of this.#minutes) texts.number(minute / MINUTE_MS)
    texts.add(this.#codes, 0, docs)
    const areShortest = this.#areShortest(docs)
    texts.byte(areShortest ? 1 : 0)
    if (!areShortest) texts.add(this.#digits, 0, docs)
    writeDeltas(this.#millis.subarray(0, docs), MINUTE_MS, 2, texts)
    writeDeltas(this.#nanos.subarray(0, docs), NANOS, 3, texts)
  }

  /** Whether all times have three digits and no zero at the end beyond these. */
  #areShortest(docs: number): boolean {
    for (let k = 0; k < docs; k++) if (this.#digits[k] !== shortest(this.#nanos[k]!)) return false
    return true
  }

  static read(docs: number, texts: ByteReader): BlockTimes {
    const times = new BlockTimes(docs)
    const count = texts.byte()
    for (let left = texts.byte(); left > 0; left--) times.#addMinute(texts.number() * MINUTE_MS)
    times.#codes.set(texts.take(count))
    const areShortest = texts.byte() === 1
    if (!areShortest) times.#digits.set(texts.take(count))
    readDeltas(times.#millis.subarray(0, count), MINUTE_MS, 2, texts)
    readDeltas(times.#nanos.subarray(0, count), NANOS, 3, texts)
    if (areShortest) for (let k = 0; k < count; k++) times.#digits[k] = shortest(times.#nanos[k]!)
    return times
  }
}

/** The last digits of a number below 2^31. */
function putFixed(value: number, length: number, out: Uint8Array, at: number): number {
  let left = value | 0
  for (let k = at + length - 1; k >= at; k--) {
    const rest = (left / 10) | 0
    out[k] = 0x30 + left - Math.imul(10, rest)
    left = rest
  }
  return at + length
}

/** Digits behind the second, of at least milliseconds. */
function shortest(nanos: number): number {
  if (nanos === 0) return 3
  let digits = 9
  for (let left = nanos; left % 10 === 0; left /= 10) digits--
  return digits
}

function isSameMinute(source: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let j = MINUTE_LENGTH - 1; j >= 0; j--) if (source[start + j] !== text[j]) return false
  return true
}

/** The number of exactly so many digits; −1: others stand there. */
function digitsAt(source: Uint8Array, start: number, length: number): number {
  let value = 0
  for (let k = 0; k < length; k++) {
    const digit = source[start + k]! - 0x30
    if (!(digit >= 0 && digit <= 9)) return -1
    value = 10 * value + digit
  }
  return value
}

/** Each as its distance from the one before within `span`, the lowest bytes of all first. */
function writeDeltas(values: Uint16Array | Uint32Array, span: number, bytes: number, out: ByteWriter): void {
  const { length } = values
  const to = out.room(bytes * length)
  let at = out.length
  for (let plane = 0; plane < bytes; plane++) {
    let before = 0
    for (let k = 0; k < length; k++) {
      const value = values[k]!
      to[at++] = (value >= before ? value - before : value - before + span) >>> (8 * plane)
      before = value
    }
  }
  out.length = at
}

function readDeltas(values: Uint16Array | Uint32Array, span: number, bytes: number, from: ByteReader): void {
  const { length } = values
  const planes = from.take(bytes * length)
  let value = 0
  for (let k = 0; k < length; k++) {
    for (let plane = 0; plane < bytes; plane++) value += planes[plane * length + k]! << (8 * plane)
    if (value >= span) value -= span
    values[k] = value
  }
}
