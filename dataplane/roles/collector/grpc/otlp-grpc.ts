/** The OTLP service over gRPC: reads a call, hands its request to the intake, answers with a status. */
import { ADDED_BYTES_HEADER } from '../../../contract/headers.ts'
import type { RequestHead } from '../../../http/http2/request-head.ts'
import { type Exchange, NO_RECEIVER, type RequestHandler, type RequestReceiver } from '../../../http/http2/stream.ts'
import { formatLastAnswer, formatLastBytes } from '../../../http/last-answer.ts'
import { encodeStatusProtobuf } from '../../../otlp/export-response.ts'
import { parseAddedBytes } from '../../../otlp-intake/added-bytes.ts'
import { type Encoding, parseEncoding } from '../../../otlp-intake/decompress.ts'
import { acceptedAnswer, errorAnswer, OTHER_PROTOCOL, refusedAnswer } from '../../../otlp-intake/grpc-answer.ts'
import { GrpcMessage, LOGS_EXPORT_PATH } from '../../../otlp-intake/grpc-message.ts'
import { parseGrpcTimeout, TOO_LATE } from '../../../otlp-intake/grpc-timeout.ts'
import type { MemoryLease } from '../../../otlp-intake/memory-budget.ts'
import { errorJson, GRPC, Refusal, refusalOf } from '../../../otlp-intake/refusal.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import { PROTOBUF_TYPE } from '../http/content-type.ts'
import type { CollectorCounters } from '../intake/collector-counters.ts'
import { Client } from '../intake/expected-clients.ts'
import type { Intake } from '../intake/intake.ts'

export interface OtlpGrpcDeps {
  readonly intake: Intake
  readonly counters: CollectorCounters
  readonly clock: Clock
  readonly log: Log
}

/** OTLP over gRPC: the unary call `LogsService/Export` (gRPC over HTTP/2); a handler for each connection. */
export function createOtlpGrpc(deps: OtlpGrpcDeps): () => RequestHandler {
  return () => handleCalls(deps, new Client())
}

const PROTOBUF_SENT = /^content-type:[ \t]*application\/x-protobuf\b/im
/** The head of a request of a sender. */
const HEAD_BYTES = 2_048

/** The answer to a sender of OTLP over HTTP/1 that took this port for the other one, in the form in which it sends. */
export function createHttp1Answer(httpPort: number): (firstBytes: Buffer) => Buffer {
  const message = `this port speaks gRPC alone; OTLP over HTTP goes to port ${httpPort}`
  const code = GRPC.invalidArgument
  return firstBytes =>
    PROTOBUF_SENT.test(firstBytes.toString('latin1', 0, HEAD_BYTES))
      ? formatLastBytes(400, PROTOBUF_TYPE, encodeStatusProtobuf({ code, message }))
      : formatLastAnswer(400, errorJson(400, code, message))
}

function handleCalls(deps: OtlpGrpcDeps, client: Client): RequestHandler {
  return (head, exchange) => {
    if (!isGrpc(head)) exchange.answer(OTHER_PROTOCOL)
    else if (head.path !== LOGS_EXPORT_PATH)
      exchange.answer(errorAnswer({ code: GRPC.unimplemented, message: `no such method: ${head.path.slice(0, 200)}` }))
    else
      try {
        return new ExportCall(deps, client, head, exchange)
      } catch (error) {
        refuse(deps, exchange, error)
      }
    return NO_RECEIVER
  }
}

/** One call of `Export`. */
class ExportCall implements RequestReceiver {
  readonly #deps: OtlpGrpcDeps
  readonly #client: Client
  readonly #exchange: Exchange
  readonly #deadlineMs: number
  readonly #encoding: Encoding
  readonly #lease: MemoryLease
  readonly #message: GrpcMessage
  #isReceiving = true

  /** Throws a `Refusal`. */
  constructor(deps: OtlpGrpcDeps, client: Client, head: RequestHead, exchange: Exchange) {
    const { intake, clock } = deps
    this.#deps = deps
    this.#client = client
    this.#exchange = exchange
    this.#deadlineMs = monotonicMs(clock) + parseGrpcTimeout(head.get('grpc-timeout'))
    this.#encoding = parseEncoding(head.get('grpc-encoding'))
    intake.checkOpen()
    this.#lease = intake.budget.lease()
    const maxBytes = intake.maxRequestBytes + parseAddedBytes(head.get(ADDED_BYTES_HEADER))
    this.#message = new GrpcMessage(maxBytes, this.#lease, refusal => this.#refuse(refusal))
  }

  data(bytes: Buffer): void {
    try {
      this.#message.add(bytes)
    } catch (refusal) {
      this.#refuse(refusal)
    }
  }

  end(): void {
    if (!this.#isReceiving) return
    this.#isReceiving = false
    try {
      const message = this.#message.finish(this.#encoding)
      this.#deps.intake.accept({ transport: 'grpc', ...message, lease: this.#lease, client: this.#client }).then(
        partialSuccess => {
          const isInTime = monotonicMs(this.#deps.clock) < this.#deadlineMs
          this.#exchange.answer(isInTime ? acceptedAnswer(partialSuccess) : LATE_ANSWER)
        },
        (error: unknown) => refuse(this.#deps, this.#exchange, error),
      )
    } catch (refusal) {
      this.#refuse(refusal)
    }
  }

  cut(): void {
    if (this.#isReceiving) this.#refuse(new Refusal('malformed', 'the client hung up before the end of the request'))
  }

  #refuse(refusal: unknown): void {
    this.#isReceiving = false
    this.#lease.release()
    this.#message.drop()
    refuse(this.#deps, this.#exchange, refusal)
  }
}

const LATE_ANSWER = errorAnswer(TOO_LATE)

function refuse({ counters, log }: OtlpGrpcDeps, exchange: Exchange, error: unknown): void {
  const refusal = refusalOf(error, log)
  counters.refused('grpc', refusal.reason)
  exchange.answer(refusedAnswer(refusal))
}

function isGrpc(head: RequestHead): boolean {
  return head.method === 'POST' && /^application\/grpc(?:\+proto)?(?:;|$)/.test(head.get('content-type') ?? '')
}
