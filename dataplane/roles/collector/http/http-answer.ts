/** Answers of `POST /v1/logs`: JSON to a JSON request, protobuf to a protobuf request (Decisions 3). */
import type { PlainAnswer } from '../../../http/plain-lane/answer-writer.ts'
import { encodeResponseJson, encodeResponseProtobuf, encodeStatusProtobuf, type PartialSuccess } from '../../../otlp/export-response.ts'
import { ENCODINGS } from '../../../otlp-intake/decompress.ts'
import { errorJson, type Refusal, type RefusalReason, refusalOf } from '../../../otlp-intake/refusal.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { CollectorCounters } from '../intake/collector-counters.ts'
import { type AnswerType, JSON_TYPE, TRANSPORTS } from './content-type.ts'

const EXTRA_HEADERS: Partial<Record<RefusalReason, Readonly<Record<string, string>>>> = {
  methodNotAllowed: { allow: 'POST' },
  unsupportedEncoding: { 'accept-encoding': ENCODINGS.join(', ') },
}

/** The last answer of a type: nearly all are the same. */
const lastAccepted = new Map<AnswerType, { readonly partialSuccess: PartialSuccess; readonly answer: PlainAnswer }>()

export function acceptedAnswer(type: AnswerType, partialSuccess: PartialSuccess): PlainAnswer {
  const last = lastAccepted.get(type)
  if (last?.partialSuccess === partialSuccess) return last.answer
  const body = type === JSON_TYPE ? Buffer.from(encodeResponseJson(partialSuccess)) : encodeResponseProtobuf(partialSuccess)
  const answer = { status: 200, headers: { 'content-type': type, 'content-length': String(body.length) }, body }
  lastAccepted.set(type, { partialSuccess, answer })
  return answer
}

/** Counts a request that ended so, logs what is no `Refusal`, and gives the answer; in JSON for a request of no known type. */
export function failedAnswer(
  { counters, log }: { readonly counters: CollectorCounters; readonly log: Log },
  type: AnswerType | undefined,
  error: unknown,
): PlainAnswer {
  const refusal = refusalOf(error, log)
  if (type !== undefined) counters.refused(TRANSPORTS[type], refusal.reason)
  return refusedAnswer(type ?? JSON_TYPE, refusal)
}

function refusedAnswer(type: AnswerType, refusal: Refusal): PlainAnswer {
  const { httpStatus, retryAfterSeconds } = refusal.kind
  const body = type === JSON_TYPE ? jsonOf(refusal) : errorProtobuf(refusal)
  const headers = {
    'content-type': type,
    'content-length': String(body.length),
    ...EXTRA_HEADERS[refusal.reason],
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  }
  return { status: httpStatus, headers, body }
}

function jsonOf(refusal: Refusal): Buffer {
  const { httpStatus, grpcCode } = refusal.kind
  return Buffer.from(JSON.stringify(errorJson(httpStatus, grpcCode, refusal.message)))
}

function errorProtobuf(refusal: Refusal): Buffer {
  const { grpcCode, retryAfterSeconds } = refusal.kind
  return encodeStatusProtobuf({ code: grpcCode, message: refusal.message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
}
