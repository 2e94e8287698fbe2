/** Reads request bodies within bounds, whatever their encoding. */
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import type { LentBuffers } from '../../memory/lent-buffers.ts'
import { releaseBytes } from '../../memory/release-bytes.ts'
import { ApiError, illegalArgument } from '../api-error.ts'

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
    {
      headers: { connection: 'close' },
    },
  )
}

const DECODERS: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
}

/** The decoded body, which is the caller's alone and may be given back to `memory`. Throws when it is too large (before or after decoding), cut short, or in an unknown encoding. */
export async function readBody(request: IncomingMessage, limit: BodyLimit, memory: LentBuffers): Promise<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (decode === undefined && encoding !== 'identity')
    throw new ApiError(415, 'illegal_argument_exception', `Content-Encoding header [${encoding}] is not supported`)
  if (Number(request.headers['content-length'] ?? 0) > limit.maxBytes) throw tooLarge(limit)
  const raw = await receive(request, limit, memory)
  if (decode === undefined || raw.length === 0) return raw
  try {
    const body = await decode(raw, { maxOutputLength: limit.maxBytes })
    memory.giveBack(raw)
    return body
  } catch (cause) {
    if (cause instanceof RangeError || (cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit)
    throw illegalArgument(`the request body is not valid ${encoding}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

async function receive(request: IncomingMessage, limit: BodyLimit, memory: LentBuffers): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit.maxBytes) throw tooLarge(limit)
      chunks.push(chunk)
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ClientGone(cause)
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

/** The client hung up while it sent its request: nobody is left to answer. */
export class ClientGone extends Error {
  constructor(cause: unknown) {
    super('the client closed the connection before its request was complete', { cause })
    this.name = 'ClientGone'
  }
}

const MAX_JSON_DEPTH = 1000

/** Nesting of a JSON text, counted without parsing it; deeper ones are not parsed at all. */
export function checkDepth(body: Buffer): void {
  let depth = 0
  let isInString = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (isInString) {
      if (byte === 0x5c) at++
      else if (byte === 0x22) isInString = false
    } else if (byte === 0x22) isInString = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > MAX_JSON_DEPTH)
        throw new ApiError(400, 'parsing_exception', `the request body is nested deeper than ${MAX_JSON_DEPTH} levels`)
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Undefined for an empty body. */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  checkDepth(body)
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
