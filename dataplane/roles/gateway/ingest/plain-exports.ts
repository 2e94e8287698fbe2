/** Plain export requests of a standalone, as the plain lane reads them from the TLS socket. Node's HTTP server says what is wrong with all others. */
import type { Socket } from 'node:net'
import type { KeyOwner } from '../../../api-keys/key-store.ts'
import { errorBody } from '../../../http/http-error.ts'
import type { PlainAnswer } from '../../../http/plain-lane/answer-writer.ts'
import type { PlainHead } from '../../../http/plain-lane/plain-head.ts'
import type { PlainHandler, PlainReceiver, Refuse } from '../../../http/plain-lane/plain-receiver.ts'
import { bufferOf } from '../../../memory/buffer-of.ts'
import { decompress, type Encoding, encodingNamed } from '../../../otlp-intake/decompress.ts'
import type { LocalCollector } from '../../../otlp-intake/local-collector.ts'
import type { MemoryBudget, MemoryLease } from '../../../otlp-intake/memory-budget.ts'
import { Refusal } from '../../../otlp-intake/refusal.ts'
import type { Log } from '../../../telemetry/log.ts'
import { DROPPED_BY_GATEWAY } from '../../../tenant-export/attribute-names.ts'
import {
  acceptedAnswer,
  type ExportType,
  isExportType,
  mediaTypeOf,
  refusedAnswer,
  TRANSPORTS,
} from '../../../tenant-export/export-answer.ts'
import { asRefusal } from '../../../tenant-export/export-http.ts'
import { localExport } from '../../../tenant-export/tenant-layout.ts'
import type { Admission, Admit } from '../admission.ts'
import type { RateLimit } from '../rate-limit.ts'

export interface PlainExportDeps {
  readonly collector: LocalCollector
  readonly admit: Admit
  readonly limit: Pick<RateLimit, 'giveBack'>
  readonly budget: MemoryBudget
  readonly maxRequestBytes: number
  readonly log: Log
  /** Counts a request that ended with this status. */
  readonly count: (status: number) => void
}

export const EXPORT_PATHS: readonly string[] = ['/v1/logs', '/api/otel/v1/logs']

/** The handler of a connection. */
export function createPlainExports(deps: PlainExportDeps): (socket: Socket) => PlainHandler {
  const { maxRequestBytes } = deps
  return socket =>
    ({ contentType, contentEncoding, bodyStart, bodyBytes, wanted: key }: PlainHead, refuse: Refuse) => {
      const type = mediaTypeOf(contentType)
      const encoding = encodingNamed(contentEncoding)
      if (!isExportType(type) || encoding === undefined || bodyBytes > maxRequestBytes) return undefined
      const receive = (admission: Admission): PlainReceiver | undefined =>
        'owner' in admission
          ? new PlainExport(deps, { type, encoding, owner: admission.owner, source: socket, sizeBytes: bodyStart + bodyBytes, refuse })
          : undefined
      const admission = deps.admit(key)
      return admission instanceof Promise ? admission.then(receive) : receive(admission)
    }
}

interface Export {
  readonly type: ExportType
  readonly encoding: Encoding
  readonly owner: KeyOwner
  readonly source: object
  /** Head and body. */
  readonly sizeBytes: number
  readonly refuse: Refuse
}

class PlainExport implements PlainReceiver {
  readonly #deps: PlainExportDeps
  readonly #export: Export
  readonly #lease: MemoryLease
  #missingBytes: number
  #isLeft = false

  constructor(deps: PlainExportDeps, asked: Export) {
    this.#deps = deps
    this.#export = asked
    this.#lease = deps.budget.lease(asked.owner.tenant)
    this.#missingBytes = asked.sizeBytes
  }

  grow(bytes: number): boolean {
    this.#missingBytes -= bytes
    try {
      if (this.#missingBytes > 0) this.#lease.begin(this.#onGivenUp)
      else this.#lease.end()
      this.#lease.grow(bytes)
      return true
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // Node's server asks for it again.
      this.#deps.limit.giveBack(this.#export.owner.id)
      this.#isLeft = true
      return false
    }
  }

  end(body: Uint8Array, answer: (answer: PlainAnswer) => void): void {
    this.#accept(body)
      .catch((error: unknown) => this.#failed(error))
      .then(said => {
        this.#deps.count(said.status)
        answer(said)
      })
  }

  cut(): void {
    this.#lease.release()
    if (!this.#isLeft) this.#deps.count(CUT_SHORT)
  }

  readonly #onGivenUp = (refusal: Error): void => {
    const answer = this.#failed(refusal)
    this.#deps.count(answer.status)
    this.#export.refuse(answer)
  }

  async #accept(body: Uint8Array): Promise<PlainAnswer> {
    const { type, encoding, owner, source } = this.#export
    const { collector, maxRequestBytes } = this.#deps
    try {
      const plain = bufferOf(await decompress(body, encoding, maxRequestBytes, this.#lease))
      // From here on it is in the collector's own budget.
      this.#lease.release()
      const injection = { tenant: owner.tenant, dropped: DROPPED_BY_GATEWAY }
      const call = await localExport({ transport: TRANSPORTS[type], body: plain, source }, injection)
      return acceptedAnswer(type, await collector.accept(call))
    } finally {
      this.#lease.release()
    }
  }

  #failed(error: unknown): PlainAnswer {
    const refusal = asRefusal(error)
    if (refusal !== undefined) return refusedAnswer(this.#export.type, refusal)
    this.#deps.log.error({ error }, 'request failed')
    return FAILED
  }
}

/** A request whose client is gone. */
const CUT_SHORT = 400
const FAILED_BODY = Buffer.from(JSON.stringify(errorBody(500, 'internal error')))
const FAILED: PlainAnswer = {
  status: 500,
  headers: { 'content-type': 'application/json; charset=utf-8', 'content-length': String(FAILED_BODY.length) },
  body: FAILED_BODY,
}
