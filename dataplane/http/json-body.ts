/** Reads a JSON body of a control request. */
import type { IncomingMessage } from 'node:http'
import { MAX_CONTROL_DEPTH } from '../json/depth.ts'
import { HttpError } from './http-error.ts'
import { type BodyErrors, type JsonErrors, parseJson, readBody } from './request-body.ts'

/** Default limit of control requests (Decisions 7). */
export const MAX_CONTROL_BODY_BYTES = 1024 * 1024

const ERRORS: BodyErrors & JsonErrors = {
  tooLarge: maxBytes => new HttpError(413, `body: expected at most ${maxBytes} bytes`),
  cutShort: cause => refused('body: expected all of it, seen the end of the connection', cause),
  tooDeep: maxDepth => refused(`body: expected at most ${maxDepth} levels of nesting`),
  notUtf8: cause => refused('body: expected JSON in UTF-8, seen bytes that are not', cause),
  notJson: cause => refused(`body: expected JSON, seen ${(cause as Error).message}`, cause),
}

const refused = (message: string, cause?: unknown) => new HttpError(400, message, {}, { cause })

/** The parsed body, `undefined` when there is none. Throws `HttpError` 400, 413 or 415. */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  try {
    const bytes = await readBody(request, { maxBytes, errors: ERRORS })
    if (bytes.length > 0) assertJsonType(request)
    return parseJson(bytes, MAX_CONTROL_DEPTH, ERRORS)
  } finally {
    // What still comes is thrown away, so that the caller gets to read the answer; the server's request timeout bounds it.
    request.resume()
  }
}

function assertJsonType(request: IncomingMessage): void {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== 'application/json') throw new HttpError(415, `content-type: expected application/json, seen ${type || 'none'}`)
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw new HttpError(415, `content-encoding: expected identity, seen ${encoding}`)
}
