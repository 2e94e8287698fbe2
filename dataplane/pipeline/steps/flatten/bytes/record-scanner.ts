/** Finds the fields of one log record, in bytes of OTLP JSON. */
import { CLOSE_OBJECT, COLON, COMMA, digitsEnd, NOWHERE, QUOTE, startsWith, ZERO } from '../../../../json/bytes.ts'
import { integerEnd } from '../../../../json/numbers.ts'
import { afterSpace, phrase, phraseEnd } from '../../../../json/phrase.ts'
import { StringScanner } from '../../../../json/string-scanner.ts'
import { AttributeScanner } from './attribute-scanner.ts'
import { FoundSlots, type Glue, glueAt, RecordTemplates, Slot } from './record-templates.ts'
import { MAX_RECORD_BYTES } from './work-area.ts'

const Field = {
  timeUnixNano: 0,
  observedTimeUnixNano: 1,
  severityNumber: 2,
  severityText: 3,
  body: 4,
  attributes: 5,
  droppedAttributesCount: 6,
  flags: 7,
  traceId: 8,
  spanId: 9,
  eventName: 10,
} as const
type Field = (typeof Field)[keyof typeof Field]

/** Field names up to their closing quote, by their number. */
const NAMES = Object.keys(Field).map(name => Buffer.from(`${name}"`))

const STRING_BODY = phrase('{', '"stringValue"', ':', '"')
/** Every time from September 2001 to 2286. */
export const TIME_DIGITS = 19
const MAX_NUMBER_DIGITS = 9
/** A part that a record does not have. */
export const ABSENT = 0

/**
 * Finds the parts of a log record in its bytes, without making strings or objects of them. Whatever is unusual (another kind of value, a field that
 * OTLP does not know, one that is there twice, escapes that `JSON.stringify` would not write …) it leaves to the plain way.
 * Positions are of the first byte of a text, behind its quote, and of its closing quote.
 */
export class RecordScanner {
  readonly attributes: AttributeScanner
  /** Where the time's 19 digits begin. */
  time = ABSENT
  observedTime = ABSENT
  severityNumber = 0
  severityStart = ABSENT
  severityEnd = ABSENT
  messageStart = ABSENT
  messageEnd = ABSENT
  traceStart = ABSENT
  traceEnd = ABSENT
  spanStart = ABSENT
  spanEnd = ABSENT
  readonly #b: Buffer
  readonly #view: DataView
  readonly #templates = new RecordTemplates()
  readonly #found = new FoundSlots()
  readonly #texts: StringScanner
  readonly #message: StringScanner
  /** Where the string read last ends. */
  #textStart = ABSENT
  #severityNumberStart = ABSENT
  /** A time is 0, which is not where other records have it. */
  #hasNoTime = false

  constructor(bytes: Buffer) {
    this.#b = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#texts = new StringScanner(bytes, MAX_RECORD_BYTES)
    this.#message = new StringScanner(bytes, MAX_RECORD_BYTES)
    this.attributes = new AttributeScanner(bytes, this.#found)
  }

  /** After the record that starts at `open`; `NOWHERE` when something in it is unusual. */
  scan(open: number): number {
    const texts = this.#templates.start()
    const known = texts === undefined ? NOWHERE : this.#scanKnown(open, texts)
    if (known !== NOWHERE) {
      this.#templates.found()
      return known
    }
    const end = this.#scanAny(open)
    if (end !== NOWHERE && !this.#hasNoTime && this.#templates.mayLearn()) this.#learn(open, end)
    return end
  }

  /** The same for a record whose form is known: one look at all that stands between two values. */
  #scanKnown(open: number, first: Glue[]): number {
    this.#reset()
    let p = open
    for (let texts = first; ; ) {
      const glue = glueAt(texts, this.#view, p)
      if (glue === undefined) return NOWHERE
      const { slot, list, severityNumber, severityAt, severityLength } = glue.content
      if (severityNumber !== undefined) this.severityNumber = severityNumber
      if (severityAt >= 0) {
        this.severityStart = p + severityAt
        this.severityEnd = this.severityStart + severityLength
      }
      p += glue.length
      if (list !== undefined) {
        this.attributes.list = list
        return p
      }
      p = this.#slotEnd(slot, p)
      if (p === NOWHERE) return NOWHERE
      texts = glue.next
    }
  }

  #slotEnd(slot: Slot, p: number): number {
    switch (slot) {
      case Slot.time:
        this.time = p
        return this.#digitsEnd(p)
      case Slot.observedTime:
        this.observedTime = p
        return this.#digitsEnd(p)
      case Slot.message:
        this.messageStart = p
        this.messageEnd = this.#message.end(p)
        return this.messageEnd
      case Slot.traceId:
        this.traceStart = p
        this.traceEnd = this.#plainEnd(p)
        return this.traceEnd
      case Slot.spanId:
        this.spanStart = p
        this.spanEnd = this.#plainEnd(p)
        return this.spanEnd
      case Slot.skipped:
        return integerEnd(this.#b, p, MAX_NUMBER_DIGITS)
      default:
        return this.attributes.value(slot, p)
    }
  }

  #digitsEnd(p: number): number {
    const end = digitsEnd(this.#b, p)
    return end - p === TIME_DIGITS && this.#b[p] !== ZERO ? end : NOWHERE
  }

  /** Remembers the form of the record scanned last. */
  #learn(open: number, end: number): void {
    const { kinds, starts, ends, count } = this.#found
    let before: Glue | undefined
    let from = open
    for (let i = 0; i <= count; i++) {
      const to = i === count ? end : starts[i]!
      const siblings = this.#templates.after(before)
      const content = {
        ...this.#severityWithin(from, to),
        ...(i === count ? { slot: Slot.end, list: this.attributes.list } : { slot: kinds[i] as Slot, list: undefined }),
      }
      before = glueAt(siblings, this.#view, from, to - from) ?? this.#templates.add(siblings, this.#b.subarray(from, to), content)
      if (before === undefined) return
      from = ends[i]!
    }
  }

  #severityWithin(from: number, to: number) {
    const isWithin = (at: number) => at >= from && at < to
    return {
      severityNumber: isWithin(this.#severityNumberStart) ? this.severityNumber : undefined,
      severityAt: isWithin(this.severityStart) ? this.severityStart - from : NOWHERE,
      severityLength: this.severityEnd - this.severityStart,
    }
  }

  #scanAny(open: number): number {
    const b = this.#b
    this.#reset()
    let seen = 0
    let p = afterSpace(b, open + 1)
    if (b[p] === CLOSE_OBJECT) return p + 1
    for (;;) {
      const field = b[p] === QUOTE ? fieldAt(b, p + 1) : NOWHERE
      if (field === NOWHERE || (seen & (1 << field)) !== 0) return NOWHERE
      seen |= 1 << field
      p = afterSpace(b, p + 1 + NAMES[field]!.length)
      if (b[p] !== COLON) return NOWHERE
      p = this.#value(field as Field, afterSpace(b, p + 1))
      if (p === NOWHERE) return NOWHERE
      p = afterSpace(b, p)
      if (b[p] === CLOSE_OBJECT) return p + 1
      if (b[p] !== COMMA) return NOWHERE
      p = afterSpace(b, p + 1)
    }
  }

  #reset(): void {
    this.attributes.reset()
    this.#message.reset()
    this.time = this.observedTime = ABSENT
    this.severityNumber = 0
    this.severityStart = this.severityEnd = ABSENT
    this.messageStart = this.messageEnd = ABSENT
    this.traceStart = this.traceEnd = this.spanStart = this.spanEnd = ABSENT
    this.#severityNumberStart = ABSENT
    this.#hasNoTime = false
    this.#found.count = 0
  }

  #value(field: Field, p: number): number {
    switch (field) {
      case Field.timeUnixNano: {
        const end = this.#timeEnd(p, Slot.time)
        this.time = this.#textStart
        return end
      }
      case Field.observedTimeUnixNano: {
        const end = this.#timeEnd(p, Slot.observedTime)
        this.observedTime = this.#textStart
        return end
      }
      case Field.severityNumber:
        return this.#severityNumber(p)
      case Field.severityText: {
        const end = this.#plainTextEnd(p)
        this.severityStart = this.#textStart
        this.severityEnd = end - 1
        return end
      }
      case Field.body:
        return this.#body(p)
      case Field.attributes:
        return this.attributes.scan(p)
      case Field.droppedAttributesCount:
      case Field.flags: {
        const end = integerEnd(this.#b, p, MAX_NUMBER_DIGITS)
        this.#found.add(Slot.skipped, p, end)
        return end
      }
      case Field.traceId: {
        const end = this.#plainTextEnd(p)
        this.traceStart = this.#textStart
        this.traceEnd = end - 1
        this.#found.add(Slot.traceId, this.traceStart, this.traceEnd)
        return end
      }
      case Field.spanId: {
        const end = this.#plainTextEnd(p)
        this.spanStart = this.#textStart
        this.spanEnd = end - 1
        this.#found.add(Slot.spanId, this.spanStart, this.spanEnd)
        return end
      }
      case Field.eventName: {
        const end = this.#plainTextEnd(p)
        return end === p + 2 ? end : NOWHERE
      }
    }
  }

  /** The end of a time of 19 digits, or of a 0, which says that the time is unknown. */
  #timeEnd(p: number, slot: Slot): number {
    const b = this.#b
    this.#textStart = ABSENT
    if (b[p] !== QUOTE) return NOWHERE
    const start = p + 1
    const end = digitsEnd(b, start)
    if (b[end] !== QUOTE) return NOWHERE
    if (b[start] === ZERO) {
      this.#hasNoTime = true
      return end === start + 1 ? end + 1 : NOWHERE
    }
    if (end - start !== TIME_DIGITS) return NOWHERE
    this.#textStart = start
    this.#found.add(slot, start, end)
    return end + 1
  }

  #severityNumber(p: number): number {
    const b = this.#b
    const end = integerEnd(b, p, MAX_NUMBER_DIGITS)
    if (end === NOWHERE || b[p]! < ZERO) return NOWHERE
    let number = 0
    for (let i = p; i < end; i++) number = number * 10 + b[i]! - ZERO
    this.severityNumber = number
    this.#severityNumberStart = p
    return end
  }

  /** The end of a string in ASCII without escapes. */
  #plainTextEnd(p: number): number {
    if (this.#b[p] !== QUOTE) return NOWHERE
    this.#textStart = p + 1
    const end = this.#plainEnd(p + 1)
    return end === NOWHERE ? NOWHERE : end + 1
  }

  /** At the closing quote of such a string, whose text starts at `p`. */
  #plainEnd(p: number): number {
    const texts = this.#texts
    texts.reset()
    const end = texts.end(p)
    return end === NOWHERE || texts.escapeCount > 0 || texts.surplus > 0 ? NOWHERE : end
  }

  #body(p: number): number {
    const start = phraseEnd(this.#b, p, STRING_BODY)
    const end = start === NOWHERE ? NOWHERE : this.#message.end(start)
    if (end === NOWHERE) return NOWHERE
    this.messageStart = start
    this.messageEnd = end
    this.#found.add(Slot.message, start, end)
    const close = afterSpace(this.#b, end + 1)
    return this.#b[close] === CLOSE_OBJECT ? close + 1 : NOWHERE
  }

  /** Writes the message, without escapes, to `at`, and returns where it ends. */
  writeMessage(at: number): number {
    return this.#message.writeUnescaped(this.messageStart, this.messageEnd, at)
  }
}

const LETTER_I = 105
const LETTER_P = 112
const UPPER_N = 78

/** The field whose name starts at `p`; `NOWHERE` when OTLP has none such. */
function fieldAt(b: Uint8Array, p: number): Field | typeof NOWHERE {
  const field = likelyField(b, p)
  return field !== NOWHERE && startsWith(b, p, NAMES[field]!) ? field : NOWHERE
}

/** By the letters in which the names differ. */
function likelyField(b: Uint8Array, p: number): Field | typeof NOWHERE {
  switch (b[p]) {
    case 116:
      return b[p + 1] === LETTER_I ? Field.timeUnixNano : Field.traceId
    case 115:
      if (b[p + 1] === LETTER_P) return Field.spanId
      return b[p + 8] === UPPER_N ? Field.severityNumber : Field.severityText
    case 111:
      return Field.observedTimeUnixNano
    case 98:
      return Field.body
    case 97:
      return Field.attributes
    case 100:
      return Field.droppedAttributesCount
    case 102:
      return Field.flags
    case 101:
      return Field.eventName
    default:
      return NOWHERE
  }
}
