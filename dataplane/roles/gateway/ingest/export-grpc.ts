/** OTLP over gRPC through the gateway: one message is read, gets its tenant, and goes to the collector; what that says is passed on. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { KeyOwner } from '../../../api-keys/key-store.ts'
import { ADDED_BYTES_HEADER, API_KEY_HEADER } from '../../../contract/headers.ts'
import { HttpError } from '../../../http/http-error.ts'
import { Answer } from '../../../http/http2/answer.ts'
import type { HeaderField } from '../../../http/http2/hpack-static-table.ts'
import type { RequestHead } from '../../../http/http2/request-head.ts'
import type { Exchange, RequestReceiver } from '../../../http/http2/stream.ts'
import { bufferOf } from '../../../memory/buffer-of.ts'
import { releaseBytes } from '../../../memory/release-bytes.ts'
import { addedBytes } from '../../../otlp-intake/added-bytes.ts'
import { decompress, type Encoding, parseEncoding } from '../../../otlp-intake/decompress.ts'
import { acceptedAnswer, errorAnswer, type GrpcError, refusedAnswer } from '../../../otlp-intake/grpc-answer.ts'
import { GrpcMessage, LOGS_EXPORT_PATH } from '../../../otlp-intake/grpc-message.ts'
import { parseGrpcTimeout, TOO_LATE } from '../../../otlp-intake/grpc-timeout.ts'
import type { LocalCollector } from '../../../otlp-intake/local-collector.ts'
import type { MemoryBudget, MemoryLease } from '../../../otlp-intake/memory-budget.ts'
import { GRPC, Refusal } from '../../../otlp-intake/refusal.ts'
import { type Clock, monotonicMs } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import { DROPPED_BY_GATEWAY } from '../../../tenant-export/attribute-names.ts'
import { asRefusal } from '../../../tenant-export/export-http.ts'
import { injectTenant } from '../../../tenant-export/inject-tenant.ts'
import { localExport } from '../../../tenant-export/tenant-layout.ts'
import { requestHeaders } from '../../../upstream/headers.ts'
import type { Admission, Admit } from '../admission.ts'
import { type CallAnswer, type Caller, passCall } from './grpc-pass.ts'
import type { GrpcUpstream } from './grpc-upstream.ts'

export interface GrpcDeps {
  /** Another process, or a part of this one. */
  readonly collector: GrpcUpstream | LocalCollector
  readonly admit: Admit
  readonly budget: MemoryBudget
  readonly maxRequestBytes: number
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  readonly log: Log
  /** Told of each call to which a collector of another process gave no answer. */
  readonly onAway: (error: unknown) => void
  /** Counts a call that is over. */
  readonly count: (to: 'collector' | 'none') => void
}

/** A request that is not complete by then is given up. */
const RECEIVE_MS = 30_000
const PREFIX_BYTES = 5

export function isGrpc(head: RequestHead): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(head.get('content-type') ?? '')
}

/** One call of any method. Nothing of its body is looked at before its key is known. */
export class GrpcCall implements RequestReceiver, Caller {
  readonly #deps: GrpcDeps
  readonly #source: object
  readonly #head: RequestHead
  readonly #exchange: Exchange
  readonly #deadlineMs: number
  #owner: KeyOwner | undefined
  /** Received before the key is known. */
  #early: Buffer[] = []
  #encoding: Encoding = 'identity'
  #message: GrpcMessage | undefined
  #lease: MemoryLease | undefined
  #isWhole = false
  #isReceiving = true
  #isOver = false
  isGone = false
  onGone: (() => void) | undefined
  readonly patience = {
    ms: RECEIVE_MS,
    late: () => this.#refuse(new Refusal('malformed', 'the request took too long to arrive')),
  }

  /** `source`: the same object for calls of one client. */
  constructor(deps: GrpcDeps, source: object, head: RequestHead, exchange: Exchange) {
    this.#deps = deps
    this.#source = source
    this.#head = head
    this.#exchange = exchange
    this.#deadlineMs = monotonicMs(deps.clock) + parseGrpcTimeout(head.get('grpc-timeout'))
    const admission = deps.admit(head.get(API_KEY_HEADER))
    if (admission instanceof Promise) {
      exchange.hold()
      admission.then(
        known => this.#admitted(known),
        error => this.#refuse(error),
      )
    } else this.#admitted(admission)
  }

  data(bytes: Buffer): void {
    if (!this.#isReceiving) return
    if (this.#message === undefined) this.#early.push(Buffer.from(bytes))
    else this.#add(bytes)
  }

  end(): void {
    this.#isWhole = true
    if (this.#isReceiving && this.#message !== undefined) this.#finish(this.#message)
  }

  cut(): void {
    this.isGone = true
    this.onGone?.()
    if (this.#isReceiving) this.#refuse(new Refusal('malformed', 'the client hung up before the end of the request'))
  }

  #admitted(admission: Admission): void {
    if (!this.#isReceiving) return
    if ('refused' in admission) {
      const { grpcCode: code, message, retryAfterSeconds } = admission.refused
      return void this.#answerError({ code, message, retryAfterSeconds })
    }
    this.#owner = admission.owner
    const { path } = this.#head
    if (path !== LOGS_EXPORT_PATH)
      return void this.#answerError({ code: GRPC.unimplemented, message: `no such method: ${path.slice(0, 200)}` })
    try {
      this.#encoding = parseEncoding(this.#head.get('grpc-encoding'))
    } catch (refusal) {
      return void this.#refuse(refusal)
    }
    this.#lease = this.#deps.budget.lease(admission.owner.tenant)
    this.#message = new GrpcMessage(this.#deps.maxRequestBytes, this.#lease, refusal => this.#refuse(refusal))
    for (const bytes of this.#early.splice(0)) if (this.#isReceiving) this.#add(bytes)
    this.#exchange.resume()
    if (this.#isWhole) this.end()
  }

  #add(bytes: Buffer): void {
    try {
      this.#message!.add(bytes)
    } catch (refusal) {
      this.#refuse(refusal)
    }
  }

  #finish(message: GrpcMessage): void {
    this.#isReceiving = false
    this.#export(message).catch(error => this.#refuse(error))
  }

  async #export(received: GrpcMessage): Promise<void> {
    const { collector, maxRequestBytes, clock } = this.#deps
    const { body: sent, encoding } = received.finish(this.#encoding)
    const body = bufferOf(await decompress(sent, encoding, maxRequestBytes, this.#lease!))
    const injection = { tenant: this.#owner!.tenant, dropped: DROPPED_BY_GATEWAY }
    if ('accept' in collector) {
      // From here on it is in the collector's own budget.
      this.#lease!.release()
      const partialSuccess = await collector.accept(await localExport({ transport: 'grpc', body, source: this.#source }, injection))
      return void this.#answer(monotonicMs(clock) < this.#deadlineMs ? acceptedAnswer(partialSuccess) : LATE_ANSWER)
    }
    this.#lease!.grow(body.length)
    const injected = await injectTenant('grpc', body, injection, PREFIX_BYTES)
    const added = addedBytes(body.length, injected.length - PREFIX_BYTES, maxRequestBytes)
    releaseBytes(body)
    const headers = { ...callHeaders(this.#head, this.#owner!), [ADDED_BYTES_HEADER]: added }
    this.#passOn(await passCall(collector, this, { headers, body: writePrefix(injected) }))
  }

  /** The collector's answer as it is. */
  #passOn({ headers, body, trailers }: CallAnswer): void {
    const head: readonly HeaderField[] = [[':status', String(headers[':status'] ?? 200)], ...fieldsOf(headers)]
    if (trailers === undefined && body.length === 0) return void this.#answer(new Answer({ head }))
    this.#end()
    const begun = this.#exchange.begin(head, () => undefined)
    begun.write(body)
    begun.end(fieldsOf(trailers ?? {}))
  }

  #refuse(error: unknown): void {
    const refusal = asRefusal(error)
    if (refusal !== undefined) return void this.#answer(refusedAnswer(refusal))
    if (error instanceof HttpError) {
      if (!this.isGone) this.#deps.onAway(error.cause)
      return void this.#answerError({ code: GRPC.unavailable, message: error.message, retryAfterSeconds: 2 })
    }
    this.#deps.log.error({ error }, 'call failed')
    const message = 'the gateway could not take this call; try again later'
    this.#answerError({ code: GRPC.unavailable, message, retryAfterSeconds: 2 })
  }

  #answerError(error: GrpcError): void {
    this.#answer(errorAnswer(error))
  }

  #answer(answer: Answer): void {
    this.#end()
    this.#exchange.answer(answer)
  }

  #end(): void {
    if (this.#isReceiving) this.#message?.drop()
    this.#isReceiving = false
    this.#early = []
    this.#lease?.release()
    if (!this.#isOver) this.#deps.count(this.#owner === undefined ? 'none' : 'collector')
    this.#isOver = true
  }
}

const LATE_ANSWER = errorAnswer(TOO_LATE)

function callHeaders(head: RequestHead, owner: KeyOwner): OutgoingHttpHeaders {
  const { 'grpc-encoding': _, 'content-type': __, ...passed } = requestHeaders(head.all(), owner.tenant)
  return { ...passed, ':method': 'POST', ':path': LOGS_EXPORT_PATH, 'content-type': 'application/grpc', te: 'trailers' }
}

/** Fills the bytes before a message. */
function writePrefix(framed: Buffer): Buffer {
  framed[0] = 0
  framed.writeUInt32BE(framed.length - PREFIX_BYTES, 1)
  return framed
}

function fieldsOf(headers: IncomingHttpHeaders): readonly HeaderField[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(':') || value === undefined ? [] : [value].flat().map(each => [name, each] as const),
  )
}
