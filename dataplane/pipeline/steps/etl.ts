import type { MlFeatures } from '../../domain/records.ts'
import type { BusRecord } from '../../ports/bus.ts'
import { LAYOUT_HEADER, MAX_FLAT_RECORD_BYTES } from '../flat-record-layout.ts'
import { createRecordFlattener } from './record-flattener.ts'
import { toMessage, unwrapMessage } from './unwrap.ts'

/** The features of a service from memory: `undefined` none computed, `unreachable` the feature store cannot be asked (Decisions 9). */
export type FeatureLookup = (tenant: string, service: string) => MlFeatures | undefined | 'unreachable'

export interface EtlConfig {
  /** Tenant of records whose resource names no valid one. */
  readonly defaultTenant: string
  readonly retentionDays: number
  readonly lookupFeatures: FeatureLookup
}

/** A record, or a whole message, that could not be read; `value` replays as it is. */
export interface DeadLetter {
  readonly value: Uint8Array
  readonly reason: string
}

export interface EtlResult {
  /** For `enriched-logs`, keyed `<tenant>/<service>`, in the order of the message. */
  readonly records: readonly BusRecord[]
  readonly deadLetters: readonly DeadLetter[]
  /** Log records in the message, readable or not. */
  readonly received: number
}

export interface Etl {
  /** `receivedAtMs` is the bus timestamp of the message, so that a second pass gives the same result. */
  process(value: Uint8Array, receivedAtMs: number): EtlResult
}

/** ETL and enrichment: one message of `raw-logs` into flat records (Spec: Pipeline rules 2 and 3). */
export function createEtl(config: EtlConfig): Etl {
  const flattener = createRecordFlattener(config)
  return {
    process(value, receivedAtMs) {
      const records: BusRecord[] = []
      const deadLetters: DeadLetter[] = []
      let received = 0
      flattener.start({ receivedAtMs, retentionDays: config.retentionDays })
      unwrapMessage(value, {
        resource: resource => flattener.setResource(resource),
        scope: scope => flattener.setScope(scope),
        record(record) {
          received++
          const flat = flattener.flatten(record)
          if (flat.kind === 'emit' && flat.value.value.length <= MAX_FLAT_RECORD_BYTES)
            records.push({ key: flat.value.key, value: flat.value.value, headers: { [LAYOUT_HEADER]: flat.value.layout } })
          else
            deadLetters.push({
              value: toMessage(flattener.around(record)),
              reason: flat.kind === 'emit' ? tooLarge(flat.value.value) : flat.reason,
            })
        },
        problem(original, reason, count) {
          received += count
          deadLetters.push({ value: original, reason })
        },
      })
      return { records, deadLetters, received }
    },
  }
}

function tooLarge(value: Uint8Array): string {
  return `flat record: expected at most ${MAX_FLAT_RECORD_BYTES} bytes, saw ${value.length}`
}
