/** The messages of a block out of which values were cut: each is made when it is asked for. */
import { decompress } from '../../../../../compression/zstd.ts'
import { releaseBytes } from '../../../../../memory/release-bytes.ts'
import { grown } from '../../../../grown.ts'
import { bitsAt } from '../bytes/bit-numbers.ts'
import { PLANED_BYTES, readPlanes } from '../bytes/byte-planes.ts'
import { ByteReader } from '../bytes/byte-writer.ts'
import { HEAD_BYTES, NOTHING } from './cut-messages.ts'
import { type BlockMessages, withMessage } from './message-column.ts'
import type { MessageSpan } from './message-span.ts'
import { bytesOf, END, isNumber, putBytes, putNumber } from './message-values.ts'

/** Wider numbers may lie in five bytes. */
const WORD_BITS = 25
/** Texts of a message, about. */
const USUAL_TEXTS = 16

let scratch = Buffer.alloc(0)
let scratchView = new DataView(scratch.buffer)

export class CutMessages implements BlockMessages {
  readonly sizeBytes: number
  readonly #data: Buffer
  readonly #view: DataView
  /** Bytes of values. */
  readonly #values: Buffer
  readonly #texts: Buffer
  readonly #textView: DataView
  /** By text: where it stands, the kind of value behind it, of numbers the least one and the bits of each. */
  readonly #textStarts: Uint32Array
  readonly #kinds: Uint8Array
  readonly #lows: Uint32Array
  readonly #widths: Uint8Array
  /** Where each message stands in its document; 0: none stands apart. */
  readonly #starts: Uint32Array
  /** Texts of all messages, one behind the other. */
  #codes: Uint8Array<ArrayBuffer>
  /** By document: where its texts begin, its bytes, and, counted in bits, its numbers. */
  readonly #firstCodes: Uint32Array
  readonly #firstBytes: Uint32Array
  readonly #firstBits: Uint32Array
  readonly #rawBytes: number

  /** No message is longer than `rawBytes`. */
  constructor(data: Buffer, docs: number, rawBytes: number) {
    const valuesAt = HEAD_BYTES + data.readUInt32LE(4)
    const byteCount = data.readUInt32LE(8)
    const bitsFrom = valuesAt + data.readUInt32LE(12)
    const bytes = data.subarray(valuesAt, bitsFrom)
    this.#data = data
    this.#view = new DataView(data.buffer, data.byteOffset, data.length)
    this.#values = bytes.length < byteCount ? decompress(bytes, byteCount) : bytes
    this.#texts = decompress(data.subarray(HEAD_BYTES, valuesAt), data.readUInt32LE(0))
    this.#textView = new DataView(this.#texts.buffer, this.#texts.byteOffset, this.#texts.length)
    this.#rawBytes = rawBytes
    const from = new ByteReader(this.#texts)
    const count = from.number()
    this.#kinds = new Uint8Array(count)
    this.#textStarts = new Uint32Array(count + 1)
    this.#lows = new Uint32Array(count)
    this.#widths = new Uint8Array(count)
    for (let text = 0; text < count; text++) {
      this.#kinds[text] = from.byte()
      this.#textStarts[text + 1] = this.#textStarts[text]! + from.number()
      if (!isNumber(this.#kinds[text]!)) continue
      this.#lows[text] = from.number()
      this.#widths[text] = from.byte()
    }
    const textsAt = from.at
    from.take(this.#textStarts[count]!)
    for (let text = 0; text <= count; text++) this.#textStarts[text]! += textsAt
    this.#starts = readPlanes(from.take(PLANED_BYTES * docs), 0, docs)
    this.#codes = new Uint8Array(USUAL_TEXTS * docs)
    this.#firstCodes = new Uint32Array(docs)
    this.#firstBytes = new Uint32Array(docs)
    this.#firstBits = new Uint32Array(docs)
    const named = from.take(from.number())
    this.#findPlaces(named, from, 8 * bitsFrom)
    this.sizeBytes = data.length + this.#texts.length + this.#values.length + this.#codes.length + 16 * docs + 600
  }

  #findPlaces(named: Buffer, runs: ByteReader, firstBit: number): void {
    const starts = this.#starts
    const kinds = this.#kinds
    const widths = this.#widths
    const lengths = Uint8Array.from(kinds, kind => (kind === END || isNumber(kind) ? 0 : bytesOf(kind)))
    const followers = new Uint8Array(256)
    let codes = this.#codes
    let end = 0
    let byte = 0
    let bit = firstBit
    let name = 0
    for (let k = 0; k < starts.length; k++) {
      if (starts[k] === 0) continue
      this.#firstCodes[k] = end
      this.#firstBytes[k] = byte
      this.#firstBits[k] = bit
      for (let before = NOTHING, run = runs.number(); ; run--) {
        if (run < 0) run = runs.number()
        if (run === 0) followers[before] = named[name++]!
        const text = followers[before]!
        if (end === codes.length) codes = grown(codes)
        codes[end++] = text
        if (kinds[text] === END) break
        bit += widths[text]!
        byte += lengths[text]!
        before = text
      }
    }
    this.#codes = codes
  }

  /** A message in memory that the next one takes again. */
  #passing(k: number): Buffer {
    const end = this.#make(k)
    return scratch.subarray(0, end)
  }

  /** Puts a message at the beginning of the scratch memory, which may be other memory then; returns where it ends. */
  #make(k: number): number {
    if (scratch.length < this.#rawBytes) {
      scratch = Buffer.allocUnsafeSlow(2 * this.#rawBytes)
      scratchView = new DataView(scratch.buffer)
    }
    const kinds = this.#kinds
    let byte = this.#firstBytes[k]!
    let bit = this.#firstBits[k]!
    let at = 0
    for (let place = this.#firstCodes[k]!; ; place++) {
      const text = this.#codes[place]!
      const kind = kinds[text]!
      at = copyWords(this.#textView, this.#textStarts[text]!, this.#textStarts[text + 1]!, scratchView, at)
      if (kind === END) return at
      if (isNumber(kind)) {
        const width = this.#widths[text]!
        at = putNumber(kind, this.#lows[text]! + this.#number(bit, width), scratch, at)
        bit += width
      } else {
        at = putBytes(kind, this.#values, byte, scratch, at)
        byte += bytesOf(kind)
      }
    }
  }

  #number(bit: number, width: number): number {
    if (width > WORD_BITS) return bitsAt(this.#data, bit, width)
    return (this.#view.getUint32(bit >>> 3, true) >>> (bit & 7)) & ((1 << width) - 1)
  }

  get(k: number): Buffer | undefined {
    return this.#starts[k] === 0 ? undefined : Buffer.from(this.#passing(k))
  }

  span(k: number): MessageSpan | undefined {
    const start = this.#starts[k]!
    return start === 0 ? undefined : { start, end: start + this.#make(k) }
  }

  restore(k: number, rest: Buffer): Buffer {
    return this.#starts[k] === 0 ? rest : withMessage(rest, this.#passing(k), this.#starts[k]!)
  }

  release(): void {
    releaseBytes(this.#texts)
  }
}

/** Returns where they end in `out`. */
function copyWords(from: DataView, start: number, end: number, out: DataView, at: number): number {
  let p = start
  let to = at
  for (; p + 4 <= end; p += 4, to += 4) out.setInt32(to, from.getInt32(p, true), true)
  for (; p < end; p++, to++) out.setInt8(to, from.getInt8(p))
  return to
}
