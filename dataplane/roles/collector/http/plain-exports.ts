/** Plain export requests, as the plain lane reads them from the socket. What is wrong with any is told by the handler of Node's HTTP server. */
import type { PlainAnswer } from '../../../http/plain-lane/answer-writer.ts'
import type { PlainHandler, PlainReceiver } from '../../../http/plain-lane/plain-receiver.ts'
import { type Encoding, encodingNamed } from '../intake/decompress.ts'
import { Client } from '../intake/expected-clients.ts'
import type { MemoryLease } from '../intake/memory-budget.ts'
import { Refusal } from '../intake/refusal.ts'
import { type AnswerType, parseContentType, TRANSPORTS } from './content-type.ts'
import { acceptedAnswer, failedAnswer } from './http-answer.ts'
import type { OtlpHttpDeps } from './otlp-http.ts'

/** A handler for each connection. */
export function createPlainExports(deps: OtlpHttpDeps): () => PlainHandler {
  return () => handleExports(deps, new Client())
}

function handleExports(deps: OtlpHttpDeps, client: Client): PlainHandler {
  const { intake } = deps
  return ({ contentType, contentEncoding, bodyBytes }) => {
    const type = parseContentType(contentType)
    const encoding = encodingNamed(contentEncoding)
    if (!intake.isOpen || type === undefined || encoding === undefined || bodyBytes > intake.maxRequestBytes) return undefined
    return new PlainExport(deps, client, type, encoding)
  }
}

class PlainExport implements PlainReceiver {
  readonly #deps: OtlpHttpDeps
  readonly #client: Client
  readonly #type: AnswerType
  readonly #encoding: Encoding
  readonly #lease: MemoryLease

  constructor(deps: OtlpHttpDeps, client: Client, type: AnswerType, encoding: Encoding) {
    this.#deps = deps
    this.#client = client
    this.#type = type
    this.#encoding = encoding
    this.#lease = deps.intake.budget.lease()
  }

  grow(bytes: number): boolean {
    try {
      this.#lease.grow(bytes)
      return true
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  end(body: Uint8Array, answer: (answer: PlainAnswer) => void): void {
    const type = this.#type
    const request = { transport: TRANSPORTS[type], body, encoding: this.#encoding, lease: this.#lease, client: this.#client }
    this.#deps.intake.accept(request).then(
      partialSuccess => answer(acceptedAnswer(type, partialSuccess)),
      (error: unknown) => answer(failedAnswer(this.#deps, type, error)),
    )
  }

  cut(): void {
    this.#lease.release()
  }
}
