/** Makes the index that stands at the end of a sealed segment. */
import { compressChecked } from '../../../../compression/zstd.ts'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { Turns } from '../../../turns.ts'
import { BLOCK_DOCS, type BlockRef, type EncodedBlock, encodeRows, nextBlockLength } from '../format/block/block.ts'
import type { ShapesEntry } from '../format/block/message-shapes.ts'
import { DocumentRows } from '../format/document-rows.ts'
import { encodeFrame, headOf, placeBlocks } from '../format/frame.ts'
import { type ColumnEntry, encodeKeywords, encodeNumbers, type Span } from '../format/segment-index/column-codec.ts'
import { BLOCK_WORDS, encodeBlockRefs, encodeDirectory, type SegmentDirectory } from '../format/segment-index/segment-directory.ts'
import { encodeTerms, type TermSections } from '../format/segment-index/term-index.ts'
import { encodeValueCounts } from '../format/segment-index/value-counts.ts'
import type { SegmentContext } from '../segment-context.ts'
import { countByMinute, countedColumns } from '../tail/minute-counts.ts'
import { type Tail, TailView } from '../tail/tail.ts'

/** Collects the parts that will stand at the end of a segment's file. */
class IndexWriter {
  readonly #parts: Uint8Array[] = []
  at: number

  constructor(at: number) {
    this.at = at
  }

  /** Offset of the bytes in the file. */
  raw(bytes: Uint8Array): number {
    const at = this.at
    this.#parts.push(bytes)
    this.at += bytes.length
    return at
  }

  packed(bytes: Uint8Array): Span {
    const packed = compressChecked(bytes)
    return [this.raw(packed), packed.length, bytes.length]
  }

  /** All parts, whose own memory goes back. */
  join(): Buffer {
    const joined = Buffer.concat(this.#parts)
    for (const part of this.#parts) releaseBytes(part)
    return joined
  }
}

/**
 * The index part of a segment with these blocks, to be written at `at`, behind which the segment is sealed. Others run meanwhile, who may read the
 * tail and must not change it.
 */
export async function encodeIndex(
  context: SegmentContext,
  tail: Tail,
  blocks: readonly BlockRef[],
  at: number,
  nextSeqNo: number,
): Promise<Buffer> {
  const turns = new Turns()
  const making = indexInPieces(context, tail, blocks, at, nextSeqNo)
  for (;;) {
    const piece = making.next()
    if (piece.done === true) return piece.value
    if (turns.isDue()) await turns.next()
  }
}

function* indexInPieces(
  context: SegmentContext,
  tail: Tail,
  blocks: readonly BlockRef[],
  at: number,
  nextSeqNo: number,
): Generator<void, Buffer, undefined> {
  const writer = new IndexWriter(at)
  const view = new TailView(context, tail)
  const directory: SegmentDirectory = {
    docs: tail.count,
    seqs: tail.seqs.runs,
    nextSeqNo,
    versions: [...tail.versions],
    minTimestampMs: nullable(tail.minTimestampMs),
    maxTimestampMs: nullable(tail.maxTimestampMs),
    terms: yield* writeTerms(tail, writer),
    columns: yield* writeColumns(context, tail, writer),
    termFields: [...tail.high].map(number => context.slots.all[number]!.path),
    ...writeCounts(view, writer),
    valueCounts: yield* encodeValueCounts(
      field => view.column(field),
      tail.count,
      raw => writer.packed(raw),
    ),
    pairs: writer.packed(tail.index.pairs.toBytes()),
    ...writeShapes(tail, writer),
    blocks: writer.packed(encodeBlockRefs(blocks)),
    blockWords: BLOCK_WORDS,
    ...(tail.idsTellTimes && { idsTellTimes: true }),
    commitsEnd: at,
    replaces: tail.replaces,
  }
  yield
  const end = encodeDirectory(directory, writer.at)
  writer.raw(end)
  return writer.join()
}

const nullable = (value: number) => (Number.isNaN(value) ? null : value)

function* writeTerms(tail: Tail, writer: IndexWriter): Generator<void, TermSections, undefined> {
  const encoded = yield* encodeTerms(tail.index.terms, tail.count)
  return {
    docs: tail.count,
    isChecked: true,
    rareBits: encoded.rareBits,
    commonBits: encoded.commonBits,
    rareStarts: writer.raw(new Uint8Array(encoded.rareStarts.buffer)),
    rare: writer.raw(encoded.rare),
    commonStarts: writer.raw(new Uint8Array(encoded.commonStarts.buffer)),
    common: writer.raw(encoded.common),
    apart: writer.raw(encoded.apart),
  }
}

function* writeColumns(
  context: SegmentContext,
  tail: Tail,
  writer: IndexWriter,
): Generator<void, ReadonlyMap<string, ColumnEntry>, undefined> {
  const entries: [string, ColumnEntry][] = []
  const write = (raw: Uint8Array) => writer.packed(raw)
  for (const slot of context.slots.all) {
    const keywords = tail.index.keywords[slot.number]
    const numbers = tail.index.numbers[slot.number]
    if (keywords !== undefined) entries.push([slot.path, encodeKeywords(keywords, tail.count, write)])
    if (numbers !== undefined) entries.push([slot.path, encodeNumbers(numbers, tail.count, slot.path === 'timestamp', write)])
    yield
  }
  return new Map(entries)
}

function writeCounts(view: TailView, writer: IndexWriter): { counts?: Span } {
  const counts = countByMinute(
    countedColumns(field => view.column(field)),
    view.size,
    () => true,
  )
  if (counts === undefined) return {}
  const rows = counts.map(({ minuteMs, tenant, service, level, count }) => [minuteMs, tenant, service, level, count])
  return { counts: writer.packed(Buffer.from(JSON.stringify(rows))) }
}

function writeShapes(tail: Tail, writer: IndexWriter): { shapes?: ShapesEntry } {
  const shapes = tail.index.shapes.encode(tail.count, raw => writer.packed(raw))
  return shapes === undefined ? {} : { shapes }
}

/** Below this many documents a block, on average, a segment is written anew in full blocks. */
const POOR_BLOCK_DOCS = 64

export function hasPoorBlocks(tail: Tail): boolean {
  return tail.blocks.length > 1 && tail.count / tail.blocks.length < POOR_BLOCK_DOCS
}

/** A frame of full blocks ends at so many, or at this many bytes of documents. */
const FRAME_BLOCKS = 8
const FRAME_BYTES = 512 * 1024

/** The tail's documents in frames of full blocks; `append` gets them one by one, the first at offset 0. Others run meanwhile, as above. */
export async function repackBlocks(
  tail: Tail,
  nextSeqNo: number,
  append: (bytes: Uint8Array, at: number) => void,
): Promise<{ readonly blocks: BlockRef[]; readonly end: number }> {
  const turns = new Turns()
  const blocks: BlockRef[] = []
  let end = 0
  let waiting = new DocumentRows()
  let bytes = 0
  let framed: EncodedBlock[] = []
  let firstDoc = 0
  let docs = 0
  const writeFrame = (next?: number) => {
    const head = headOf(tail, firstDoc, docs, next)
    const frame = encodeFrame(firstDoc === 0 && tail.replaces.length > 0 ? { ...head, replaces: tail.replaces } : head, framed)
    for (const ref of placeBlocks(frame, framed, end)) blocks.push(ref)
    append(frame, end)
    end += frame.length
    firstDoc += docs
    docs = 0
    framed = []
  }
  const flush = (isLast: boolean) => {
    while (waiting.length > 0) {
      const length = nextBlockLength(waiting, 0)
      if (length === waiting.length && !isLast) return
      framed.push(encodeRows(waiting, 0, length, firstDoc + docs))
      docs += length
      const rest = new DocumentRows()
      for (let k = length; k < waiting.length; k++) rest.addDocument(waiting.document(k))
      waiting = rest
      bytes = 0
      if (framed.length === FRAME_BLOCKS || framedBytes(framed) >= FRAME_BYTES) writeFrame()
    }
  }
  for (let doc = 0; doc < tail.count; doc++) {
    const id = tail.storedId(doc)
    const source = tail.stored.source(doc)
    waiting.addDocument({ id, source, message: tail.stored.messageSpan(doc) })
    bytes += source.length
    if (waiting.length > BLOCK_DOCS || bytes > 1 << 20) flush(false)
    if (turns.isDue()) await turns.next()
  }
  flush(true)
  // Deletions at the end took numbers, too.
  writeFrame(nextSeqNo)
  return { blocks, end }
}

const framedBytes = (blocks: readonly EncodedBlock[]) => blocks.reduce((sum, { ref }) => sum + ref.rawBytes + ref.messageRawBytes, 0)
