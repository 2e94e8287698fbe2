/** Reads a JSON request body, bounded in size and depth. */
import type { IncomingMessage } from 'node:http'
import { isDeeperThan, MAX_CONTROL_DEPTH } from '../json/depth.ts'
import { HttpError } from './http-error.ts'

/** Default limit of control requests (Decisions 7). */
export const MAX_CONTROL_BODY_BYTES = 1024 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The parsed body, `undefined` when there is none. Throws `HttpError` 400, 413 or 415. */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes)
  if (bytes.length === 0) return undefined
  assertJsonType(request)
  return parseJson(bytes)
}

function assertJsonType(request: IncomingMessage): void {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/json') throw new HttpError(415, `content-type: expected application/json, seen ${type || 'none'}`)
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw new HttpError(415, `content-encoding: expected identity, seen ${encoding}`)
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => {
    // What still comes is thrown away, so that the caller gets to read the answer; the server's request timeout bounds it.
    request.resume()
    return new HttpError(413, `body: expected at most ${maxBytes} bytes`)
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) break
    chunks.push(chunk)
  }
  if (sizeBytes > maxBytes) throw tooLarge()
  return Buffer.concat(chunks)
}

function parseJson(bytes: Buffer): unknown {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (error) {
    throw new HttpError(400, 'body: expected JSON in UTF-8, seen bytes that are not', {}, { cause: error })
  }
  if (isDeeperThan(bytes, MAX_CONTROL_DEPTH)) throw new HttpError(400, `body: expected at most ${MAX_CONTROL_DEPTH} levels of nesting`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new HttpError(400, `body: expected JSON, seen ${(error as Error).message}`, {}, { cause: error })
  }
}
