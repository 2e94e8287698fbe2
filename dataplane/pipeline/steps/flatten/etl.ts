/** ETL: messages of `raw-logs` become flat records and dead letters (Spec: Pipeline rules 2 and 3). */
import type { MlFeatures } from '../../../domain/features/enrichment.ts'
import { Repetition } from '../../../domain/records/shared-attributes.ts'
import { tenantOfKey } from '../../../domain/tenants/tenant.ts'
import type { BusRecord } from '../../../ports/bus.ts'
import { asBuffer, type EncodedRecord, MAX_FLAT_RECORD_BYTES } from '../../flat-record-layout.ts'
import { MessageFlattener, type RecordSource } from './bytes/message-flattener.ts'
import { EtlOutput, type EtlTarget, placeOf, RecordFinder } from './etl-output.ts'
import { type DeadLetter, letterOf, MessageLetters } from './message-letters.ts'
import { readParts } from './message-parts.ts'
import { createPlainFlattener, type MessageOrigin } from './plain-flattener.ts'

/** The features of a service from memory: `undefined` none computed, `unreachable` the feature store cannot be asked (Decisions 9). */
export type FeatureLookup = (tenant: string, service: string) => MlFeatures | undefined | 'unreachable'

export interface EtlConfig {
  /** Tenant of records where neither resource nor key name a valid one. */
  readonly defaultTenant: string
  readonly retentionDays: number
  readonly lookupFeatures: FeatureLookup
}

/** A message of `raw-logs`. */
export interface RawMessage {
  readonly value: Uint8Array
  /** When the bus took it first, so that a second pass gives the same result. */
  readonly receivedAtMs: number
  /** The collector's, by which it tells the tenant of records whose resource names none (Decisions 1). */
  readonly key: string
}

export interface EtlResult {
  /** For `enriched-logs`, keyed `<tenant>/<service>`, in the order of the message. */
  readonly records: readonly BusRecord[]
  readonly deadLetters: readonly DeadLetter[]
  /** Log records in the message, readable or not. */
  readonly received: number
}

export interface Etl {
  /** All of a message at once. */
  process(value: Uint8Array, receivedAtMs: number, key?: string): EtlResult
  /** A message in parts: yields while `target` is full. One message at a time. */
  processInParts(message: RawMessage, target: EtlTarget): Generator<void, void, undefined>
  /** The log record that became the flat record with this number, counted from 0 within its message, as a message of its own. */
  letterOfRecord(message: RawMessage, number: number): Uint8Array
}

/** ETL and enrichment: one message of `raw-logs` into flat records (Spec: Pipeline rules 2 and 3). */
export function createEtl(config: EtlConfig): Etl {
  const quick = new MessageFlattener(config)
  const plain = createPlainFlattener(config)

  /** By the rules one by one. */
  const flattenRecord = (record: unknown, source: RecordSource, letters: MessageLetters, target: EtlTarget): void => {
    const flat = plain.flatten(record)
    if (flat.kind === 'emit' && sizeOf(flat.value) <= MAX_FLAT_RECORD_BYTES) target.flat(flat.value.key, flat.value, source)
    else target.dead(letters.add(placeOf(source), flat.kind === 'emit' ? tooLarge(sizeOf(flat.value)) : flat.reason), 1)
  }

  function* flattenQuickly(value: Buffer, origin: MessageOrigin, letters: MessageLetters, target: EtlTarget) {
    return yield* quick.flatten(value, origin, {
      flat: (key, record, source) => target.flat(key, record, source),
      unusual(record, { resource, scope }, source) {
        plain.setSurroundings(resource, scope)
        flattenRecord(record, source, letters, target)
      },
      isFull: () => target.isFull(),
    })
  }

  function* flattenPlainly(value: Buffer, letters: MessageLetters, target: EtlTarget) {
    for (const part of readParts(value)) {
      if (part.kind === 'unreadable') target.dead(letters.add(part.place, part.reason), part.records)
      else {
        plain.setSurroundings(part.around.resourceValue, part.around.scopeValue)
        flattenRecord(part.value, { around: part.around, ...part.range }, letters, target)
      }
      if (target.isFull()) yield
    }
  }

  function* processInParts({ value, receivedAtMs, key }: RawMessage, target: EtlTarget): Generator<void, void, undefined> {
    const bytes = asBuffer(value)
    const begin = () => {
      const origin: MessageOrigin = {
        day: { receivedAtMs, retentionDays: config.retentionDays },
        defaultTenant: tenantOfKey(key) ?? config.defaultTenant,
        repetition: new Repetition(),
      }
      plain.start(origin)
      return { origin, letters: new MessageLetters(bytes) }
    }
    let { origin, letters } = begin()
    target.begin()
    if (!(yield* flattenQuickly(bytes, origin, letters, target))) {
      target.takeBack()
      letters = begin().letters
      yield* flattenPlainly(bytes, letters, target)
    }
    target.dead(letters.shared(), 0)
  }

  return {
    process(value, receivedAtMs, key = '') {
      const output = new EtlOutput()
      finish(processInParts({ value, receivedAtMs, key }, output))
      const { rows, deadLetters, received } = output
      return { records: rows.map(row => row.toRecord()), deadLetters, received }
    },
    processInParts,
    letterOfRecord(message, number) {
      const finder = new RecordFinder(number)
      finish(processInParts(message, finder))
      return finder.place === undefined ? message.value : letterOf(asBuffer(message.value), finder.place)
    },
  }
}

function finish(parts: Generator<void, void, undefined>): void {
  while (parts.next().done !== true);
}

const sizeOf = ({ start, end }: EncodedRecord) => end - start

function tooLarge(sizeBytes: number): string {
  return `flat record: expected at most ${MAX_FLAT_RECORD_BYTES} bytes, saw ${sizeBytes}`
}
