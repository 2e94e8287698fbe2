/** Reads OTLP JSON: checks it, and finds its resources, scopes and records. */
import { Buffer } from 'node:buffer'
import { CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, hasEscape, OPEN_LIST, OPEN_OBJECT, QUOTE, skipSpace, ZERO } from '../../json/bytes.ts'
import { MAX_REQUEST_LEVELS, MAX_UNKNOWN_DEPTH, MAX_VALUE_DEPTH } from '../../json/depth.ts'
import { Fault } from '../../json/fault.ts'
import { closingQuote, isNull, type Repairs, ValueReader } from '../../json/strict.ts'
import { specialAt } from '../../json/words.ts'
import { EditList, LayoutBuilder, type RequestLayout } from '../layout.ts'
import { Rests, type Steps, valueEndSteps } from '../steps.ts'
import { keyOfDigits, UNKNOWN_TIME_KEY } from '../time-key.ts'
import { isLabelAt } from './json-label.ts'
import { INT32, INT64, TIME, UINT32 } from './json-scalars.ts'
import { ANY_VALUE, EXPORT_LOGS_REQUEST, type Field, KEY_VALUE, Kind, type Message, Note, slotOf } from './json-schema.ts'
import { NOT_PLAIN, PlainAttributes } from './plain-attributes.ts'
import { ScalarReader } from './scalar-reader.ts'

const SERVICE_NAME = Buffer.from('service.name')
const TENANT_ID = Buffer.from('tenant_id')
const NOWHERE = -1
/** Ends the reading of a part that is too long to be read in one go. */
const LONG_PART = new Error('a long part of a request')
const NO_REPAIRS: Repairs = { add: () => undefined }
/** Lists with rests between their elements, in a request that takes long. */
const LONG_LISTS: ReadonlySet<Note> = new Set([Note.resourceLogs, Note.scopeLogs, Note.logRecords])

/**
 * One pass over a request: checks syntax and types and notes where the records lie, without building objects.
 * Method arguments and results are positions in the text.
 */
export class JsonScanner {
  readonly #b: Uint8Array
  readonly #words: DataView
  readonly #plain: PlainAttributes
  readonly #scalars: ScalarReader
  readonly #observedTimeUnixNano: string
  readonly #maxPartBytes: number
  readonly #edits = new EditList()
  readonly #layout = new LayoutBuilder()
  #resourceLogsSeen = false
  /** Span of the list that was read last: `logRecords` for a scope, `scopeLogs` for a resource. */
  #listStart = NOWHERE
  #listEnd = NOWHERE
  #service: string | undefined
  #tenantId: string | undefined
  #timeKey = UNKNOWN_TIME_KEY
  #observedCanonical: string | undefined
  #observedTimeStart = NOWHERE
  #observedTimeEnd = NOWHERE
  #keyStart = NOWHERE
  #keyEnd = NOWHERE
  #stringStart = NOWHERE
  #stringEnd = NOWHERE
  /** Where the reading of a part in one go ends with `LONG_PART`. */
  #partLimit: number

  constructor(text: Uint8Array, observedTimeUnixNano: string, maxPartBytes: number) {
    this.#b = text
    this.#words = new DataView(text.buffer, text.byteOffset, text.length)
    this.#plain = new PlainAttributes(text, this.#words)
    this.#scalars = new ScalarReader(text, this.#edits)
    this.#observedTimeUnixNano = observedTimeUnixNano
    this.#maxPartBytes = maxPartBytes
    this.#partLimit = text.length
  }

  /** Throws a `Fault` or an `OversizedPayload`. */
  scan(): RequestLayout {
    return this.#done(this.#message(this.#open(), EXPORT_LOGS_REQUEST, 0))
  }

  /** The same, with rests. */
  *steps(): Steps<RequestLayout> {
    return this.#done(yield* this.#longMessage(this.#open(), EXPORT_LOGS_REQUEST))
  }

  #open(): number {
    const start = skipSpace(this.#b, 0)
    if (this.#b[start] !== OPEN_OBJECT) throw new Fault(start, 'an object')
    return start
  }

  #done(requestEnd: number): RequestLayout {
    const b = this.#b
    const end = skipSpace(b, requestEnd)
    if (end !== b.length) throw new Fault(end, 'the end of the input')
    return this.#layout.build(b, this.#edits.settled())
  }

  /** As `#message`, of a message around the records. */
  *#longMessage(open: number, message: Message): Steps<number> {
    const b = this.#b
    let p = skipSpace(b, open + 1)
    if (b[p] === CLOSE_OBJECT) return p + 1
    for (;;) {
      if (b[p] !== QUOTE) throw new Fault(p, 'a field name')
      const nameStart = p + 1
      const nameEnd = closingQuote(b, nameStart, this.#edits)
      const field = this.#field(message, nameStart, nameEnd)
      p = skipSpace(b, this.#colon(nameEnd + 1) + 1)
      if (field === undefined) p = yield* valueEndSteps(b, p, this.#edits, MAX_UNKNOWN_DEPTH)
      else if (isNull(b, p)) {
        this.#edits.add(nameStart, nameEnd, '_')
        p += 4
      } else {
        if (field.rename) this.#edits.add(nameStart, nameEnd, field.name)
        p = LONG_LISTS.has(field.note) ? yield* this.#longList(p, field) : yield* this.#part(p, field)
      }
      p = skipSpace(b, p)
      if (b[p] === CLOSE_OBJECT) return p + 1
      if (b[p] !== COMMA) throw new Fault(p, '"," or "}"')
      p = skipSpace(b, p + 1)
    }
  }

  *#longList(open: number, field: Field): Steps<number> {
    const { note, message } = field
    const b = this.#b
    if (b[open] !== OPEN_LIST) throw new Fault(open, 'a list')
    this.#openList(open, note)
    let p = skipSpace(b, open + 1)
    const listStart = p
    if (b[p] !== CLOSE_LIST) {
      const rests = new Rests(p)
      for (;;) {
        if (b[p] !== OPEN_OBJECT) throw new Fault(p, 'an object')
        const start = p
        if (note === Note.logRecords) {
          p = this.#shortEnd(start, field)
          if (p === NOWHERE) p = yield* this.#longRecord(start)
        } else {
          this.#beginGroup(note)
          p = yield* this.#longMessage(start, message)
          this.#endGroup(note, start, p)
        }
        if (b[p]! <= 0x20) p = skipSpace(b, p)
        if (b[p] === CLOSE_LIST) break
        if (b[p] !== COMMA) throw new Fault(p, '"," or "]"')
        p++
        if (b[p]! <= 0x20) p = skipSpace(b, p)
        if (rests.isDue(p)) yield
      }
    }
    this.#closeList(note, listStart, p)
    return p + 1
  }

  /** After a resource, a scope or what else stands beside a list. */
  *#part(start: number, field: Field): Steps<number> {
    const end = this.#shortEnd(start, field)
    return end === NOWHERE ? yield* valueEndSteps(this.#b, start, NO_REPAIRS, MAX_REQUEST_LEVELS) : end
  }

  *#longRecord(start: number): Steps<number> {
    const end = yield* valueEndSteps(this.#b, start, NO_REPAIRS, MAX_REQUEST_LEVELS)
    this.#layout.addRecord(start, end, UNKNOWN_TIME_KEY)
    return end
  }

  /** After a part that is read in one go; `NOWHERE` where it is longer than a part may be, and then nothing of it is kept. */
  #shortEnd(start: number, field: Field): number {
    const edits = this.#edits.count
    this.#partLimit = Math.min(start + this.#maxPartBytes, this.#b.length)
    try {
      return field.note === Note.logRecords ? this.#logRecord(start, field.message) : this.#value(start, field, 0)
    } catch (error) {
      if (error !== LONG_PART) throw error
      this.#edits.cutTo(edits)
      return NOWHERE
    } finally {
      this.#partLimit = this.#b.length
    }
  }

  /** After a value that is checked for syntax alone, in one go. */
  #unknownEnd(start: number): number {
    const reader = new ValueReader(this.#b, start, this.#edits)
    if (!reader.goOn(this.#partLimit)) throw LONG_PART
    return reader.position
  }

  /** `depth` counts the AnyValues around. */
  #message(open: number, message: Message, depth: number): number {
    const b = this.#b
    let seen: Field | undefined
    let likely = message.likelyFirst
    let last: Field | undefined
    let p = open + 1
    if (b[p]! <= 0x20) p = skipSpace(b, p)
    if (b[p] === CLOSE_OBJECT) return p + 1
    for (;;) {
      if (b[p] !== QUOTE) throw new Fault(p, 'a field name')
      const nameStart = p + 1
      let nameEnd: number
      let field: Field | undefined
      if (likely !== undefined && isLabelAt(this.#words, nameStart, b.length, likely.label)) {
        field = likely
        nameEnd = nameStart + field.spelling.length
        p = nameStart + field.label.length
      } else {
        nameEnd = closingQuote(b, nameStart, this.#edits)
        p = nameEnd + 1
        if (b[p] !== COLON) p = this.#colon(p)
        p++
        field = this.#field(message, nameStart, nameEnd)
        if (last === undefined) message.likelyFirst = field
        else last.likelyNext = field
      }
      if (b[p]! <= 0x20) p = skipSpace(b, p)
      if (field !== undefined) {
        last = field
        likely = field.likelyNext
      }
      if (field === undefined) p = this.#unknownEnd(p)
      else if (b[p] === 0x6e && isNull(b, p)) {
        this.#edits.add(nameStart, nameEnd, '_')
        p += 4
      } else {
        if (message.exclusive) {
          if (seen !== undefined) throw new Fault(nameStart - 1, `only one kind of value beside ${seen.name}`)
          seen = field
        }
        if (field.rename) this.#edits.add(nameStart, nameEnd, field.name)
        p = this.#value(p, field, depth)
      }
      if (p > this.#partLimit) throw LONG_PART
      if (b[p]! <= 0x20) p = skipSpace(b, p)
      if (b[p] === CLOSE_OBJECT) return p + 1
      if (b[p] !== COMMA) throw new Fault(p, '"," or "}"')
      p++
      if (b[p]! <= 0x20) p = skipSpace(b, p)
    }
  }

  #colon(from: number): number {
    const p = skipSpace(this.#b, from)
    if (this.#b[p] !== COLON) throw new Fault(p, '":"')
    return p
  }

  #field(message: Message, start: number, end: number): Field | undefined {
    const b = this.#b
    const length = end - start
    if (length === 0) return undefined
    const field = message.slots[slotOf(message.factor, b[start]!, b[start + (length >> 1)]!, length)]
    if (field !== undefined && field.spelling.length === length) {
      const { spelling } = field
      let i = 0
      while (i < length && spelling[i] === b[start + i]) i++
      if (i === length) return field
    }
    return hasEscape(this.#b, start, end) ? this.#escapedField(message, start, end) : undefined
  }

  #escapedField(message: Message, start: number, end: number): Field | undefined {
    const name = this.#scalars.decoded(start, end)
    return message.byName.get(name)
  }

  #value(p: number, field: Field, depth: number): number {
    switch (field.kind) {
      case Kind.string:
        return this.#string(p, field, depth)
      case Kind.message:
        return this.#submessage(p, field, depth)
      case Kind.list:
        return this.#list(p, field, depth)
      case Kind.uint64:
        return this.#time(p, field)
      case Kind.int64:
        return this.#scalars.integer(p, INT64)
      case Kind.uint32:
        return this.#scalars.integer(p, UINT32)
      case Kind.int32:
        if (this.#b[p] === QUOTE) throw new Fault(p, INT32.expected)
        return this.#scalars.integer(p, INT32)
      case Kind.double:
        return this.#scalars.double(p)
      case Kind.bool:
        return this.#scalars.bool(p)
      case Kind.base64:
        return this.#scalars.base64(p)
    }
  }

  #string(p: number, field: Field, depth: number): number {
    if (this.#b[p] !== QUOTE) throw new Fault(p, 'a string')
    const end = this.#closingQuote(p + 1)
    if (field.note === Note.attributeKey && depth === 0) {
      this.#keyStart = p + 1
      this.#keyEnd = end
    } else if (field.note === Note.stringValue && depth === 1) {
      this.#stringStart = p + 1
      this.#stringEnd = end
    }
    return end + 1
  }

  /** As `closingQuote`, which it leaves strings with escapes to. */
  #closingQuote(from: number): number {
    const p = specialAt(this.#words, from, this.#b.length)
    return this.#b[p] === QUOTE ? p : closingQuote(this.#b, p, this.#edits)
  }

  #submessage(p: number, field: Field, depth: number): number {
    if (this.#b[p] !== OPEN_OBJECT) throw new Fault(p, 'an object')
    if (field.note === Note.resource) this.#forgetResource()
    return this.#valueOrMessage(p, field.message, depth)
  }

  /** A value that is nothing but a string is matched in one go. */
  #valueOrMessage(p: number, message: Message, depth: number): number {
    if (message === ANY_VALUE && depth === 0) {
      const start = this.#plain.stringValueStart(p)
      if (start !== NOT_PLAIN) {
        const end = this.#closingQuote(start)
        if (this.#b[end + 1] === CLOSE_OBJECT) {
          this.#stringStart = start
          this.#stringEnd = end
          return end + 2
        }
      }
    }
    return this.#message(p, message, this.#deeper(p, message, depth))
  }

  #deeper(p: number, message: Message, depth: number): number {
    if (message !== ANY_VALUE) return depth
    if (depth === MAX_VALUE_DEPTH) throw new Fault(p, `at most ${MAX_VALUE_DEPTH} levels of nesting`)
    return depth + 1
  }

  #forgetResource(): void {
    this.#service = undefined
    this.#tenantId = undefined
  }

  #list(open: number, field: Field, depth: number): number {
    const b = this.#b
    if (b[open] !== OPEN_LIST) throw new Fault(open, 'a list')
    this.#openList(open, field.note)
    let p = skipSpace(b, open + 1)
    const listStart = p
    if (b[p] !== CLOSE_LIST) {
      for (;;) {
        if (b[p] !== OPEN_OBJECT) throw new Fault(p, 'an object')
        p = this.#element(p, field, depth)
        if (p > this.#partLimit) throw LONG_PART
        if (b[p]! <= 0x20) p = skipSpace(b, p)
        if (b[p] === CLOSE_LIST) break
        if (b[p] !== COMMA) throw new Fault(p, '"," or "]"')
        p++
        if (b[p]! <= 0x20) p = skipSpace(b, p)
      }
    }
    this.#closeList(field.note, listStart, p)
    return p + 1
  }

  /** Refuses a second list of records, as every reader would lose one of the two. Of two lists of attributes the last one counts. */
  #openList(p: number, note: Note): void {
    const twice =
      (note === Note.logRecords && this.#listStart !== NOWHERE) ||
      (note === Note.scopeLogs && this.#listStart !== NOWHERE) ||
      (note === Note.resourceLogs && this.#resourceLogsSeen)
    if (twice) throw new Fault(p, 'this list only once')
    if (note === Note.resourceLogs) this.#resourceLogsSeen = true
    if (note === Note.resourceAttributes) this.#forgetResource()
  }

  #closeList(note: Note, start: number, end: number): void {
    if (note !== Note.logRecords && note !== Note.scopeLogs) return
    this.#listStart = start
    this.#listEnd = end
  }

  #element(p: number, field: Field, depth: number): number {
    if (field.message === KEY_VALUE && field.note === Note.none && depth === 0) {
      const end = this.#plain.end(p)
      if (end !== NOT_PLAIN) return end
    }
    switch (field.note) {
      case Note.logRecords:
        return this.#logRecord(p, field.message)
      case Note.scopeLogs:
      case Note.resourceLogs:
        return this.#group(p, field)
      case Note.resourceAttributes:
        return this.#resourceAttribute(p, field.message)
      default:
        return this.#message(p, field.message, this.#deeper(p, field.message, depth))
    }
  }

  /** Records of one resource, or of one scope. */
  #group(start: number, { note, message }: Field): number {
    this.#beginGroup(note)
    const end = this.#message(start, message, 0)
    this.#endGroup(note, start, end)
    return end
  }

  #beginGroup(note: Note): void {
    if (note === Note.resourceLogs) this.#forgetResource()
    this.#listStart = NOWHERE
  }

  #endGroup(note: Note, start: number, end: number): void {
    const listStart = this.#listStart
    const listEnd = this.#listEnd
    if (note === Note.resourceLogs)
      this.#layout.addResource({ start, end, listStart, listEnd, service: this.#service, tenantId: this.#tenantId })
    else {
      this.#layout.addScope({ start, end, listStart, listEnd })
      this.#listStart = NOWHERE
    }
  }

  #logRecord(start: number, message: Message): number {
    this.#timeKey = UNKNOWN_TIME_KEY
    this.#observedTimeStart = NOWHERE
    const end = this.#message(start, message, 0)
    const timeKey = this.#timeKey === UNKNOWN_TIME_KEY ? this.#observedTimeKey() : this.#timeKey
    this.#layout.addRecord(start, end, timeKey)
    if (timeKey === UNKNOWN_TIME_KEY) this.#addObservedTime(start)
    return end
  }

  #addObservedTime(recordStart: number): void {
    const value = `"${this.#observedTimeUnixNano}"`
    if (this.#observedTimeStart !== NOWHERE) {
      this.#edits.add(this.#observedTimeStart, this.#observedTimeEnd, value)
      return
    }
    const at = recordStart + 1
    const comma = this.#b[skipSpace(this.#b, at)] === CLOSE_OBJECT ? '' : ','
    this.#edits.add(at, at, `"observedTimeUnixNano":${value}${comma}`)
  }

  #resourceAttribute(start: number, message: Message): number {
    const end = this.#keyedValue(start, message)
    if (this.#keyStart === NOWHERE) return end
    if (this.#isKey(SERVICE_NAME)) this.#service = this.#attributeString()
    else if (this.#isKey(TENANT_ID)) this.#tenantId = this.#attributeString()
    return end
  }

  #keyedValue(start: number, message: Message): number {
    const end = this.#plain.end(start)
    if (end === NOT_PLAIN) {
      this.#keyStart = NOWHERE
      this.#stringStart = NOWHERE
      return this.#message(start, message, 0)
    }
    this.#keyStart = start + '{"key":"'.length
    this.#keyEnd = this.#plain.keyEnd
    this.#stringStart = this.#plain.stringStart
    this.#stringEnd = this.#plain.stringEnd
    return end
  }

  #isKey(name: Buffer): boolean {
    const start = this.#keyStart
    const end = this.#keyEnd
    if (hasEscape(this.#b, start, end)) return this.#scalars.decoded(start, end) === name.toString()
    if (end - start !== name.length) return false
    for (let i = 0; i < name.length; i++) if (this.#b[start + i] !== name[i]) return false
    return true
  }

  #attributeString(): string | undefined {
    return this.#stringStart === NOWHERE ? undefined : this.#scalars.decoded(this.#stringStart, this.#stringEnd)
  }

  #time(start: number, field: Field): number {
    this.#scalars.canonical = undefined
    const end = this.#scalars.integer(start, TIME)
    if (field.note === Note.time) this.#timeKey = this.#integerKey(start, end)
    else {
      this.#observedCanonical = this.#scalars.canonical
      this.#observedTimeStart = start
      this.#observedTimeEnd = end
    }
    return end
  }

  /** The time key of an integer by its value, however that was spelled. */
  #integerKey(start: number, end: number): number {
    const canonical = this.#scalars.canonical
    if (canonical === undefined) {
      const quote = this.#b[start] === QUOTE ? 1 : 0
      return this.#b[start + quote] === ZERO ? UNKNOWN_TIME_KEY : keyOfDigits(this.#words, start + quote, end - quote)
    }
    if (canonical === '0') return UNKNOWN_TIME_KEY
    const digits = new TextEncoder().encode(canonical)
    return keyOfDigits(new DataView(digits.buffer), 0, digits.length)
  }

  /** Asked for where a record has no time of its own. */
  #observedTimeKey(): number {
    if (this.#observedTimeStart === NOWHERE) return UNKNOWN_TIME_KEY
    this.#scalars.canonical = this.#observedCanonical
    return this.#integerKey(this.#observedTimeStart, this.#observedTimeEnd)
  }
}
