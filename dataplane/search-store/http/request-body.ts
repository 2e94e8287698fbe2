/** Reads request bodies of any encoding, within bounds. */

import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { isDeeperThan, MAX_SEARCH_BODY_DEPTH } from '../../json/depth.ts'
import type { LentBuffers } from '../../memory/lent-buffers.ts'
import { releaseBytes } from '../../memory/release-bytes.ts'
import { ApiError, illegalArgument, parsingError, tryLater } from '../api-error.ts'
import { isObject, type JsonObject, kindOf } from '../json/json-reader.ts'
import type { MemoryLease } from '../memory-pool.ts'

export interface BodyLimit {
  readonly maxBytes: number
  /** Status when it is exceeded: 413 for documents, 400 for queries (Decisions 7). */
  readonly status: 400 | 413
}

function tooLarge({ maxBytes, status }: BodyLimit): ApiError {
  return new ApiError(
    status,
    status === 413 ? 'content_too_long_exception' : 'illegal_argument_exception',
    `the request body is larger than ${maxBytes} bytes`,
    { headers: { connection: 'close' } },
  )
}

/** Largest window that a zstd frame may ask for, 8 MiB: what RFC 8878 recommends decoders to support. */
const ZSTD = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', () => createZstdDecompress(ZSTD)],
])

/** A body of which nothing came for so long is not waited for any longer, ms. */
const IDLE_MS = 20_000

/**
 * The decoded body, which is the caller's alone and may be given back to `memory`. Each byte is taken from `lease` as it comes, sent or
 * unpacked. Throws when it is too large (before or after decoding), cut short, in an unknown encoding, or when there is no room for it.
 */
export async function readBody(request: IncomingMessage, limit: BodyLimit, memory: LentBuffers, lease: MemoryLease): Promise<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const decoder = DECODERS.get(encoding)
  if (decoder === undefined && encoding !== 'identity')
    throw new ApiError(415, 'illegal_argument_exception', `Content-Encoding header [${encoding}] is not supported`)
  if (Number(request.headers['content-length'] ?? 0) > limit.maxBytes) throw tooLarge(limit)
  const raw = await receive(request, limit, memory, lease)
  if (decoder === undefined || raw.length === 0) return raw
  const body = await decode(raw, decoder(), encoding, limit, memory, lease)
  lease.giveBack(raw.length)
  memory.giveBack(raw)
  return body
}

async function receive(request: IncomingMessage, limit: BodyLimit, memory: LentBuffers, lease: MemoryLease): Promise<Buffer> {
  const idle = setTimeout(() => request.destroy(), IDLE_MS)
  try {
    return await gather(request, () => idle.refresh(), limit, memory, lease)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ClientGone(cause)
  } finally {
    clearTimeout(idle)
  }
}

async function decode(
  raw: Buffer,
  decoder: Transform,
  encoding: string,
  limit: BodyLimit,
  memory: LentBuffers,
  lease: MemoryLease,
): Promise<Buffer> {
  try {
    decoder.end(raw)
    return await gather(decoder, () => undefined, limit, memory, lease)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw illegalArgument(`the request body is not valid ${encoding}: ${cause instanceof Error ? cause.message : String(cause)}`)
  } finally {
    decoder.destroy()
  }
}

/** All that a stream gives, as one. */
async function gather(stream: Readable, onChunk: () => void, limit: BodyLimit, memory: LentBuffers, lease: MemoryLease): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  // An answer can still be sent while the rest of a body is left.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    onChunk()
    size += chunk.length
    if (size > limit.maxBytes) throw tooLarge(limit)
    if (!lease.take(chunk.length)) throw overloaded()
    chunks.push(chunk)
  }
  if (chunks.length === 1) return chunks[0]!
  const whole = memory.take(size).subarray(0, size)
  let end = 0
  for (const chunk of chunks) {
    whole.set(chunk, end)
    end += chunk.length
    releaseBytes(chunk)
  }
  return whole
}

/** There is no room for the body: the same request may find some in a second. */
export function overloaded(): ApiError {
  const reason = 'the bodies of requests under way take all the memory that there is for them; send less at a time, or later'
  return tryLater('circuit_breaking_exception', reason)
}

/** The client hung up while it sent its request. There is no one to answer. */
export class ClientGone extends Error {
  constructor(cause: unknown) {
    super('the client closed the connection before its request was complete', { cause })
    this.name = 'ClientGone'
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Undefined for an empty body. */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  if (isDeeperThan(body, MAX_SEARCH_BODY_DEPTH))
    throw parsingError(`the request body is nested deeper than ${MAX_SEARCH_BODY_DEPTH} levels`)
  try {
    return JSON.parse(decoder.decode(body))
  } catch (cause) {
    throw new ApiError(
      400,
      'parse_exception',
      `Failed to parse the request body as JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
}

/** The body as a JSON object, or the parameter `source` where there is none; empty without both. Throws 400 when it is anything else. */
export function readJsonObject(body: Buffer, parameters: URLSearchParams): JsonObject {
  const value = body.length === 0 ? parseSource(parameters) : parseJsonBody(body)
  if (value === undefined) return {}
  if (isObject(value)) return value
  throw new ApiError(400, 'parse_exception', `the request body must be a JSON object, found ${kindOf(value)}`)
}

/** For clients that cannot send a body with GET. */
function parseSource(parameters: URLSearchParams): unknown {
  const source = parameters.get('source')
  return source === null ? undefined : parseJsonBody(Buffer.from(source))
}
