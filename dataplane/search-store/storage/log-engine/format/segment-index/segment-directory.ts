/** The end of a sealed segment: what stands where in its file. */
import { crc32 } from 'node:zlib'
import { compressChecked, decompress } from '../../../../../compression/zstd.ts'
import { type BlockRef, flagsOf, readFlags } from '../block/block.ts'
import type { ShapesEntry } from '../block/message-shapes.ts'
import type { SegmentFile } from '../segment-file.ts'
import type { ColumnEntry, Span } from './column-codec.ts'
import type { TermSections } from './term-index.ts'
import type { ValueCountsEntry } from './value-counts.ts'

/** `[document, number]`: holds from that document on, rising by one with each. */
export type NumberRun = readonly [doc: number, first: number]

/** All that a sealed segment knows of itself, at its end, in front of the footer. */
export interface SegmentDirectory {
  readonly docs: number
  readonly seqs: readonly NumberRun[]
  /** The sequence number after the last one at the time of sealing. */
  readonly nextSeqNo: number
  /** Where the version is not 1. */
  readonly versions: readonly (readonly [doc: number, version: number])[]
  /** null: no document has a timestamp. */
  readonly minTimestampMs: number | null
  readonly maxTimestampMs: number | null
  readonly terms: TermSections
  readonly columns: ReadonlyMap<string, ColumnEntry>
  /** Keyword fields whose values stand among the terms alone. */
  readonly termFields: readonly string[]
  /** JSON: `[minuteMs, tenant, service, level, count]` rows of all documents, dead ones too. */
  readonly counts?: Span
  /** Absent in segments written before they were kept. */
  readonly valueCounts?: readonly ValueCountsEntry[]
  /** The bits of `WordPairs`; absent in segments written before they were kept. */
  readonly pairs?: Span
  /** Shapes of messages; absent where there are none, and in segments written before they were kept. */
  readonly shapes?: ShapesEntry
  readonly blocks: Span
  /** 32-bit words that `blocks` spends on each block: 8 in segments written before blocks had checksums, absent before messages stood apart: 6. */
  readonly blockWords?: number
  /** No other document of the index ever has the id of one of these at another time; absent where that is not known. */
  readonly idsTellTimes?: true
  /** Where its commits end, from which the rest can be made anew; absent in segments that were sealed before 2026-11-30, where commits may be missing. */
  readonly commitsEnd?: number
  /** Numbers of the segments that this one took the place of. */
  readonly replaces: readonly number[]
}

type StoredDirectory = Omit<SegmentDirectory, 'columns'> & { readonly columns: Readonly<Record<string, ColumnEntry>> }

const MAGIC = 0x5346504c
export const FOOTER_BYTES = 32

/** Directory and footer, for the end of the file; `at` is where they will stand. */
export function encodeDirectory(directory: SegmentDirectory, at: number): Buffer {
  const raw = Buffer.from(JSON.stringify({ ...directory, columns: Object.fromEntries(directory.columns) }))
  const packed = compressChecked(raw)
  const footer = Buffer.alloc(FOOTER_BYTES)
  footer.writeUInt32LE(MAGIC, 0)
  footer.writeUInt32LE(crc32(packed), 4)
  footer.writeDoubleLE(at, 8)
  footer.writeUInt32LE(packed.length, 16)
  footer.writeUInt32LE(raw.length, 20)
  footer.writeUInt32LE(crc32(footer.subarray(0, 24)), 28)
  return Buffer.concat([packed, footer])
}

/** Where the directory of a sealed segment stands; undefined when the file is not sealed. */
export function findDirectory(file: SegmentFile, sizeBytes: number): Span | undefined {
  if (sizeBytes < FOOTER_BYTES) return undefined
  const footer = file.read(FOOTER_BYTES, sizeBytes - FOOTER_BYTES)
  if (footer.readUInt32LE(0) !== MAGIC || footer.readUInt32LE(28) !== crc32(footer.subarray(0, 24))) return undefined
  return [footer.readDoubleLE(8), footer.readUInt32LE(16), footer.readUInt32LE(20)]
}

export function readDirectory(file: SegmentFile, [at, bytes, rawBytes]: Span): SegmentDirectory {
  const stored = JSON.parse(decompress(file.read(bytes, at), rawBytes).toString()) as StoredDirectory
  return { ...stored, columns: new Map(Object.entries(stored.columns)) }
}

export const BLOCK_WORDS = 11
const OLD_BLOCK_WORDS = 6

export function encodeBlockRefs(blocks: readonly BlockRef[]): Uint8Array {
  const words = new Uint32Array(BLOCK_WORDS * blocks.length)
  for (const [k, block] of blocks.entries()) {
    const { docs, offset, idsBytes, dataBytes, rawBytes, messageBytes, messageRawBytes } = block
    const checksums = [block.idsChecksum, block.dataChecksum, block.messagesChecksum]
    words.set([docs, flagsOf(block), offset, idsBytes, dataBytes, rawBytes, messageBytes, messageRawBytes, ...checksums], BLOCK_WORDS * k)
  }
  return new Uint8Array(words.buffer)
}

export function decodeBlockRefs(bytes: Buffer, blockWords = OLD_BLOCK_WORDS): BlockRef[] {
  const blocks: BlockRef[] = []
  let firstDoc = 0
  for (let at = 0; at < bytes.length; at += 4 * blockWords) {
    const word = (k: number) => (k < blockWords ? bytes.readUInt32LE(at + 4 * k) : 0)
    blocks.push({
      firstDoc,
      docs: word(0),
      ...readFlags(word(1)),
      offset: word(2),
      idsBytes: word(3),
      dataBytes: word(4),
      rawBytes: word(5),
      messageBytes: word(6),
      messageRawBytes: word(7),
      idsChecksum: word(8),
      dataChecksum: word(9),
      messagesChecksum: word(10),
    })
    firstDoc += word(0)
  }
  return blocks
}
