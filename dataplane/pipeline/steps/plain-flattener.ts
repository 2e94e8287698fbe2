import { type FlattenConfig, flattenRecord, recordTimes, type TimedRecord } from '../../domain/flat-record.ts'
import { findRecordProblem, shown } from '../../domain/otlp-problem.ts'
import type { DayRule } from '../../domain/timestamp.ts'
import type { InstrumentationScope, LogRecord, Resource } from '../../otlp/payload.ts'
import { type EncodedRecord, encodeFlatRecord } from '../flat-record-layout.ts'
import type { Outcome } from '../outcome.ts'

export interface KeyedRecord extends EncodedRecord {
  /** `<tenant>/<service>` */
  readonly key: string
}

/** What the bus says of a message. */
export interface MessageOrigin {
  readonly day: DayRule
  /** Tenant of records whose resource names no valid one. */
  readonly defaultTenant: string
}

/** Flattens and encodes the records of one message; keeps what those of one resource and scope share. */
export interface RecordFlattener {
  start(origin: MessageOrigin): void
  setResource(resource: Resource | undefined): void
  setScope(scope: InstrumentationScope | undefined): void
  /** `record` is what stands in `logRecords`, whatever that may be. */
  flatten(record: unknown): Outcome<KeyedRecord>
  /** The record with its resource and scope, as an element of `resourceLogs`. */
  around(record: unknown): object
}

/** Goes the plain way through the rules, record by record. */
export function createPlainFlattener({ lookupFeatures }: Pick<FlattenConfig, 'lookupFeatures'>): RecordFlattener {
  let day: DayRule = { receivedAtMs: 0, retentionDays: 0 }
  let config: FlattenConfig = { defaultTenant: '', lookupFeatures }
  let resource: Resource | undefined
  let scope: InstrumentationScope | undefined
  return {
    start(origin) {
      day = origin.day
      config = { defaultTenant: origin.defaultTenant, lookupFeatures }
    },
    setResource(next) {
      resource = next
      scope = undefined
    },
    setScope(next) {
      scope = next
    },
    flatten(value) {
      const problem = findRecordProblem(value)
      if (problem !== undefined) return { kind: 'deadLetter', reason: problem }
      const record = value as LogRecord
      const times = recordTimes(record, day.receivedAtMs)
      if (times === undefined) return { kind: 'deadLetter', reason: describeTimes(record) }
      const flat = flattenRecord({ resource, scope, record, times, day }, config)
      return {
        kind: 'emit',
        value: { key: `${flat.canonical.tenant_id}/${flat.canonical.service}`, ...encodeFlatRecord(flat) },
      }
    },
    around: record => ({ ...(resource && { resource }), scopeLogs: [{ ...(scope && { scope }), logRecords: [record] }] }),
  }
}

export function describeTimes({ timeUnixNano, observedTimeUnixNano }: TimedRecord): string {
  const seen = `${shown(timeUnixNano)} and ${shown(observedTimeUnixNano)}`
  return `timeUnixNano, observedTimeUnixNano: expected unsigned 64-bit nanoseconds since the epoch, saw ${seen}`
}
