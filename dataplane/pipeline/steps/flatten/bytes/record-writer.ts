/** Writes one flat record, in bytes. */
import { type Enrichment, enrich, type MlFeatures } from '../../../../domain/features/enrichment.ts'
import { LOG_NAMESPACE } from '../../../../domain/records/log-id.ts'
import { type DayRule, formatDay, indexDay, isKept, secondPrefix } from '../../../../domain/records/timestamp.ts'
import { namespaceBytes, writeUuid5 } from '../../../../hash/uuid5.ts'
import { CLOSE_OBJECT, COLON, COMMA, DOT, NOWHERE, OPEN_OBJECT, QUOTE, ZERO } from '../../../../json/bytes.ts'
import { areLowerHex, moveBytes } from '../../../../json/words.ts'
import { type EncodedRecord, HEAD_MARKS, type KnownFields, type KnownPattern, type Layout } from '../../../flat-record-layout.ts'
import { hashEndOf, visitHash } from '../../../signal-fields.ts'
import type { AttributeShape, Member } from './attribute-shape.ts'
import { type Pattern, PatternMembers } from './pattern-members.ts'
import { type Piece, pieceOf } from './piece.ts'
import type { RecordContext } from './record-context.ts'
import { ABSENT, type RecordScanner, TIME_DIGITS } from './record-scanner.ts'
import { type Severity, SeverityMembers } from './severity-members.ts'
import { CONTENT_AT, NAME_AT, OUTPUT_AT, SHARED_AT, Views } from './work-area.ts'

const [DOCUMENT_ID, INDEX_DAY, TIMESTAMP] = HEAD_MARKS
const DOCUMENT_ID_AT = OUTPUT_AT + DOCUMENT_ID.at + DOCUMENT_ID.text.length
const DAY_AT = OUTPUT_AT + INDEX_DAY.at + INDEX_DAY.text.length
/** The position behind the opening quote. */
const TIMESTAMP_AT = OUTPUT_AT + TIMESTAMP.at + TIMESTAMP.text.length + 1
const NANOS = pieceOf('Z","nanos":')
const TIME = pieceOf(',"time_unix_nano":"')
const LOG_ID = pieceOf('","log_id":"')
const TRACE_ID = pieceOf(',"trace_id":"')
const SPAN_ID = pieceOf(',"span_id":"')
const MESSAGE = pieceOf(',"message":')
const ATTRIBUTES = pieceOf(',"attributes":')
const EMPTY = pieceOf('')
const LOG_NAMESPACE_BYTES = namespaceBytes(LOG_NAMESPACE)

const UUID_LENGTH = 36
const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
/** Digits of the nanoseconds within a second, of those within a millisecond, and the least that an ISO time has behind its point. */
const SECOND_DIGITS = 9
const MS_DIGITS = 6
const MIN_FRACTION = 3
/** `YYYY-MM-DDTHH:mm:ss` */
const SECOND_PREFIX_LENGTH = 19

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

const NO_LAYOUT: Layout = { canonicalEnd: 0, attributesStart: 0, topLevelEnd: 0, keySet: '' }
const NO_PATTERN: KnownPattern = { hash: 0, text: '' }

const ZEROS = 0x30303030
/** The second of no record. */
const NO_SECOND = -1

/** Lower-case form of each hexadecimal digit; 0 for other bytes. */
const LOWER_HEX = new Uint8Array(256)
for (const digit of '0123456789abcdef') LOWER_HEX[digit.charCodeAt(0)] = LOWER_HEX[digit.toUpperCase().charCodeAt(0)] = digit.charCodeAt(0)

/** Puts flat records together from pieces of the message and of what its records share, in the work area. */
export class RecordWriter {
  readonly #b: Buffer
  readonly #view: DataView
  readonly #names: Views
  readonly #contents: Views
  readonly #patterns: PatternMembers
  readonly #severities = new SeverityMembers()
  readonly #shared: LoadedContext
  readonly #enrichments = new EnrichmentMembers()
  /** One object for all records, as are the two within. */
  readonly #written: Writable<EncodedRecord>
  readonly #layout: Writable<Layout> = { ...NO_LAYOUT }
  readonly #known: Writable<KnownFields>
  #day: DayRule = { receivedAtMs: 0, retentionDays: 0 }
  #enrichment: EnrichmentBytes
  /** The second whose day and time stand in the head, as the record before had them. */
  #headSecond = NO_SECOND
  /** From here to `#messageStart`: fields of the record that is being written. */
  #timeMs = 0
  #severity: Severity
  #messageStart = 0
  /** In the name of the log id. */
  #traceAt = ABSENT
  #spanAt = ABSENT

  constructor(bytes: Buffer) {
    this.#b = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#patterns = new PatternMembers(bytes)
    this.#names = new Views(bytes, NAME_AT)
    this.#contents = new Views(bytes, CONTENT_AT)
    this.#shared = new LoadedContext(bytes)
    bytes.set(LOG_NAMESPACE_BYTES, NAME_AT)
    for (const { at, text } of HEAD_MARKS) bytes.write(text, OUTPUT_AT + at, 'latin1')
    bytes[TIMESTAMP_AT - 1] = QUOTE
    this.#enrichment = this.#enrichments.of(undefined)
    this.#severity = this.#severities.of(bytes, 0, 0, 0)
    this.#known = {
      timeMs: Number.NaN,
      level: this.#severity.level,
      features: this.#enrichment.features,
      messageStart: 0,
      messageEnd: 0,
      isTelling: false,
      pattern: NO_PATTERN,
      visitHash: 0,
    }
    this.#written = { bytes, start: OUTPUT_AT, end: OUTPUT_AT, layout: this.#layout, known: this.#known }
  }

  /** For the records of one message. */
  start(day: DayRule): void {
    this.#day = day
    this.#headSecond = NO_SECOND
  }

  /** For the records of one resource and scope; `features` are those of the service. */
  startScope(context: RecordContext, features: MlFeatures | undefined | 'unreachable'): void {
    this.#enrichment = this.#enrichments.of(features)
    // All others are written by the rules one by one.
    if (context.isPlain) this.#shared.load(context)
  }

  /** `keySet` is that of the context with the shape. The record stays until the next is written. */
  write(record: RecordScanner, shape: AttributeShape, keySet: string): EncodedRecord {
    const b = this.#b
    const time = record.time === ABSENT ? record.observedTime : record.time
    const logIdAt = this.#writeTimes(time, record)
    writeUuid5(this.#names.until(this.#writeName(record, time)), b, logIdAt, 'remembered')
    const shared = this.#shared
    const messageAt = this.#writeContentHead(record, shape, logIdAt)
    const contentEnd = record.writeMessage(messageAt)
    writeUuid5(this.#contents.until(contentEnd), b, DOCUMENT_ID_AT)
    const fieldsEnd = this.#writeFields(record, logIdAt + UUID_LENGTH)
    const pattern = this.#patterns.of(messageAt, contentEnd)
    const patternEnd = this.#put(pattern.members, fieldsEnd)
    const canonicalEnd = this.#put(this.#enrichment.members, patternEnd)
    const flattenedEnd = this.#putMembers(shape.flattened, record, this.#move(shared.fieldsEnd, shared.flattenedEnd, canonicalEnd))
    const openAt = this.#putPiece(ATTRIBUTES, flattenedEnd)
    const topLevelEnd = this.#putMembers(shape.topLevel, record, this.#move(shared.flattenedEnd, shared.topLevelEnd, openAt))
    const foldedEnd = this.#putMembers(shape.folded, record, this.#move(shared.topLevelEnd, shared.foldedEnd, topLevelEnd))
    // The comma of the first attribute gives way to the brace.
    const attributesStart = openAt + 1
    b[openAt] = OPEN_OBJECT
    const end = Math.max(foldedEnd, attributesStart) + 2
    b[end - 2] = b[end - 1] = CLOSE_OBJECT
    const written = this.#written
    written.end = end
    const layout = this.#layout
    layout.canonicalEnd = canonicalEnd - OUTPUT_AT
    layout.attributesStart = attributesStart - OUTPUT_AT
    layout.topLevelEnd = Math.max(topLevelEnd, attributesStart) - OUTPUT_AT
    layout.keySet = keySet
    this.#noteKnown(pattern, fieldsEnd - 1)
    return written
  }

  #noteKnown(pattern: Pattern, messageEnd: number): void {
    const trace = this.#traceAt
    const span = this.#spanAt
    const spanHash = span === ABSENT ? 0 : hashEndOf(this.#b, span + SPAN_DIGITS)
    const known = this.#known
    known.timeMs = this.#timeMs
    known.level = this.#severity.level
    known.features = this.#enrichment.features
    known.messageStart = this.#messageStart - OUTPUT_AT
    known.messageEnd = messageEnd - OUTPUT_AT
    known.isTelling = this.#patterns.isTelling(pattern)
    known.pattern = pattern
    known.visitHash = trace === ABSENT ? 0 : visitHash(hashEndOf(this.#b, trace + TRACE_DIGITS), spanHash)
  }

  /** From behind the log id to the message. */
  #writeFields(record: RecordScanner, from: number): number {
    const b = this.#b
    b[from] = QUOTE
    let at = this.#move(this.#shared.digestsEnd, this.#shared.fieldsEnd, from + 1)
    this.#severity = this.#severities.of(b, record.severityStart, record.severityEnd, record.severityNumber)
    at = this.#putPiece(this.#severity.members, at)
    at = this.#putId(TRACE_ID, this.#traceAt, TRACE_DIGITS, at)
    at = this.#putId(SPAN_ID, this.#spanAt, SPAN_DIGITS, at)
    at = this.#putPiece(MESSAGE, at)
    b[at++] = QUOTE
    this.#messageStart = at
    at = this.#move(record.messageStart, record.messageEnd, at)
    b[at] = QUOTE
    return at + 1
  }

  /** The head up to the log id: the marks stand there, the document id is still missing. */
  #writeTimes(time: number, record: RecordScanner): number {
    const b = this.#b
    const fraction = time + TIME_DIGITS - SECOND_DIGITS
    const second = this.#number(time, fraction)
    const ms = second * 1_000 + this.#number(fraction, fraction + MIN_FRACTION)
    this.#timeMs = ms
    if (second !== this.#headSecond) this.#writeSecond(second, ms, record)
    let at = TIMESTAMP_AT + SECOND_PREFIX_LENGTH
    b[at++] = DOT
    let end = time + TIME_DIGITS
    while (end > fraction + MIN_FRACTION && b[end - 1] === ZERO) end--
    at = this.#putPiece(NANOS, this.#move(fraction, end, at))
    let nanos = time + TIME_DIGITS - MS_DIGITS
    while (nanos < time + TIME_DIGITS - 1 && b[nanos] === ZERO) nanos++
    at = this.#putPiece(TIME, this.#move(nanos, time + TIME_DIGITS, at))
    return this.#putPiece(LOG_ID, this.#move(time, time + TIME_DIGITS, at))
  }

  /** Day and time up to the second. */
  #writeSecond(second: number, ms: number, record: RecordScanner): void {
    const day = this.#day
    this.#putAscii(isKept(ms, day) ? formatDay(ms) : indexDay(ms, this.#observedText(record), day), DAY_AT)
    this.#putAscii(secondPrefix(second), TIMESTAMP_AT)
    // The day of a time that is not kept depends on more than the second.
    const isWholeKept = isKept(second * 1_000, day) && isKept(second * 1_000 + 999, day)
    this.#headSecond = isWholeKept ? second : NO_SECOND
  }

  #observedText({ observedTime }: RecordScanner): string {
    return observedTime === ABSENT ? '' : this.#b.toString('latin1', observedTime, observedTime + TIME_DIGITS)
  }

  /** Writes the input of the log id, see `buildLogId`. */
  #writeName(record: RecordScanner, time: number): number {
    const b = this.#b
    const start = NAME_AT + LOG_NAMESPACE_BYTES.length
    const traceEnd = this.#writeId(record.traceStart, record.traceEnd, TRACE_DIGITS, start)
    this.#traceAt = traceEnd > start ? start : ABSENT
    b[traceEnd] = COLON
    const spanEnd = this.#writeId(record.spanStart, record.spanEnd, SPAN_DIGITS, traceEnd + 1)
    this.#spanAt = spanEnd > traceEnd + 1 ? traceEnd + 1 : ABSENT
    b[spanEnd] = COLON
    return this.#move(time, time + TIME_DIGITS, spanEnd + 1)
  }

  /** Writes an id as `normaliseId` does; nothing for an invalid one. */
  #writeId(start: number, end: number, digits: number, at: number): number {
    const b = this.#b
    if (end - start !== digits) return at
    const written = this.#writePlainId(start, digits, at)
    if (written !== NOWHERE) return written
    let isZero = true
    for (let i = 0; i < digits; i++) {
      const digit = LOWER_HEX[b[start + i]!]!
      if (digit === 0) return at
      if (digit !== ZERO) isZero = false
      b[at + i] = digit
    }
    return isZero ? at : at + digits
  }

  /** The same of digits in lower case, four at a time; `NOWHERE` when there are others, or zeros alone. */
  #writePlainId(start: number, digits: number, at: number): number {
    const view = this.#view
    let seen = 0
    for (let i = 0; i < digits; i += 4) {
      const word = view.getInt32(start + i, true)
      if (!areLowerHex(word)) return NOWHERE
      seen |= word ^ ZEROS
      view.setInt32(at + i, word, true)
    }
    return seen === 0 ? NOWHERE : at + digits
  }

  /** Writes the input of the document id up to the message, see `buildDocumentId`. */
  #writeContentHead(record: RecordScanner, shape: AttributeShape, logIdAt: number): number {
    const b = this.#b
    const { attributes, severityStart, severityEnd } = record
    const { starts, ends } = attributes
    const { sorted } = shape
    const shared = this.#shared
    let at = this.#putPiece(shared.contentHead, CONTENT_AT)
    at = this.#move(SHARED_AT, shared.digestsEnd, this.#move(logIdAt, logIdAt + UUID_LENGTH, at))
    let length = shape.stableKeysLength - attributes.surplus + Math.max(0, sorted.length - 1)
    for (let i = 0; i < sorted.length; i++) length += ends[i]! - starts[i]!
    at = this.#putNumber(length, at)
    b[at++] = COMMA
    at = this.#putNumber(severityEnd - severityStart, at)
    b[at++] = COMMA
    at = this.#putNumber(record.severityNumber, at)
    b[at++] = COMMA
    at = this.#putPiece(shape.stableKeys, at)
    for (let i = 0; i < sorted.length; i++) {
      if (i > 0) b[at++] = COMMA
      at = this.#move(starts[sorted[i]!]!, ends[sorted[i]!]!, at)
    }
    return this.#move(severityStart, severityEnd, at)
  }

  #putId(name: Piece, idAt: number, digits: number, at: number): number {
    if (idAt === ABSENT) return at
    const end = this.#move(idAt, idAt + digits, this.#putPiece(name, at))
    this.#b[end] = QUOTE
    return end + 1
  }

  #putMembers(members: readonly Member[], { attributes }: RecordScanner, from: number): number {
    const { starts, ends } = attributes
    let at = from
    for (let i = 0; i < members.length; i++) {
      const { prefix, value } = members[i]!
      at = this.#move(starts[value]!, ends[value]!, this.#putPiece(prefix, at))
    }
    return at
  }

  #putPiece(piece: Piece, at: number): number {
    return piece.put(this.#b, this.#view, at)
  }

  #put(piece: Uint8Array, at: number): number {
    const { length } = piece
    // A call for nothing takes as long as one for a hundred bytes.
    if (length > 0) this.#b.set(piece, at)
    return at + length
  }

  #move(from: number, to: number, at: number): number {
    return moveBytes(this.#b, this.#view, from, to, at)
  }

  #putAscii(text: string, at: number): number {
    for (let i = 0; i < text.length; i++) this.#b[at + i] = text.charCodeAt(i)
    return at + text.length
  }

  #putNumber(number: number, at: number): number {
    return this.#putAscii(String(number), at)
  }

  /** The number that these digits are. */
  #number(from: number, to: number): number {
    let number = 0
    for (let p = from; p < to; p++) number = number * 10 + this.#b[p]! - ZERO
    return number
  }
}

/** The context of the records that are written, its bytes in the work area: these are moved for less than they are copied from elsewhere. */
class LoadedContext {
  readonly #b: Buffer
  contentHead = EMPTY
  /** In the area. */
  digestsEnd = SHARED_AT
  fieldsEnd = SHARED_AT
  flattenedEnd = SHARED_AT
  topLevelEnd = SHARED_AT
  foldedEnd = SHARED_AT

  constructor(bytes: Buffer) {
    this.#b = bytes
  }

  load({ sender, shared }: RecordContext): void {
    const { memory, start, foldedEnd } = shared
    memory.copy(this.#b, SHARED_AT, start, start + foldedEnd)
    this.contentHead = sender.contentHead
    this.digestsEnd = SHARED_AT + shared.digestsEnd
    this.fieldsEnd = SHARED_AT + shared.fieldsEnd
    this.flattenedEnd = SHARED_AT + shared.flattenedEnd
    this.topLevelEnd = SHARED_AT + shared.topLevelEnd
    this.foldedEnd = SHARED_AT + foldedEnd
  }
}

interface EnrichmentBytes {
  readonly features: MlFeatures
  /** The ML fields and `enriched`, with a leading comma. */
  readonly members: Uint8Array
}

/** Enrichments as JSON members, remembered by the features: a service has the same ones from one reading of the feature store to the next. */
class EnrichmentMembers {
  readonly #ofFeatures = new WeakMap<MlFeatures, EnrichmentBytes>()
  readonly #withoutFeatures = bytesOf(enrich(undefined))
  readonly #unreachable = bytesOf(enrich('unreachable'))

  of(features: MlFeatures | undefined | 'unreachable'): EnrichmentBytes {
    if (features === undefined) return this.#withoutFeatures
    if (features === 'unreachable') return this.#unreachable
    const known = this.#ofFeatures.get(features)
    if (known !== undefined) return known
    const bytes = bytesOf(enrich(features))
    this.#ofFeatures.set(features, bytes)
    return bytes
  }
}

function bytesOf(enrichment: Enrichment): EnrichmentBytes {
  return { features: enrichment, members: Buffer.from(`,${JSON.stringify(enrichment).slice(1, -1)}`) }
}
