/** Answers of `POST /v1/logs`: JSON to a JSON request, protobuf to a protobuf request (Decisions 3). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { encodeResponseJson, encodeResponseProtobuf, encodeStatusProtobuf, type PartialSuccess } from '../../../otlp/export-response.ts'
import { ENCODINGS } from '../intake/decompress.ts'
import type { Refusal, RefusalReason } from '../intake/refusal.ts'

export const JSON_TYPE = 'application/json'
export const PROTOBUF_TYPE = 'application/x-protobuf'
export type AnswerType = typeof JSON_TYPE | typeof PROTOBUF_TYPE

/** How long a refused client may go on sending, so that it gets to read the answer. */
const LINGER_MS = 2_000

const EXTRA_HEADERS: Partial<Record<RefusalReason, Readonly<Record<string, string>>>> = {
  methodNotAllowed: { allow: 'POST' },
  unsupportedEncoding: { 'accept-encoding': ENCODINGS.join(', ') },
}

export function answerAccepted(response: ServerResponse, type: AnswerType, partialSuccess: PartialSuccess): void {
  const body = type === JSON_TYPE ? encodeResponseJson(partialSuccess) : encodeResponseProtobuf(partialSuccess)
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  if (body.length > 0) response.end(body)
  else response.end()
}

export function answerRefused(request: IncomingMessage, response: ServerResponse, type: AnswerType, refusal: Refusal): void {
  const { httpStatus, retryAfterSeconds } = refusal.kind
  const body = type === JSON_TYPE ? errorJson(refusal) : errorProtobuf(refusal)
  response.writeHead(httpStatus, {
    'content-type': type,
    'content-length': body.length,
    ...EXTRA_HEADERS[refusal.reason],
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...(!request.complete && { connection: 'close' }),
  })
  if (request.complete) response.end(body)
  else endAfterBody(request, response, body)
}

/** Closing with unread input would reset the connection and take the answer with it. */
function endAfterBody(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  response.write(body)
  const timer = setTimeout(() => request.destroy(), LINGER_MS)
  request.on('end', () => response.end())
  request.on('close', () => clearTimeout(timer))
  request.resume()
}

function errorJson(refusal: Refusal): Buffer {
  const { httpStatus, grpcCode } = refusal.kind
  return Buffer.from(JSON.stringify({ error: refusal.message, status: httpStatus, code: grpcCode, message: refusal.message }))
}

function errorProtobuf(refusal: Refusal): Buffer {
  const { grpcCode, retryAfterSeconds } = refusal.kind
  return encodeStatusProtobuf({ code: grpcCode, message: refusal.message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
}
