/** Merges small segments into one. */
import { setImmediate } from 'node:timers/promises'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { Turns } from '../../../turns.ts'
import { BLOCK_DOCS, encodeRows, nextBlockLength } from '../format/block.ts'
import { idKey } from '../format/document-id.ts'
import { DocumentRows } from '../format/document-rows.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import type { StagedDocument } from '../format/staged-document.ts'
import { DocumentWalker } from '../ingest/document-walker.ts'
import type { SegmentContext } from '../segment-context.ts'
import { type HighCardinality, Tail } from '../tail/tail.ts'
import { encodeIndex } from './seal-segment.ts'
import type { SealedSegment } from './sealed-segment.ts'

/** So many neighbours that fit one segment are merged. */
const MIN_MERGED = 8
const MAX_MERGED_DOCS = 57_344
/** Documents between two pauses for other work: a full block, so that no rest of a slice makes a poor one. */
const SLICE_DOCS = BLOCK_DOCS

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
  /** Numbers of all segments that must not come back while the merged one is there: the sources, and older ones whose files are still there. */
  readonly replaces: readonly number[]
  readonly number: number
  readonly file: SegmentFile
}

/** Writes the living documents of the sources to `file` as one sealed segment, pausing often. */
export async function mergeSegments(
  context: SegmentContext,
  mapping: MutableMapping,
  { sources, replaces, number, file }: MergePlan,
  high: HighCardinality,
): Promise<Merged> {
  const tail = new Tail(context, number, file, high)
  tail.idsTellTimes = sources.every(({ idsTellTimes }) => idsTellTimes)
  const walker = new DocumentWalker(mapping, context.slots, tail.index)
  const origins: { segment: SealedSegment; doc: number; hash: number }[] = []
  let slice: StagedDocument[] = []
  for (const segment of sources) {
    for (let doc = 0; doc < segment.size; doc++) {
      if (!segment.isLive(doc)) continue
      const id = segment.checkedId(doc)
      const key = idKey(id.bytes, id.isUuid)
      tail.seqs.add(origins.length, segment.seqNo(doc))
      if (segment.version(doc) !== 1) tail.versions.set(origins.length, segment.version(doc))
      origins.push({ segment, doc, hash: key.hash })
      slice.push({ id: key, source: segment.source(doc) })
      if (slice.length < SLICE_DOCS) continue
      await writeSlice(tail, walker, slice)
      slice = []
      await setImmediate()
    }
  }
  if (slice.length > 0) await writeSlice(tail, walker, slice)
  const index = await encodeIndex(context, tail, tail.blocks, tail.end, sources.at(-1)?.nextSeqNo ?? 0, replaces)
  await file.append(index, tail.end)
  releaseBytes(index)
  tail.index.release()
  return { tail, origins }
}

async function writeSlice(tail: Tail, walker: DocumentWalker, documents: readonly StagedDocument[]): Promise<void> {
  walker.events.clear()
  const turns = new Turns()
  const rows = new DocumentRows()
  for (const { id, source } of documents) {
    await walker.addStoredInTurns(source, turns)
    rows.addDocument({ id, source, message: walker.events.message })
  }
  const parts: Uint8Array[] = []
  const blocks = []
  const ids = []
  let end = tail.end
  for (let at = 0; at < rows.length; ) {
    const length = nextBlockLength(rows, at)
    const block = encodeRows(rows, at, at + length, 0)
    blocks.push({ ...block.ref, firstDoc: tail.count + at, offset: end + block.ref.offset })
    ids.push(Buffer.from(block.parts[1]!))
    parts.push(...block.parts)
    end += block.sizeBytes
    at += length
  }
  await tail.file.write(Buffer.concat(parts), tail.end)
  tail.end = end
  await tail.index.applyInTurns(walker.events, tail.count)
  tail.append(blocks, ids, walker.events)
}
