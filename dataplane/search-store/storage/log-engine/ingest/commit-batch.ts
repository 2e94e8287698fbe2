/** Commits a batch of writes. */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { fullDiskError } from '../../../full-disk.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { Turns } from '../../../turns.ts'
import type { Creations, WriteError, WriteOp, WriteOutcome } from '../../index-storage.ts'
import { BLOCK_DOCS, type EncodedBlock, encodeRows, nextBlockLength, openPacked } from '../format/block/block.ts'
import { encodeFrame, type FrameHead, placeBlocks } from '../format/frame.ts'
import type { HeldSegments } from '../held-segments.ts'
import type { SegmentSet } from '../segment-set.ts'
import { type CommitFailure, isList, type Share } from './commit-queue.ts'
import type { StagedDocuments } from './staged-documents.ts'
import { WriteBatch } from './write-batch.ts'

/** One group commit: stages all operations, writes them as one frame, and lets them count once that is durable. */
export async function commitBatch(
  segments: SegmentSet,
  mapping: MutableMapping,
  shares: readonly Share[],
): Promise<readonly WriteOutcome[] | CommitFailure> {
  const { held, batch: running, sealing, merges } = segments
  const count = shares.reduce((sum, { from, to }) => sum + to - from, 0)
  try {
    await sealing.makeRoom(count)
  } catch (error) {
    return { failure: failureOf(error) }
  }
  await held.places.load()
  const batch = await stage(segments, mapping, shares, count)
  if (batch.nextSeqNo === held.nextSeqNo) {
    running.abort()
    return batch.outcomes
  }
  const blocks = await encodeBlocks(batch.documents)
  const head = headOf(batch, held)
  const frame = encodeFrame(head, blocks)
  const placed = placeBlocks(frame, blocks, held.tail.end)
  try {
    await running.writeBatch(frame, head, placed)
  } catch (error) {
    mapping.rollback(0)
    running.abort()
    return { failure: failureOf(error) }
  }
  await running.indexBatch()
  running.commit(batch, placed, blocks, frame.length)
  mapping.commit()
  releaseWritten(frame, blocks)
  await sealing.sealWhenFull()
  await held.places.makeRoom()
  await merges.dropEmpty()
  return batch.outcomes
}

/** Others run meanwhile: nothing of a batch counts for them. */
async function stage(
  { held, batch: running }: SegmentSet,
  mapping: MutableMapping,
  shares: readonly Share[],
  count: number,
): Promise<WriteBatch> {
  const turns = new Turns()
  const batch = new WriteBatch(running, running.documents, held.nextSeqNo, turns)
  running.begin(count, batch.seqNos, batch.versions)
  try {
    for (const share of shares) {
      if (isList(share.writes)) await addOps(batch, share.writes, share, turns)
      else await addCreations(batch, share.writes, share, turns)
    }
  } catch (error) {
    mapping.rollback(0)
    running.abort()
    throw error
  }
  return batch
}

async function addOps(batch: WriteBatch, ops: readonly WriteOp[], { from, to }: Share, turns: Turns): Promise<void> {
  for (let k = from; k < to; k++) {
    if (turns.isDue()) await turns.next()
    const adding = batch.add(ops[k]!)
    if (adding !== undefined) await adding
  }
}

/** Bytes of documents between two looks at the time. */
const LOOK_BYTES = 16 * 1024

async function addCreations(batch: WriteBatch, creations: Creations, { from, to }: Share, turns: Turns): Promise<void> {
  const { places } = creations
  batch.beginCreations(creations, from, to)
  let looked = 0
  for (let k = from; k < to; k++) {
    if (places[3 * k + 2]! - looked > LOOK_BYTES) {
      looked = places[3 * k + 2]!
      if (turns.isDue()) await turns.next()
    }
    const inBlock = batch.addBlock(creations, k)
    if (inBlock > 0) {
      k += inBlock - 1
      continue
    }
    const adding = batch.addCreation(creations, k)
    if (adding !== undefined) await adding
    batch.endCreation(k)
  }
}

async function encodeBlocks({ rows, blocks: packed }: StagedDocuments): Promise<EncodedBlock[]> {
  const turns = new Turns()
  const blocks: EncodedBlock[] = []
  let made = 0
  for (let at = 0; at < rows.length; ) {
    if (turns.isDue()) await turns.next()
    const [next, block] = packed[made] ?? NO_BLOCK
    if (next === at) {
      blocks.push(openPacked(block!, at))
      made++
      at += block!.ref.docs
      continue
    }
    const end = at + nextBlockLength(rows, at, Math.min(BLOCK_DOCS, next - at))
    blocks.push(encodeRows(rows, at, end, at))
    at = end
  }
  return blocks
}

const NO_BLOCK = [Number.POSITIVE_INFINITY, undefined] as const

/** Gives back the memory of a commit that is on disk now, save the blocks that stay at hand for reading. */
function releaseWritten(frame: Buffer, blocks: readonly EncodedBlock[]): void {
  releaseBytes(frame)
  for (const { parts, ref } of blocks) {
    const [, , data, messages] = parts
    if (ref.isCompressed || ref.areCut) releaseBytes(data!)
    if (ref.areMessagesCompressed || ref.areMessagesCut) releaseBytes(messages!)
  }
}

function headOf(batch: WriteBatch, held: HeldSegments): FrameHead {
  const first = batch.seqNos[0] ?? batch.nextSeqNo
  const seqs: [number, number][] = []
  const versions: [number, number][] = []
  for (let k = 0; k < batch.seqNos.length; k++) {
    const seqNo = batch.seqNos[k]!
    const version = batch.versions[k]!
    if (k > 0 && seqNo !== batch.seqNos[k - 1]! + 1) seqs.push([k, seqNo])
    if (version !== 1) versions.push([k, version])
  }
  return {
    seq: first,
    next: batch.nextSeqNo,
    ...(seqs.length === 0 ? {} : { seqs }),
    ...(versions.length === 0 ? {} : { versions }),
    ...(batch.idsTellTimes && { idsTellTimes: true }),
    ...(batch.buried.length === 0 ? {} : { dead: batch.buried.map(place => held.addressOf(place)) }),
  }
}

function failureOf(error: unknown): WriteError {
  const full = fullDiskError(error)
  if (full !== undefined) return { type: full.type, reason: full.message, status: 429 }
  const reason = error instanceof Error ? error.message : String(error)
  return { type: 'translog_exception', reason: `the write could not be made durable: ${reason}`, status: 507 }
}
