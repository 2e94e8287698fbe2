/** Request decompression that stops at the size limit, not after it (Decisions 3). */
import { Readable } from 'node:stream'
import {
  constants,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'
import { releaseBytes } from '../memory/release-bytes.ts'
import type { MemoryLease } from './memory-budget.ts'
import { Refusal, tooLarge } from './refusal.ts'

/** Up to this size a body is decompressed at once; what grows larger is decompressed in steps, off the event loop. */
const AT_ONCE_BYTES = 1024 * 1024
/** Frames of one zstd body: each costs a call, however little it holds. */
const MAX_FRAMES = 1_000
/** Pieces have memory of their own from here on, which can be given back at once: smaller ones share that of Node's pool. */
const CHUNK = { chunkSize: 65_536 }
/** Largest window a zstd frame may ask for, 8 MiB: what RFC 8878 recommends decoders to support. */
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

const CODECS = {
  gzip: { atOnce: gunzipSync, stream: () => createGunzip(CHUNK) },
  zlib: { atOnce: inflateSync, stream: () => createInflate(CHUNK) },
  deflate: { atOnce: inflateRawSync, stream: () => createInflateRaw(CHUNK) },
  zstd: {
    atOnce: (body: Uint8Array, options: object) => zstdDecompressSync(body, { ...options, ...ZSTD }),
    stream: () => createZstdDecompress({ ...ZSTD, ...CHUNK }),
  },
} as const

export const ENCODINGS = ['gzip', 'deflate', 'zstd', 'identity'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Throws a `Refusal` for an encoding (or a chain of them) that is not supported. */
export function parseEncoding(header: string | undefined): Encoding {
  const known = encodingNamed(header)
  if (known !== undefined) return known
  const name = header!.trim().toLowerCase().slice(0, 80)
  throw new Refusal('unsupportedEncoding', `content encoding: expected one of ${ENCODINGS.join(', ')}, saw ${name}`)
}

/** Undefined for one that is not supported. */
export function encodingNamed(header: string | undefined): Encoding | undefined {
  if (header === undefined) return 'identity'
  const name = header.trim().toLowerCase()
  if (name === '') return 'identity'
  if (name === 'x-gzip') return 'gzip'
  return ENCODINGS.find(encoding => encoding === name)
}

/** The result is charged to the lease as it grows. Throws a `Refusal`. */
export async function decompress(body: Uint8Array, encoding: Encoding, limitBytes: number, lease: MemoryLease): Promise<Uint8Array> {
  if (encoding === 'identity') return body
  const codec = CODECS[encoding === 'deflate' && isZlib(body) ? 'zlib' : encoding]
  const frames: Uint8Array[] = []
  let size = 0
  let rest = body
  do {
    if (frames.length === MAX_FRAMES) throw new Refusal('malformed', `request body: expected at most ${MAX_FRAMES} ${encoding} frames`)
    const { output, usedBytes } = await decompressFrame(rest, { codec, encoding, doneBytes: size, limitBytes, lease })
    frames.push(output)
    size += output.length
    rest = rest.subarray(usedBytes)
    if (rest.length > 0 && encoding !== 'zstd')
      throw new Refusal('malformed', `request body: expected ${encoding} data, saw ${rest.length} bytes after its end`)
  } while (rest.length > 0)
  return frames.length === 1 ? frames[0]! : Buffer.concat(frames, size)
}

type Codec = (typeof CODECS)[keyof typeof CODECS]

interface FrameRequest {
  readonly codec: Codec
  readonly encoding: Encoding
  /** Output of the frames before. */
  readonly doneBytes: number
  /** For all frames together. */
  readonly limitBytes: number
  readonly lease: MemoryLease
}

interface Frame {
  readonly output: Uint8Array
  /** The frame's own length; what follows is another frame. */
  readonly usedBytes: number
}

async function decompressFrame(body: Uint8Array, request: FrameRequest): Promise<Frame> {
  const { codec, encoding, doneBytes, limitBytes, lease } = request
  const atOnceBytes = Math.min(limitBytes, AT_ONCE_BYTES) - doneBytes
  if (atOnceBytes <= 0) return inSteps(body, request)
  try {
    const frame = codec.atOnce(body, { info: true, maxOutputLength: atOnceBytes })
    const { buffer, engine } = frame as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }
    lease.grow(buffer.length)
    return { output: buffer, usedBytes: usedOf(body, encoding, engine.bytesWritten) }
  } catch (error) {
    if (!isTooLong(error)) throw asRefusal(error, encoding)
  }
  if (limitBytes <= AT_ONCE_BYTES) throw unpacksTooLarge(limitBytes)
  return inSteps(body, request)
}

async function inSteps(body: Uint8Array, { codec, encoding, doneBytes, limitBytes, lease }: FrameRequest): Promise<Frame> {
  const source = Readable.from([body])
  const stream = codec.stream()
  const chunks: Uint8Array[] = []
  let size = 0
  const join = () => {
    const whole = Buffer.allocUnsafeSlow(size)
    let end = 0
    for (const chunk of chunks) {
      whole.set(chunk, end)
      end += chunk.length
      releaseBytes(chunk)
    }
    return whole
  }
  source.pipe(stream)
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      size += chunk.length
      if (doneBytes + size > limitBytes) throw unpacksTooLarge(limitBytes)
      lease.grow(chunk.length)
      chunks.push(chunk)
    }
  } catch (error) {
    chunks.forEach(releaseBytes)
    throw asRefusal(error, encoding)
  } finally {
    source.destroy()
    stream.destroy()
  }
  return { output: join(), usedBytes: usedOf(body, encoding, stream.bytesWritten) }
}

/** zlib reads all members of a gzip file by itself; of the others it stops at the end of the first frame. */
function usedOf(body: Uint8Array, encoding: Encoding, bytesWritten: number): number {
  return encoding === 'gzip' ? body.length : bytesWritten
}

/** RFC 9110 means zlib by `deflate`; some clients send the bare deflate stream. */
function isZlib(body: Uint8Array): boolean {
  return body.length >= 2 && (body[0]! & 0x0f) === 8 && ((body[0]! << 8) | body[1]!) % 31 === 0
}

function isTooLong(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
}

function unpacksTooLarge(limitBytes: number): Refusal {
  return tooLarge('request body', limitBytes, 'more after decompression')
}

function asRefusal(error: unknown, encoding: Encoding): Refusal {
  if (error instanceof Refusal) return error
  const why = error instanceof Error ? error.message : String(error)
  return new Refusal('malformed', `request body: expected ${encoding} data: ${why}`)
}
