/** Reads bodies of the REST API: their encodings, bounds and errors. */

import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { HttpError } from '../../../http/http-error.ts'
import * as http from '../../../http/request-body.ts'
import { MAX_SEARCH_BODY_DEPTH } from '../../../json/depth.ts'
import { isJsonObject } from '../../../json/is-json-object.ts'
import type { BodyLease, BodyErrors as MemoryErrors } from '../../../limits/body-memory.ts'
import type { LentBuffers } from '../../../memory/lent-buffers.ts'
import { releaseBytes } from '../../../memory/release-bytes.ts'
import { ApiError, duplicateField, illegalArgument, parsingError, tryLater } from '../../api-error.ts'
import { duplicateName } from '../../json/duplicate-name.ts'
import { parseLongDigits } from '../../json/exact-numbers.ts'
import { type JsonObject, kindOf } from '../../json/json-reader.ts'

export interface BodyLimit {
  readonly maxBytes: number
  /** Status when it is exceeded: 413 for documents, 400 for queries (Decisions 7). */
  readonly status: 400 | 413
}

/** Pieces have memory of their own from here on, which can be given back at once: smaller ones share that of Node's pool. */
const CHUNK = { chunkSize: 65_536 }
/** Largest window that a zstd frame may ask for, 8 MiB: what RFC 8878 recommends decoders to support. */
const ZSTD = { ...CHUNK, params: { [constants.ZSTD_d_windowLogMax]: 23 } }

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip(CHUNK)],
  ['x-gzip', () => createGunzip(CHUNK)],
  ['deflate', () => createInflate(CHUNK)],
  ['br', () => createBrotliDecompress(CHUNK)],
  ['zstd', () => createZstdDecompress(ZSTD)],
])

/** A body of which nothing came for so long is not waited for any longer, ms. */
const IDLE_MS = 20_000

const UNPACK = {
  decoders: DECODERS,
  errors: {
    unknownEncoding: (encoding: string) =>
      new ApiError(415, 'illegal_argument_exception', `Content-Encoding header [${encoding}] is not supported`),
    notAsEncoded: (encoding: string, cause: unknown) => illegalArgument(`the request body is not valid ${encoding}: ${reasonOf(cause)}`),
  },
}

/**
 * The decoded body, which is the caller's alone and may be given back to `memory`. Each byte is taken from `lease` as it comes, sent or
 * unpacked. Throws when it is too large (before or after decoding), cut short, in an unknown encoding, when there is no room for it, or when it comes
 * too slowly while others need its room.
 */
export function readBody(request: IncomingMessage, limit: BodyLimit, memory: LentBuffers, lease: BodyLease): Promise<Buffer> {
  return http.readBody(request, {
    maxBytes: limit.maxBytes,
    idle: { ms: IDLE_MS, error: stalled },
    unpack: UNPACK,
    errors: { tooLarge: () => tooLarge(limit), cutShort: cause => new ClientGone(cause) },
    shared: lease,
    memory: {
      join: (pieces, sizeBytes) => joinIn(memory, pieces, sizeBytes),
      release(body) {
        lease.shrink(body.length)
        memory.giveBack(body)
      },
      drop: pieces => pieces.forEach(releaseBytes),
    },
  })
}

function joinIn(memory: LentBuffers, pieces: readonly Buffer[], sizeBytes: number): Buffer {
  if (pieces.length === 1) return pieces[0]!
  const whole = memory.take(sizeBytes).subarray(0, sizeBytes)
  let end = 0
  for (const piece of pieces) {
    whole.set(piece, end)
    end += piece.length
    releaseBytes(piece)
  }
  return whole
}

function tooLarge({ maxBytes, status }: BodyLimit): ApiError {
  return new ApiError(
    status,
    status === 413 ? 'content_too_long_exception' : 'illegal_argument_exception',
    `the request body is larger than ${maxBytes} bytes`,
    { headers: { connection: 'close' } },
  )
}

const stalled = () => new HttpError(408, `nothing of the request body came for ${IDLE_MS / 1_000} seconds`, { connection: 'close' })

/** There is no room for the body: the same request may find some in a second. */
export function overloaded(): ApiError {
  const reason = 'the bodies of requests under way take all the memory that there is for them; send less at a time, or later'
  return tryLater('circuit_breaking_exception', reason)
}

export const BODY_MEMORY_ERRORS: MemoryErrors = {
  full: overloaded,
  slow: () =>
    tryLater('circuit_breaking_exception', 'the body of the request came too slowly while others needed its memory; try again later'),
}

/** For endpoints that do nothing without a body. */
export const missingBody = (): ApiError => new ApiError(400, 'parse_exception', 'request body is required')

/** The client hung up while it sent its request. There is no one to answer. */
export class ClientGone extends Error {
  constructor(cause: unknown) {
    super('the client closed the connection before its request was complete', { cause })
    this.name = 'ClientGone'
  }
}

const notJson = (cause: unknown) => new ApiError(400, 'parse_exception', `Failed to parse the request body as JSON: ${reasonOf(cause)}`)

const JSON_ERRORS: http.JsonErrors = {
  tooDeep: maxDepth => parsingError(`the request body is nested deeper than ${maxDepth} levels`),
  notUtf8: notJson,
  notJson,
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Undefined for an empty body. Throws 400 for what is no JSON, or where an object has a name twice. */
export function parseJsonBody(body: Buffer): unknown {
  const value = http.parseJson(body, MAX_SEARCH_BODY_DEPTH, JSON_ERRORS, parseLongDigits)
  const duplicate = duplicateName(body, value)
  if (duplicate !== undefined) throw duplicateField(duplicate)
  return value
}

/** The body as a JSON object, or the parameter `source` where there is none; empty without both. Throws 400 when it is anything else. */
export function readJsonObject(body: Buffer, parameters: URLSearchParams): JsonObject {
  const value = body.length === 0 ? parseSource(parameters) : parseJsonBody(body)
  if (value === undefined) return {}
  if (isJsonObject(value)) return value
  throw new ApiError(400, 'parse_exception', `the request body must be a JSON object, found ${kindOf(value)}`)
}

/** For clients that cannot send a body with GET. */
function parseSource(parameters: URLSearchParams): unknown {
  const source = parameters.get('source')
  return source === null ? undefined : parseJsonBody(Buffer.from(source))
}
