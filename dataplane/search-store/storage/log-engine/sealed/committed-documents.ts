/** The documents of a sealed segment out of its commits, also where the index behind them is damaged. */
import { Turns } from '../../../turns.ts'
import type { BlockRef } from '../format/block/block.ts'
import type { StoredId } from '../format/document-id.ts'
import { NumberRuns } from '../format/number-runs.ts'
import { noteNumbers } from '../tail/frame-numbers.ts'
import { readFrame } from '../tail/read-frame.ts'
import type { ByteCache } from './byte-cache.ts'
import type { SealedSegment } from './sealed-segment.ts'
import { createStoredBlocks, nextCacheName } from './stored-blocks.ts'

/** The documents that a segment is written anew from, numbered as in the segment. */
export interface DocumentSource {
  checkedId(doc: number): StoredId
  seqNo(doc: number): number
  version(doc: number): number
  source(doc: number): Uint8Array
}

/** Undefined where a commit is damaged as well. */
export async function committedDocuments({ file, size }: SealedSegment, cache: ByteCache): Promise<DocumentSource | undefined> {
  const blocks: BlockRef[] = []
  const numbers = { seqs: new NumberRuns(), versions: new Map<number, number>(), idsTellTimes: true }
  const { sizeBytes } = file
  const turns = new Turns()
  let docs = 0
  for (let at = 0; docs < size; ) {
    const frame = readFrame(file, at, sizeBytes, docs)
    if (frame === undefined) return undefined
    noteNumbers(numbers, docs, frame)
    blocks.push(...frame.blocks)
    docs += frame.docs
    at = frame.end
    if (turns.isDue()) await turns.next()
  }
  const stored = createStoredBlocks(file, nextCacheName(), cache, () => blocks)
  return {
    checkedId: doc => stored.checkedId(doc),
    seqNo: doc => numbers.seqs.at(doc),
    version: doc => numbers.versions.get(doc) ?? 1,
    source: doc => stored.source(doc),
  }
}
