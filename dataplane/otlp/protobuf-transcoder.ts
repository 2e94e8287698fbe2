import { Buffer } from 'node:buffer'
import { JsonWriter } from './json-writer.ts'
import type { RequestLayout, ResourceSpan, ScopeSpan } from './layout.ts'
import { Fault } from './malformed.ts'
import { MAX_VALUE_DEPTH } from './payload.ts'
import { WireReader } from './wire-reader.ts'
import {
  ANY_VALUE,
  ANY_VALUE_NAMES,
  KEY_VALUE,
  KEY_VALUE_NAMES,
  LOG_RECORD,
  LOG_RECORD_NAMES,
  REQUEST,
  REQUEST_NAMES,
  RESOURCE,
  RESOURCE_LOGS,
  RESOURCE_LOGS_NAMES,
  RESOURCE_NAMES,
  SCOPE,
  SCOPE_LOGS,
  SCOPE_LOGS_NAMES,
  SCOPE_NAMES,
  VALUES,
  VALUES_NAMES,
  wireTypes,
} from './wire-schema.ts'

const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const COMMA = 0x2c
const NOWHERE = -1
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const SERVICE_NAME = Buffer.from('service.name')
const TENANT_ID = Buffer.from('tenant_id')
const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8

type Tags = Readonly<Record<string, number>>
const WIRE_TYPES = new Map<Tags, ReadonlyMap<number, number>>(
  [REQUEST, RESOURCE_LOGS, SCOPE_LOGS, RESOURCE, SCOPE, KEY_VALUE, VALUES, ANY_VALUE, LOG_RECORD].map(tags => [tags, wireTypes(tags)]),
)

/**
 * Writes a protobuf request as OTLP JSON in one pass, without building objects. Where a field that occurs once by its
 * schema occurs again on the wire, the last one counts; message fields are not merged.
 */
export class ProtobufTranscoder {
  readonly #in: WireReader
  readonly #out: JsonWriter
  readonly #observedTimeUnixNano: string
  readonly #recordBounds: number[] = []
  readonly #resources: ResourceSpan[] = []
  #recordCount = 0
  #service: string | undefined
  #tenantId: string | undefined
  #keyStart = NOWHERE
  #keyEnd = NOWHERE
  #stringStart = NOWHERE
  #stringEnd = NOWHERE

  constructor(request: Uint8Array, observedTimeUnixNano: string) {
    this.#in = new WireReader(request)
    this.#out = new JsonWriter(request.length * 2 + 256)
    this.#observedTimeUnixNano = observedTimeUnixNano
  }

  /** Throws a `Fault`. */
  transcode(): RequestLayout {
    const out = this.#out
    const end = this.#in.bytes.length
    out.byte(OPEN_OBJECT)
    out.raw(REQUEST_NAMES.resourceLogs)
    out.byte(OPEN_LIST)
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      if (tag === REQUEST.resourceLogs) this.#resourceLogs(this.#in.blockEnd(end))
      else this.#unknown(REQUEST, tag, end)
    }
    out.close(CLOSE_LIST)
    out.byte(CLOSE_OBJECT)
    return {
      text: out.written(),
      resources: this.#resources,
      recordCount: this.#recordCount,
      recordBounds: this.#recordBounds,
      edits: [],
    }
  }

  #resourceLogs(end: number): void {
    const out = this.#out
    const start = out.position
    const firstRecord = this.#recordCount
    this.#service = undefined
    this.#tenantId = undefined
    out.byte(OPEN_OBJECT)
    this.#lastOf(RESOURCE_LOGS.resource, end, RESOURCE_LOGS_NAMES.resource, blockEnd => this.#resource(blockEnd))
    this.#lastOf(RESOURCE_LOGS.schemaUrl, end, RESOURCE_LOGS_NAMES.schemaUrl, blockEnd => this.#string(blockEnd))
    out.raw(RESOURCE_LOGS_NAMES.scopeLogs)
    out.byte(OPEN_LIST)
    const listStart = out.position
    const scopes: ScopeSpan[] = []
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      if (tag === RESOURCE_LOGS.scopeLogs) scopes.push(this.#scopeLogs(this.#in.blockEnd(end)))
      else this.#unknown(RESOURCE_LOGS, tag, end)
    }
    out.close(CLOSE_LIST)
    const listEnd = out.position - 1
    out.byte(CLOSE_OBJECT)
    this.#resources.push({
      start,
      end: out.position,
      listStart,
      listEnd,
      scopes,
      recordCount: this.#recordCount - firstRecord,
      service: this.#service,
      tenantId: this.#tenantId,
    })
    out.byte(COMMA)
  }

  #scopeLogs(end: number): ScopeSpan {
    const out = this.#out
    const start = out.position
    const firstRecord = this.#recordCount
    out.byte(OPEN_OBJECT)
    this.#lastOf(SCOPE_LOGS.scope, end, SCOPE_LOGS_NAMES.scope, blockEnd => this.#scope(blockEnd))
    this.#lastOf(SCOPE_LOGS.schemaUrl, end, SCOPE_LOGS_NAMES.schemaUrl, blockEnd => this.#string(blockEnd))
    out.raw(SCOPE_LOGS_NAMES.logRecords)
    out.byte(OPEN_LIST)
    const listStart = out.position
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      if (tag === SCOPE_LOGS.logRecords) this.#logRecord(this.#in.blockEnd(end))
      else this.#unknown(SCOPE_LOGS, tag, end)
    }
    out.close(CLOSE_LIST)
    const listEnd = out.position - 1
    out.byte(CLOSE_OBJECT)
    const span = { start, end: out.position, listStart, listEnd, firstRecord, endRecord: this.#recordCount }
    out.byte(COMMA)
    return span
  }

  /** Looks ahead for the last field with this tag, writes it, and returns to where it stood. */
  #lastOf(wanted: number, end: number, name: Uint8Array, write: (blockEnd: number) => void): void {
    const start = this.#in.position
    let found = NOWHERE
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      if (tag === wanted) found = this.#in.position
      this.#in.skip(tag, end)
    }
    if (found !== NOWHERE) {
      this.#in.position = found
      this.#out.raw(name)
      write(this.#in.blockEnd(end))
      this.#out.byte(COMMA)
    }
    this.#in.position = start
  }

  #unknown(message: Tags, tag: number, end: number): void {
    const known = WIRE_TYPES.get(message)?.get(tag >>> 3)
    if (known !== undefined && known !== (tag & 7)) throw new Fault(this.#in.position, `wire type ${known} for field ${tag >>> 3}`)
    this.#in.skip(tag, end)
  }

  #string(end: number): void {
    this.#out.string(this.#in.bytes, this.#in.position, end)
    this.#in.position = end
  }

  #resource(end: number): void {
    this.#attributed(RESOURCE, RESOURCE.attributes, RESOURCE_NAMES.attributes, end, (tag, blockLimit) => {
      if (tag !== RESOURCE.droppedAttributesCount) return false
      this.#uint32(RESOURCE_NAMES.droppedAttributesCount, blockLimit)
      return true
    })
  }

  #scope(end: number): void {
    this.#attributed(SCOPE, SCOPE.attributes, SCOPE_NAMES.attributes, end, (tag, blockLimit) => {
      if (tag === SCOPE.name) this.#stringField(SCOPE_NAMES.name, blockLimit)
      else if (tag === SCOPE.version) this.#stringField(SCOPE_NAMES.version, blockLimit)
      else if (tag === SCOPE.droppedAttributesCount) this.#uint32(SCOPE_NAMES.droppedAttributesCount, blockLimit)
      else return false
      return true
    })
  }

  /** A message of attributes and a few scalars; `scalar` writes one and says whether it knew the tag. */
  #attributed(
    message: Tags,
    attributes: number,
    attributesName: Uint8Array,
    end: number,
    scalar: (tag: number, end: number) => boolean,
  ): void {
    this.#out.byte(OPEN_OBJECT)
    const start = this.#in.position
    const last = this.#lastPositions(end)
    let attributesDone = false
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      if (tag === attributes) {
        if (attributesDone) this.#in.skip(tag, end)
        else this.#attributes(tag, attributesName, end, message === RESOURCE)
        attributesDone = true
      } else if (last.get(tag) !== this.#in.position) this.#in.skip(tag, end)
      else if (!scalar(tag, end)) this.#unknown(message, tag, end)
    }
    if (start > end) throw new Fault(start, 'a length within the message')
    this.#out.close(CLOSE_OBJECT)
  }

  /** Where the last value of every tag starts, from here to `end`. */
  #lastPositions(end: number): ReadonlyMap<number, number> {
    const positions = new Map<number, number>()
    const start = this.#in.position
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      positions.set(tag, this.#in.position)
      this.#in.skip(tag, end)
    }
    this.#in.position = start
    return positions
  }

  /** All fields with this tag from here to `end`, as one list; leaves the position after the first run of them. */
  #attributes(tag: number, name: Uint8Array, end: number, ofResource: boolean): void {
    const out = this.#out
    const input = this.#in
    let afterRun = NOWHERE
    let next = tag
    out.raw(name)
    out.byte(OPEN_LIST)
    for (;;) {
      if (next === tag) {
        if (ofResource) this.#resourceAttribute(input.blockEnd(end))
        else this.#keyValue(input.blockEnd(end), 0)
        out.byte(COMMA)
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

  #resourceAttribute(end: number): void {
    this.#keyStart = NOWHERE
    this.#stringStart = NOWHERE
    this.#keyValue(end, 0)
    if (this.#isKey(SERVICE_NAME)) this.#service = this.#attributeString()
    else if (this.#isKey(TENANT_ID)) this.#tenantId = this.#attributeString()
  }

  #isKey(name: Uint8Array): boolean {
    if (this.#keyStart === NOWHERE || this.#keyEnd - this.#keyStart !== name.length) return false
    for (let i = 0; i < name.length; i++) if (this.#in.bytes[this.#keyStart + i] !== name[i]) return false
    return true
  }

  #attributeString(): string | undefined {
    if (this.#stringStart === NOWHERE) return undefined
    return Buffer.from(this.#in.bytes.subarray(this.#stringStart, this.#stringEnd)).toString('utf8')
  }

  /** `depth` counts the AnyValues around. */
  #keyValue(end: number, depth: number): void {
    const out = this.#out
    const start = this.#in.position
    const outStart = out.position
    out.byte(OPEN_OBJECT)
    let seen = 0
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      if (tag === KEY_VALUE.key && (seen & 1) === 0) {
        seen |= 1
        this.#key(this.#in.blockEnd(end), depth)
      } else if (tag === KEY_VALUE.value && (seen & 2) === 0) {
        seen |= 2
        out.raw(KEY_VALUE_NAMES.value)
        this.#anyValue(this.#in.blockEnd(end), depth)
        out.byte(COMMA)
      } else if (tag === KEY_VALUE.key || tag === KEY_VALUE.value) {
        this.#in.position = start
        out.rewind(outStart)
        return this.#lastKeyValue(end, depth)
      } else this.#unknown(KEY_VALUE, tag, end)
    }
    out.close(CLOSE_OBJECT)
  }

  #key(end: number, depth: number): void {
    if (depth === 0) {
      this.#keyStart = this.#in.position
      this.#keyEnd = end
    }
    this.#out.raw(KEY_VALUE_NAMES.key)
    this.#string(end)
    this.#out.byte(COMMA)
  }

  /** A KeyValue that gives its key or value more than once. */
  #lastKeyValue(end: number, depth: number): void {
    this.#stringStart = depth === 0 ? NOWHERE : this.#stringStart
    this.#out.byte(OPEN_OBJECT)
    const last = this.#lastPositions(end)
    const key = last.get(KEY_VALUE.key)
    if (key !== undefined) {
      this.#in.position = key
      this.#key(this.#in.blockEnd(end), depth)
    }
    const value = last.get(KEY_VALUE.value)
    if (value !== undefined) {
      this.#in.position = value
      this.#out.raw(KEY_VALUE_NAMES.value)
      this.#anyValue(this.#in.blockEnd(end), depth)
    }
    this.#out.close(CLOSE_OBJECT)
    this.#in.position = end
  }

  #anyValue(end: number, depth: number): void {
    if (depth === MAX_VALUE_DEPTH) throw new Fault(this.#in.position, `at most ${MAX_VALUE_DEPTH} levels of nesting`)
    const out = this.#out
    const start = this.#in.position
    const outStart = out.position
    out.byte(OPEN_OBJECT)
    if (start < end) {
      const tag = this.#in.tag(end)
      this.#anyValueKind(tag, end, depth + 1)
      if (this.#in.position < end) {
        out.rewind(outStart)
        this.#in.position = start
        return this.#lastAnyValue(end, depth + 1)
      }
    }
    out.byte(CLOSE_OBJECT)
  }

  /** An AnyValue of several fields: of a `oneof` the last counts. */
  #lastAnyValue(end: number, depth: number): void {
    if (depth === 1) this.#stringStart = NOWHERE
    let tag = NOWHERE
    let position = NOWHERE
    while (this.#in.position < end) {
      const next = this.#in.tag(end)
      if (ANY_VALUE_TAGS.has(next)) {
        tag = next
        position = this.#in.position
      }
      this.#unknown(ANY_VALUE, next, end)
    }
    this.#out.byte(OPEN_OBJECT)
    if (position !== NOWHERE) {
      this.#in.position = position
      this.#anyValueKind(tag, end, depth)
    }
    this.#out.byte(CLOSE_OBJECT)
    this.#in.position = end
  }

  #anyValueKind(tag: number, end: number, depth: number): void {
    const out = this.#out
    const input = this.#in
    switch (tag) {
      case ANY_VALUE.stringValue: {
        const blockEnd = input.blockEnd(end)
        if (depth === 1) {
          this.#stringStart = input.position
          this.#stringEnd = blockEnd
        }
        out.raw(ANY_VALUE_NAMES.stringValue)
        return this.#string(blockEnd)
      }
      case ANY_VALUE.intValue:
        input.varint(end)
        out.raw(ANY_VALUE_NAMES.intValue)
        return out.int64(input.high, input.low)
      case ANY_VALUE.doubleValue:
        input.fixed64(end)
        out.raw(ANY_VALUE_NAMES.doubleValue)
        return out.double(input.high, input.low)
      case ANY_VALUE.boolValue:
        input.varint(end)
        out.raw(ANY_VALUE_NAMES.boolValue)
        return out.raw(input.low === 0 && input.high === 0 ? FALSE : TRUE)
      case ANY_VALUE.arrayValue:
        out.raw(ANY_VALUE_NAMES.arrayValue)
        return this.#values(input.blockEnd(end), false, depth)
      case ANY_VALUE.kvlistValue:
        out.raw(ANY_VALUE_NAMES.kvlistValue)
        return this.#values(input.blockEnd(end), true, depth)
      case ANY_VALUE.bytesValue: {
        const blockEnd = input.blockEnd(end)
        out.raw(ANY_VALUE_NAMES.bytesValue)
        out.base64(input.bytes, input.position, blockEnd)
        input.position = blockEnd
        return
      }
      default:
        this.#unknown(ANY_VALUE, tag, end)
    }
  }

  /** An ArrayValue or a KeyValueList. */
  #values(end: number, keyed: boolean, depth: number): void {
    const out = this.#out
    out.byte(OPEN_OBJECT)
    out.raw(VALUES_NAMES.values)
    out.byte(OPEN_LIST)
    while (this.#in.position < end) {
      const tag = this.#in.tag(end)
      if (tag === VALUES.values) {
        const blockEnd = this.#in.blockEnd(end)
        if (keyed) this.#keyValue(blockEnd, depth)
        else this.#anyValue(blockEnd, depth)
        out.byte(COMMA)
      } else this.#unknown(VALUES, tag, end)
    }
    out.close(CLOSE_LIST)
    out.byte(CLOSE_OBJECT)
  }

  #logRecord(end: number): void {
    const start = this.#in.position
    const outStart = this.#out.position
    if (!this.#logRecordFields(end, undefined)) {
      this.#in.position = start
      this.#out.rewind(outStart)
      this.#logRecordFields(end, this.#lastPositions(end))
    }
    this.#recordBounds.push(outStart, this.#out.position)
    this.#recordCount++
    this.#out.byte(COMMA)
  }

  /** Writes one record; with `last`, only the last value of each field. Without it, returns false where a field repeats. */
  #logRecordFields(end: number, last: ReadonlyMap<number, number> | undefined): boolean {
    const input = this.#in
    let seen = 0
    let timeKnown = false
    this.#out.byte(OPEN_OBJECT)
    while (input.position < end) {
      const tag = input.tag(end)
      const bit = tag < 128 ? 1 << (tag >> 3) : 0
      if (tag === LOG_RECORD.attributes) {
        if ((seen & bit) === 0) this.#attributes(tag, LOG_RECORD_NAMES.attributes, end, false)
        else input.skip(tag, end)
      } else if (last !== undefined && last.get(tag) !== input.position) input.skip(tag, end)
      else {
        if ((seen & bit) !== 0) return false
        if (this.#logRecordField(tag, end)) timeKnown = true
      }
      seen |= bit
    }
    if (!timeKnown) {
      this.#out.raw(LOG_RECORD_NAMES.observedTimeUnixNano)
      this.#out.ascii(`"${this.#observedTimeUnixNano}"`)
    }
    this.#out.close(CLOSE_OBJECT)
    return true
  }

  /** Returns true for a time that is not zero. */
  #logRecordField(tag: number, end: number): boolean {
    switch (tag) {
      case LOG_RECORD.timeUnixNano:
        return this.#timeField(LOG_RECORD_NAMES.timeUnixNano, end)
      case LOG_RECORD.observedTimeUnixNano:
        return this.#timeField(LOG_RECORD_NAMES.observedTimeUnixNano, end)
      case LOG_RECORD.severityNumber:
        this.#int32(LOG_RECORD_NAMES.severityNumber, end)
        return false
      case LOG_RECORD.severityText:
        this.#stringField(LOG_RECORD_NAMES.severityText, end)
        return false
      case LOG_RECORD.body:
        this.#out.raw(LOG_RECORD_NAMES.body)
        this.#anyValue(this.#in.blockEnd(end), 0)
        this.#out.byte(COMMA)
        return false
      case LOG_RECORD.droppedAttributesCount:
        this.#uint32(LOG_RECORD_NAMES.droppedAttributesCount, end)
        return false
      case LOG_RECORD.flags:
        this.#in.fixed32(end)
        this.#integerField(LOG_RECORD_NAMES.flags)
        return false
      case LOG_RECORD.traceId:
        this.#idField(LOG_RECORD_NAMES.traceId, TRACE_ID_BYTES, end)
        return false
      case LOG_RECORD.spanId:
        this.#idField(LOG_RECORD_NAMES.spanId, SPAN_ID_BYTES, end)
        return false
      case LOG_RECORD.eventName:
        this.#stringField(LOG_RECORD_NAMES.eventName, end)
        return false
      default:
        this.#unknown(LOG_RECORD, tag, end)
        return false
    }
  }

  #timeField(name: Uint8Array, end: number): boolean {
    this.#in.fixed64(end)
    const { high, low } = this.#in
    if (high === 0 && low === 0) return false
    this.#out.raw(name)
    this.#out.uint64(high, low)
    this.#out.byte(COMMA)
    return true
  }

  #stringField(name: Uint8Array, end: number): void {
    this.#out.raw(name)
    this.#string(this.#in.blockEnd(end))
    this.#out.byte(COMMA)
  }

  #uint32(name: Uint8Array, end: number): void {
    this.#in.varint(end)
    this.#integerField(name)
  }

  #int32(name: Uint8Array, end: number): void {
    this.#in.varint(end)
    const value = this.#in.low | 0
    if (value >= 0) return this.#integerField(name)
    this.#out.raw(name)
    this.#out.ascii(String(value))
    this.#out.byte(COMMA)
  }

  #integerField(name: Uint8Array): void {
    this.#out.raw(name)
    this.#out.integer(this.#in.low)
    this.#out.byte(COMMA)
  }

  /** An id of another length, or all zero, is left out (Decisions 3). */
  #idField(name: Uint8Array, length: number, end: number): void {
    const blockEnd = this.#in.blockEnd(end)
    const { bytes, position } = this.#in
    this.#in.position = blockEnd
    if (blockEnd - position !== length || isZero(bytes, position, blockEnd)) return
    this.#out.raw(name)
    this.#out.hex(bytes, position, blockEnd)
    this.#out.byte(COMMA)
  }
}

const ANY_VALUE_TAGS: ReadonlySet<number> = new Set(Object.values(ANY_VALUE))

function isZero(b: Uint8Array, start: number, end: number): boolean {
  for (let p = start; p < end; p++) if (b[p] !== 0) return false
  return true
}
