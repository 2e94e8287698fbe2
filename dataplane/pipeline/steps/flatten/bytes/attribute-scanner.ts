/** Finds keys and values of a list of attributes, in bytes of OTLP JSON. */
import { doubleJson } from '../../../../domain/records/any-value.ts'
import { CLOSE_LIST, COMMA, NOWHERE, OPEN_LIST, QUOTE, startsWith } from '../../../../json/bytes.ts'
import { integerEnd, numberTextEnd, plainDoubleEnd } from '../../../../json/numbers.ts'
import { afterSpace, phrase, phraseEnd } from '../../../../json/phrase.ts'
import { StringScanner } from '../../../../json/string-scanner.ts'
import { AttributeKeys, type KeyList, MAX_KEYS } from './attribute-keys.ts'
import { type FoundSlots, Slot } from './record-templates.ts'
import { MAX_RECORD_BYTES, SIDE_AT } from './work-area.ts'

const ENTRY = phrase('{', '"key"', ':', '"')
const VALUE = phrase(',', '"value"', ':', '{', '"')
const ENTRY_END = phrase('}', '}')
const STRING_VALUE = phrase('stringValue"', ':', '"')
const INT_VALUE = phrase('intValue"', ':')
const DOUBLE_VALUE = phrase('doubleValue"', ':')
const BOOL_VALUE = phrase('boolValue"', ':')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

const LETTER_S = 115
const LETTER_I = 105
const LETTER_D = 100

/** As many digits as stand in JSON exactly, and as many as a 64-bit integer may have as a string. */
const MAX_EXACT_DIGITS = 15
const MAX_DIGITS = 20

/** Goes through a list of attributes that are strings, numbers and booleans. */
export class AttributeScanner {
  /** Where each value begins and ends, as it stands in a flat record. */
  readonly starts = new Int32Array(MAX_KEYS + 1)
  readonly ends = new Int32Array(MAX_KEYS + 1)
  list: KeyList
  count = 0
  readonly #b: Buffer
  readonly #found: FoundSlots
  readonly #keys = new AttributeKeys()
  readonly #strings: StringScanner
  /** Where the next text goes that does not stand in the message as it is needed. */
  #sideAt = SIDE_AT

  /** Values that `scan` finds are noted in `found`, too. */
  constructor(bytes: Buffer, found: FoundSlots) {
    this.#b = bytes
    this.#found = found
    this.#strings = new StringScanner(bytes, MAX_RECORD_BYTES)
    this.list = this.#keys.root
  }

  /** Forgets the last list; a record need not have one. */
  reset(): void {
    this.list = this.#keys.root
    this.count = 0
    this.#strings.reset()
    this.#sideAt = SIDE_AT
  }

  /** Bytes of the values more than UTF-16 code units. */
  get surplus(): number {
    return this.#strings.surplus
  }

  /** Adds a value of the message's own. */
  add(start: number, end: number): void {
    this.starts[this.count] = start
    this.ends[this.count++] = end
  }

  /** After the list that starts at `open`; `NOWHERE` when something in it is unusual. */
  scan(open: number): number {
    const b = this.#b
    if (b[open] !== OPEN_LIST) return NOWHERE
    let p = afterSpace(b, open + 1)
    if (b[p] === CLOSE_LIST) return p + 1
    for (;;) {
      p = this.#entry(p)
      if (p === NOWHERE) return NOWHERE
      p = afterSpace(b, p)
      if (b[p] === CLOSE_LIST) return p + 1
      if (b[p] !== COMMA) return NOWHERE
      p = afterSpace(b, p + 1)
    }
  }

  #entry(from: number): number {
    const b = this.#b
    const key = phraseEnd(b, from, ENTRY)
    const list = key === NOWHERE ? undefined : this.#keys.follow(this.list, b, key)
    if (list === undefined) return NOWHERE
    this.list = list
    const kind = phraseEnd(b, key + list.lastKey.length, VALUE)
    if (kind === NOWHERE) return NOWHERE
    const end = this.#value(kind)
    return end === NOWHERE ? NOWHERE : phraseEnd(b, end, ENTRY_END)
  }

  #value(kind: number): number {
    const b = this.#b
    switch (b[kind]) {
      case LETTER_S:
        return this.#note(Slot.text, phraseEnd(b, kind, STRING_VALUE))
      case LETTER_I: {
        const from = phraseEnd(b, kind, INT_VALUE)
        const p = from === NOWHERE ? NOWHERE : afterSpace(b, from)
        if (p === NOWHERE || b[p] !== QUOTE) return this.#note(Slot.integer, p)
        const end = this.#note(Slot.quotedInteger, p + 1)
        return end !== NOWHERE && b[end] === QUOTE ? end + 1 : NOWHERE
      }
      case LETTER_D:
        return this.#noteBare(Slot.double, phraseEnd(b, kind, DOUBLE_VALUE))
      default:
        return this.#noteBare(Slot.boolean, phraseEnd(b, kind, BOOL_VALUE))
    }
  }

  #noteBare(slot: Slot, from: number): number {
    return this.#note(slot, from === NOWHERE ? NOWHERE : afterSpace(this.#b, from))
  }

  #note(slot: Slot, from: number): number {
    const end = from === NOWHERE ? NOWHERE : this.value(slot, from)
    if (end === NOWHERE) return NOWHERE
    this.#found.add(slot, from, end)
    return slot === Slot.text ? end + 1 : end
  }

  /** Adds the value of this kind that starts at `p`, a text behind its quote; where it ends. `NOWHERE` when it is unusual. */
  value(slot: Slot, p: number): number {
    switch (slot) {
      case Slot.text: {
        const end = this.#strings.end(p)
        if (end !== NOWHERE) this.add(p - 1, end + 1)
        return end
      }
      case Slot.quotedInteger:
        return this.#plain(p, integerEnd(this.#b, p, MAX_DIGITS))
      case Slot.integer:
        return this.#plain(p, integerEnd(this.#b, p, MAX_EXACT_DIGITS))
      case Slot.double: {
        const end = plainDoubleEnd(this.#b, p)
        return end === NOWHERE ? this.#unusualDouble(p) : this.#plain(p, end)
      }
      default:
        return this.#plain(p, booleanEnd(this.#b, p))
    }
  }

  #plain(start: number, end: number): number {
    if (end !== NOWHERE) this.add(start, end)
    return end
  }

  /** A double that a flat record may state otherwise: `12` as `12.0`, `1E3` as `1000.0`. */
  #unusualDouble(start: number): number {
    const end = numberTextEnd(this.#b, start)
    const given = this.#b.toString('latin1', start, end)
    if (String(Number(given)) === given && FRACTION_OR_EXPONENT.test(given)) return this.#plain(start, end)
    if (!NUMBER.test(given)) return NOWHERE
    const sideEnd = this.#sideAt + this.#b.write(doubleJson(given, 'typed'), this.#sideAt, 'latin1')
    this.add(this.#sideAt, sideEnd)
    this.#sideAt = sideEnd
    return end
  }
}

function booleanEnd(b: Uint8Array, p: number): number {
  return startsWith(b, p, TRUE) ? p + TRUE.length : startsWith(b, p, FALSE) ? p + FALSE.length : NOWHERE
}

const FRACTION_OR_EXPONENT = /[.e]/
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
