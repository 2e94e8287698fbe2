/** Answers to OTLP over HTTP as the collector gives them: JSON to a JSON request, protobuf to a protobuf request (Decisions 3). */
import {
  encodeResponseJson,
  encodeResponseProtobuf,
  encodeStatusProtobuf,
  type PartialSuccess,
  type RpcStatus,
} from '../otlp/export-response.ts'
import { ENCODINGS } from '../otlp-intake/decompress.ts'
import { errorJson, GRPC, REFUSALS, type Refusal } from '../otlp-intake/refusal.ts'

export const JSON_TYPE = 'application/json'
export const PROTOBUF_TYPE = 'application/x-protobuf'
export type ExportType = typeof JSON_TYPE | typeof PROTOBUF_TYPE

export const TRANSPORTS = { [JSON_TYPE]: 'http_json', [PROTOBUF_TYPE]: 'http_protobuf' } as const

export interface ExportAnswer {
  readonly status: number
  /** With the content length. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** In lower case, without parameters; empty when there is none. */
export function mediaTypeOf(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]!.trim().toLowerCase()
}

export function isExportType(type: string): type is ExportType {
  return type === JSON_TYPE || type === PROTOBUF_TYPE
}

/** The last answer of a type: nearly all are the same. */
const lastAccepted = new Map<ExportType, { readonly partialSuccess: PartialSuccess; readonly answer: ExportAnswer }>()

export function acceptedAnswer(type: ExportType, partialSuccess: PartialSuccess): ExportAnswer {
  const last = lastAccepted.get(type)
  if (last?.partialSuccess === partialSuccess) return last.answer
  const body = type === JSON_TYPE ? Buffer.from(encodeResponseJson(partialSuccess)) : encodeResponseProtobuf(partialSuccess)
  const answer = answerOf(200, { 'content-type': type }, body)
  lastAccepted.set(type, { partialSuccess, answer })
  return answer
}

export function refusedAnswer(type: string, { kind, message, reason }: Refusal): ExportAnswer {
  const { httpStatus, grpcCode: code, retryAfterSeconds } = kind
  const headers = reason === 'unsupportedEncoding' ? { 'accept-encoding': ENCODINGS.join(', ') } : {}
  return errorAnswer(type, httpStatus, { code, message, retryAfterSeconds }, headers)
}

/** An error that the collector had no part in. */
export function failedAnswer(type: string, { status, message, headers }: Failure): ExportAnswer {
  const refusal = Object.values(REFUSALS).find(({ httpStatus }) => httpStatus === status)
  const code = status === 401 ? GRPC.unauthenticated : (refusal?.grpcCode ?? GRPC.unavailable)
  const { 'retry-after': wait, ...others } = headers
  return errorAnswer(type, status, { code, message, retryAfterSeconds: wait === undefined ? undefined : Number(wait) }, others)
}

interface Failure {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/** In JSON for a request of another type. */
function errorAnswer(type: string, status: number, said: RpcStatus, others: Readonly<Record<string, string>>): ExportAnswer {
  const { code, message, retryAfterSeconds } = said
  const headers = { ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }), ...others }
  if (type === PROTOBUF_TYPE) return answerOf(status, { 'content-type': PROTOBUF_TYPE, ...headers }, encodeStatusProtobuf(said))
  const body = Buffer.from(JSON.stringify(errorJson(status, code, message)))
  return answerOf(status, { 'content-type': 'application/json; charset=utf-8', ...headers }, body)
}

function answerOf(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): ExportAnswer {
  return { status, headers: { ...headers, 'content-length': String(body.length) }, body }
}
