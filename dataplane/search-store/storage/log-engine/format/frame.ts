/**
 * A commit on disk: a header (magic, lengths, CRC-32 of all that follows), a JSON head, the blocks. A last frame that is cut or
 * damaged was never acknowledged and is dropped at recovery.
 */
import { crc32 } from 'node:zlib'
import { type BlockRef, blockBytes, type EncodedBlock, readBlockRef } from './block/block.ts'
import type { NumberRuns } from './number-runs.ts'

const MAGIC = 0x3146504c
const HEADER_BYTES = 16

/** The content of a commit beside its documents. */
export interface FrameHead {
  /** Sequence number of the commit's first document; the others follow. */
  readonly seq: number
  /** `[document within the commit, sequence number]` where the numbers skip. */
  readonly seqs?: readonly (readonly [number, number])[]
  /** The sequence number that comes next after the commit. */
  readonly next: number
  /** `[document within the commit, version]` where the version is not 1. */
  readonly versions?: readonly (readonly [number, number])[]
  /** No other document of the index ever has the id of one of these at another time; absent where that is not known. */
  readonly idsTellTimes?: true
  /** `[segment, document]` that the commit deleted or replaced. */
  readonly dead?: readonly (readonly [number, number])[]
  /** In the first frame of a merged segment: numbers of the segments that it took the place of. */
  readonly replaces?: readonly number[]
}

export interface Frame {
  readonly head: FrameHead
  /** Documents numbered from `firstDoc` on. */
  readonly blocks: readonly BlockRef[]
  readonly docs: number
  /** Offset behind the frame. */
  readonly end: number
}

/** One allocation, for large batches come one after the other. */
export function encodeFrame(head: FrameHead, blocks: readonly EncodedBlock[]): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const start = HEADER_BYTES + text.length
  const frame = Buffer.allocUnsafeSlow(blocks.reduce((sum, block) => sum + block.sizeBytes, start))
  frame.writeUInt32LE(MAGIC, 0)
  frame.writeUInt32LE(frame.length - HEADER_BYTES, 4)
  frame.writeUInt32LE(text.length, 8)
  frame.set(text, HEADER_BYTES)
  let at = start
  for (const { parts } of blocks) {
    for (const part of parts) {
      frame.set(part, at)
      at += part.length
    }
  }
  frame.writeUInt32LE(crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(0, 12))), 12)
  return frame
}

/** The blocks of a frame that will stand at `at`, as `decodeFrame` would find them. */
export function placeBlocks(frame: Buffer, blocks: readonly EncodedBlock[], at: number): BlockRef[] {
  let offset = at + HEADER_BYTES + frame.readUInt32LE(8)
  return blocks.map(block => {
    const ref = { ...block.ref, offset: offset + block.ref.offset }
    offset += block.sizeBytes
    return ref
  })
}

/** The head of documents that are written anew, `docs` of them from `firstDoc` on, with the numbers that they had. `next`: where others follow, the number after the last. */
export function headOf(
  numbers: { readonly seqs: NumberRuns; readonly versions: ReadonlyMap<number, number>; readonly idsTellTimes: boolean },
  firstDoc: number,
  docs: number,
  next?: number,
): FrameHead {
  const seqs: [number, number][] = []
  const versions: [number, number][] = []
  const first = docs === 0 ? next! : numbers.seqs.at(firstDoc)
  let expected = first
  for (let k = 0; k < docs; k++) {
    const seq = numbers.seqs.at(firstDoc + k)
    if (seq !== expected) seqs.push([k, seq])
    expected = seq + 1
    const version = numbers.versions.get(firstDoc + k)
    if (version !== undefined) versions.push([k, version])
  }
  return {
    seq: first,
    next: next ?? expected,
    ...(seqs.length > 0 && { seqs }),
    ...(versions.length > 0 && { versions }),
    ...(numbers.idsTellTimes && { idsTellTimes: true }),
  }
}

/** Bytes of the whole frame by its header; undefined when no frame begins there. */
export function frameLength(header: Buffer): number | undefined {
  return header.length >= HEADER_BYTES && header.readUInt32LE(0) === MAGIC ? HEADER_BYTES + header.readUInt32LE(4) : undefined
}

export const FRAME_HEADER_BYTES = HEADER_BYTES
/** The first bytes of every frame: `MAGIC` as it lies in the file. */
export const FRAME_MAGIC_BYTES = Buffer.alloc(4)
FRAME_MAGIC_BYTES.writeUInt32LE(MAGIC)

/** The frame in `bytes`, which stand at `at` in the file; undefined when it is cut or damaged. */
export function decodeFrame(bytes: Buffer, at: number, firstDoc: number): Frame | undefined {
  const length = frameLength(bytes)
  if (length === undefined || bytes.length < length) return undefined
  const body = bytes.subarray(HEADER_BYTES, length)
  if (crc32(body, crc32(bytes.subarray(0, 12))) !== bytes.readUInt32LE(12)) return undefined
  const headBytes = bytes.readUInt32LE(8)
  const head = JSON.parse(body.toString('utf8', 0, headBytes)) as FrameHead
  const blocks: BlockRef[] = []
  let docs = 0
  for (let offset = HEADER_BYTES + headBytes; offset < length; ) {
    const ref = readBlockRef(bytes, offset, at, firstDoc + docs)
    blocks.push(ref)
    docs += ref.docs
    offset += blockBytes(ref)
  }
  return { head, blocks, docs, end: at + length }
}
