/**
 * The documents of a block with values that differ in all of them cut out, each kind of value kept by itself, and the texts between them kept once for
 * all documents that have them.
 */
import { compress, decompress } from '../../../../compression/zstd.ts'
import { NOWHERE } from '../../../../json/bytes.ts'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { BlockDocuments } from './block-documents.ts'
import { ByteReader, ByteWriter, LONG_BYTES } from './byte-writer.ts'
import { type BlockParts, MAX_DOCS, readValues, type Streams, type ValueReader } from './cut-values.ts'
import { type DocumentCuts, MAX_CUTS, NO_CUT } from './document-cuts.ts'
import { createKnownCuts } from './known-cuts.ts'
import type { BlockMessages } from './message-column.ts'
import { NO_CODE, PieceTable } from './piece-table.ts'
import type { StagedDocument } from './staged-document.ts'

/** Fewer documents have too little in common. */
const MIN_DOCS = 16
/** Most ways of cutting the documents of a block. */
const MAX_FORMS = 250

const to: Streams = { texts: new ByteWriter(), plain: new ByteWriter() }
const tables = Array.from({ length: MAX_CUTS + 1 }, () => new PieceTable())
const forms = new Uint8Array(MAX_DOCS)
const known = createKnownCuts()

export interface PackedDocuments {
  /** As they stand on disk. */
  readonly data: Uint8Array
  /** The two parts of it, unpacked. */
  readonly texts: Buffer
  readonly values: Buffer
}

/** Their ids are UUIDs. Undefined where the documents have too little in common. */
export function packDocuments(documents: readonly StagedDocument[]): PackedDocuments | undefined {
  if (documents.length < MIN_DOCS || documents.length > MAX_DOCS) return undefined
  const cuts = known.for(documents)
  if (cuts === undefined) return undefined
  const idList = documents.map(({ id }) => id.bytes)
  for (const values of cuts.values) values.begin(idList)
  for (let slot = 0; slot <= cuts.values.length; slot++) tables[slot]!.begin()
  const masks: number[] = []
  let longest = 0
  for (let k = 0; k < documents.length; k++) {
    const mask = cutDocument(cuts, k, documents[k]!)
    let form = masks.indexOf(mask)
    if (form < 0) form = masks.push(mask) - 1
    if (form > MAX_FORMS) return undefined
    forms[k] = form
    if (documents[k]!.source.length > longest) longest = documents[k]!.source.length
  }
  to.texts.clear()
  to.plain.clear()
  to.texts.number(longest)
  to.texts.byte(cuts.values.length)
  to.texts.byte(cuts.message + 1)
  for (const { kind } of cuts.values) to.texts.byte(kind)
  to.texts.byte(masks.length)
  for (const mask of masks) to.texts.number(mask)
  if (masks.length > 1) to.texts.add(forms, 0, documents.length)
  for (let slot = 0; slot <= cuts.values.length; slot++) tables[slot]!.write(to.texts)
  for (const values of cuts.values) values.write(to)
  const texts = own(to.texts.written())
  const values = own(to.plain.written())
  return { data: joined(texts, values), texts, values }
}

function own(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}

/** Puts the texts of a document into the tables and its values to those of their kind; returns a bit for each cut that it has. */
function cutDocument(cuts: DocumentCuts, doc: number, { source, message }: StagedDocument): number {
  const view = viewOf(source)
  const base = source.byteOffset
  const { length } = source
  const messageAt = message === undefined ? NOWHERE : message.start
  let mask = 0
  let slot = 0
  let from = 0
  let before = NO_CODE
  for (;;) {
    const table = tables[slot]!
    // In most cases the text goes on as behind the same text before, up to the same cut.
    let code = table.guess(before, view, base + from, length - from)
    let cut = NO_CUT
    let end = NOWHERE
    if (code !== NO_CODE) {
      cut = table.cutBehind(code)
      const at = from + table.length(code)
      if (cut === NO_CUT ? at !== length : cut === cuts.message && at !== messageAt) code = NO_CODE
      else if (cut !== NO_CUT) end = cut === cuts.message ? message!.end : cuts.values[cut]!.take(doc, source, at)
      if (cut !== NO_CUT && end === NOWHERE) code = NO_CODE
    }
    if (code === NO_CODE) {
      let p = from
      let last = slot - 1
      do {
        cut = cuts.next(last, source, view, p, messageAt)
        if (cut === NO_CUT) break
        p = cuts.at
        last = cut
        end = cut === cuts.message ? message!.end : cuts.values[cut]!.take(doc, source, p)
      } while (end === NOWHERE)
      code = table.codeOf(view, base + from, (cut === NO_CUT ? length : p) - from, before, cut)
    }
    table.add(code)
    if (cut === NO_CUT) return mask
    before = code
    mask |= 1 << cut
    slot = cut + 1
    from = end
  }
}

let lastView: DataView = new DataView(new ArrayBuffer(0))

/** A view of the whole memory that the bytes are part of: neighbours share it. */
function viewOf(source: Uint8Array): DataView {
  if (lastView.buffer !== source.buffer) lastView = new DataView(source.buffer)
  return lastView
}

const HEAD_BYTES = 8

/** Length of the texts, unpacked and packed; the texts; the rest as it is. */
function joined(texts: Buffer, plain: Buffer): Buffer {
  const packed = compress(texts)
  const out = Buffer.allocUnsafeSlow(HEAD_BYTES + packed.length + plain.length)
  out.writeUInt32LE(texts.length, 0)
  out.writeUInt32LE(packed.length, 4)
  out.set(packed, HEAD_BYTES)
  out.set(plain, HEAD_BYTES + packed.length)
  return out
}

export function unpackDocuments(data: Buffer, docs: number, ids: Buffer): CutDocuments {
  const rawBytes = data.readUInt32LE(0)
  const end = HEAD_BYTES + data.readUInt32LE(4)
  return new CutDocuments(decompress(data.subarray(HEAD_BYTES, end), rawBytes), data.subarray(end), docs, ids)
}

/** The documents of a block, made anew when they are asked for. */
export class CutDocuments implements BlockDocuments {
  readonly isMade = true
  readonly sizeBytes: number
  readonly #docs: number
  readonly #texts: Buffer
  readonly #plain: Buffer
  readonly #ids: Buffer
  #opened: Opened | undefined

  constructor(texts: Buffer, plain: Buffer, docs: number, ids: Buffer) {
    this.#texts = texts
    this.#plain = plain
    this.#docs = docs
    this.#ids = ids
    this.sizeBytes = CutDocuments.sizeOf(texts, plain, ids)
  }

  static sizeOf(texts: Uint8Array, values: Uint8Array, ids: Uint8Array): number {
    return texts.length + values.length + ids.length + OPENED_BYTES
  }

  release(): void {
    this.#opened = undefined
    releaseBytes(this.#texts)
    releaseBytes(this.#plain)
  }

  bare(k: number): Buffer {
    return this.#make(k, undefined)
  }

  whole(k: number, messages: BlockMessages | undefined): Buffer {
    return this.#make(k, messages?.get(k))
  }

  #make(k: number, message: Buffer | undefined): Buffer {
    this.#opened ??= open(this.#texts, this.#plain, this.#docs, this.#ids)
    const most = this.#opened.longest + MARGIN
    if (scratch.length < most) scratch = Buffer.allocUnsafeSlow(2 * most)
    return Buffer.from(scratch.subarray(0, write(this.#opened, k, message, scratch)))
  }
}

/** Numbers are written with room for digits that are cut off. */
const MARGIN = 64
/** Memory of what is noted of a block beside its bytes, about. */
const OPENED_BYTES = 4_096

let scratch = Buffer.alloc(0)

/** A block whose parts were found. */
interface Opened {
  /** Length of the longest document. */
  readonly longest: number
  /** The cut at the message; −1: none is. */
  readonly message: number
  readonly masks: readonly number[]
  /** By document: its mask; undefined: all have one. */
  readonly forms: Uint8Array | undefined
  /** By slot: which document has which text. */
  readonly slots: readonly Slot[]
  /** By cut. */
  readonly values: readonly ValueReader[]
  /** By cut and document: the how manyeth value it has. */
  readonly ranks: readonly Uint8Array[]
}

function open(textBytes: Buffer, plainBytes: Buffer, docs: number, ids: Buffer): Opened {
  const texts = new ByteReader(textBytes)
  const plain = new ByteReader(plainBytes)
  const parts: BlockParts = { docs, ids, times: undefined }
  const longest = texts.number()
  const cuts = texts.byte()
  const message = texts.byte() - 1
  const kinds = texts.take(cuts)
  const masks = Array.from({ length: texts.byte() }, () => texts.number())
  const forms = masks.length > 1 ? texts.take(docs) : undefined
  const ranks: Uint8Array[] = []
  const counts: number[] = []
  for (let cut = 0; cut < cuts; cut++) {
    const own = new Uint8Array(docs)
    let count = 0
    for (let k = 0; k < docs; k++) {
      own[k] = count
      if ((masks[forms === undefined ? 0 : forms[k]!]! & (1 << cut)) !== 0) count++
    }
    ranks.push(own)
    counts.push(count)
  }
  const slots = Array.from({ length: cuts + 1 }, (_none, slot) => readSlot(texts, slot === 0 ? docs : counts[slot - 1]!))
  const values = counts.map((count, cut) => readValues(kinds[cut]!, count, parts, { texts, plain }))
  return { longest, message, masks, forms, slots, values, ranks }
}

/** Writes document k with the text of its message, if any stands apart; returns where it ends. */
function write({ masks, forms, message, slots, values, ranks }: Opened, k: number, text: Uint8Array | undefined, out: Uint8Array): number {
  const mask = masks[forms === undefined ? 0 : forms[k]!]!
  let at = putText(slots[0]!, k, out, 0)
  for (let cut = 0; mask >>> cut !== 0; cut++) {
    if ((mask & (1 << cut)) === 0) continue
    const rank = ranks[cut]![k]!
    if (cut !== message) at = values[cut]!.put(k, rank, out, at)
    else if (text !== undefined) {
      out.set(text, at)
      at += text.length
    }
    at = putText(slots[cut + 1]!, rank, out, at)
  }
  return at
}

function putText({ bytes, starts, codes }: Slot, rank: number, out: Uint8Array, at: number): number {
  const code = codes === undefined ? 0 : codes[rank]!
  const start = starts[code]!
  const end = starts[code + 1]!
  if (end - start > LONG_BYTES) {
    out.set(bytes.subarray(start, end), at)
    return at + end - start
  }
  let to = at
  for (let k = start; k < end; k++) out[to++] = bytes[k]!
  return to
}

interface Slot {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  readonly codes: Buffer | undefined
}

function readSlot(texts: ByteReader, documents: number): Slot {
  const count = texts.number()
  const starts = new Uint32Array(count + 1)
  for (let k = 0; k < count; k++) starts[k + 1] = starts[k]! + texts.number()
  const bytes = texts.take(starts[count]!)
  return { bytes, starts, codes: count > 1 ? texts.take(documents) : undefined }
}
