/**
 * zstd for blocks of bytes that are in memory: a context per thread and direction, used again and again. `zstdCompressSync` makes and frees
 * one for every call, which costs 12 µs on two kilobytes and a third of the time on 256 KB (measured). Node has no public way to keep a context
 * (nodejs/node#35295), so the one of a zlib stream is driven directly; where it is not as expected, the public functions do the work.
 */
import { constants, createZstdCompress, createZstdDecompress, type ZstdOptions, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Level 3 gains nothing on logs. */
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 1 }
const MIN_SCRATCH_BYTES = 64 * 1024

/** The inner handle of a zlib stream of Node 24. */
interface StreamHandle {
  writeSync(flush: number, input: Uint8Array, inAt: number, inBytes: number, output: Uint8Array, outAt: number, outBytes: number): void
  onerror: (message: string) => void
}

export interface ZstdContext {
  /** Writes the whole result into `output`, which must be longer, and returns its length. Throws when it does not fit, and for what is no zstd: not to be used again then. */
  run(input: Uint8Array, output: Uint8Array): number
}

/** The context inside a zlib stream; undefined when the stream does not look as expected. */
export function contextOf(stream: object): ZstdContext | undefined {
  const { _handle: handle, _writeState: state } = stream as { readonly _handle?: StreamHandle; readonly _writeState?: Uint32Array }
  if (typeof handle?.writeSync !== 'function' || !(state instanceof Uint32Array)) return undefined
  let problem: string | undefined
  handle.onerror = message => {
    problem = message
  }
  return {
    run(input, output) {
      problem = undefined
      state[0] = 0
      state[1] = 0
      handle.writeSync(constants.ZSTD_e_end, input, 0, input.length, output, 0, output.length)
      const [outputLeft, inputLeft] = state as unknown as readonly [number, number]
      if (problem === undefined && inputLeft === 0 && outputLeft > 0) return output.length - outputLeft
      throw new Error(`zstd: ${problem ?? `the result is longer than ${output.length - 1} bytes`}`)
    },
  }
}

let decompressor: ZstdContext | undefined

let scratch = new Uint8Array(0)

/** One zstd frame, in memory of its own. */
export const compress = (raw: Uint8Array): Uint8Array => compressShared(raw).slice()

/** The same with a checksum of the content, four bytes more: a frame that is not as it was written is never unpacked to something else. */
export const compressChecked = (raw: Uint8Array): Uint8Array => compressSharedChecked(raw).slice()

/** The same as `compress`, valid until the next call of any function that compresses. */
export const compressShared = createCompressor({})

const compressSharedChecked = createCompressor({ hasChecksum: true })

interface CompressorOptions {
  /** How many places of the input are kept to be found again, as a power of two; without it as many as zstd holds right for the input's length. */
  readonly hashLog?: number
  readonly hasChecksum?: boolean
}

export function createCompressor({ hashLog, hasChecksum = false }: CompressorOptions): (raw: Uint8Array) => Uint8Array {
  const options = {
    params: {
      ...LEVEL,
      ...(hashLog !== undefined && { [constants.ZSTD_c_hashLog]: hashLog }),
      ...(hasChecksum && { [constants.ZSTD_c_checksumFlag]: 1 }),
    },
  }
  let context: ZstdContext | undefined
  return raw => {
    context ??= contextOf(createZstdCompress(options)) ?? publicCompressor(options)
    const most = raw.length + (raw.length >>> 8) + 1024
    if (scratch.length < most) scratch = new Uint8Array(Math.max(most, MIN_SCRATCH_BYTES))
    return scratch.subarray(0, context.run(raw, scratch))
  }
}

/** Throws when the result is not of exactly `rawBytes`. */
export function decompress(packed: Uint8Array, rawBytes: number): Buffer {
  // A byte more than needed, so that a longer result shows.
  const output = Buffer.allocUnsafeSlow(rawBytes + 1)
  decompressInto(packed, output, rawBytes)
  return output.subarray(0, rawBytes)
}

const MAGIC = 0xfd2fb528
/** Bytes of the content's size, by the two highest bits of the descriptor; a frame of a single segment has one for 0. */
const SIZE_BYTES = [0, 2, 4, 8] as const
const DICTIONARY_BYTES = [0, 1, 2, 4] as const

/** How much the first frame says it holds (RFC 8878, 3.1.1.1); undefined for a frame that does not say, and for what is no zstd. */
export function contentBytes(packed: Buffer): number | undefined {
  if (packed.length < 5 || packed.readUInt32LE(0) !== MAGIC) return undefined
  const descriptor = packed[4]!
  const isSingleSegment = (descriptor & 0x20) !== 0
  const size = SIZE_BYTES[descriptor >>> 6]! || (isSingleSegment ? 1 : 0)
  const at = 5 + (isSingleSegment ? 0 : 1) + DICTIONARY_BYTES[descriptor & 3]!
  if (size === 0 || packed.length < at + size) return undefined
  if (size === 8) return Number(packed.readBigUInt64LE(at))
  return packed.readUIntLE(at, size) + (size === 2 ? 256 : 0)
}

/** The same into `output`, which must be longer. */
export function decompressInto(packed: Uint8Array, output: Uint8Array, rawBytes: number): void {
  decompressor ??= contextOf(createZstdDecompress()) ?? publicDecompressor
  const length = decompressOrForget(decompressor, packed, output)
  if (length !== rawBytes) throw new Error(`zstd: ${rawBytes} bytes were packed, ${length} came out`)
}

function decompressOrForget(context: ZstdContext, packed: Uint8Array, output: Uint8Array): number {
  try {
    return context.run(packed, output)
  } catch (error) {
    decompressor = undefined
    throw error
  }
}

const publicCompressor = (options: ZstdOptions): ZstdContext => ({
  run: (input, output) => zstdCompressSync(input, options).copy(output),
})

const publicDecompressor: ZstdContext = {
  run: (input, output) =>
    zstdDecompressSync(input, { maxOutputLength: output.length, chunkSize: Math.max(64, output.length) }).copy(output),
}
