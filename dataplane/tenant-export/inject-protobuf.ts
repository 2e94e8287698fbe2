/**
 * Puts the tenant into OTLP in protobuf, by its bytes: lengths are written anew around what is added, all else is copied. An attribute that may not be
 * there becomes, in its place, a field that nobody knows.
 */
import { Fault } from '../json/fault.ts'
import { MAX_GROUPS } from '../otlp/layout.ts'
import { MalformedPayload, OversizedPayload } from '../otlp/malformed.ts'
import { WireReader } from '../otlp/protobuf/wire-reader.ts'
import { ANY_VALUE, KEY_VALUE, LOG_RECORD, REQUEST, RESOURCE, RESOURCE_LOGS, SCOPE_LOGS, VALUES } from '../otlp/protobuf/wire-schema.ts'
import { allSteps, Rests, type Steps } from '../otlp/steps.ts'
import { type AttributeLevel, type DroppedAttributes, type Injection, MAX_DROPPED_LENGTH, TENANT_ATTRIBUTE } from './attribute-names.ts'

/** Changes the body where attributes go. With `headroom`, a copy that begins with so many bytes for the caller to fill. Throws `MalformedPayload` or `OversizedPayload`. */
export function injectProtobuf(body: Buffer, injection: Injection, headroom = 0): Buffer {
  return allSteps(injectProtobufSteps(body, injection, headroom))
}

/** The same, with rests. */
export function* injectProtobufSteps(body: Buffer, injection: Injection, headroom = 0): Steps<Buffer> {
  try {
    return joined(yield* new ProtobufInjector(body, injection).inject(), headroom)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new MalformedPayload(`request body: expected ${error.expected} (at byte ${error.offset} of the protobuf)`, { cause: error })
  }
}

/** Bytes one behind the other. They are put together once, after all changes inside. */
type Pieces = readonly Buffer[]

/** Field 15 with bytes, which no message of OTLP's logs has. */
const UNKNOWN_TAG = 0x7a
const MORE = 0x80
/** From an attribute to the keys of the entries of its map. */
const TO_ENTRY_KEYS = [KEY_VALUE.value, ANY_VALUE.kvlistValue, VALUES.values, KEY_VALUE.key]

class ProtobufInjector {
  readonly #body: Buffer
  readonly #in = new WireReader()
  /** The attribute as a field of a resource. */
  readonly #attribute: Buffer
  readonly #dropped: DroppedAttributes
  readonly #looksIntoRecords: boolean
  /** Times that the tenant was put in. */
  #count = 0
  readonly #rests = new Rests(0)

  constructor(body: Buffer, { tenant, dropped }: Injection) {
    this.#body = body
    this.#in.open(body)
    const value = field(ANY_VALUE.stringValue, Buffer.from(tenant))
    const keyValue = Buffer.concat([field(KEY_VALUE.key, Buffer.from(TENANT_ATTRIBUTE)), field(KEY_VALUE.value, value)])
    this.#attribute = field(RESOURCE.attributes, keyValue)
    this.#dropped = dropped
    this.#looksIntoRecords = this.#mayHold(body.length, 'record')
  }

  *inject(): Steps<Pieces> {
    const reader = this.#in
    const body = this.#body
    const pieces: Buffer[] = []
    let copied = 0
    while (reader.position < body.length) {
      if (this.#rests.isDue(reader.position)) yield
      const start = reader.position
      const tag = reader.tag(body.length)
      if (tag !== REQUEST.resourceLogs) {
        reader.skip(tag, body.length)
        continue
      }
      const value = yield* this.#resourceLogs(reader.blockEnd(body.length))
      pieces.push(body.subarray(copied, start), fieldPrefix(tag, lengthOf(value)))
      for (const piece of value) pieces.push(piece)
      copied = reader.position
    }
    pieces.push(body.subarray(copied))
    return pieces
  }

  /** From the reader's position on, which is at `end` then, as with all below. */
  *#resourceLogs(end: number): Steps<Pieces> {
    const reader = this.#in
    const body = this.#body
    const pieces: Buffer[] = []
    let hasResource = false
    let copied = reader.position
    while (reader.position < end) {
      if (this.#rests.isDue(reader.position)) yield
      const start = reader.position
      const tag = reader.tag(end)
      if (tag === RESOURCE_LOGS.resource) {
        hasResource = true
        const resourceEnd = reader.blockEnd(end)
        const resource = body.subarray(reader.position, resourceEnd)
        // Bytes after its last field must not become part of a field that is not whole: it is read to its end.
        yield* this.#hideDropped(resourceEnd, RESOURCE.attributes, 'resource')
        this.#noteAdded()
        const prefix = fieldPrefix(tag, resource.length + this.#attribute.length)
        pieces.push(body.subarray(copied, start), prefix, resource, this.#attribute)
        copied = resourceEnd
      } else if (tag === RESOURCE_LOGS.scopeLogs && this.#looksIntoRecords) yield* this.#scopeLogs(reader.blockEnd(end))
      else reader.skip(tag, end)
    }
    pieces.push(body.subarray(copied, end))
    if (!hasResource) {
      this.#noteAdded()
      pieces.push(field(RESOURCE_LOGS.resource, this.#attribute))
    }
    return pieces
  }

  *#scopeLogs(end: number): Steps<void> {
    const reader = this.#in
    if (!this.#mayHold(end, 'record')) {
      reader.position = end
      return
    }
    while (reader.position < end) {
      if (this.#rests.isDue(reader.position)) yield
      const tag = reader.tag(end)
      if (tag !== SCOPE_LOGS.logRecords) reader.skip(tag, end)
      else {
        const recordEnd = reader.blockEnd(end)
        if (this.#mayHold(recordEnd, 'record')) yield* this.#hideDropped(recordEnd, LOG_RECORD.attributes, 'record')
        else reader.position = recordEnd
      }
    }
  }

  /** Makes fields that nobody knows of those attributes that may not be there. */
  *#hideDropped(end: number, attributes: number, level: AttributeLevel): Steps<void> {
    const reader = this.#in
    const mayHold = this.#mayHold(end, level)
    while (reader.position < end) {
      if (this.#rests.isDue(reader.position)) yield
      const at = reader.position
      const tag = reader.tag(end)
      if (tag !== attributes || !mayHold) {
        reader.skip(tag, end)
        continue
      }
      const attributeEnd = reader.blockEnd(end)
      if (yield* this.#isDropped(attributeEnd, level)) this.#body[at] = (this.#body[at]! & MORE) | UNKNOWN_TAG
      reader.position = attributeEnd
    }
  }

  /** Whether an attribute is dropped. The last of several keys counts, but none of them may be a dropped one. */
  *#isDropped(end: number, level: AttributeLevel): Steps<boolean> {
    if (!this.#mayHold(end, level)) return false
    const start = this.#in.position
    const names = this.#dropped[level]
    /** Few, however often they come. */
    const maps = new Set<string>()
    const isNamed = yield* this.#some(end, [KEY_VALUE.key], key => {
      if (names.mayHoldEntry(key)) maps.add(key)
      return names.has(key)
    })
    if (isNamed || maps.size === 0) return isNamed
    this.#in.position = start
    return yield* this.#some(end, TO_ENTRY_KEYS, entry => [...maps].some(key => names.hasEntry(key, entry)))
  }

  /** Whether a test holds for one of the short texts that these fields of fields lead to. */
  *#some(end: number, path: readonly number[], test: (text: string) => boolean): Steps<boolean> {
    const reader = this.#in
    const [wanted, ...rest] = path
    while (reader.position < end) {
      if (this.#rests.isDue(reader.position)) yield
      const tag = reader.tag(end)
      if (tag !== wanted) {
        reader.skip(tag, end)
        continue
      }
      const valueEnd = reader.blockEnd(end)
      const start = reader.position
      if (rest.length > 0) {
        if (yield* this.#some(valueEnd, rest, test)) return true
      } else if (valueEnd - start <= MAX_DROPPED_LENGTH && test(this.#body.toString('utf8', start, valueEnd))) return true
      reader.position = valueEnd
    }
    return false
  }

  #noteAdded(): void {
    if (++this.#count > MAX_GROUPS) throw new OversizedPayload(`request: expected at most ${MAX_GROUPS} resources`)
  }

  /** Whether a name that is dropped may stand between the reader's position and `end`. */
  #mayHold(end: number, level: AttributeLevel): boolean {
    return this.#dropped[level].mayStandIn(this.#body.subarray(this.#in.position, end))
  }
}

function lengthOf(pieces: Pieces): number {
  let bytes = 0
  for (const piece of pieces) bytes += piece.length
  return bytes
}

/** Not a copy where there is but one piece, and no headroom. */
function joined(pieces: Pieces, headroom: number): Buffer {
  if (pieces.length === 1 && headroom === 0) return pieces[0]!
  const bytes = Buffer.allocUnsafeSlow(headroom + lengthOf(pieces))
  let at = headroom
  for (const piece of pieces) at += piece.copy(bytes, at)
  return bytes
}

function field(tag: number, value: Buffer): Buffer {
  return Buffer.concat([fieldPrefix(tag, value.length), value])
}

/** Tags of OTLP's messages have one byte each. */
function fieldPrefix(tag: number, valueBytes: number): Buffer {
  const prefix = [tag]
  let rest = valueBytes
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) prefix.push((rest % 0x80) | 0x80)
  prefix.push(rest)
  return Buffer.from(prefix)
}
