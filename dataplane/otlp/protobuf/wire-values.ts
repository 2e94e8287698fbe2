/** Writes attribute values in protobuf as OTLP JSON. */
import { Buffer } from 'node:buffer'
import { MAX_VALUE_DEPTH } from '../../json/depth.ts'
import { Fault } from '../../json/fault.ts'
import { buildPiece, type JsonWriter, type Piece } from '../write/json-writer.ts'
import type { WireReader } from './wire-reader.ts'
import { ANY_VALUE, ANY_VALUE_NAMES, KEY_VALUE, KEY_VALUE_NAMES, VALUES, VALUES_NAMES } from './wire-schema.ts'

const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const NOWHERE = -1
const TRUE = buildPiece('true')
const FALSE = buildPiece('false')
const OPEN_KEY = buildPiece('{"key":')
const OPEN_VALUE = buildPiece(',"value":')
const OPEN_STRING_VALUE = buildPiece(',"value":{"stringValue":')
const CLOSE_TWO = buildPiece('}}')
/** From here on a length takes more than one byte. */
const LONG = 128

/** Writes attributes and values as JSON. Every method starts at the reader's position and leaves it at `end`. */
export class ValueTranscoder {
  readonly #in: WireReader
  readonly #out: JsonWriter
  #keyStart = NOWHERE
  #keyEnd = NOWHERE
  #stringStart = NOWHERE
  #stringEnd = NOWHERE

  constructor(input: WireReader, output: JsonWriter) {
    this.#in = input
    this.#out = output
  }

  /** Whether the attribute written last has this key. */
  isKey(name: Uint8Array): boolean {
    if (this.#keyStart === NOWHERE || this.#keyEnd - this.#keyStart !== name.length) return false
    for (let i = 0; i < name.length; i++) if (this.#in.bytes[this.#keyStart + i] !== name[i]) return false
    return true
  }

  /** The value of the attribute written last, when it is a string. */
  attributeString(): string | undefined {
    if (this.#stringStart === NOWHERE) return undefined
    return Buffer.from(this.#in.bytes.subarray(this.#stringStart, this.#stringEnd)).toString('utf8')
  }

  string(end: number): void {
    this.#out.string(this.#in.view, this.#in.position, end)
    this.#in.position = end
  }

  stringField(name: Piece, end: number): void {
    this.#out.piece(name)
    this.string(this.#in.blockEnd(end))
    this.#out.byte(COMMA)
  }

  /** An entry of an attribute list. */
  attribute(end: number): void {
    this.#keyStart = NOWHERE
    this.#stringStart = NOWHERE
    if (!this.#plainAttribute(end)) this.#keyValue(end, 0)
  }

  /**
   * The usual form, a key and a value, each shorter than 128 bytes; some writers, the Go Collector's among them, put the value first.
   * The text has the key first in either case. False, with nothing done, for any other form.
   */
  #plainAttribute(end: number): boolean {
    const { bytes, position } = this.#in
    const first = position + 2
    const firstEnd = first + bytes[position + 1]!
    const second = firstEnd + 2
    if (second > end || firstEnd - first >= LONG || bytes[firstEnd + 1] !== end - second || end - second >= LONG) return false
    if (bytes[position] === KEY_VALUE.key && bytes[firstEnd] === KEY_VALUE.value) this.#keyAndValue(first, firstEnd, second, end)
    else if (bytes[position] === KEY_VALUE.value && bytes[firstEnd] === KEY_VALUE.key) this.#keyAndValue(second, end, first, firstEnd)
    else return false
    this.#in.position = end
    return true
  }

  #keyAndValue(keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    const out = this.#out
    const { bytes, view } = this.#in
    this.#keyStart = keyStart
    this.#keyEnd = keyEnd
    out.piece(OPEN_KEY)
    out.string(view, keyStart, keyEnd)
    const valueLength = valueEnd - valueStart
    if (valueLength >= 2 && bytes[valueStart] === ANY_VALUE.stringValue && bytes[valueStart + 1] === valueLength - 2) {
      this.#stringStart = valueStart + 2
      this.#stringEnd = valueEnd
      out.piece(OPEN_STRING_VALUE)
      out.string(view, valueStart + 2, valueEnd)
      out.piece(CLOSE_TWO)
    } else {
      out.piece(OPEN_VALUE)
      this.#in.position = valueStart
      this.anyValue(valueEnd, 0)
      out.byte(CLOSE_OBJECT)
    }
  }

  /** Looks for the last key and the last value, which count, before either is written. `depth` counts the AnyValues around. */
  #keyValue(end: number, depth: number): void {
    const out = this.#out
    const input = this.#in
    let key = NOWHERE
    let value = NOWHERE
    while (input.position < end) {
      const tag = input.tag(end)
      if (tag === KEY_VALUE.key) key = input.position
      else if (tag === KEY_VALUE.value) value = input.position
      input.skipUnknown(KEY_VALUE, tag, end)
    }
    out.byte(OPEN_OBJECT)
    if (key !== NOWHERE) {
      input.position = key
      this.#key(input.blockEnd(end), depth)
    }
    if (value !== NOWHERE) {
      input.position = value
      out.piece(KEY_VALUE_NAMES.value)
      this.anyValue(input.blockEnd(end), depth)
    }
    out.close(CLOSE_OBJECT)
    input.position = end
  }

  #key(end: number, depth: number): void {
    if (depth === 0) {
      this.#keyStart = this.#in.position
      this.#keyEnd = end
    }
    this.#out.piece(KEY_VALUE_NAMES.key)
    this.string(end)
    this.#out.byte(COMMA)
  }

  /**
   * The last field of a `oneof` counts. A field of one value is written at once. Before anything nested is written, the fields beside it are
   * looked for: each level that was written and taken back would double the work of the levels inside.
   */
  anyValue(end: number, depth: number): void {
    const input = this.#in
    const start = input.position
    if (depth === MAX_VALUE_DEPTH) throw new Fault(start, `at most ${MAX_VALUE_DEPTH} levels of nesting`)
    const outStart = this.#out.position
    this.#out.byte(OPEN_OBJECT)
    if (start < end) {
      const tag = input.tag(end)
      if (!isNested(tag) || this.#isLast(end)) this.#kind(tag, end, depth + 1)
      if (input.position < end) {
        this.#out.rewind(outStart + 1)
        input.position = start
        this.#lastKind(end, depth + 1)
      }
    }
    this.#out.byte(CLOSE_OBJECT)
  }

  /** Whether the field whose tag was read last is the last before `end`. */
  #isLast(end: number): boolean {
    const input = this.#in
    const { position } = input
    const isLast = input.blockEnd(end) === end
    input.position = position
    return isLast
  }

  #lastKind(end: number, depth: number): void {
    const input = this.#in
    let tag = NOWHERE
    let position = NOWHERE
    while (input.position < end) {
      const next = input.tag(end)
      if (KINDS.has(next)) {
        tag = next
        position = input.position
      }
      input.skipUnknown(ANY_VALUE, next, end)
    }
    if (depth === 1) this.#stringStart = NOWHERE
    if (position !== NOWHERE) {
      input.position = position
      this.#kind(tag, end, depth)
    }
    input.position = end
  }

  #kind(tag: number, end: number, depth: number): void {
    const out = this.#out
    const input = this.#in
    switch (tag) {
      case ANY_VALUE.stringValue:
        this.#stringValue(input.blockEnd(end), depth)
        break
      case ANY_VALUE.intValue:
        input.varint(end)
        out.piece(ANY_VALUE_NAMES.intValue)
        out.int64(input.high, input.low)
        break
      case ANY_VALUE.doubleValue:
        input.fixed64(end)
        out.piece(ANY_VALUE_NAMES.doubleValue)
        out.double(input.high, input.low)
        break
      case ANY_VALUE.boolValue:
        input.varint(end)
        out.piece(ANY_VALUE_NAMES.boolValue)
        out.piece(input.low === 0 && input.high === 0 ? FALSE : TRUE)
        break
      case ANY_VALUE.arrayValue:
        out.piece(ANY_VALUE_NAMES.arrayValue)
        this.#values(input.blockEnd(end), false, depth)
        break
      case ANY_VALUE.kvlistValue:
        out.piece(ANY_VALUE_NAMES.kvlistValue)
        this.#values(input.blockEnd(end), true, depth)
        break
      case ANY_VALUE.bytesValue:
        this.#bytesValue(input.blockEnd(end))
        break
      default:
        input.skipUnknown(ANY_VALUE, tag, end)
    }
  }

  #stringValue(end: number, depth: number): void {
    if (depth === 1) {
      this.#stringStart = this.#in.position
      this.#stringEnd = end
    }
    this.#out.piece(ANY_VALUE_NAMES.stringValue)
    this.string(end)
  }

  #bytesValue(end: number): void {
    this.#out.piece(ANY_VALUE_NAMES.bytesValue)
    this.#out.base64(this.#in.bytes, this.#in.position, end)
    this.#in.position = end
  }

  /** An ArrayValue or, `keyed`, a KeyValueList. */
  #values(end: number, keyed: boolean, depth: number): void {
    const out = this.#out
    const input = this.#in
    out.byte(OPEN_OBJECT)
    out.piece(VALUES_NAMES.values)
    out.byte(OPEN_LIST)
    while (input.position < end) {
      const tag = input.tag(end)
      if (tag === VALUES.values) {
        const blockEnd = input.blockEnd(end)
        if (keyed) this.#keyValue(blockEnd, depth)
        else this.anyValue(blockEnd, depth)
        out.byte(COMMA)
        if (out.isPartFull) input.position = end
      } else input.skipUnknown(VALUES, tag, end)
    }
    out.close(CLOSE_LIST)
    out.byte(CLOSE_OBJECT)
  }
}

const KINDS: ReadonlySet<number> = new Set(Object.values(ANY_VALUE))

function isNested(tag: number): boolean {
  return tag === ANY_VALUE.arrayValue || tag === ANY_VALUE.kvlistValue
}
