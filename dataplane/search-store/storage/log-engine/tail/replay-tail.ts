/** Reads the tail again from its file after a start. */
import type { MutableMapping } from '../../../mapping/mapping.ts'
import type { BlockRef } from '../format/block.ts'
import { decodeFrame, FRAME_HEADER_BYTES, type Frame, frameLength } from '../format/frame.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import type { IndexEvents } from '../ingest/document-events.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import { readContent, sourceReader } from '../sealed/stored-blocks.ts'
import type { SegmentContext } from '../segment-context.ts'
import { type HighCardinality, MAX_SEGMENT_DOCS, Tail } from './tail.ts'

export interface Replayed {
  readonly tail: Tail
  /** The number after its last sequence number; 0 without any. */
  readonly nextSeqNo: number
}

/**
 * Builds the index of an unsealed segment again from its frames. A torn or damaged end was not acknowledged: it is cut off.
 * `bury` is told of each document of another segment that a frame deleted.
 */
export function replayTail(
  context: SegmentContext,
  mapping: MutableMapping,
  number: number,
  file: SegmentFile,
  high: HighCardinality,
  bury: (segment: number, doc: number) => void,
): Replayed {
  const tail = new Tail(context, number, file, high)
  const walker = new DocumentWalker(mapping, context.slots, tail.index)
  let nextSeqNo = 0
  const { sizeBytes } = file
  refuseForeign(file, sizeBytes)
  for (let frame = readFrame(file, 0, sizeBytes, 0); frame !== undefined; frame = readFrame(file, tail.end, sizeBytes, tail.count)) {
    replayFrame(tail, walker, frame, file)
    for (const [segment, doc] of frame.head.dead ?? []) {
      if (segment === number) tail.dead.add(doc)
      else bury(segment, doc)
    }
    nextSeqNo = frame.head.next
    mapping.commit()
  }
  if (tail.end < sizeBytes) file.truncate(tail.end)
  return { tail, nextSeqNo }
}

/** An end that was torn is cut off; a file that does not even begin with a frame is no tail, and cutting it would cost all of it. */
function refuseForeign(file: SegmentFile, sizeBytes: number): void {
  if (sizeBytes < FRAME_HEADER_BYTES) return
  const header = file.read(FRAME_HEADER_BYTES, 0)
  if (frameLength(header) === undefined && header.some(byte => byte !== 0))
    throw new Error(`${file.path} is damaged: neither its end nor its beginning is that of a segment`)
}

/** Undefined where the frame at `at` does not lie whole and sound before `sizeBytes`. */
export function readFrame(file: SegmentFile, at: number, sizeBytes: number, firstDoc: number): Frame | undefined {
  if (at + FRAME_HEADER_BYTES > sizeBytes) return undefined
  const length = frameLength(file.read(FRAME_HEADER_BYTES, at))
  if (length === undefined || at + length > sizeBytes) return undefined
  const frame = decodeFrame(file.read(length, at), at, firstDoc)
  return frame !== undefined && firstDoc + frame.docs <= MAX_SEGMENT_DOCS ? frame : undefined
}

function replayFrame(tail: Tail, walker: DocumentWalker, frame: Frame, file: SegmentFile): void {
  walker.events.clear()
  for (const block of frame.blocks) {
    const read = sourceReader(readContent(block, file))
    for (let k = 0; k < block.docs; k++) walker.addStored(read(k))
  }
  tail.index.apply(walker.events, tail.count)
  takeFrame(tail, walker.events, frame)
}

/** The tail takes over a frame whose events are in its index. */
export function takeFrame(tail: Tail, events: IndexEvents, frame: Frame): void {
  noteNumbers(tail, tail.count, frame)
  tail.append(frame.blocks, idsOf(frame.blocks, tail.file), events)
  tail.end = frame.end
}

function noteNumbers(tail: Tail, firstDoc: number, { head, docs }: Frame): void {
  if (docs > 0) tail.seqs.add(firstDoc, head.seq)
  if (docs > 0 && head.idsTellTimes !== true) tail.idsTellTimes = false
  for (const [k, seq] of head.seqs ?? []) tail.seqs.add(firstDoc + k, seq)
  for (const [k, version] of head.versions ?? []) tail.versions.set(firstDoc + k, version)
}

function idsOf(blocks: readonly BlockRef[], file: SegmentFile): Buffer[] {
  return blocks.map(block => file.read(block.idsBytes, block.offset))
}
