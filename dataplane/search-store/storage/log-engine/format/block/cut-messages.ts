/**
 * The messages of a block with numbers, addresses and ids cut out. The texts between the cuts are kept once, and a message names those alone that do not
 * follow the text before them as another did the last time.
 */
import { compress } from '../../../../../compression/zstd.ts'
import { grown } from '../../../../grown.ts'
import { BitWriter, bitsOf } from '../bytes/bit-numbers.ts'
import { PLANED_BYTES, readPlanes, writePlanes } from '../bytes/byte-planes.ts'
import { ByteWriter } from '../bytes/byte-writer.ts'
import { headBytes } from './message-column.ts'
import { bytesOf, bytesTaken, END, findValue, foundAt, isNumber, numberTaken, takeValue } from './message-values.ts'
import { hashOf, isSame } from './piece-table.ts'

/** Texts of a block: their numbers take a byte. */
const MAX_TEXTS = 250
/** There is no text. */
export const NOTHING = 255
/** A power of two. */
const TABLE_SIZE = 1024
/** Fewer bytes are not worth the work. */
const MIN_BYTES = 4_096
/** The texts may be so much of the messages: the rest is what makes it worth the work. */
const MAX_TEXT_SHARE = 0.5
/** Blocks that are not tried behind one that was not worth the work. */
const PAUSE_BLOCKS = 16

/** By text: where it stands in the messages, and the kind of value behind it. */
const places = new Uint32Array(MAX_TEXTS)
const lengths = new Uint32Array(MAX_TEXTS)
const kinds = new Uint8Array(MAX_TEXTS)
const hashes = new Int32Array(MAX_TEXTS)
const lows = new Uint32Array(MAX_TEXTS)
const highs = new Uint32Array(MAX_TEXTS)
const widths = new Uint8Array(MAX_TEXTS)
let count = 0
/** Texts by hash, open addressing. */
const table = new Uint8Array(TABLE_SIZE)
/** The text that came last behind each. */
const followers = new Uint8Array(256)
/** Numbers in the order of their places, and the text in front of each. */
let numbers: Uint32Array<ArrayBuffer> = new Uint32Array(4_096)
let numberTexts: Uint8Array<ArrayBuffer> = new Uint8Array(4_096)
let numberCount = 0

const texts = new ByteWriter()
const plain = new ByteWriter()
/** How many texts follow as before, and the text behind them, in turn. */
const runs = new ByteWriter()
const named = new ByteWriter()
const bits = new BitWriter()
let pause = 0

/** `raw`: the messages of so many documents, as `layOutMessages` has them. Undefined: they have too little in common. */
export function packMessages(raw: Buffer, docs: number): Buffer | undefined {
  if (raw.length < MIN_BYTES || pause-- > 0) return undefined
  const head = headBytes(docs)
  const starts = readPlanes(raw, 0, docs)
  const sizes = readPlanes(raw, PLANED_BYTES * docs, docs)
  begin()
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length)
  let at = head
  let textBytes = 0
  for (let k = 0; k < docs; k++) {
    if (starts[k] === 0) continue
    if (!cutMessage(raw, view, at, at + sizes[k]!)) return later()
    at += sizes[k]!
  }
  for (let text = 0; text < count; text++) textBytes += lengths[text]!
  if (textBytes + runs.length + named.length > MAX_TEXT_SHARE * (raw.length - head)) return later()
  pause = 0
  return written(raw, starts)
}

function later(): undefined {
  pause = PAUSE_BLOCKS
  return undefined
}

function begin(): void {
  count = 0
  numberCount = 0
  table.fill(NOTHING)
  followers.fill(NOTHING)
  texts.clear()
  plain.clear()
  runs.clear()
  named.clear()
}

/** False: there are too many texts. */
function cutMessage(raw: Uint8Array, view: DataView, start: number, end: number): boolean {
  let before = NOTHING
  let run = 0
  for (let p = start; ; ) {
    let text = followers[before]!
    let next = text === NOTHING ? -1 : behind(text, raw, view, p, end)
    if (next >= 0) run++
    else {
      const kind = findValue(raw, p, end)
      text = textOf(view, p, foundAt - p, kind)
      if (text === NOTHING) return false
      next = kind === END ? end : takeValue(kind, raw, foundAt, end)
      if (next < 0) return false
      followers[before] = text
      runs.number(run)
      named.byte(text)
      run = 0
    }
    if (kinds[text] === END) break
    note(text)
    before = text
    p = next
  }
  if (run > 0) runs.number(run)
  return true
}

/** Where the value behind a text ends, where the text stands at `p` with a value of its kind; else −1. */
function behind(text: number, raw: Uint8Array, view: DataView, p: number, end: number): number {
  const length = lengths[text]!
  const at = p + length
  const kind = kinds[text]!
  if ((kind === END ? at !== end : at >= end) || !isSame(view, p, view, places[text]!, length)) return -1
  return kind === END ? end : takeValue(kind, raw, at, end)
}

/** The number of a text with a kind of value behind it; `NOTHING`: there is no place for another. */
function textOf(view: DataView, at: number, length: number, kind: number): number {
  const hash = (hashOf(view, at, length) + Math.imul(kind + 1, 0x9e3779b1)) | 0
  let place = (hash ^ (hash >>> 15)) & (TABLE_SIZE - 1)
  for (let text = table[place]!; text !== NOTHING; text = table[place]!) {
    if (hashes[text] === hash && lengths[text] === length && kinds[text] === kind && isSame(view, at, view, places[text]!, length))
      return text
    place = (place + 1) & (TABLE_SIZE - 1)
  }
  if (count === MAX_TEXTS) return NOTHING
  const text = count++
  table[place] = text
  hashes[text] = hash
  places[text] = at
  lengths[text] = length
  kinds[text] = kind
  lows[text] = 0xffff_ffff
  highs[text] = 0
  return text
}

/** Notes the value that was taken last, behind a text. */
function note(text: number): void {
  const kind = kinds[text]!
  if (!isNumber(kind)) {
    plain.add(bytesTaken, 0, bytesOf(kind))
    return
  }
  if (numberCount === numbers.length) {
    numbers = grown(numbers)
    numberTexts = grown(numberTexts)
  }
  numbers[numberCount] = numberTaken
  numberTexts[numberCount++] = text
  if (numberTaken < lows[text]!) lows[text] = numberTaken
  if (numberTaken > highs[text]!) highs[text] = numberTaken
}

export const HEAD_BYTES = 16
/** Numbers are read in words of 32 bits. */
const SPARE_BYTES = 4
/** Fewer bytes of values stay as they are. */
const MIN_PACKED_BYTES = 512

/** Lengths of the texts and of the bytes of values, each unpacked and as they stand; then texts, bytes and numbers. */
function written(raw: Buffer, starts: Uint32Array): Buffer {
  const docs = starts.length
  texts.number(count)
  for (let text = 0; text < count; text++) {
    texts.byte(kinds[text]!)
    texts.number(lengths[text]!)
    if (!isNumber(kinds[text]!)) continue
    texts.number(lows[text]!)
    texts.byte(bitsOf(highs[text]! - lows[text]!))
  }
  for (let text = 0; text < count; text++) texts.add(raw, places[text], places[text]! + lengths[text]!)
  writePlanes(starts, texts.room(PLANED_BYTES * docs), texts.length)
  texts.length += PLANED_BYTES * docs
  texts.number(named.length)
  texts.add(named.written())
  texts.add(runs.written())
  const bytes = packedIfSmaller(plain.written())
  const byteCount = plain.length
  plain.clear()
  for (let text = 0; text < count; text++) widths[text] = isNumber(kinds[text]!) ? bitsOf(highs[text]! - lows[text]!) : 0
  bits.begin(plain)
  for (let k = 0; k < numberCount; k++) {
    const text = numberTexts[k]!
    if (widths[text]! > 0) bits.add(numbers[k]! - lows[text]!, widths[text]!)
  }
  bits.end()
  const packed = compress(texts.written())
  const out = Buffer.alloc(HEAD_BYTES + packed.length + bytes.length + plain.length + SPARE_BYTES)
  out.writeUInt32LE(texts.length, 0)
  out.writeUInt32LE(packed.length, 4)
  out.writeUInt32LE(byteCount, 8)
  out.writeUInt32LE(bytes.length, 12)
  out.set(packed, HEAD_BYTES)
  out.set(bytes, HEAD_BYTES + packed.length)
  out.set(plain.written(), HEAD_BYTES + packed.length + bytes.length)
  return out
}

/** Ids are random, but the same one may come again and again. A random byte takes zstd six times as long as one of text. */
function packedIfSmaller(bytes: Uint8Array): Uint8Array {
  if (bytes.length < MIN_PACKED_BYTES || !mayRepeat(bytes)) return Uint8Array.from(bytes)
  const packed = compress(bytes)
  return packed.length < bytes.length ? packed : Uint8Array.from(bytes)
}

/** A power of two. */
const REPEAT_TABLE_SIZE = 4_096
const WORD_BYTES = 4
/** Places of words by hash. */
const seen = new Uint32Array(REPEAT_TABLE_SIZE)
const byteCounts = new Uint32Array(256)
/** Bytes between two words that came before, on average, from which on they are worth packing. */
const REPEAT_BYTES = 64
/** How much likelier than by chance two bytes have to be alike for that. */
const MIN_SKEW = 4

/** Whether some bytes come again, or are far more frequent than others: else zstd finds nothing. */
function mayRepeat(bytes: Uint8Array): boolean {
  const { length } = bytes
  seen.fill(0)
  byteCounts.fill(0)
  let word = 0
  let repeats = 0
  for (let p = 0; p < length; p++) {
    const byte = bytes[p]!
    byteCounts[byte]!++
    word = (word << 8) | byte
    const place = Math.imul(word, 0x9e3779b1) >>> 20
    const at = seen[place]!
    if (at >= WORD_BYTES && wordBehind(bytes, at) === word) repeats++
    seen[place] = p + 1
  }
  let alike = 0
  for (let byte = 0; byte < byteCounts.length; byte++) alike += byteCounts[byte]! ** 2
  return repeats * REPEAT_BYTES > length || alike * byteCounts.length > MIN_SKEW * length * length
}

/** The four bytes in front of `end`. */
const wordBehind = (bytes: Uint8Array, end: number): number =>
  (bytes[end - 4]! << 24) | (bytes[end - 3]! << 16) | (bytes[end - 2]! << 8) | bytes[end - 1]!
