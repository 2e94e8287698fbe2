import type { MlFeatures } from '../../domain/records.ts'
import { tenantOfKey } from '../../domain/tenant.ts'
import type { BusRecord } from '../../ports/bus.ts'
import { LAYOUT_HEADER, MAX_FLAT_RECORD_BYTES } from '../flat-record-layout.ts'
import { MessageFlattener } from './bytes/message-flattener.ts'
import { createPlainFlattener, type KeyedRecord } from './plain-flattener.ts'
import { toMessage, unwrapMessage } from './unwrap.ts'

/** The features of a service from memory: `undefined` none computed, `unreachable` the feature store cannot be asked (Decisions 9). */
export type FeatureLookup = (tenant: string, service: string) => MlFeatures | undefined | 'unreachable'

export interface EtlConfig {
  /** Tenant of records where neither resource nor key name a valid one. */
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
  /**
   * `receivedAtMs` is the bus timestamp of the message, so that a second pass gives the same result. `key` is the collector's, by which it tells
   * the tenant of records whose resource names none (Decisions 1).
   */
  process(value: Uint8Array, receivedAtMs: number, key?: string): EtlResult
}

/** ETL and enrichment: one message of `raw-logs` into flat records (Spec: Pipeline rules 2 and 3). */
export function createEtl(config: EtlConfig): Etl {
  const quick = new MessageFlattener(config)
  const plain = createPlainFlattener(config)

  const flattenPlain = (record: unknown, into: EtlOutput): void => {
    const flat = plain.flatten(record)
    if (flat.kind === 'emit' && flat.value.value.length <= MAX_FLAT_RECORD_BYTES) into.flat(flat.value)
    else into.dead(toMessage(plain.around(record)), flat.kind === 'emit' ? tooLarge(flat.value.value) : flat.reason, 1)
  }

  return {
    process(value, receivedAtMs, key = '') {
      const origin = {
        day: { receivedAtMs, retentionDays: config.retentionDays },
        defaultTenant: tenantOfKey(key) ?? config.defaultTenant,
      }
      plain.start(origin)
      const output = new EtlOutput()
      const isDone = quick.flatten(value, origin, {
        flat: record => output.flat(record),
        unusual(record, { resource, scope }) {
          plain.setResource(resource)
          plain.setScope(scope)
          flattenPlain(record, output)
        },
      })
      if (isDone) return output
      const again = new EtlOutput()
      unwrapMessage(value, {
        resource: resource => plain.setResource(resource),
        scope: scope => plain.setScope(scope),
        record: record => flattenPlain(record, again),
        problem: (original, reason, count) => again.dead(original, reason, count),
      })
      return again
    },
  }
}

class EtlOutput implements EtlResult {
  readonly records: BusRecord[] = []
  readonly deadLetters: DeadLetter[] = []
  received = 0

  flat({ key, value, layout }: KeyedRecord): void {
    this.received++
    this.records.push({ key, value, headers: { [LAYOUT_HEADER]: layout } })
  }

  /** `count` log records are in `value`. */
  dead(value: Uint8Array, reason: string, count: number): void {
    this.received += count
    this.deadLetters.push({ value, reason })
  }
}

function tooLarge(value: Uint8Array): string {
  return `flat record: expected at most ${MAX_FLAT_RECORD_BYTES} bytes, saw ${value.length}`
}
