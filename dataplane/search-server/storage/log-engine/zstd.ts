import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Level 3 gains nothing on logs; the chunk is about what a block of documents comes to. */
const LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 24 << 10 }
const MIN_CHUNK_BYTES = 64

export const pack = (raw: Uint8Array): Buffer => zstdCompressSync(raw, LEVEL_1)

/** Throws when the result is not of exactly `rawBytes`. One chunk for all of it halves the time that the default ones take. */
export function unpack(packed: Uint8Array, rawBytes: number): Buffer {
  const raw = zstdDecompressSync(packed, { maxOutputLength: rawBytes + 1, chunkSize: Math.max(MIN_CHUNK_BYTES, rawBytes + 1) })
  if (raw.length !== rawBytes) throw new Error(`${rawBytes} bytes were packed, ${raw.length} came out`)
  return raw
}
