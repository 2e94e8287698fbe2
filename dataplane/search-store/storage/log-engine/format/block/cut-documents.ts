/**
 * The documents of a block with values that differ in all of them cut out, each kind of value kept by itself, and the texts between them kept once for
 * all documents that have them.
 */
import { compress, decompress } from '../../../../../compression/zstd.ts'
import { NOWHERE } from '../../../../../json/bytes.ts'
import { releaseBytes } from '../../../../../memory/release-bytes.ts'
import type { MemberPick } from '../../../member-pick.ts'
import { ByteWriter } from '../bytes/byte-writer.ts'
import type { DocumentRows } from '../document-rows.ts'
import type { BlockDocuments } from './block-documents.ts'
import { type Opened, open, write } from './cut-parts.ts'
import { MAX_DOCS, type Streams } from './cut-values.ts'
import { type DocumentCuts, MAX_CUTS, NO_CUT } from './document-cuts.ts'
import { createKnownCuts } from './known-cuts.ts'
import type { BlockMessages } from './message-column.ts'
import { type Picker, pickerOf } from './picked-members.ts'
import { NO_CODE, PieceTable } from './piece-table.ts'

/** Fewer documents have too little in common. */
const MIN_DOCS = 16
/** Most ways of cutting the documents of a block. */
const MAX_FORMS = 250

const streams: Streams = { texts: new ByteWriter(), plain: new ByteWriter() }
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

/** The documents from `from` to `to`, whose ids are UUIDs. Undefined where they have too little in common. */
export function packDocuments(documents: DocumentRows, from: number, to: number, ids: Uint8Array): PackedDocuments | undefined {
  const docs = to - from
  if (docs < MIN_DOCS || docs > MAX_DOCS) return undefined
  const cuts = known.for(documents, from, to)
  if (cuts === undefined) return undefined
  for (const values of cuts.values) values.begin(ids)
  for (let slot = 0; slot <= cuts.values.length; slot++) tables[slot]!.begin()
  const masks: number[] = []
  let longest = 0
  for (let k = 0; k < docs; k++) {
    const mask = cutDocument(cuts, k, documents, from + k)
    let form = masks.indexOf(mask)
    if (form < 0) form = masks.push(mask) - 1
    if (form > MAX_FORMS) return undefined
    forms[k] = form
    longest = Math.max(longest, documents.end(from + k) - documents.start(from + k))
  }
  streams.texts.clear()
  streams.plain.clear()
  streams.texts.number(longest)
  streams.texts.byte(cuts.values.length)
  streams.texts.byte(cuts.message + 1)
  for (const { kind } of cuts.values) streams.texts.byte(kind)
  streams.texts.byte(masks.length)
  for (const mask of masks) streams.texts.number(mask)
  if (masks.length > 1) streams.texts.add(forms, 0, docs)
  for (let slot = 0; slot <= cuts.values.length; slot++) tables[slot]!.write(streams.texts)
  for (const values of cuts.values) values.write(streams)
  const texts = own(streams.texts.written())
  const values = own(streams.plain.written())
  return { data: joined(texts, values), texts, values }
}

function own(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}

/** Puts the texts of a document into the tables and its values to those of their kind; returns a bit for each cut that it has. */
function cutDocument(cuts: DocumentCuts, doc: number, documents: DocumentRows, row: number): number {
  const memory = documents.memory(row)
  const view = viewOf(memory)
  const base = memory.byteOffset
  const start = documents.start(row)
  const end = documents.end(row)
  const messageAt = documents.messageAt(row)
  // Asked for behind a cut at the message alone.
  const messageEnd = start + documents.messageEnd(row)
  let mask = 0
  let slot = 0
  let from = start
  let before = NO_CODE
  for (;;) {
    const table = tables[slot]!
    // In most cases the text goes on as behind the same text before, up to the same cut.
    let code = table.guess(before, view, base + from, end - from)
    let cut = NO_CUT
    let next = NOWHERE
    if (code !== NO_CODE) {
      cut = table.cutBehind(code)
      const at = from + table.length(code)
      if (cut === NO_CUT ? at !== end : cut === cuts.message && at !== messageAt) code = NO_CODE
      else if (cut !== NO_CUT) next = cut === cuts.message ? messageEnd : cuts.values[cut]!.take(doc, memory, at)
      if (cut !== NO_CUT && next === NOWHERE) code = NO_CODE
    }
    if (code === NO_CODE) {
      let p = from
      let last = slot - 1
      do {
        cut = cuts.next(last, memory, view, p, end, messageAt)
        if (cut === NO_CUT) break
        p = cuts.at
        last = cut
        next = cut === cuts.message ? messageEnd : cuts.values[cut]!.take(doc, memory, p)
      } while (next === NOWHERE)
      code = table.codeOf(view, base + from, (cut === NO_CUT ? end : p) - from, before, cut)
    }
    table.add(code)
    if (cut === NO_CUT) return mask
    before = code
    mask |= 1 << cut
    slot = cut + 1
    from = next
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
  /** Pickers of the last picks. */
  #pickers: readonly Picker[] = []

  constructor(texts: Buffer, plain: Buffer, docs: number, ids: Buffer) {
    this.#texts = texts
    this.#plain = plain
    this.#docs = docs
    this.#ids = ids
    this.sizeBytes = CutDocuments.sizeOf(texts, plain, ids)
  }

  static sizeOf(texts: Uint8Array, values: Uint8Array, ids: Uint8Array): number {
    return texts.length + values.length + ids.length
  }

  release(): void {
    this.#close()
    releaseBytes(this.#texts)
    releaseBytes(this.#plain)
  }

  bare(k: number): Buffer {
    return this.#make(k, undefined)
  }

  whole(k: number, messages: BlockMessages | undefined): Buffer {
    return this.#make(k, messages?.get(k))
  }

  pick(k: number, pick: MemberPick): Buffer | undefined {
    const end = this.#pickerOf(pick).write(k, this.#scratch())
    return end === NOWHERE ? undefined : scratch.subarray(0, end)
  }

  #pickerOf(pick: MemberPick): Picker {
    const known = this.#pickers.find(each => each.pick === pick)
    if (known !== undefined) return known
    const picker = pickerOf(this.#open(), pick)
    this.#pickers = [picker, ...this.#pickers].slice(0, MAX_PICKERS)
    return picker
  }

  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened
    this.#opened = open(this.#texts, this.#plain, this.#docs, this.#ids)
    allOpened.add(this)
    if (allOpened.size > MAX_OPENED) allOpened.values().next().value!.#close()
    return this.#opened
  }

  /** It is opened again when it is asked for. */
  #close(): void {
    this.#opened = undefined
    this.#pickers = []
    allOpened.delete(this)
  }

  #scratch(): Buffer {
    const most = this.#open().longest + MARGIN
    if (scratch.length < most) scratch = Buffer.allocUnsafeSlow(2 * most)
    return scratch
  }

  #make(k: number, message: Buffer | undefined): Buffer {
    const out = this.#scratch()
    return Buffer.from(out.subarray(0, write(this.#open(), k, message, out)))
  }
}

/** Numbers are written with room for digits that are cut off. */
const MARGIN = 64
/** Open blocks of the thread: what is noted of one takes up to three times its bytes, which is all that caches count. */
const MAX_OPENED = 64
/** The first one was opened first. */
const allOpened = new Set<CutDocuments>()
/** Some that a query looks at, and one that it shows. */
const MAX_PICKERS = 4

let scratch = Buffer.alloc(0)
