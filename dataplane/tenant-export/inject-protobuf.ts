/** Puts the tenant into OTLP in protobuf, by its bytes: lengths are written anew where something inside changed, all else is copied. */
import { Fault } from '../json/fault.ts'
import { MalformedPayload } from '../otlp/malformed.ts'
import { WireReader } from '../otlp/wire-reader.ts'
import { ANY_VALUE, KEY_VALUE, LOG_RECORD, REQUEST, RESOURCE, RESOURCE_LOGS, SCOPE_LOGS, VALUES } from '../otlp/wire-schema.ts'
import { type AttributeLevel, type DroppedAttributes, type Injection, TENANT_ATTRIBUTE } from './attribute-names.ts'

/** With `headroom`, a copy that begins with so many bytes for the caller to fill. Throws `MalformedPayload`. */
export function injectProtobuf(body: Buffer, injection: Injection, headroom = 0): Buffer {
  try {
    return joined(new ProtobufInjector(body, injection).inject(), headroom)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new MalformedPayload(`request body: expected ${error.expected} (at byte ${error.offset} of the protobuf)`, { cause: error })
  }
}

/** Bytes one behind the other. They are put together once, whatever changes inside. */
type Pieces = readonly Buffer[]

/** The value of a field as it is now; undefined: the field goes. */
type Change = (start: number, end: number) => Pieces | undefined

class ProtobufInjector {
  readonly #body: Buffer
  readonly #in = new WireReader()
  /** The attribute as a field of a resource. */
  readonly #attribute: Buffer
  readonly #dropped: DroppedAttributes
  readonly #looksIntoRecords: boolean

  constructor(body: Buffer, { tenant, dropped }: Injection) {
    this.#body = body
    this.#in.open(body)
    const value = field(ANY_VALUE.stringValue, Buffer.from(tenant))
    const keyValue = Buffer.concat([field(KEY_VALUE.key, Buffer.from(TENANT_ATTRIBUTE)), field(KEY_VALUE.value, value)])
    this.#attribute = field(RESOURCE.attributes, keyValue)
    this.#dropped = dropped
    this.#looksIntoRecords = this.#mayHold(0, body.length, 'record')
  }

  inject(): Pieces {
    const changes = new Map<number, Change>([[REQUEST.resourceLogs, (start, end) => this.#resourceLogs(start, end)]])
    return this.#message(0, this.#body.length, changes)
  }

  #resourceLogs(start: number, end: number): Pieces {
    let hasResource = false
    const changes = new Map<number, Change>([
      [
        RESOURCE_LOGS.resource,
        (from, to) => {
          hasResource = true
          return [...this.#attributes(from, to, RESOURCE.attributes, 'resource'), this.#attribute]
        },
      ],
    ])
    if (this.#looksIntoRecords) changes.set(RESOURCE_LOGS.scopeLogs, (from, to) => this.#scopeLogs(from, to))
    const message = this.#message(start, end, changes)
    return hasResource ? message : [...message, field(RESOURCE_LOGS.resource, this.#attribute)]
  }

  #scopeLogs(start: number, end: number): Pieces {
    if (!this.#mayHold(start, end, 'record')) return [this.#body.subarray(start, end)]
    const changes = new Map<number, Change>([
      [SCOPE_LOGS.logRecords, (from, to) => this.#attributes(from, to, LOG_RECORD.attributes, 'record')],
    ])
    return this.#message(start, end, changes)
  }

  /** A message without those of its attributes that may not be there. */
  #attributes(start: number, end: number, tag: number, level: AttributeLevel): Pieces {
    if (!this.#mayHold(start, end, level)) {
      // Bytes after its last field must not become part of a field that is not whole.
      if (level === 'resource') this.#message(start, end, NO_CHANGES)
      return [this.#body.subarray(start, end)]
    }
    const keep: Change = (from, to) => (this.#isDropped(from, to, level) ? undefined : [this.#body.subarray(from, to)])
    return this.#message(start, end, new Map([[tag, keep]]))
  }

  /** Whether an attribute is dropped. The last of several keys counts, but none of them may be a dropped one. */
  #isDropped(start: number, end: number, level: AttributeLevel): boolean {
    if (!this.#mayHold(start, end, level)) return false
    const keys = this.#values(start, end, KEY_VALUE.key).map(([from, to]) => this.#body.toString('utf8', from, to))
    if (keys.some(key => this.#dropped[level].has(key))) return true
    const entries = [[start, end] as const]
      .flatMap(([from, to]) => this.#values(from, to, KEY_VALUE.value))
      .flatMap(([from, to]) => this.#values(from, to, ANY_VALUE.kvlistValue))
      .flatMap(([from, to]) => this.#values(from, to, VALUES.values))
      .flatMap(([from, to]) => this.#values(from, to, KEY_VALUE.key))
      .map(([from, to]) => this.#body.toString('utf8', from, to))
    return keys.some(key => entries.some(entry => this.#dropped[level].hasEntry(key, entry)))
  }

  /** Where the values of all fields with this tag stand. */
  #values(start: number, end: number, wanted: number): readonly (readonly [start: number, end: number])[] {
    const found: (readonly [number, number])[] = []
    this.#message(
      start,
      end,
      new Map([
        [
          wanted,
          (from: number, to: number) => {
            found.push([from, to])
            return undefined
          },
        ],
      ]),
    )
    return found
  }

  /** A message of which some fields are changed. */
  #message(start: number, end: number, changes: ReadonlyMap<number, Change>): Pieces {
    const reader = this.#in
    const pieces: Buffer[] = []
    let copied = start
    let position = start
    while (position < end) {
      const fieldStart = position
      reader.position = position
      const tag = reader.tag(end)
      const change = changes.get(tag)
      if (change === undefined) reader.skip(tag, end)
      else {
        const valueEnd = reader.blockEnd(end)
        const valueStart = reader.position
        const value = change(valueStart, valueEnd)
        if (value === undefined || !isSame(value, this.#body, valueStart, valueEnd)) {
          pieces.push(this.#body.subarray(copied, fieldStart))
          if (value !== undefined) {
            pieces.push(fieldPrefix(tag, lengthOf(value)))
            for (const piece of value) pieces.push(piece)
          }
          copied = valueEnd
        }
        reader.position = valueEnd
      }
      position = reader.position
    }
    pieces.push(this.#body.subarray(copied, end))
    return pieces
  }

  #mayHold(start: number, end: number, level: AttributeLevel): boolean {
    return this.#dropped[level].mayStandIn(this.#body.subarray(start, end))
  }
}

const NO_CHANGES: ReadonlyMap<number, Change> = new Map()

/** Whether a value is the bytes that stood there before. */
function isSame(pieces: Pieces, body: Buffer, start: number, end: number): boolean {
  const [value] = pieces
  if (value === undefined || pieces.length > 1) return false
  return value.length === end - start && value.buffer === body.buffer && value.byteOffset === body.byteOffset + start
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
