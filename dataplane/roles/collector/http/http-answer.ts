/** Answers of `POST /v1/logs`: JSON to a JSON request, protobuf to a protobuf request (Decisions 3). */
import { encodeResponseJson, encodeResponseProtobuf, encodeStatusProtobuf, type PartialSuccess } from '../../../otlp/export-response.ts'
import { ENCODINGS } from '../intake/decompress.ts'
import type { Refusal, RefusalReason } from '../intake/refusal.ts'
import { type AnswerType, JSON_TYPE } from './content-type.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const EXTRA_HEADERS: Partial<Record<RefusalReason, Readonly<Record<string, string>>>> = {
  methodNotAllowed: { allow: 'POST' },
  unsupportedEncoding: { 'accept-encoding': ENCODINGS.join(', ') },
}

export function buildAccepted(type: AnswerType, partialSuccess: PartialSuccess): HttpAnswer {
  const body = type === JSON_TYPE ? Buffer.from(encodeResponseJson(partialSuccess)) : encodeResponseProtobuf(partialSuccess)
  return { status: 200, headers: { 'content-type': type, 'content-length': String(body.length) }, body }
}

export function buildRefused(type: AnswerType, refusal: Refusal): HttpAnswer {
  const { httpStatus, retryAfterSeconds } = refusal.kind
  const body = type === JSON_TYPE ? errorJson(refusal) : errorProtobuf(refusal)
  const headers = {
    'content-type': type,
    'content-length': String(body.length),
    ...EXTRA_HEADERS[refusal.reason],
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  }
  return { status: httpStatus, headers, body }
}

function errorJson(refusal: Refusal): Buffer {
  const { httpStatus, grpcCode } = refusal.kind
  return Buffer.from(JSON.stringify({ error: refusal.message, status: httpStatus, code: grpcCode, message: refusal.message }))
}

function errorProtobuf(refusal: Refusal): Buffer {
  const { grpcCode, retryAfterSeconds } = refusal.kind
  return encodeStatusProtobuf({ code: grpcCode, message: refusal.message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
}
