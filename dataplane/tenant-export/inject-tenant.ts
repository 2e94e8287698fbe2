/** Puts the tenant of an export into its body. */
import { MAX_PART_BYTES } from '../contract/topics.ts'
import { runInTurns } from '../limits/run-in-turns.ts'
import { MAX_AT_ONCE_BYTES } from '../otlp/steps.ts'
import type { Transport } from '../otlp-intake/local-collector.ts'
import type { Injection } from './attribute-names.ts'
import { injectJson, injectJsonSteps } from './inject-json.ts'
import { injectProtobuf, injectProtobufSteps } from './inject-protobuf.ts'

/**
 * The body with its tenant; others get their turns while a long one is gone over. Of protobuf, with `headroom`, a copy that begins with so many bytes for
 * the caller to fill. Throws, or rejects with, `MalformedPayload` or `OversizedPayload`.
 */
export function injectTenant(transport: Transport, body: Buffer, injection: Injection, headroom = 0): Buffer | Promise<Buffer> {
  const isLong = body.length > MAX_AT_ONCE_BYTES
  if (transport !== 'http_json')
    return isLong ? runInTurns(injectProtobufSteps(body, injection, headroom)) : injectProtobuf(body, injection, headroom)
  return isLong ? runInTurns(injectJsonSteps(body, injection, MAX_PART_BYTES)) : injectJson(body, injection)
}
