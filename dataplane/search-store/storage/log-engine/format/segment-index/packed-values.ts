/**
 * Codes and numbers of a commit in words of 16 bits, for the log of the index. Documents of a commit resemble each other: a document names a list of fields
 * that one before had, and has values only where they are not those of the last document with this list; a number takes a word where it is small.
 */
import type { IndexEvents } from '../../ingest/document-events.ts'
import { WordReader, type WordWriter } from '../bytes/word-writer.ts'
import { giveBack, lendNumbers, lendWords } from './lent-words.ts'

/** Slots of the codes of a document, then those of its numbers, with the values that the last document had. */
interface Fields {
  readonly slots: Int32Array
  readonly codes: Uint16Array
  readonly numbers: Float64Array
}

const fieldsWith = (slots: Int32Array, codes: number): Fields => ({
  slots,
  codes: new Uint16Array(codes),
  numbers: new Float64Array(slots.length - codes),
})

/** Lists of fields that are known by a number: a document with many more is odd. */
const MAX_LISTS = 64
const MAX_LISTED = 256
const NEW_LIST = 0xffff
/** In front of a count of terms that takes 32 bits. */
const MANY_TERMS = 0xffff
/** Fields of which a word says whether they have another value than before. */
const FIELDS_OF_WORD = 16

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
    // A new list has two words for each field, and each field a bit.
    to.reserve(10 + 4 * (codeEnd - code) + (WORDS_OF_NUMBER + 3) * (numberEnd - number))
    if (list >= lists.length || !isOf(lists[list]!, events, code, codeEnd, number, numberEnd)) {
      list = 0
      while (list < lists.length && !isOf(lists[list]!, events, code, codeEnd, number, numberEnd)) list++
    }
    let fields = lists[list]
    if (fields !== undefined) to.words[to.length++] = list
    else {
      fields = fieldsOf(events, code, codeEnd, number, numberEnd)
      addList(fields, lists, to)
    }
    putCount((termEnd - term) / 2, to)
    const { words } = to
    const maskAt = to.length
    to.length += maskWords(fields)
    words.fill(0, maskAt, to.length)
    const own = fields.codes.length
    for (let at = 0; at < own; at++) {
      const value = codes[code + 2 * at + 1]!
      if (value === fields.codes[at]) continue
      fields.codes[at] = value
      words[maskAt + (at >>> 4)]! |= 1 << (at & 15)
      words[to.length++] = value
    }
    for (let at = 0; at < numberEnd - number; at++) {
      const value = numbers[number + at]!
      const before = fields.numbers[at]!
      if (value === before && (value !== 0 || 1 / value === 1 / before)) continue
      fields.numbers[at] = value
      words[maskAt + ((own + at) >>> 4)]! |= 1 << ((own + at) & 15)
      last = putNumber(value, last, to)
    }
    term = termEnd
    code = codeEnd
    number = numberEnd
  }
}

const maskWords = ({ slots }: Fields): number => Math.ceil(slots.length / FIELDS_OF_WORD)

function putCount(terms: number, to: WordWriter): void {
  to.words[to.length++] = Math.min(terms, MANY_TERMS)
  if (terms >= MANY_TERMS) to.long(terms)
}

function fieldsOf({ codes, numberSlots }: IndexEvents, code: number, codeEnd: number, number: number, numberEnd: number): Fields {
  const own = (codeEnd - code) / 2
  const slots = new Int32Array(own + numberEnd - number)
  for (let at = 0; at < own; at++) slots[at] = codes[code + 2 * at]!
  for (let at = number; at < numberEnd; at++) slots[own + at - number] = numberSlots[at]!
  return fieldsWith(slots, own)
}

function addList(fields: Fields, lists: Fields[], to: WordWriter): void {
  const { codes, slots } = fields
  to.words[to.length++] = NEW_LIST
  to.long(codes.length)
  to.long(slots.length - codes.length)
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
  const { length } = own
  if (codeEnd - code !== 2 * length || numberEnd - number !== slots.length - length) return false
  const { codes, numberSlots } = events
  for (let at = 0; at < length; at++) if (codes[code + 2 * at] !== slots[at]) return false
  for (let at = length; at < slots.length; at++) if (numberSlots[number + at - length] !== slots[at]) return false
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
    term += 2 * readCount(from)
    const maskAt = from.at
    from.at += maskWords(fields)
    const { slots, codes: ownCodes, numbers: ownNumbers } = fields
    const own = ownCodes.length
    for (let at = 0; at < own; at++) {
      if ((words[maskAt + (at >>> 4)]! & (1 << (at & 15))) !== 0) ownCodes[at] = words[from.at++]!
      codes[code++] = slots[at]!
      codes[code++] = ownCodes[at]!
    }
    for (let at = own; at < slots.length; at++) {
      numberSlots[number] = slots[at]!
      if ((words[maskAt + (at >>> 4)]! & (1 << (at & 15))) !== 0) {
        const value = readNumber(from, last)
        if (form === IS_NEAR || (form === IS_DOUBLE && Number.isSafeInteger(value))) last = value
        ownNumbers[at - own] = value
      }
      numbers[number++] = ownNumbers[at - own]!
    }
    ends[3 * k] = term
    ends[3 * k + 1] = code
    ends[3 * k + 2] = number
  }
  return { count, ends, terms: NO_TERMS, termEnd: 0, codes, codeEnd, numbers, numberSlots, numberEnd }
}

function readCount(from: WordReader): number {
  const count = from.words[from.at++]!
  return count === MANY_TERMS ? from.long() : count
}

const NO_TERMS = new Int32Array(0)

function readList(from: WordReader): Fields {
  const codes = from.long()
  const slots = new Int32Array(codes + from.long())
  for (let at = 0; at < slots.length; at++) slots[at] = from.long()
  return fieldsWith(slots, codes)
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
