import type { Log } from '../../../telemetry/log.ts'
import type { CollectorCounters, Transport } from '../intake/collector-counters.ts'
import { Refusal } from '../intake/refusal.ts'
import { type AnswerType, JSON_TYPE, PROTOBUF_TYPE } from './content-type.ts'
import { buildRefused, type HttpAnswer } from './http-answer.ts'

export interface FailedAnswerDeps {
  readonly counters: CollectorCounters
  readonly log: Log
}

export const TRANSPORTS: Readonly<Record<AnswerType, Transport>> = { [JSON_TYPE]: 'http_json', [PROTOBUF_TYPE]: 'http_protobuf' }

/** Counts a request that ended so, logs what is no `Refusal`, and gives the answer. */
export function failedAnswer({ counters, log }: FailedAnswerDeps, type: AnswerType | undefined, error: unknown): HttpAnswer {
  if (!(error instanceof Refusal)) log.error({ error }, 'request failed')
  const refusal =
    error instanceof Refusal ? error : new Refusal('unavailable', 'the collector could not take this request; try again later')
  if (type !== undefined) counters.refused(TRANSPORTS[type], refusal.reason)
  return buildRefused(type ?? JSON_TYPE, refusal)
}
