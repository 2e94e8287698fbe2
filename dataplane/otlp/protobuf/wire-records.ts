/** Writes log records in protobuf as OTLP JSON. */

import { keyOfWords, UNKNOWN_TIME_KEY } from '../time-key.ts'
import type { JsonWriter, Piece } from '../write/json-writer.ts'
import { PlainRecords } from './plain-records.ts'
import { KNOWN_TAGS, type WireReader } from './wire-reader.ts'
import { LOG_RECORD, LOG_RECORD_NAMES } from './wire-schema.ts'
import type { ValueTranscoder } from './wire-values.ts'

const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const NOWHERE = -1
const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8

/** Also writes the attribute lists of resources and scopes. */
export class RecordTranscoder {
  readonly #in: WireReader
  readonly #out: JsonWriter
  readonly #values: ValueTranscoder
  readonly #plain: PlainRecords
  /** The time of records that have none. */
  observedTimeUnixNano = ''
  /** The key of the time of the record read last. */
  #timeKey = UNKNOWN_TIME_KEY
  #observedTimeKey = UNKNOWN_TIME_KEY

  constructor(input: WireReader, output: JsonWriter, values: ValueTranscoder) {
    this.#in = input
    this.#out = output
    this.#values = values
    this.#plain = new PlainRecords(input, output)
  }

  /** Returns the record's time key. */
  logRecord(end: number): number {
    if (this.#plain.write(end)) return this.#plain.timeKey
    const start = this.#in.position
    const outStart = this.#out.position
    this.#out.beginPart()
    if (!this.#fields(end, undefined)) {
      this.#in.position = start
      this.#out.rewind(outStart)
      this.#fields(end, this.#in.lastPositions(start, end))
    }
    return this.#timeKey === UNKNOWN_TIME_KEY ? this.#observedTimeKey : this.#timeKey
  }

  /**
   * All fields with this tag from the reader's position, which is just behind the first such tag, to `end`, as one list.
   * `written` is called after each. Leaves the position after the first unbroken run of them, or at the end where the part is full.
   */
  attributes(tag: number, name: Piece, end: number, written?: () => void): void {
    const out = this.#out
    const input = this.#in
    let afterRun = NOWHERE
    let next = tag
    out.piece(name)
    out.byte(OPEN_LIST)
    for (;;) {
      if (next === tag) {
        this.#values.attribute(input.blockEnd(end))
        written?.()
        out.byte(COMMA)
        if (out.isPartFull) {
          afterRun = end
          break
        }
      } else input.skip(next, end)
      const before = input.position
      if (before >= end) {
        if (afterRun === NOWHERE) afterRun = before
        break
      }
      next = input.tag(end)
      if (next !== tag && afterRun === NOWHERE) afterRun = before
    }
    out.close(CLOSE_LIST)
    out.byte(COMMA)
    input.position = afterRun
  }

  uint32Field(name: Piece, end: number): void {
    this.#in.varint(end)
    this.#integerField(name)
  }

  /** With `last`, writes only the last value of each field; without it, returns false where a field repeats. */
  #fields(end: number, last: Int32Array | undefined): boolean {
    const input = this.#in
    let seen = 0
    this.#timeKey = UNKNOWN_TIME_KEY
    this.#observedTimeKey = UNKNOWN_TIME_KEY
    this.#out.byte(OPEN_OBJECT)
    while (input.position < end) {
      const tag = input.tag(end)
      const bit = tag < KNOWN_TAGS ? 1 << (tag >> 3) : 0
      if (tag === LOG_RECORD.attributes) {
        if ((seen & bit) === 0) this.attributes(tag, LOG_RECORD_NAMES.attributes, end)
        else input.skip(tag, end)
      } else if (bit === 0 || (last !== undefined && last[tag] !== input.position)) input.skip(tag, end)
      else {
        if ((seen & bit) !== 0 && last === undefined) return false
        this.#field(tag, end)
      }
      seen |= bit
    }
    if (this.#timeKey === UNKNOWN_TIME_KEY && this.#observedTimeKey === UNKNOWN_TIME_KEY) {
      this.#out.piece(LOG_RECORD_NAMES.observedTimeUnixNano)
      this.#out.ascii(`"${this.observedTimeUnixNano}"`)
    }
    this.#out.close(CLOSE_OBJECT)
    return true
  }

  #field(tag: number, end: number): void {
    switch (tag) {
      case LOG_RECORD.timeUnixNano:
        this.#timeKey = this.#timeField(LOG_RECORD_NAMES.timeUnixNano, end)
        break
      case LOG_RECORD.observedTimeUnixNano:
        this.#observedTimeKey = this.#timeField(LOG_RECORD_NAMES.observedTimeUnixNano, end)
        break
      case LOG_RECORD.severityNumber:
        this.#int32Field(LOG_RECORD_NAMES.severityNumber, end)
        break
      case LOG_RECORD.severityText:
        this.#values.stringField(LOG_RECORD_NAMES.severityText, end)
        break
      case LOG_RECORD.body:
        this.#out.piece(LOG_RECORD_NAMES.body)
        this.#values.anyValue(this.#in.blockEnd(end), 0)
        this.#out.byte(COMMA)
        break
      case LOG_RECORD.droppedAttributesCount:
        this.uint32Field(LOG_RECORD_NAMES.droppedAttributesCount, end)
        break
      case LOG_RECORD.flags:
        this.#in.fixed32(end)
        this.#integerField(LOG_RECORD_NAMES.flags)
        break
      case LOG_RECORD.traceId:
        this.#idField(LOG_RECORD_NAMES.traceId, TRACE_ID_BYTES, end)
        break
      case LOG_RECORD.spanId:
        this.#idField(LOG_RECORD_NAMES.spanId, SPAN_ID_BYTES, end)
        break
      case LOG_RECORD.eventName:
        this.#values.stringField(LOG_RECORD_NAMES.eventName, end)
        break
      default:
        this.#in.skipUnknown(LOG_RECORD, tag, end)
    }
  }

  /** Returns the time's key. Zero, an unknown time, is left out. */
  #timeField(name: Piece, end: number): number {
    this.#in.fixed64(end)
    const { high, low } = this.#in
    if (high === 0 && low === 0) return UNKNOWN_TIME_KEY
    this.#out.piece(name)
    this.#out.uint64(high, low)
    this.#out.byte(COMMA)
    return keyOfWords(high, low)
  }

  #int32Field(name: Piece, end: number): void {
    this.#in.varint(end)
    if (this.#in.low < 0x80000000) this.#integerField(name)
    else {
      this.#out.piece(name)
      this.#out.ascii(String(this.#in.low | 0))
      this.#out.byte(COMMA)
    }
  }

  #integerField(name: Piece): void {
    this.#out.piece(name)
    this.#out.integer(this.#in.low)
    this.#out.byte(COMMA)
  }

  /** An id of another length, or all zero, is left out (Decisions 3). */
  #idField(name: Piece, length: number, end: number): void {
    const blockEnd = this.#in.blockEnd(end)
    const { bytes, position } = this.#in
    this.#in.position = blockEnd
    if (blockEnd - position !== length || isZero(bytes, position, blockEnd)) return
    this.#out.piece(name)
    this.#out.hex(bytes, position, blockEnd)
    this.#out.byte(COMMA)
  }
}

function isZero(b: Uint8Array, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if (b[p] !== 0) return false
  return true
}
