import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { encodeResponseProtobuf, encodeStatusProtobuf, type PartialSuccess } from '../../../otlp/export-response.ts'
import { ENCODINGS } from '../intake/decompress.ts'
import type { Refusal } from '../intake/refusal.ts'

const RESPONSE_HEADERS = { ':status': 200, 'content-type': 'application/grpc' } as const
const OK_TRAILERS = { 'grpc-status': '0' } as const
/** Longest message sent in a header; browsers and proxies limit header blocks to 8 KiB. */
const MAX_MESSAGE_LENGTH = 1000

export interface GrpcError {
  readonly code: number
  readonly message: string
  readonly retryAfterSeconds?: number | undefined
}

/** The message of the last answer: nearly all are the same. */
let lastAccepted: { readonly partialSuccess: PartialSuccess; readonly frame: Buffer } | undefined

export function answerAccepted(stream: ServerHttp2Stream, partialSuccess: PartialSuccess): void {
  if (lastAccepted?.partialSuccess !== partialSuccess) lastAccepted = { partialSuccess, frame: frameOf(partialSuccess) }
  stream.respond(RESPONSE_HEADERS, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(OK_TRAILERS))
  stream.end(lastAccepted.frame)
}

function frameOf(partialSuccess: PartialSuccess): Buffer {
  const message = encodeResponseProtobuf(partialSuccess)
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  return frame
}

export function answerRefused(stream: ServerHttp2Stream, refusal: Refusal): void {
  const { grpcCode, retryAfterSeconds } = refusal.kind
  const headers = refusal.reason === 'unsupportedEncoding' ? { 'grpc-accept-encoding': ENCODINGS.join(',') } : {}
  answerError(stream, { code: grpcCode, message: refusal.message, retryAfterSeconds }, headers)
}

/** Headers alone, with the status in them; a client that is still sending is told to stop. */
export function answerError(stream: ServerHttp2Stream, error: GrpcError, headers: OutgoingHttpHeaders = {}): void {
  const { code, message, retryAfterSeconds } = error
  const details =
    retryAfterSeconds === undefined
      ? {}
      : { 'grpc-status-details-bin': statusDetails(encodeStatusProtobuf({ code, message, retryAfterSeconds })) }
  const trailers = { 'grpc-status': String(code), 'grpc-message': percentEncoded(message.slice(0, MAX_MESSAGE_LENGTH)), ...details }
  stream.respond({ ...RESPONSE_HEADERS, ...headers, ...trailers }, { endStream: true })
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
}

/** Binary metadata is base64 without padding. */
function statusDetails(status: Buffer): string {
  return status.toString('base64').replace(/=+$/, '')
}

/** Bytes other than printable ASCII, and `%` itself, as `%XX` (gRPC over HTTP/2: Status-Message). */
function percentEncoded(message: string): string {
  return encodeURIComponent(message.toWellFormed()).replace(/%(2[0-46-9A-F]|3[A-F]|40|5[B-E]|60|7[B-D])/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
