/** OTLP over gRPC through the gateway: one message is read, gets its tenant, and goes to the collector's gRPC; what that says is passed on. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { KeyOwner } from '../../../api-keys/key-store.ts'
import { HttpError } from '../../../http/http-error.ts'
import { releaseBytes } from '../../../memory/release-bytes.ts'
import { encodeResponseProtobuf, encodeStatusProtobuf } from '../../../otlp/export-response.ts'
import { decompress, parseEncoding } from '../../../otlp-intake/decompress.ts'
import { GrpcMessage, LOGS_EXPORT_PATH } from '../../../otlp-intake/grpc-message.ts'
import { parseGrpcTimeout, TOO_LATE } from '../../../otlp-intake/grpc-timeout.ts'
import type { LocalCollector } from '../../../otlp-intake/local-collector.ts'
import type { MemoryBudget } from '../../../otlp-intake/memory-budget.ts'
import { percentEncoded } from '../../../otlp-intake/percent-encoded.ts'
import { GRPC, Refusal } from '../../../otlp-intake/refusal.ts'
import type { Clock } from '../../../ports/clock.ts'
import { DROPPED_BY_GATEWAY } from '../../../tenant-export/attribute-names.ts'
import { asRefusal, bufferOf, COLLECTOR_AWAY } from '../../../tenant-export/export-http.ts'
import { injectProtobuf } from '../../../tenant-export/inject-protobuf.ts'
import { localExport } from '../../../tenant-export/tenant-layout.ts'
import { requestHeaders } from '../../../upstream/headers.ts'
import type { GrpcUpstream } from './grpc-upstream.ts'

export interface GrpcDeps {
  /** Another process, or a part of this one. */
  readonly collector: GrpcUpstream | LocalCollector
  readonly budget: MemoryBudget
  readonly maxRequestBytes: number
  readonly clock: Pick<Clock, 'nowMs'>
}

export const UNAUTHENTICATED = 16

/** A request that is not complete by then is given up. */
const RECEIVE_MS = 30_000
/** The longest that the collector is waited for, whatever the caller's deadline. */
const ANSWER_MS = 60_000
/** The collector's answer, which says how many records were refused. */
const MAX_ANSWER_BYTES = 1024 * 1024
const PREFIX_BYTES = 5

export function isGrpc(headers: IncomingHttpHeaders): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(headers['content-type'] ?? '')
}

export interface GrpcStatus {
  readonly code: number
  readonly message: string
  readonly retryAfterSeconds?: number | undefined
}

/** A header alone, with the status in it. The rest of the request is not read. */
export function answerStatus(stream: ServerHttp2Stream, { code, message, retryAfterSeconds }: GrpcStatus): void {
  if (stream.destroyed || stream.headersSent) return
  const details = retryAfterSeconds === undefined ? undefined : encodeStatusProtobuf({ code, message, retryAfterSeconds })
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(code),
      'grpc-message': percentEncoded(message),
      ...(details !== undefined && { 'grpc-status-details-bin': details.toString('base64').replace(/=+$/, '') }),
    },
    { endStream: true },
  )
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR)
}

/** Answers a call of whatever method. */
export async function exportGrpc(deps: GrpcDeps, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, owner: KeyOwner): Promise<void> {
  const path = String((headers as Readonly<Record<string, unknown>>)[':path'])
  if (path !== LOGS_EXPORT_PATH) return answerStatus(stream, { code: GRPC.unimplemented, message: `no such method: ${path.slice(0, 200)}` })
  const lease = deps.budget.lease()
  const deadlineMs = deps.clock.nowMs() + parseGrpcTimeout(headers['grpc-timeout'] as string | undefined)
  try {
    const encoding = parseEncoding(headers['grpc-encoding'] as string | undefined)
    const message = (await receive(stream, new GrpcMessage(deps.maxRequestBytes, lease))).finish(encoding)
    const plain = bufferOf(await decompress(message.body, message.encoding, deps.maxRequestBytes, lease))
    lease.grow(plain.length)
    const injection = { tenant: owner.tenant, dropped: DROPPED_BY_GATEWAY }
    const { collector } = deps
    if ('accept' in collector) {
      // From here on it is in the collector's own budget.
      lease.release()
      const call = localExport({ transport: 'grpc', body: plain, source: stream.session ?? stream }, injection)
      const answer = encodeResponseProtobuf(await collector.accept(call))
      if (deps.clock.nowMs() >= deadlineMs) answerStatus(stream, TOO_LATE)
      else if (!stream.destroyed) answerCall(stream, ACCEPTED, frame(answer), OK_TRAILERS)
      return
    }
    const body = injectProtobuf(plain, injection, PREFIX_BYTES)
    releaseBytes(plain)
    await pass(collector, stream, { headers: callHeaders(headers, owner), body: writePrefix(body) })
  } catch (error) {
    const refusal = asRefusal(error)
    if (refusal !== undefined) {
      const { grpcCode: code, retryAfterSeconds } = refusal.kind
      answerStatus(stream, { code, message: refusal.message, retryAfterSeconds })
    } else if (error instanceof HttpError) answerStatus(stream, { code: GRPC.unavailable, message: error.message, retryAfterSeconds: 2 })
    else throw error
  } finally {
    lease.release()
  }
}

function receive(stream: ServerHttp2Stream, message: GrpcMessage): Promise<GrpcMessage> {
  const cutShort = () => new Refusal('malformed', 'the client hung up before the end of the request')
  // A call without a message may have ended while its key was looked up.
  if (stream.readableEnded) return Promise.resolve(message)
  if (stream.destroyed) return Promise.reject(cutShort())
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Refusal('malformed', 'the request took too long to arrive')), RECEIVE_MS)
    const done = (end: () => void) => {
      clearTimeout(late)
      stream.off('data', take).off('end', onEnd).off('error', onCut).off('close', onCut)
      end()
    }
    const take = (bytes: Buffer) => {
      try {
        message.add(bytes)
      } catch (refusal) {
        done(() => reject(refusal))
      }
    }
    const onEnd = () => done(() => resolve(message))
    const onCut = () => done(() => reject(cutShort()))
    stream.on('data', take)
    stream.once('end', onEnd)
    stream.once('error', onCut)
    stream.once('close', onCut)
  })
}

function callHeaders(headers: IncomingHttpHeaders, owner: KeyOwner): OutgoingHttpHeaders {
  const { 'grpc-encoding': _, 'content-type': __, ...passed } = requestHeaders(headers, owner.tenant)
  return { ...passed, ':method': 'POST', ':path': LOGS_EXPORT_PATH, 'content-type': 'application/grpc', te: 'trailers' }
}

function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  message.copy(framed, PREFIX_BYTES)
  return writePrefix(framed)
}

/** Fills the bytes before a message. */
function writePrefix(framed: Buffer): Buffer {
  framed[0] = 0
  framed.writeUInt32BE(framed.length - PREFIX_BYTES, 1)
  return framed
}

interface Call {
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

interface CallAnswer {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly trailers: IncomingHttpHeaders | undefined
  /** Nobody reads the request any more. */
  readonly isSent: boolean
}

const ACCEPTED: OutgoingHttpHeaders = { ':status': 200, 'content-type': 'application/grpc' }
const OK_TRAILERS: OutgoingHttpHeaders = { 'grpc-status': '0' }

/** The call ended without an answer, as on a connection that was closed as it was taken. */
class Unanswered extends HttpError {}

async function pass(collector: GrpcUpstream, stream: ServerHttp2Stream, call: Call): Promise<void> {
  let isFirst = true
  const answer = await ask(collector, stream, call).catch(error => {
    // Once more: the same records become the same documents.
    if (!(error instanceof Unanswered) || stream.destroyed) throw error
    isFirst = false
    return ask(collector, stream, call, true)
  })
  // The garbage collector would run for every few dozen of them. A connection that broke may still hold it.
  if (isFirst && answer.isSent) releaseBytes(call.body)
  if (stream.destroyed) return
  const head = { ':status': Number(answer.headers[':status'] ?? 200), ...withoutPseudo(answer.headers) }
  if (answer.trailers === undefined && answer.body.length === 0) stream.respond(head, { endStream: true })
  else answerCall(stream, head, answer.body, withoutPseudo(answer.trailers ?? {}))
}

function answerCall(stream: ServerHttp2Stream, head: OutgoingHttpHeaders, body: Buffer, trailers: OutgoingHttpHeaders): void {
  // Those of the compatible API would send its own.
  stream.removeAllListeners('wantTrailers')
  stream.respond(head, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(body)
}

/** Rejects with `HttpError` 502 when the collector is away. */
async function ask(collector: GrpcUpstream, stream: ServerHttp2Stream, { headers, body }: Call, isAnew = false): Promise<CallAnswer> {
  const away = (cause: unknown) => new HttpError(502, COLLECTOR_AWAY, {}, { cause })
  let call: ClientHttp2Stream
  try {
    call = await collector.open(headers, isAnew)
  } catch (error) {
    throw away(error)
  }
  let isGivenUp = false
  // A caller that gives up ends the call to the collector, too.
  const cancel = () => {
    isGivenUp = true
    call.close(constants.NGHTTP2_CANCEL)
  }
  stream.once('close', cancel)
  const late = setTimeout(cancel, ANSWER_MS)
  try {
    return await new Promise<CallAnswer>((resolve, reject) => {
      const pieces: Buffer[] = []
      let sizeBytes = 0
      let head: IncomingHttpHeaders | undefined
      let trailers: IncomingHttpHeaders | undefined
      call.on('response', received => {
        head = received
      })
      call.on('trailers', received => {
        trailers = received
      })
      call.on('data', (piece: Buffer) => {
        sizeBytes += piece.length
        if (sizeBytes > MAX_ANSWER_BYTES) return call.close(constants.NGHTTP2_CANCEL)
        pieces.push(piece)
      })
      const fail = (cause: unknown) =>
        reject(head === undefined && !isGivenUp ? new Unanswered(502, COLLECTOR_AWAY, {}, { cause }) : away(cause))
      call.on('error', fail)
      call.on('close', () => {
        if (head === undefined || sizeBytes > MAX_ANSWER_BYTES || !isWhole(head, trailers))
          fail(new Error('the collector ended the call without an answer'))
        else resolve({ headers: head, body: Buffer.concat(pieces), trailers, isSent: call.writableFinished })
      })
      call.end(body)
    })
  } finally {
    clearTimeout(late)
    stream.off('close', cancel)
  }
}

/** Whether an answer came to its end: without a status a client takes it for a fault that will not pass. Another HTTP status says enough. */
function isWhole(head: IncomingHttpHeaders, trailers: IncomingHttpHeaders | undefined): boolean {
  return Number(head[':status']) !== 200 || (trailers ?? head)['grpc-status'] !== undefined
}

function withoutPseudo(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')))
}
