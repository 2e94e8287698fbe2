/**
 * Writes log records of the usual form in one go: each field once, attributes one after the other, values that are no lists or maps. It checks
 * the room for a record once and keeps positions in local variables; the general way (`wire-records.ts`) does both for each piece.
 */
import { COMMA } from '../../json/bytes.ts'
import { keyOfWords, UNKNOWN_TIME_KEY } from '../time-key.ts'
import { HEX_PAIRS, type JsonWriter } from '../write/json-writer.ts'
import { putDouble } from '../write/put-double.ts'
import { NOT_PLAIN, put, putDigits, putSmall, putText, putTime, wide } from '../write/put-json.ts'
import type { WireReader } from './wire-reader.ts'
import { ANY_VALUE, KEY_VALUE, LOG_RECORD } from './wire-schema.ts'

/** The JSON form of a record of this form is at most so many times longer: `severityNumber` and counts, two bytes each, grow most. */
const MAX_GROWTH = 16
/** And some bytes that a write may go beyond its end, in words of eight. */
const SPARE_BYTES = 256
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const CLOSE_LIST = 0x5d
const LONG = 128
const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8

const TIME = wide('"timeUnixNano":"')
const OBSERVED_TIME = wide('"observedTimeUnixNano":"')
const SEVERITY_NUMBER = wide('"severityNumber":')
const SEVERITY_TEXT = wide('"severityText":"')
const STRING_BODY = wide('"body":{"stringValue":"')
const END_STRING_BODY = wide('"},')
const ATTRIBUTES = wide('"attributes":[')
const OPEN_KEY = wide('{"key":"')
const STRING_VALUE = wide('","value":{"stringValue":"')
const INT_VALUE = wide('","value":{"intValue":"')
const DOUBLE_VALUE = wide('","value":{"doubleValue":')
const TRUE_VALUE = wide('","value":{"boolValue":true}},')
const FALSE_VALUE = wide('","value":{"boolValue":false}},')
const END_QUOTED_VALUE = wide('"}},')
const END_VALUE = wide('}},')
const DROPPED = wide('"droppedAttributesCount":')
const FLAGS = wide('"flags":')
const TRACE_ID = wide('"traceId":"')
const SPAN_ID = wide('"spanId":"')
const EVENT_NAME = wide('"eventName":"')
const END_STRING = wide('",')

export class PlainRecords {
  readonly #in: WireReader
  readonly #out: JsonWriter
  /** The key of the time of the record written last, as in `time-key.ts`. */
  timeKey = UNKNOWN_TIME_KEY

  constructor(input: WireReader, output: JsonWriter) {
    this.#in = input
    this.#out = output
  }

  /** Writes the record from the reader's position to `end`. False, with nothing written and nothing read, for a record of another form. */
  write(end: number): boolean {
    const input = this.#in
    const start = input.position
    const out = this.#out
    const view = out.roomFor(MAX_GROWTH * (end - start) + SPARE_BYTES)
    if (view === undefined) return false
    const outStart = out.position
    const at = this.#record(start, end, view, outStart)
    if (at === NOT_PLAIN) {
      input.position = start
      out.rewind(outStart)
      return false
    }
    input.position = end
    out.rewind(at)
    return true
  }

  /** The record as JSON in `out` from `from` on; the end. */
  #record(start: number, end: number, out: DataView, from: number): number {
    const { bytes: b, view: input } = this.#in
    let timeKey = UNKNOWN_TIME_KEY
    let observedTimeKey = UNKNOWN_TIME_KEY
    let seen = 0
    let p = start
    let at = from
    out.setUint8(at++, OPEN_OBJECT)
    while (p < end) {
      const tag = b[p]!
      const bit = 1 << (tag >> 3)
      if (tag >= LONG || (seen & bit) !== 0) return NOT_PLAIN
      seen |= bit
      switch (tag) {
        case LOG_RECORD.timeUnixNano:
        case LOG_RECORD.observedTimeUnixNano: {
          if (p + 9 > end) return NOT_PLAIN
          const low = input.getUint32(p + 1, true)
          const high = input.getUint32(p + 5, true)
          p += 9
          if (high === 0 && low === 0) break
          const isOwnTime = tag === LOG_RECORD.timeUnixNano
          if (isOwnTime) timeKey = keyOfWords(high, low)
          else observedTimeKey = keyOfWords(high, low)
          at = endString(out, putTime(high, low, out, put(out, at, isOwnTime ? TIME : OBSERVED_TIME)))
          break
        }
        case LOG_RECORD.severityNumber:
        case LOG_RECORD.droppedAttributesCount: {
          const value = b[p + 1]!
          if (p + 2 > end || value >= LONG) return NOT_PLAIN
          at = putSmall(value, out, put(out, at, tag === LOG_RECORD.severityNumber ? SEVERITY_NUMBER : DROPPED))
          out.setUint8(at++, COMMA)
          p += 2
          break
        }
        case LOG_RECORD.severityText:
        case LOG_RECORD.eventName: {
          const textEnd = p + 2 + b[p + 1]!
          if (!(textEnd <= end) || b[p + 1]! >= LONG) return NOT_PLAIN
          at = endString(
            out,
            putText(input, p + 2, textEnd, out, put(out, at, tag === LOG_RECORD.severityText ? SEVERITY_TEXT : EVENT_NAME)),
          )
          p = textEnd
          break
        }
        case LOG_RECORD.body: {
          const bodyEnd = endOf(b, p + 1)
          if (!(bodyEnd <= end)) return NOT_PLAIN
          at = this.#stringBody(afterLength(b, p + 1), bodyEnd, out, at)
          p = bodyEnd
          break
        }
        case LOG_RECORD.attributes:
          at = put(out, at, ATTRIBUTES)
          do {
            const attribute = afterLength(b, p + 1)
            p = endOf(b, p + 1)
            if (!(p <= end)) return NOT_PLAIN
            at = this.#attribute(attribute, p, out, at)
            if (at === NOT_PLAIN) return NOT_PLAIN
          } while (p < end && b[p] === LOG_RECORD.attributes)
          out.setUint8(at - 1, CLOSE_LIST)
          out.setUint8(at++, COMMA)
          break
        case LOG_RECORD.flags:
          if (p + 5 > end) return NOT_PLAIN
          at = this.#flags(p + 1, out, at)
          p += 5
          break
        case LOG_RECORD.traceId:
        case LOG_RECORD.spanId: {
          const idEnd = p + 2 + (tag === LOG_RECORD.traceId ? TRACE_ID_BYTES : SPAN_ID_BYTES)
          if (b[p + 1] !== idEnd - p - 2 || idEnd > end) return NOT_PLAIN
          // All zero: there is none.
          if (!isZero(b, p + 2, idEnd))
            at = put(out, putHex(b, p + 2, idEnd, out, put(out, at, tag === LOG_RECORD.traceId ? TRACE_ID : SPAN_ID)), END_STRING)
          p = idEnd
          break
        }
        default:
          return NOT_PLAIN
      }
      if (at === NOT_PLAIN) return NOT_PLAIN
    }
    if (p !== end || (timeKey === UNKNOWN_TIME_KEY && observedTimeKey === UNKNOWN_TIME_KEY)) return NOT_PLAIN
    this.timeKey = timeKey === UNKNOWN_TIME_KEY ? observedTimeKey : timeKey
    out.setUint8(at - 1, CLOSE_OBJECT)
    return at
  }

  #stringBody(body: number, end: number, out: DataView, at: number): number {
    const { bytes: b, view: input } = this.#in
    if (b[body] !== ANY_VALUE.stringValue || endOf(b, body + 1) !== end) return NOT_PLAIN
    const textEnd = putText(input, afterLength(b, body + 1), end, out, put(out, at, STRING_BODY))
    return textEnd === NOT_PLAIN ? NOT_PLAIN : put(out, textEnd, END_STRING_BODY)
  }

  #flags(from: number, out: DataView, at: number): number {
    this.#out.rewind(put(out, at, FLAGS))
    this.#out.integer(this.#in.view.getUint32(from, true))
    out.setUint8(this.#out.position, COMMA)
    return this.#out.position + 1
  }

  /** One attribute and the comma behind it. Some writers, the Go Collector's among them, put the value before the key. */
  #attribute(start: number, end: number, out: DataView, from: number): number {
    const { bytes: b, view: input } = this.#in
    const first = afterLength(b, start + 1)
    const firstEnd = endOf(b, start + 1)
    const second = afterLength(b, firstEnd + 1)
    if (!(second <= end) || endOf(b, firstEnd + 1) !== end) return NOT_PLAIN
    const isKeyFirst = b[start] === KEY_VALUE.key
    if (isKeyFirst ? b[firstEnd] !== KEY_VALUE.value : b[start] !== KEY_VALUE.value || b[firstEnd] !== KEY_VALUE.key) return NOT_PLAIN
    const value = isKeyFirst ? second : first
    const valueEnd = isKeyFirst ? end : firstEnd
    if (value + 2 > valueEnd) return NOT_PLAIN
    let at = putText(input, isKeyFirst ? first : second, isKeyFirst ? firstEnd : end, out, put(out, from, OPEN_KEY))
    if (at === NOT_PLAIN) return NOT_PLAIN
    switch (b[value]) {
      case ANY_VALUE.stringValue: {
        const text = afterLength(b, value + 1)
        if (endOf(b, value + 1) !== valueEnd) return NOT_PLAIN
        at = putText(input, text, valueEnd, out, put(out, at, STRING_VALUE))
        return at === NOT_PLAIN ? NOT_PLAIN : put(out, at, END_QUOTED_VALUE)
      }
      case ANY_VALUE.intValue:
        at = put(out, at, INT_VALUE)
        if (valueEnd - value === 2 && b[value + 1]! < LONG) at = putSmall(b[value + 1]!, out, at)
        else if (valueEnd - value === 3 && b[value + 1]! >= LONG && b[value + 2]! < LONG)
          at = putDigits((b[value + 1]! & 0x7f) | (b[value + 2]! << 7), out, at)
        else {
          at = this.#longInteger(value + 1, valueEnd, at)
          if (at === NOT_PLAIN) return NOT_PLAIN
        }
        return put(out, at, END_QUOTED_VALUE)
      case ANY_VALUE.doubleValue:
        if (valueEnd - value !== 9) return NOT_PLAIN
        at = put(out, at, DOUBLE_VALUE)
        return put(out, this.#double(value + 1, out, at), END_VALUE)
      case ANY_VALUE.boolValue:
        if (valueEnd - value !== 2 || b[value + 1]! > 1) return NOT_PLAIN
        return put(out, at, b[value + 1] === 1 ? TRUE_VALUE : FALSE_VALUE)
      default:
        return NOT_PLAIN
    }
  }

  #double(from: number, out: DataView, at: number): number {
    const { view: input } = this.#in
    const end = putDouble(input, from, out, at)
    if (end !== NOT_PLAIN) return end
    this.#out.rewind(at)
    this.#out.double(input.getUint32(from + 4, true), input.getUint32(from, true))
    return this.#out.position
  }

  /** A varint that fills the bytes between the two positions. */
  #longInteger(start: number, end: number, at: number): number {
    const input = this.#in
    if (input.bytes[end - 1]! >= LONG) return NOT_PLAIN
    input.position = start
    input.varint(end)
    if (input.position !== end) return NOT_PLAIN
    this.#out.rewind(at)
    this.#out.int64Digits(input.high, input.low)
    return this.#out.position
  }
}

function endString(out: DataView, at: number): number {
  return at === NOT_PLAIN ? NOT_PLAIN : put(out, at, END_STRING)
}

function isZero(b: Uint8Array, from: number, end: number): boolean {
  for (let i = from; i < end; i++) if (b[i] !== 0) return false
  return true
}

function putHex(b: Uint8Array, from: number, end: number, out: DataView, at: number): number {
  let to = at
  for (let i = from; i < end; i++, to += 2) out.setUint16(to, HEX_PAIRS[b[i]!]!, true)
  return to
}

/** After a length of one or two bytes; nowhere near the message for a longer one. */
function afterLength(b: Uint8Array, at: number): number {
  return b[at]! < LONG ? at + 1 : at + 2
}

/** Where the block ends whose length stands at `at`; beyond any message where the length takes more than two bytes, or is not there. */
function endOf(b: Uint8Array, at: number): number {
  const first = b[at]!
  if (first < LONG) return at + 1 + first
  const second = b[at + 1]!
  return second < LONG ? at + 2 + ((first & 0x7f) | (second << 7)) : Number.MAX_SAFE_INTEGER
}
