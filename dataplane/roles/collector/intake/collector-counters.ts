/** The collector's own metrics, per transport. */

import type { Transport } from '../../../otlp-intake/local-collector.ts'
import type { RefusalReason } from '../../../otlp-intake/refusal.ts'
import type { Metrics, MetricTable } from '../../../telemetry/metrics.ts'

export type { Transport }
export const TRANSPORTS: readonly Transport[] = ['http_json', 'http_protobuf', 'grpc']

const COUNTED_REFUSALS = {
  malformed: 'malformed',
  tooLarge: 'too_large',
  unsupportedEncoding: 'unsupported_encoding',
  overloaded: 'overloaded',
  unavailable: 'unavailable',
} as const satisfies Partial<Record<RefusalReason, string>>
type CountedRefusal = keyof typeof COUNTED_REFUSALS

const BASIC = {
  requests: 'Requests received.',
  request_bytes: 'Bytes of request bodies received, as sent.',
  records_accepted: 'Log records that the message bus acknowledged.',
  records_rejected: 'Log records too large for the message bus.',
} as const

type CounterKey = `${Transport}_${keyof typeof BASIC}` | `${Transport}_refused_${(typeof COUNTED_REFUSALS)[CountedRefusal]}`

const helpTexts: readonly (readonly [suffix: string, help: string])[] = [
  ...Object.entries(BASIC),
  ...Object.values(COUNTED_REFUSALS).map(reason => [`refused_${reason}`, `Requests refused: ${reason.replace('_', ' ')}.`] as const),
]

const COUNTERS = Object.fromEntries(
  TRANSPORTS.flatMap(transport =>
    helpTexts.map(([suffix, help]) => [
      `${transport}_${suffix}`,
      { name: `service_collector_${transport}_${suffix}_total`, help: `${help} Transport: ${transport}.` },
    ]),
  ),
) as MetricTable<CounterKey>

/** Put together once: strings made for each request cost more than the counting. */
const KEYS = Object.fromEntries(
  TRANSPORTS.map(transport => [transport, Object.fromEntries(Object.keys(BASIC).map(suffix => [suffix, `${transport}_${suffix}`]))]),
) as { readonly [T in Transport]: { readonly [S in keyof typeof BASIC]: `${T}_${S}` } }

export interface CollectorCounters {
  received(transport: Transport, bodyBytes: number): void
  accepted(transport: Transport, records: number, rejectedRecords: number): void
  refused(transport: Transport, reason: RefusalReason): void
}

export function createCollectorCounters(metrics: Metrics): CollectorCounters {
  const add = metrics.counters(COUNTERS)
  return {
    received(transport, bodyBytes) {
      const keys = KEYS[transport]
      add(keys.requests)
      add(keys.request_bytes, bodyBytes)
    },
    accepted(transport, records, rejectedRecords) {
      const keys = KEYS[transport]
      add(keys.records_accepted, records)
      if (rejectedRecords > 0) add(keys.records_rejected, rejectedRecords)
    },
    refused(transport, reason) {
      if (isCounted(reason)) add(`${transport}_refused_${COUNTED_REFUSALS[reason]}`)
    },
  }
}

function isCounted(reason: RefusalReason): reason is CountedRefusal {
  return reason in COUNTED_REFUSALS
}
