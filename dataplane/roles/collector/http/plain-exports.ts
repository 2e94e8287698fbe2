/** Plain export requests, as the plain lane reads them from the socket. What is wrong with any is told by the handler of Node's HTTP server. */
import type { PlainHandler } from '../../../http/plain-lane/plain-receiver.ts'
import { encodingNamed } from '../../../otlp-intake/decompress.ts'
import { Refusal } from '../../../otlp-intake/refusal.ts'
import { Client } from '../intake/expected-clients.ts'
import { parseContentType, TRANSPORTS } from './content-type.ts'
import { acceptedAnswer, failedAnswer } from './http-answer.ts'
import type { OtlpHttpDeps } from './otlp-http.ts'

/** A handler for each connection. */
export function createPlainExports(deps: OtlpHttpDeps): () => PlainHandler {
  return () => handleExports(deps, new Client())
}

function handleExports(deps: OtlpHttpDeps, client: Client): PlainHandler {
  const { intake } = deps
  return ({ contentType, contentEncoding, bodyStart, bodyBytes }, refuse) => {
    const type = parseContentType(contentType)
    const encoding = encodingNamed(contentEncoding)
    if (!intake.isOpen || type === undefined || encoding === undefined || bodyBytes > intake.maxRequestBytes) return undefined
    const lease = intake.budget.lease()
    const onGivenUp = (refusal: Error) => refuse(failedAnswer(deps, type, refusal))
    let missingBytes = bodyStart + bodyBytes
    return {
      grow(bytes) {
        missingBytes -= bytes
        try {
          if (missingBytes > 0) lease.begin(onGivenUp)
          else lease.end()
          lease.grow(bytes)
          return true
        } catch (error) {
          if (error instanceof Refusal) return false
          throw error
        }
      },
      end: (body, answer) =>
        void intake.accept({ transport: TRANSPORTS[type], body, encoding, lease, client }).then(
          partialSuccess => answer(acceptedAnswer(type, partialSuccess)),
          (error: unknown) => answer(failedAnswer(deps, type, error)),
        ),
      cut: () => lease.release(),
    }
  }
}
