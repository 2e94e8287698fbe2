/** Answers of gRPC calls: status, message, headers and trailers. */
import { Answer } from '../http/http2/answer.ts'
import type { HeaderField } from '../http/http2/hpack-static-table.ts'
import { encodeResponseProtobuf, encodeStatusProtobuf, type PartialSuccess } from '../otlp/export-response.ts'
import { ENCODINGS } from './decompress.ts'
import { percentEncoded } from './percent-encoded.ts'
import type { Refusal } from './refusal.ts'

const RESPONSE_HEAD: readonly HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]
const OK_TRAILERS: readonly HeaderField[] = [['grpc-status', '0']]

export interface GrpcError {
  readonly code: number
  readonly message: string
  readonly retryAfterSeconds?: number | undefined
}

/** The last answer: nearly all are the same. */
let lastAccepted: { readonly partialSuccess: PartialSuccess; readonly answer: Answer } | undefined

export function acceptedAnswer(partialSuccess: PartialSuccess): Answer {
  if (lastAccepted?.partialSuccess !== partialSuccess)
    lastAccepted = { partialSuccess, answer: new Answer({ head: RESPONSE_HEAD, body: messageOf(partialSuccess), trailers: OK_TRAILERS }) }
  return lastAccepted.answer
}

function messageOf(partialSuccess: PartialSuccess): Buffer {
  const message = encodeResponseProtobuf(partialSuccess)
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  return frame
}

export function refusedAnswer(refusal: Refusal): Answer {
  const { grpcCode, retryAfterSeconds } = refusal.kind
  const headers: readonly HeaderField[] = refusal.reason === 'unsupportedEncoding' ? [['grpc-accept-encoding', ENCODINGS.join(',')]] : []
  return errorAnswer({ code: grpcCode, message: refusal.message, retryAfterSeconds }, headers)
}

/** A header alone, with the status in it. */
export function errorAnswer(error: GrpcError, headers: readonly HeaderField[] = []): Answer {
  const { code, message, retryAfterSeconds } = error
  const details: readonly HeaderField[] =
    retryAfterSeconds === undefined
      ? []
      : [['grpc-status-details-bin', statusDetails(encodeStatusProtobuf({ code, message, retryAfterSeconds }))]]
  const text = percentEncoded(message)
  return new Answer({ head: [...RESPONSE_HEAD, ...headers, ['grpc-status', String(code)], ['grpc-message', text], ...details] })
}

export const OTHER_PROTOCOL = new Answer({
  head: [
    [':status', '415'],
    ['content-type', 'text/plain'],
  ],
  body: Buffer.from('This port speaks gRPC alone: POST with content-type application/grpc.\n'),
})

/** Binary metadata is base64 without padding. */
function statusDetails(status: Buffer): string {
  return status.toString('base64').replace(/=+$/, '')
}
