/**
 * The events of a commit in words of 16 bits, for the log of the index. Documents of a commit resemble each other: a term that came a moment before is
 * named by its place in a table, fields by the list of them that a document before had, and a number takes a word where it is small.
 */
import { grown } from '../../../grown.ts'
import type { IndexEvents } from '../ingest/document-events.ts'
import { giveBack, lendNumbers, lendWords } from './lent-words.ts'

/** Words one behind the other. */
export class WordWriter {
  words = new Uint16Array(1 << 12)
  length = 0

  clear(): void {
    this.length = 0
  }

  /** Makes room for so many more. */
  reserve(count: number): void {
    if (this.length + count > this.words.length) this.words = grown(this.words, Math.max(2 * this.words.length, this.length + count))
  }

  /** Writes 32 bits. */
  long(value: number): void {
    this.words[this.length++] = value
    this.words[this.length++] = value >>> 16
  }

  written(): Uint16Array {
    return this.words.subarray(0, this.length)
  }
}

class WordReader {
  readonly words: Uint16Array
  at = 0

  constructor(words: Uint16Array) {
    this.words = words
  }

  long(): number {
    this.at += 2
    return this.words[this.at - 2]! | (this.words[this.at - 1]! << 16)
  }
}

const TABLE_BITS = 12
/** In front of a term that is not in its place of the table; the place follows from the term. */
const IS_NEW = 0x8000
const WORDS_OF_TERM = 5

/** Terms that came before: each in the place that its highest bits name. */
const table = new Int32Array(2 << TABLE_BITS)

export function packTerms(terms: Int32Array, end: number, to: WordWriter): void {
  table.fill(0)
  to.reserve((WORDS_OF_TERM * end) / 2)
  const { words } = to
  let at = to.length
  for (let k = 0; k < end; k += 2) {
    const lo = terms[k]!
    const hi = terms[k + 1]!
    const place = hi >>> (32 - TABLE_BITS)
    if (table[2 * place + 1] === hi && table[2 * place] === lo) {
      words[at++] = place
      continue
    }
    table[2 * place] = lo
    table[2 * place + 1] = hi
    words[at] = IS_NEW
    words[at + 1] = lo
    words[at + 2] = lo >>> 16
    words[at + 3] = hi
    words[at + 4] = hi >>> 16
    at += WORDS_OF_TERM
  }
  to.length = at
}

/** `end` words of 32 bits, which are lent. */
export function unpackTerms(words: Uint16Array, end: number): Int32Array<ArrayBuffer> {
  table.fill(0)
  const terms = lendWords(end)
  let at = 0
  for (let k = 0; k < end; k += 2) {
    const place = words[at++]!
    if (place !== IS_NEW) {
      terms[k] = table[2 * place]!
      terms[k + 1] = table[2 * place + 1]!
      continue
    }
    const lo = words[at]! | (words[at + 1]! << 16)
    const hi = words[at + 2]! | (words[at + 3]! << 16)
    at += WORDS_OF_TERM - 1
    const own = hi >>> (32 - TABLE_BITS)
    table[2 * own] = lo
    table[2 * own + 1] = hi
    terms[k] = lo
    terms[k + 1] = hi
  }
  return terms
}

/** Slots of the codes of a document, then those of its numbers. */
interface Fields {
  readonly codes: number
  readonly slots: Int32Array
}

/** Lists of fields that are known by a number: a document with many more is odd. */
const MAX_LISTS = 64
const MAX_LISTED = 256
const NEW_LIST = 0xffff

/** Codes, numbers and the ends of all events. */
export function packValues(events: IndexEvents, to: WordWriter): void {
  const { ends, codes, numbers, count } = events
  const lists: Fields[] = []
  let list = 0
  let last = 0
  let term = 0
  let code = 0
  let number = 0
  for (let k = 0; k < count; k++) {
    const termEnd = ends[3 * k]!
    const codeEnd = ends[3 * k + 1]!
    const numberEnd = ends[3 * k + 2]!
    // A new list has two words for each field.
    to.reserve(8 + 3 * (codeEnd - code) + (WORDS_OF_NUMBER + 2) * (numberEnd - number))
    if (list >= lists.length || !isOf(lists[list]!, events, code, codeEnd, number, numberEnd)) {
      list = 0
      while (list < lists.length && !isOf(lists[list]!, events, code, codeEnd, number, numberEnd)) list++
    }
    if (list < lists.length) to.words[to.length++] = list
    else addList(fieldsOf(events, code, codeEnd, number, numberEnd), lists, to)
    to.long((termEnd - term) / 2)
    for (let at = code + 1; at < codeEnd; at += 2) to.words[to.length++] = codes[at]!
    for (let at = number; at < numberEnd; at++) last = putNumber(numbers[at]!, last, to)
    term = termEnd
    code = codeEnd
    number = numberEnd
  }
}

function fieldsOf({ codes, numberSlots }: IndexEvents, code: number, codeEnd: number, number: number, numberEnd: number): Fields {
  const own = (codeEnd - code) / 2
  const slots = new Int32Array(own + numberEnd - number)
  for (let at = 0; at < own; at++) slots[at] = codes[code + 2 * at]!
  for (let at = number; at < numberEnd; at++) slots[own + at - number] = numberSlots[at]!
  return { codes: own, slots }
}

function addList(fields: Fields, lists: Fields[], to: WordWriter): void {
  const { codes, slots } = fields
  to.words[to.length++] = NEW_LIST
  to.long(codes)
  to.long(slots.length - codes)
  for (const slot of slots) to.long(slot)
  if (isListed(fields, lists)) lists.push(fields)
}

const isListed = ({ slots }: Fields, lists: readonly Fields[]): boolean => lists.length < MAX_LISTS && slots.length <= MAX_LISTED

function isOf(
  { codes: own, slots }: Fields,
  events: IndexEvents,
  code: number,
  codeEnd: number,
  number: number,
  numberEnd: number,
): boolean {
  if (codeEnd - code !== 2 * own || numberEnd - number !== slots.length - own) return false
  const { codes, numberSlots } = events
  for (let at = 0; at < own; at++) if (codes[code + 2 * at] !== slots[at]) return false
  for (let at = own; at < slots.length; at++) if (numberSlots[number + at - own] !== slots[at]) return false
  return true
}

const WORDS_OF_NUMBER = 5
/** In front of a whole number of 32 bits, of the distance from the whole number before, of a double; smaller words are numbers themselves. */
const IS_LONG = 0x8000
const IS_NEAR = 0x8001
const IS_DOUBLE = 0x8002
const NEAR = 0x8000

const double = new Float64Array(1)
const doubleWords = new Uint16Array(double.buffer)

/** Returns the number that the next one may be near. */
function putNumber(value: number, last: number, to: WordWriter): number {
  const { words } = to
  if (value >= 0 && value < IS_LONG && (value & 0x7fff) === value && (value !== 0 || 1 / value > 0)) {
    words[to.length++] = value
    return last
  }
  if (Number.isSafeInteger(value) && value !== 0) {
    const distance = value - last
    if (distance >= -NEAR && distance < NEAR) {
      words[to.length++] = IS_NEAR
      words[to.length++] = distance + NEAR
      return value
    }
    if ((value | 0) === value) {
      words[to.length++] = IS_LONG
      to.long(value)
      return last
    }
  }
  double[0] = value
  words[to.length++] = IS_DOUBLE
  for (let k = 0; k < 4; k++) words[to.length++] = doubleWords[k]!
  return Number.isSafeInteger(value) ? value : last
}

/** Events in arrays that are lent. */
export interface UnpackedEvents extends IndexEvents {
  readonly ends: Int32Array<ArrayBuffer>
  readonly codes: Int32Array<ArrayBuffer>
  readonly numberSlots: Int32Array<ArrayBuffer>
  readonly numbers: Float64Array<ArrayBuffer>
}

/** To be called once nobody looks at the events any more. */
export function giveEventsBack({ ends, codes, numberSlots, numbers }: UnpackedEvents): void {
  for (const array of [ends, codes, numberSlots, numbers]) giveBack(array)
}

/** The events without their terms, of which there are the ends. */
export function unpackValues(words: Uint16Array, count: number, codeEnd: number, numberEnd: number): UnpackedEvents {
  const from = new WordReader(words)
  const ends = lendWords(3 * count)
  const codes = lendWords(codeEnd)
  const numbers = lendNumbers(numberEnd)
  const numberSlots = lendWords(numberEnd)
  const lists: Fields[] = []
  let last = 0
  let term = 0
  let code = 0
  let number = 0
  for (let k = 0; k < count; k++) {
    const name = words[from.at++]!
    const fields = name === NEW_LIST ? readList(from) : lists[name]!
    if (name === NEW_LIST && isListed(fields, lists)) lists.push(fields)
    term += 2 * from.long()
    const { slots, codes: own } = fields
    for (let at = 0; at < own; at++) {
      codes[code++] = slots[at]!
      codes[code++] = words[from.at++]!
    }
    for (let at = own; at < slots.length; at++) {
      numberSlots[number] = slots[at]!
      const value = readNumber(from, last)
      if (form === IS_NEAR || (form === IS_DOUBLE && Number.isSafeInteger(value))) last = value
      numbers[number++] = value
    }
    ends[3 * k] = term
    ends[3 * k + 1] = code
    ends[3 * k + 2] = number
  }
  return { count, ends, terms: NO_TERMS, termEnd: 0, codes, codeEnd, numbers, numberSlots, numberEnd }
}

const NO_TERMS = new Int32Array(0)

function readList(from: WordReader): Fields {
  const codes = from.long()
  const slots = new Int32Array(codes + from.long())
  for (let at = 0; at < slots.length; at++) slots[at] = from.long()
  return { codes, slots }
}

/** How the number that was read last stood there. */
let form = 0

function readNumber(from: WordReader, last: number): number {
  const { words } = from
  form = words[from.at++]!
  if (form < IS_LONG) return form
  if (form === IS_LONG) return from.long()
  if (form === IS_NEAR) return last + (words[from.at++]! - NEAR)
  for (let k = 0; k < 4; k++) doubleWords[k] = words[from.at++]!
  return double[0]!
}
