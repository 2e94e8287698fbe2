import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { CollectorCounters } from '../intake/collector-counters.ts'
import { parseEncoding } from '../intake/decompress.ts'
import type { Intake } from '../intake/intake.ts'
import type { MemoryLease } from '../intake/memory-budget.ts'
import { GRPC, Refusal } from '../intake/refusal.ts'
import { answerAccepted, answerError, answerRefused } from './grpc-answer.ts'
import { GrpcMessage } from './grpc-message.ts'
import { parseGrpcTimeout } from './grpc-timeout.ts'

export interface OtlpGrpcDeps {
  readonly intake: Intake
  readonly counters: CollectorCounters
  readonly clock: Clock
  readonly log: Log
}

export type StreamListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

export const EXPORT_PATH = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'

/** OTLP over gRPC: the unary call `LogsService/Export` on bare HTTP/2 streams (gRPC over HTTP/2). */
export function createOtlpGrpc(deps: OtlpGrpcDeps): StreamListener {
  const { counters, log } = deps
  return (stream, headers) => {
    stream.on('error', (error: Error) => log.debug({ error }, 'gRPC stream failed'))
    if (!isGrpc(headers)) answerOtherProtocol(stream)
    else if (headers[':path'] !== EXPORT_PATH)
      answerError(stream, { code: GRPC.unimplemented, message: `no such method: ${String(headers[':path']).slice(0, 200)}` })
    else
      exportLogs(deps, stream, headers).catch((error: unknown) => {
        if (!(error instanceof Refusal)) log.error({ error }, 'request failed')
        const refusal =
          error instanceof Refusal ? error : new Refusal('unavailable', 'the collector could not take this request; try again later')
        counters.refused('grpc', refusal.reason)
        if (!stream.destroyed && !stream.headersSent) answerRefused(stream, refusal)
      })
  }
}

async function exportLogs({ intake, clock }: OtlpGrpcDeps, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
  const deadlineMs = clock.nowMs() + parseGrpcTimeout(one(headers['grpc-timeout']))
  const declared = parseEncoding(one(headers['grpc-encoding']))
  intake.checkOpen()
  const lease = intake.budget.lease()
  try {
    const message = await receive(stream, intake.maxRequestBytes, lease)
    const partialSuccess = await intake.accept({ transport: 'grpc', ...message.finish(declared), lease })
    if (stream.destroyed) return
    if (clock.nowMs() < deadlineMs) answerAccepted(stream, partialSuccess)
    else answerError(stream, { code: GRPC.deadlineExceeded, message: 'the deadline passed before the message bus acknowledged' })
  } finally {
    lease.release()
  }
}

/** Collects the request's data frames. Rejects with a `Refusal`; the rest is then still unread. */
function receive(stream: ServerHttp2Stream, limitBytes: number, lease: MemoryLease): Promise<GrpcMessage> {
  return new Promise((resolve, reject) => {
    const message = new GrpcMessage(limitBytes, lease)
    const take = (chunk: Buffer) => {
      try {
        message.add(chunk)
      } catch (refusal) {
        stream.off('data', take)
        reject(refusal)
      }
    }
    stream.on('data', take)
    stream.on('end', () => resolve(message))
    stream.on('close', () => {
      if (!stream.readableEnded) reject(new Refusal('malformed', 'the client hung up before the end of the request'))
    })
  })
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  return headers[':method'] === 'POST' && /^application\/grpc(?:\+proto)?(?:;|$)/.test(headers['content-type'] ?? '')
}

function answerOtherProtocol(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 415, 'content-type': 'text/plain' })
  stream.end('This port speaks gRPC alone: POST with content-type application/grpc.\n')
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header
}
