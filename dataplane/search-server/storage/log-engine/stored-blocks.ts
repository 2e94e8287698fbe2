import { type BlockRef, documentStarts, idAt, type StoredId, unpackBlock } from './block.ts'
import type { ByteCache } from './byte-cache.ts'
import type { SegmentFile } from './segment-file.ts'

/** Reads documents and ids out of the blocks of one segment's file. */
export interface StoredBlocks {
  source(doc: number): Uint8Array
  id(doc: number): StoredId
  /** Keeps a block at hand that was just written. */
  keep(ref: BlockRef, raw: Buffer): void
}

/** Blocks just written that stay at hand unpacked: updates come soon after. They do not go through the cache, which they would flush. */
const RECENT_BLOCKS = 48

let segmentCount = 0

/** A name for cache entries that no other segment of this process has. */
export const nextCacheName = (): string => `s${segmentCount++}`

export function createStoredBlocks(
  file: SegmentFile,
  cacheName: string,
  cache: ByteCache,
  blocks: () => readonly BlockRef[],
): StoredBlocks {
  const keyOf = (ref: BlockRef) => `${cacheName}b${ref.offset}`
  const recent = new Map<number, Buffer>()
  /** The block read last: queries go from neighbour to neighbour. */
  let last: { readonly ref: BlockRef; readonly raw: Buffer; readonly starts: Uint32Array } | undefined

  function unpacked(ref: BlockRef): Buffer {
    const raw = recent.get(ref.offset)
    if (raw !== undefined) return raw
    return cache.get(
      keyOf(ref),
      () => unpackBlock(ref, file.read(ref.dataBytes, ref.offset + ref.idsBytes)),
      each => each.length,
    )
  }

  function blockWith(doc: number) {
    if (last !== undefined && doc >= last.ref.firstDoc && doc < last.ref.firstDoc + last.ref.docs) return last
    const ref = blockOf(blocks(), doc)
    const raw = unpacked(ref)
    last = { ref, raw, starts: documentStarts(raw, ref.docs) }
    return last
  }

  return {
    source(doc) {
      const { ref, raw, starts } = blockWith(doc)
      const k = doc - ref.firstDoc
      return raw.subarray(starts[k], starts[k + 1])
    },
    id(doc) {
      const ref = blockOf(blocks(), doc)
      if (ref.areUuids) return { bytes: file.read(16, ref.offset + 16 * (doc - ref.firstDoc)), isUuid: true }
      return idAt(ref, file.read(ref.idsBytes, ref.offset), doc - ref.firstDoc)
    },
    keep(ref, raw) {
      recent.set(ref.offset, raw)
      if (recent.size <= RECENT_BLOCKS) return
      for (const oldest of recent.keys()) {
        recent.delete(oldest)
        return
      }
    },
  }
}

const blockOf = (blocks: readonly BlockRef[], doc: number) => blocks[blockIndexOf(blocks, doc)]!

export function blockIndexOf(blocks: readonly BlockRef[], doc: number): number {
  let low = 0
  let high = blocks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (blocks[middle]!.firstDoc <= doc) low = middle
    else high = middle - 1
  }
  return low
}
