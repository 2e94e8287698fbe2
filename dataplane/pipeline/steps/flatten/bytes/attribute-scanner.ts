/** Finds keys and values of a list of attributes, in bytes of OTLP JSON. */
import { doubleJson } from '../../../../domain/records/any-value.ts'
import { CLOSE_LIST, COMMA, NOWHERE, OPEN_LIST, QUOTE, startsWith } from '../../../../json/bytes.ts'
import { integerEnd, numberTextEnd, plainDoubleEnd } from '../../../../json/numbers.ts'
import { afterSpace, phrase, phraseEnd } from '../../../../json/phrase.ts'
import { StringScanner } from '../../../../json/string-scanner.ts'
import { AttributeKeys, type KeyList, MAX_KEYS } from './attribute-keys.ts'
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
  readonly #keys = new AttributeKeys()
  readonly #strings = new StringScanner(MAX_RECORD_BYTES)
  /** Where the next text goes that does not stand in the message as it is needed. */
  #sideAt = SIDE_AT

  constructor(bytes: Buffer) {
    this.#b = bytes
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
    switch (this.#b[kind]) {
      case LETTER_S:
        return this.#string(phraseEnd(this.#b, kind, STRING_VALUE))
      case LETTER_I:
        return this.#integer(phraseEnd(this.#b, kind, INT_VALUE))
      case LETTER_D:
        return this.#double(phraseEnd(this.#b, kind, DOUBLE_VALUE))
      default:
        return this.#boolean(phraseEnd(this.#b, kind, BOOL_VALUE))
    }
  }

  #string(text: number): number {
    const end = text === NOWHERE ? NOWHERE : this.#strings.end(this.#b, text)
    if (end === NOWHERE) return NOWHERE
    this.add(text - 1, end + 1)
    return end + 1
  }

  #integer(from: number): number {
    if (from === NOWHERE) return NOWHERE
    const p = afterSpace(this.#b, from)
    const isQuoted = this.#b[p] === QUOTE
    const start = isQuoted ? p + 1 : p
    const end = integerEnd(this.#b, start, isQuoted ? MAX_DIGITS : MAX_EXACT_DIGITS)
    if (end === NOWHERE || (isQuoted && this.#b[end] !== QUOTE)) return NOWHERE
    this.add(start, end)
    return isQuoted ? end + 1 : end
  }

  #double(from: number): number {
    if (from === NOWHERE) return NOWHERE
    const start = afterSpace(this.#b, from)
    const end = plainDoubleEnd(this.#b, start)
    if (end === NOWHERE) return this.#unusualDouble(start)
    this.add(start, end)
    return end
  }

  /** A double that a flat record states otherwise: `12` as `12.0`, `1E3` as `1000.0`. */
  #unusualDouble(start: number): number {
    const end = numberTextEnd(this.#b, start)
    const text = doubleText(this.#b, start, end)
    if (text === undefined) return NOWHERE
    const sideEnd = this.#sideAt + this.#b.write(text, this.#sideAt, 'latin1')
    this.add(this.#sideAt, sideEnd)
    this.#sideAt = sideEnd
    return end
  }

  #boolean(from: number): number {
    if (from === NOWHERE) return NOWHERE
    const start = afterSpace(this.#b, from)
    const end = startsWith(this.#b, start, TRUE) ? start + TRUE.length : startsWith(this.#b, start, FALSE) ? start + FALSE.length : NOWHERE
    if (end !== NOWHERE) this.add(start, end)
    return end
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** The number as `doubleJson` writes it; undefined for a text that is no number. */
function doubleText(b: Buffer, from: number, to: number): string | undefined {
  const text = b.toString('latin1', from, to)
  return NUMBER.test(text) ? doubleJson(Number(text), 'typed') : undefined
}
