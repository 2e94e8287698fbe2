/** Reads the tail again from its file after a start. */
import type { MutableMapping } from '../../../mapping/mapping.ts'
import type { BlockRef } from '../format/block/block.ts'
import { FRAME_HEADER_BYTES, FRAME_MAGIC_BYTES, type Frame, frameLength } from '../format/frame.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import type { OpenSegment } from '../index-directory.ts'
import type { IndexEvents } from '../ingest/document-events.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import { readContent, sourceReader } from '../sealed/stored-blocks.ts'
import type { SegmentContext } from '../segment-context.ts'
import { noteNumbers } from './frame-numbers.ts'
import { readFrame } from './read-frame.ts'
import { type HighCardinality, Tail } from './tail.ts'

export interface Replayed {
  readonly tail: Tail
  /** The number after its last sequence number; 0 without any. */
  readonly nextSeqNo: number
}

/** Bytes that are searched for a frame at a time. */
const SEARCHED_BYTES = 4 * 1024 * 1024

/**
 * Builds the index of an unsealed segment again from its frames. A torn or damaged end was not acknowledged: it is cut off. Throws where
 * commits follow behind what is damaged, or where the list of segments says that there were more: those were acknowledged.
 * `bury` is told of each document of another segment that a frame deleted.
 */
export function replayTail(
  context: SegmentContext,
  mapping: MutableMapping,
  { number, file, isNewest, leastEnd }: Pick<OpenSegment, 'number' | 'file' | 'isNewest' | 'leastEnd'>,
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
    tail.replaces = frame.head.replaces ?? tail.replaces
    mapping.commit()
  }
  if (tail.end < leastEnd) throw damaged(tail)
  if (tail.end < sizeBytes) {
    if (!isNewest && beginsCommit(file, tail.end)) throw damaged(tail)
    refuseCommitsBehind(tail, sizeBytes, nextSeqNo)
    file.truncate(tail.end)
  }
  return { tail, nextSeqNo }
}

/** An end that was torn is cut off; a file that does not even begin with a frame is no tail, and cutting it would cost all of it. */
function refuseForeign(file: SegmentFile, sizeBytes: number): void {
  if (sizeBytes < FRAME_HEADER_BYTES) return
  const header = file.read(FRAME_HEADER_BYTES, 0)
  if (frameLength(header) === undefined && header.some(byte => byte !== 0))
    throw new Error(`${file.path} is damaged: neither its end nor its beginning is that of a segment`)
}

/** A segment is whole on disk before the next one is written to; what its index has behind its commits may be lost, and is made anew. */
const beginsCommit = (file: SegmentFile, at: number): boolean => file.read(FRAME_MAGIC_BYTES.length, at).equals(FRAME_MAGIC_BYTES)

function damaged({ file: { path }, end }: Tail): Error {
  const wayOut = `truncate -s ${end} ${path} && touch ${path.replace(/seg$/, 'lost')}`
  return new Error(`${path} is damaged at byte ${end}; without a backup, \`${wayOut}\` keeps what came before`)
}

/** A commit is written once the one before it is on disk: no crash leaves a sound one behind a torn one. */
function refuseCommitsBehind(tail: Tail, sizeBytes: number, nextSeqNo: number): void {
  const { file, end, count } = tail
  for (let at = end + 1; at < sizeBytes; ) {
    const bytes = file.read(Math.min(SEARCHED_BYTES, sizeBytes - at), at)
    for (let found = bytes.indexOf(FRAME_MAGIC_BYTES); found >= 0; found = bytes.indexOf(FRAME_MAGIC_BYTES, found + 1)) {
      const frame = readFrame(file, at + found, sizeBytes, count)
      if (frame !== undefined && frame.head.seq >= nextSeqNo) throw damaged(tail)
    }
    // The magic may lie across the end of what was read.
    at += Math.max(1, bytes.length - FRAME_MAGIC_BYTES.length + 1)
  }
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

function idsOf(blocks: readonly BlockRef[], file: SegmentFile): Buffer[] {
  return blocks.map(block => file.read(block.idsBytes, block.offset))
}
