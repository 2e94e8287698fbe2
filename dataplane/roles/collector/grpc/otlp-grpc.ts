import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { CollectorCounters } from '../intake/collector-counters.ts'
import { parseEncoding } from '../intake/decompress.ts'
import type { Intake } from '../intake/intake.ts'
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
export function createOtlpGrpc({ intake, counters, clock, log }: OtlpGrpcDeps): StreamListener {
  return (stream, headers) => {
    const deadlineMs = clock.nowMs() + parseGrpcTimeout(one(headers['grpc-timeout']))
    stream.on('error', (error: Error) => log.debug({ error }, 'gRPC stream failed'))
    const refuse = (error: unknown) => {
      if (!(error instanceof Refusal)) log.error({ error }, 'request failed')
      const refusal =
        error instanceof Refusal ? error : new Refusal('unavailable', 'the collector could not take this request; try again later')
      counters.refused('grpc', refusal.reason)
      if (!stream.destroyed && !stream.headersSent) answerRefused(stream, refusal)
    }
    if (!isGrpc(headers)) return answerOtherProtocol(stream)
    if (headers[':path'] !== EXPORT_PATH)
      return answerError(stream, { code: GRPC.unimplemented, message: `no such method: ${String(headers[':path']).slice(0, 200)}` })
    try {
      receive(
        stream,
        headers,
        intake,
        async (message, declared, lease) => {
          try {
            const partialSuccess = await intake.accept({ transport: 'grpc', ...message.finish(declared), lease })
            if (stream.destroyed) return
            if (clock.nowMs() < deadlineMs) answerAccepted(stream, partialSuccess)
            else answerError(stream, { code: GRPC.deadlineExceeded, message: 'the deadline passed before the message bus acknowledged' })
          } catch (error) {
            lease.release()
            refuse(error)
          }
        },
        refuse,
      )
    } catch (error) {
      refuse(error)
    }
  }
}

type Declared = ReturnType<typeof parseEncoding>
type Lease = ReturnType<Intake['budget']['lease']>

function receive(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  intake: Intake,
  complete: (message: GrpcMessage, declared: Declared, lease: Lease) => Promise<void>,
  refuse: (error: unknown) => void,
): void {
  const declared = parseEncoding(one(headers['grpc-encoding']))
  intake.checkOpen()
  const lease = intake.budget.lease()
  const message = new GrpcMessage(intake.maxRequestBytes, lease)
  let received = false
  stream.on('data', (chunk: Buffer) => {
    if (received) return
    try {
      message.add(chunk)
    } catch (error) {
      received = true
      lease.release()
      refuse(error)
    }
  })
  stream.on('end', () => {
    if (received) return
    received = true
    void complete(message, declared, lease)
  })
  stream.on('close', () => {
    if (!received) lease.release()
    received = true
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
