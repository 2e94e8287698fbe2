/** Flattens parsed records by the rules of the domain; `bytes` does the same faster for most records. */
import { type FlattenConfig, flattenRecord, recordTimes, type TimedRecord } from '../../../domain/records/flat-record.ts'
import { findRecordProblem, shown } from '../../../domain/records/otlp-problem.ts'
import {
  type Repeated,
  type Repetition,
  type SharedAttributes,
  shareResource,
  shareScope,
} from '../../../domain/records/shared-attributes.ts'
import type { DayRule } from '../../../domain/records/timestamp.ts'
import { busKey } from '../../../domain/tenants/tenant.ts'
import type { InstrumentationScope, LogRecord, Resource } from '../../../otlp/payload.ts'
import { type EncodedRecord, encodeFlatRecord } from '../../flat-record-layout.ts'
import type { Outcome } from '../../outcome.ts'

export interface KeyedRecord extends EncodedRecord {
  /** `<tenant>/<service>` */
  readonly key: string
}

/** The fields of a message that come from the bus. */
export interface MessageOrigin {
  readonly day: DayRule
  /** Tenant of records whose resource names no valid one. */
  readonly defaultTenant: string
  /** A new one for each message. */
  readonly repetition: Repetition
}

/** Flattens and encodes the records of one message; keeps what those of one resource and scope share. */
export interface RecordFlattener {
  start(origin: MessageOrigin): void
  /** Sets resource and scope of the records that follow. */
  setSurroundings(resource: Resource | undefined, scope: InstrumentationScope | undefined): void
  /** `record` is an element of `logRecords`, of any type. */
  flatten(record: unknown): Outcome<KeyedRecord>
}

/** Goes the plain way through the rules, record by record. */
export function createPlainFlattener({ lookupFeatures }: Pick<FlattenConfig, 'lookupFeatures'>): RecordFlattener {
  let origin: MessageOrigin
  let config: FlattenConfig = { defaultTenant: '', lookupFeatures }
  let resource: Resource | undefined
  let scope: InstrumentationScope | undefined
  let ofResource: SharedAttributes | undefined
  let ofScope: SharedAttributes | undefined
  let repeated: Repeated | undefined
  return {
    start(next) {
      origin = next
      config = { defaultTenant: origin.defaultTenant, lookupFeatures }
    },
    setSurroundings(nextResource, nextScope) {
      if (nextResource !== resource) ofResource = repeated = undefined
      if (nextScope !== scope) ofScope = repeated = undefined
      resource = nextResource
      scope = nextScope
    },
    flatten(value) {
      const problem = findRecordProblem(value)
      if (problem !== undefined) return { kind: 'deadLetter', reason: problem }
      const record = value as LogRecord
      const { day, repetition } = origin
      const times = recordTimes(record, day.receivedAtMs)
      if (times === undefined) return { kind: 'deadLetter', reason: describeTimes(record) }
      ofResource ??= shareResource(resource)
      ofScope ??= shareScope(scope)
      repeated ??= sumOf(ofResource.repeated, ofScope.repeated)
      const isPartial = !repetition.take(repeated)
      const flat = flattenRecord({ resource: ofResource, scope: ofScope, isPartial, record, times, day }, config)
      return {
        kind: 'emit',
        value: { key: busKey(flat.canonical.tenant_id, flat.canonical.service), ...encodeFlatRecord(flat) },
      }
    },
  }
}

function sumOf(a: Repeated, b: Repeated): Repeated {
  return { bytes: a.bytes + b.bytes, items: a.items + b.items }
}

function describeTimes({ timeUnixNano, observedTimeUnixNano }: TimedRecord): string {
  const seen = `${shown(timeUnixNano)} and ${shown(observedTimeUnixNano)}`
  return `timeUnixNano, observedTimeUnixNano: expected unsigned 64-bit nanoseconds since the epoch, saw ${seen}`
}
