import type { IdKey } from './document-id.ts'
import { pack, unpack } from './zstd.ts'

/** Documents per block: larger ones compress little better and make reading one document dearer. */
export const BLOCK_DOCS = 128
/** Blocks end at this many bytes of documents too. */
export const BLOCK_BYTES = 512 * 1024
/** Less than this is kept as it is: the call would cost more than the space. */
const MIN_COMPRESSED_BYTES = 4096

export const BLOCK_HEADER_BYTES = 20
const IS_UUIDS = 1
const IS_COMPRESSED = 2

export interface StagedDocument {
  readonly id: IdKey
  readonly source: Uint8Array
}

/** Where a block stands and what it holds. Offsets are in the segment's file. */
export interface BlockRef {
  /** Number of its first document. */
  readonly firstDoc: number
  readonly docs: number
  readonly areUuids: boolean
  readonly isCompressed: boolean
  /** Of the ids, which the documents follow. */
  readonly offset: number
  readonly idsBytes: number
  readonly dataBytes: number
  /** Of the documents unpacked, their lengths included. */
  readonly rawBytes: number
}

export interface EncodedBlock {
  /** Header, ids, documents. */
  readonly parts: readonly Uint8Array[]
  readonly sizeBytes: number
  /** `offset` counts from the block's own start. */
  readonly ref: BlockRef
  /** What `unpack` would give. */
  readonly raw: Buffer
}

/** How many documents from `from` on make the next block. */
export function nextBlockLength(documents: readonly StagedDocument[], from: number): number {
  let bytes = 0
  let count = 0
  while (from + count < documents.length && count < BLOCK_DOCS) {
    bytes += documents[from + count]!.source.length
    if (count > 0 && bytes > BLOCK_BYTES) break
    count++
  }
  return count
}

export function encodeBlock(documents: readonly StagedDocument[], firstDoc: number): EncodedBlock {
  const areUuids = documents.every(({ id }) => id.isUuid)
  const ids = areUuids ? encodeUuids(documents) : encodeMixedIds(documents)
  const raw = layOut(documents)
  const data = raw.length < MIN_COMPRESSED_BYTES ? raw : pack(raw)
  const isCompressed = data !== raw
  const header = Buffer.alloc(BLOCK_HEADER_BYTES)
  header.writeUInt32LE(documents.length, 0)
  header.writeUInt32LE((areUuids ? IS_UUIDS : 0) | (isCompressed ? IS_COMPRESSED : 0), 4)
  header.writeUInt32LE(ids.length, 8)
  header.writeUInt32LE(data.length, 12)
  header.writeUInt32LE(raw.length, 16)
  return {
    parts: [header, ids, data],
    sizeBytes: BLOCK_HEADER_BYTES + ids.length + data.length,
    raw,
    ref: {
      firstDoc,
      docs: documents.length,
      areUuids,
      isCompressed,
      offset: BLOCK_HEADER_BYTES,
      idsBytes: ids.length,
      dataBytes: data.length,
      rawBytes: raw.length,
    },
  }
}

/** Reads the header of the block at `at` of `bytes`, which stand at `base` in the file. */
export function readBlockRef(bytes: Buffer, at: number, base: number, firstDoc: number): BlockRef {
  const flags = bytes.readUInt32LE(at + 4)
  return {
    firstDoc,
    docs: bytes.readUInt32LE(at),
    areUuids: (flags & IS_UUIDS) !== 0,
    isCompressed: (flags & IS_COMPRESSED) !== 0,
    offset: base + at + BLOCK_HEADER_BYTES,
    idsBytes: bytes.readUInt32LE(at + 8),
    dataBytes: bytes.readUInt32LE(at + 12),
    rawBytes: bytes.readUInt32LE(at + 16),
  }
}

/** Lengths of the documents (u32 each), then the documents. */
function layOut(documents: readonly StagedDocument[]): Buffer {
  let size = 4 * documents.length
  for (let k = 0; k < documents.length; k++) size += documents[k]!.source.length
  const raw = Buffer.allocUnsafeSlow(size)
  const lengths = new Uint32Array(raw.buffer, 0, documents.length)
  let end = 4 * documents.length
  for (let k = 0; k < documents.length; k++) {
    const { source } = documents[k]!
    raw.set(source, end)
    end += source.length
    lengths[k] = source.length
  }
  return raw
}

export function unpackBlock(ref: BlockRef, data: Buffer): Buffer {
  return ref.isCompressed ? unpack(data, ref.rawBytes) : data
}

/** Where each document of an unpacked block of `docs` starts, and, as one more, where the last one ends. */
export function documentStarts(raw: Buffer, docs: number): Uint32Array {
  const starts = new Uint32Array(docs + 1)
  let start = 4 * docs
  for (let k = 0; k < docs; k++) {
    starts[k] = start
    start += raw.readUInt32LE(4 * k)
  }
  starts[docs] = start
  return starts
}

function encodeUuids(documents: readonly StagedDocument[]): Buffer {
  const ids = Buffer.allocUnsafeSlow(16 * documents.length)
  for (let k = 0; k < documents.length; k++) {
    const { bytes } = documents[k]!.id
    for (let j = 0; j < 16; j++) ids[16 * k + j] = bytes[j]!
  }
  return ids
}

/** Per id a length (u16, bit 15: raw UUID), then all ids. */
function encodeMixedIds(documents: readonly StagedDocument[]): Buffer {
  const lengths = Buffer.alloc(2 * documents.length)
  for (const [k, { id }] of documents.entries()) lengths.writeUInt16LE(id.bytes.length | (id.isUuid ? 0x8000 : 0), 2 * k)
  return Buffer.concat([lengths, ...documents.map(({ id }) => id.bytes)])
}

/** Calls back with the place of each id in `ids`, in order. */
export function forEachId(ref: BlockRef, ids: Buffer, visit: (k: number, start: number, end: number, isUuid: boolean) => void): void {
  let at = ref.areUuids ? 0 : 2 * ref.docs
  for (let k = 0; k < ref.docs; k++) {
    const word = ref.areUuids ? 0x8010 : ids.readUInt16LE(2 * k)
    const end = at + (word & 0x7fff)
    visit(k, at, end, word >= 0x8000)
    at = end
  }
}

export interface StoredId {
  readonly bytes: Uint8Array
  readonly isUuid: boolean
}

export function idAt(ref: BlockRef, ids: Buffer, k: number): StoredId {
  if (ref.areUuids) return { bytes: ids.subarray(16 * k, 16 * k + 16), isUuid: true }
  let found: StoredId | undefined
  forEachId(ref, ids, (index, start, end, isUuid) => {
    if (index === k) found = { bytes: ids.subarray(start, end), isUuid }
  })
  return found!
}
