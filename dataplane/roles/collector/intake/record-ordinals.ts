/** Numbers the equal records of a request, so that each becomes a document (Decisions 4). */
import { Buffer } from 'node:buffer'
import { MAX_BUS_MESSAGE_BYTES } from '../../../contract/topics.ts'
import { messageOf } from '../../../domain/records/flat-record.ts'
import { normaliseId } from '../../../domain/records/log-id.ts'
import { recordIdentity, resourceIdentity, scopeIdentity } from '../../../domain/records/record-identity.ts'
import { BACKSLASH } from '../../../json/bytes.ts'
import { EditedText } from '../../../otlp/edited-text.ts'
import { findEqualKeys } from '../../../otlp/equal-keys.ts'
import { addAttribute, findRecordParts, type Part } from '../../../otlp/json/record-parts.ts'
import { type Edit, type RequestLayout, settleEdits } from '../../../otlp/layout.ts'
import type { AnyValue, LogRecord, ResourceLogs, ScopeLogs } from '../../../otlp/payload.ts'
import type { Steps } from '../../../otlp/steps.ts'
import { keyWithBytes } from '../../../otlp/time-key.ts'

/** The attribute of the second and later of equal records (Decisions 4). */
const ORDINAL_KEY = 'record.ordinal'
const STRING_VALUE = Buffer.from('{"stringValue":"')
const STRING_VALUE_END = Buffer.from('"}')
const NOTHING = new Uint8Array()

/**
 * Gives the second and later ones of a request's equal records the attribute `record.ordinal`, an integer from 1 on, so that they become
 * documents of their own, and the same ones when the request is sent again (Decisions 4). A client's own attribute of that name is kept: the
 * ordinal is in `record.ordinal_2` then, or the next name that is free.
 * `ofEqualTime` marks the records whose time others have, too; no others are looked at. Of these most differ in message or span, which is told
 * without parsing them.
 */
export function* numberEqualRecords(layout: RequestLayout, ofEqualTime: Uint8Array): Steps<RequestLayout> {
  const records = new EqualRecords(layout)
  const numbers: number[] = []
  const keys: number[] = []
  for (let i = 0; i < layout.recordCount; i++) {
    if (ofEqualTime[i] === 0 || records.isTooLarge(i)) continue
    yield
    numbers.push(i)
    keys.push(records.key(i))
  }
  const marks = findEqualKeys(keys)
  if (marks === undefined) return layout
  const alike = new Uint8Array(layout.recordCount)
  for (const [at, number] of numbers.entries()) alike[number] = marks[at]!
  for (const resource of layout.resources) {
    let ofResource: string | undefined
    for (const scope of resource.scopes) {
      let origin: string | undefined
      for (let i = scope.firstRecord; i < scope.endRecord; i++) {
        if (alike[i] === 0) continue
        yield
        ofResource ??= records.resource(resource)
        origin ??= records.origin(ofResource, scope)
        records.add(i, origin)
      }
    }
  }
  return records.numbered()
}

interface Around {
  readonly start: number
  readonly end: number
  readonly listStart: number
  readonly listEnd: number
}

class EqualRecords {
  readonly #layout: RequestLayout
  readonly #bytes: Buffer
  readonly #text: EditedText
  readonly #added: Edit[] = []
  /** How often each record was there so far. */
  readonly #counts = new Map<string, number>()
  /** Numbers of the pairs of resource and scope. */
  readonly #origins = new Map<string, number>()
  #origin = ''
  /** The record looked at last: where one that is equal byte by byte follows, it need not be parsed. */
  #lastStart = 0
  #lastEnd = 0
  #identity = ''
  #ordinalKey = ORDINAL_KEY

  constructor(layout: RequestLayout) {
    const { text, edits } = layout
    this.#layout = layout
    this.#bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
    this.#text = new EditedText(text, edits)
  }

  #start(record: number): number {
    return this.#layout.recordBounds[2 * record]!
  }

  #end(record: number): number {
    return this.#layout.recordBounds[2 * record + 1]!
  }

  /** A record that goes into no message. */
  isTooLarge(record: number): boolean {
    return this.#end(record) - this.#start(record) > MAX_BUS_MESSAGE_BYTES
  }

  /** A small number that is equal for equal records: of time, ids and message. */
  key(record: number): number {
    const { body, traceId, spanId } = findRecordParts(this.#bytes, this.#start(record))
    const key = keyWithBytes(this.#layout.timeKeys[record]!, this.#message(body))
    return keyWithBytes(keyWithBytes(key, this.#id(traceId, 32)), this.#id(spanId, 16))
  }

  #message({ start, end }: Part): Uint8Array {
    const textStart = start + STRING_VALUE.length
    const textEnd = end - STRING_VALUE_END.length
    const isPlain = this.#startsWith(start, STRING_VALUE) && textEnd >= textStart && this.#startsWith(textEnd, STRING_VALUE_END)
    const text = this.#bytes.subarray(textStart, textEnd)
    if (isPlain && !text.includes(BACKSLASH)) return text
    return end === 0 ? NOTHING : Buffer.from(messageOf(this.#parsed(start, end) as AnyValue))
  }

  #startsWith(at: number, piece: Buffer): boolean {
    for (let i = 0; i < piece.length; i++) if (this.#bytes[at + i] !== piece[i]) return false
    return true
  }

  #id({ start, end }: Part, digits: 32 | 16): Uint8Array {
    if (end === 0) return NOTHING
    const text = this.#bytes.toString('latin1', start + 1, end - 1)
    const id = normaliseId(text.includes('\\') ? (this.#parsed(start, end) as string) : text, digits)
    return id === text ? this.#bytes.subarray(start + 1, end - 1) : Buffer.from(id, 'latin1')
  }

  resource(around: Around): string {
    return resourceIdentity((this.#around(around) as ResourceLogs).resource)
  }

  /** Stands for a resource and a scope. */
  origin(ofResource: string, around: Around): string {
    const origin = ofResource + scopeIdentity((this.#around(around) as ScopeLogs).scope)
    const number = this.#origins.get(origin) ?? this.#origins.size
    this.#origins.set(origin, number)
    return String(number)
  }

  /** The object around a list, which is left empty. A larger one goes into no message. */
  #around({ start, end, listStart, listEnd }: Around): object {
    if (listStart - start + (end - listEnd) > MAX_BUS_MESSAGE_BYTES) return {}
    return JSON.parse(Buffer.concat([this.#text.bytes(start, listStart), this.#text.bytes(listEnd, end)]).toString())
  }

  #parsed(start: number, end: number): unknown {
    const { buffer, byteOffset, length } = this.#text.bytes(start, end)
    return JSON.parse(Buffer.from(buffer, byteOffset, length).toString())
  }

  add(number: number, origin: string): void {
    const start = this.#start(number)
    const end = this.#end(number)
    if (origin !== this.#origin || this.#bytes.compare(this.#bytes, this.#lastStart, this.#lastEnd, start, end) !== 0) {
      const record = this.#parsed(start, end) as LogRecord
      this.#origin = origin
      this.#identity = `${origin} ${recordIdentity(record)}`
      this.#ordinalKey = ordinalKey(record)
    }
    this.#lastStart = start
    this.#lastEnd = end
    const ordinal = this.#counts.get(this.#identity) ?? 0
    this.#counts.set(this.#identity, ordinal + 1)
    if (ordinal === 0) return
    const attribute = `{"key":"${this.#ordinalKey}","value":{"intValue":"${ordinal}"}}`
    this.#added.push(addAttribute(this.#bytes, start, end, attribute))
  }

  numbered(): RequestLayout {
    const { edits } = this.#layout
    if (this.#added.length === 0) return this.#layout
    return { ...this.#layout, edits: edits.length === 0 ? this.#added : settleEdits([...edits, ...this.#added]) }
  }
}

/** `record.ordinal`, or the first of `record.ordinal_2`, `_3` … that the record does not have. */
function ordinalKey({ attributes = [] }: LogRecord): string {
  if (!attributes.some(({ key }) => key === ORDINAL_KEY)) return ORDINAL_KEY
  const keys = new Set(attributes.map(({ key }) => key))
  let number = 2
  while (keys.has(`${ORDINAL_KEY}_${number}`)) number++
  return `${ORDINAL_KEY}_${number}`
}
