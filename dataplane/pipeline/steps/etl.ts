import { flattenRecord, recordTimes } from '../../domain/flat-record.ts'
import { findRecordProblem, isFields, shown } from '../../domain/otlp-problem.ts'
import type { MlFeatures } from '../../domain/records.ts'
import type { DayRule } from '../../domain/timestamp.ts'
import type { InstrumentationScope, LogRecord, Resource } from '../../otlp/payload.ts'
import type { BusRecord } from '../../ports/bus.ts'
import { encodeFlatRecord, LAYOUT_HEADER } from '../flat-record-layout.ts'

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
