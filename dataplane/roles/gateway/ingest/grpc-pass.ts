/** A gRPC call to a collector of another process, and its answer as a whole. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { HttpError } from '../../../http/http-error.ts'
import { releaseBytes } from '../../../memory/release-bytes.ts'
import { COLLECTOR_AWAY } from '../../../tenant-export/export-http.ts'
import type { GrpcUpstream } from './grpc-upstream.ts'

/** The longest that the collector is waited for, also where the caller's deadline is later. */
const ANSWER_MS = 60_000
/** The collector's answer, which says how many records were refused. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** The client that waits for the answer. */
export interface Caller {
  readonly isGone: boolean
  /** Called when it is. */
  onGone: (() => void) | undefined
}

export interface Call {
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

export interface CallAnswer {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly trailers: IncomingHttpHeaders | undefined
  /** Nobody reads the request any more. */
  readonly isSent: boolean
}

/** The call ended without an answer, as on a connection that was closed as it was taken. */
class Unanswered extends HttpError {}

/** Rejects with `HttpError` 502 when the collector is away. The body of the call is given back. */
export async function passCall(collector: GrpcUpstream, caller: Caller, call: Call): Promise<CallAnswer> {
  let isFirst = true
  const answer = await ask(collector, caller, call).catch(error => {
    // Once more: the same records become the same documents.
    if (!(error instanceof Unanswered) || caller.isGone) throw error
    isFirst = false
    return ask(collector, caller, call, true)
  })
  // The garbage collector would run for every few dozen of them. A connection that broke may still hold it.
  if (isFirst && answer.isSent) releaseBytes(call.body)
  return answer
}

async function ask(collector: GrpcUpstream, caller: Caller, { headers, body }: Call, isAnew = false): Promise<CallAnswer> {
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
  caller.onGone = cancel
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
    caller.onGone = undefined
  }
}

/** Whether an answer came to its end: without a status a client takes it for a fault that will not pass. Another HTTP status says enough. */
function isWhole(head: IncomingHttpHeaders, trailers: IncomingHttpHeaders | undefined): boolean {
  return Number(head[':status']) !== 200 || (trailers ?? head)['grpc-status'] !== undefined
}
