/** Merges small segments into one. */
import { setImmediate } from 'node:timers/promises'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { Turns } from '../../../turns.ts'
import { BLOCK_DOCS, type EncodedBlock, encodeRows, nextBlockLength } from '../format/block/block.ts'
import { idKey } from '../format/document-id.ts'
import { DocumentRows } from '../format/document-rows.ts'
import { encodeFrame, headOf, placeBlocks } from '../format/frame.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import type { StagedDocument } from '../format/staged-document.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import type { SegmentContext } from '../segment-context.ts'
import { type HighCardinality, Tail } from '../tail/tail.ts'
import type { DocumentSource } from './committed-documents.ts'
import { encodeIndex } from './seal-segment.ts'
import type { SealedSegment } from './sealed-segment.ts'

/** Neighbours that fit one segment, from which on they are merged. */
const MIN_MERGED = 8
const MAX_MERGED_DOCS = 57_344
/** Documents, or bytes, of a slice, which becomes a frame. A slice ends with a full block: the rest would make a poor one. */
const SLICE_DOCS = 8 * BLOCK_DOCS
const SLICE_BYTES = 512 * 1024

/** The newest run of small neighbours worth merging; empty when there is none. */
export function mergeCandidates(segments: readonly SealedSegment[], damaged = new WeakSet<object>()): readonly SealedSegment[] {
  let end = segments.length
  while (end > 0) {
    let docs = 0
    let start = end
    while (start > 0 && !damaged.has(segments[start - 1]!) && docs + segments[start - 1]!.liveCount <= MAX_MERGED_DOCS)
      docs += segments[--start]!.liveCount
    if (end - start >= MIN_MERGED) return segments.slice(start, end)
    end = start === end ? end - 1 : start
  }
  return []
}

export interface Merged {
  readonly tail: Tail
  /** Per document of the merged segment: where it was. */
  readonly origins: readonly { readonly segment: SealedSegment; readonly doc: number; readonly hash: number }[]
}

/** A merge: of what, into what. */
export interface MergePlan {
  readonly sources: readonly SealedSegment[]
  /** The documents of those sources whose index is damaged. */
  readonly documents?: ReadonlyMap<SealedSegment, DocumentSource>
  /** Numbers of all segments that must not come back while the merged one is there: the sources, and older ones whose files are still there. */
  readonly replaces: readonly number[]
  readonly number: number
  readonly file: SegmentFile
}

/** Writes the living documents of the sources to `file` as one sealed segment, pausing often. */
export async function mergeSegments(
  context: SegmentContext,
  mapping: MutableMapping,
  { sources, documents, replaces, number, file }: MergePlan,
  high: HighCardinality,
): Promise<Merged> {
  const tail = new Tail(context, number, file, high)
  tail.replaces = replaces
  tail.idsTellTimes = sources.every(({ idsTellTimes }) => idsTellTimes)
  const walker = new DocumentWalker(mapping, context.slots, tail.index)
  const origins: { segment: SealedSegment; doc: number; hash: number }[] = []
  let slice: StagedDocument[] = []
  let bytes = 0
  for (const segment of sources) {
    const stored: DocumentSource = documents?.get(segment) ?? segment
    for (let doc = 0; doc < segment.size; doc++) {
      if (!segment.isLive(doc)) continue
      const id = stored.checkedId(doc)
      const key = idKey(id.bytes, id.isUuid)
      tail.seqs.add(origins.length, stored.seqNo(doc))
      if (stored.version(doc) !== 1) tail.versions.set(origins.length, stored.version(doc))
      origins.push({ segment, doc, hash: key.hash })
      const source = stored.source(doc)
      slice.push({ id: key, source })
      bytes += source.length
      if (slice.length % BLOCK_DOCS !== 0) continue
      if (slice.length < SLICE_DOCS && bytes < SLICE_BYTES) {
        await setImmediate()
        continue
      }
      await writeSlice(tail, walker, slice)
      slice = []
      bytes = 0
    }
  }
  const nextSeqNo = sources.at(-1)?.nextSeqNo ?? 0
  await writeSlice(tail, walker, slice, nextSeqNo)
  const index = await encodeIndex(context, tail, tail.blocks, tail.end, nextSeqNo)
  await file.append(index, tail.end)
  releaseBytes(index)
  tail.index.release()
  return { tail, origins }
}

/** `next`: of the last slice, which may be empty: the number after those of all sources. */
async function writeSlice(tail: Tail, walker: DocumentWalker, documents: readonly StagedDocument[], next?: number): Promise<void> {
  walker.events.clear()
  const turns = new Turns()
  const rows = new DocumentRows()
  for (const { id, source } of documents) {
    await walker.addStoredInTurns(source, turns)
    rows.addDocument({ id, source, message: walker.events.message })
  }
  const blocks: EncodedBlock[] = []
  for (let at = 0; at < rows.length; ) {
    const length = nextBlockLength(rows, at)
    blocks.push(encodeRows(rows, at, at + length, tail.count + at))
    at += length
    if (turns.isDue()) await turns.next()
  }
  const head = headOf(tail, tail.count, rows.length, next)
  const frame = encodeFrame(tail.end === 0 ? { ...head, replaces: tail.replaces } : head, blocks)
  const placed = placeBlocks(frame, blocks, tail.end)
  await tail.file.write(frame, tail.end)
  tail.end += frame.length
  await tail.index.applyInTurns(walker.events, tail.count)
  tail.append(
    placed,
    blocks.map(({ parts }) => Buffer.from(parts[1]!)),
    walker.events,
  )
}
