/** The work `etl`: flattens and enriches `raw-logs`, sends `enriched-logs`. */
import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { SettingsOf } from '../../contract/env.ts'
import type { ConsumedRecord } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { type CountDeadLetters, collectDeadLetters, type DeadLetters } from '../dead-letters/dead-letter.ts'
import type { FeatureCache } from '../features/feature-cache.ts'
import { FlatMemory } from '../flat-memory.ts'
import type { FlatRow } from '../flat-row.ts'
import { divideByTenant } from '../light-tenants.ts'
import type { AfterCommit, Output, Work } from '../runners/work.ts'
import { sendFitting } from '../send-fitting.ts'
import { createEtl, type Etl, type RawMessage } from '../steps/flatten/etl.ts'
import { EtlOutput } from '../steps/flatten/etl-output.ts'
import { EtlBatch, MAX_ETL_PART_BYTES } from './etl-batch.ts'
import { type FlatPart, rawMessage } from './flat-part.ts'

/** The way that the flat records of one batch take onward. */
export interface Onward {
  /** Takes one part after the other; resolves, once it is durable or in the transaction, to the number of flat records that were taken. */
  take(part: FlatPart): Promise<number>
  /** Runs once the batch is committed. */
  readonly afterCommit?: AfterCommit
}

export interface EtlWorkDeps {
  readonly settings: Pick<SettingsOf<'bridge'>, 'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'DEAD_LETTER_TOPIC' | 'RETENTION_DAYS'> & {
    /** Tenant of a record where neither its resource nor the message's key name one. */
    readonly DEFAULT_TENANT: string
  }
  readonly features: FeatureCache
  /** Stands by: works only while no process that does not stand by is in the group. */
  readonly standsBy: boolean
  readonly count: (counter: 'etlConsumed' | 'etlRecordsReceived' | 'etlProduced', amount: number) => void
  /** Called for each batch. Default: onto `enriched-logs`. */
  readonly openOnward?: (output: Output) => Onward
  readonly countDeadLetters?: CountDeadLetters | undefined
  readonly clock: Clock
  readonly log: Log
}

/** The ETL as the settings have it. */
export function createEtlOf({ settings, features }: Pick<EtlWorkDeps, 'settings' | 'features'>): Etl {
  return createEtl({ defaultTenant: settings.DEFAULT_TENANT, retentionDays: settings.RETENTION_DAYS, lookupFeatures: features.lookup })
}

/** The flat records of a message that is read again, each for as long as it takes to ask for the next; none of the part where it breaks the step itself. */
export function* flatRowsOf(etl: Pick<Etl, 'processInParts'>, message: ConsumedRecord): Generator<FlatRow, void, undefined> {
  const output = new EtlOutput({ maxBytes: MAX_ETL_PART_BYTES, memory: rereadMemory })
  const parts = etl.processInParts(rawMessage(message), output)
  for (let isOver = false; !isOver; ) {
    try {
      isOver = parts.next().done === true
    } catch {
      // It became a dead letter when it was read first.
      isOver = true
    }
    const { rows, release } = output.take()
    yield* rows
    release()
  }
}

/** Messages are read again one at a time. */
const rereadMemory = new FlatMemory()

/** `raw-logs` in, one flat record per log record on `enriched-logs` out; what cannot be read goes to `dead-letter-queue` (Spec: Pipeline rules 2 and 3). */
export function createEtlWork(deps: EtlWorkDeps): Work {
  const { settings, features, standsBy, count, countDeadLetters, openOnward, clock, log } = deps
  const newEtl = () => createEtlOf(deps)
  const etl = newEtl()
  const memory = new FlatMemory()
  /** Looks into one message while `etl` may be within another. */
  let second: Etl | undefined
  const letterOfRecord = (message: RawMessage, number: number) => {
    second ??= newEtl()
    return second.letterOfRecord(message, number)
  }
  /** Settles once the batch before is worked through: batches share `etl`, which goes through one message at a time. */
  let batchBefore: Promise<unknown> = Promise.resolve()

  return {
    subscription: { groupId: consumerGroup('etl', [settings.RAW_TOPIC]), topics: [settings.RAW_TOPIC], standsBy },
    limits: { maxRecords: 500, maxBytes: 1024 * 1024, waitMs: 200 },
    minBatchMs: 10,
    prepare: () => features.ready(),
    async handle(messages, output) {
      const fresh = features.fresh()
      const turn = batchBefore
      const workedThrough = Promise.withResolvers<void>()
      batchBefore = workedThrough.promise
      await Promise.all([turn, fresh])
      const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'etl', clock, log, countDeadLetters })
      const onward = openOnward?.(output) ?? ontoTopic(output, settings.ENRICHED_TOPIC, dead)
      // Memory that is lent is used again once a part is taken.
      const lent = output.keepsRecords === true ? undefined : memory
      const batch = new EtlBatch({ etl, letterOfRecord, take: part => onward.take(part), dead, memory: lent })
      try {
        const { light, heavy } = divideByTenant(messages)
        for (const part of [light, heavy].filter(({ length }) => length > 0)) {
          for (const message of part) await batch.add(message, part === heavy)
          await batch.endPart(part === heavy)
        }
      } finally {
        workedThrough.resolve()
      }
      await batch.settled()
      return () => {
        count('etlConsumed', messages.length)
        count('etlRecordsReceived', batch.received)
        count('etlProduced', batch.produced)
        dead.count()
        onward.afterCommit?.()
      }
    },
  }
}

function ontoTopic(output: Output, topic: string, dead: DeadLetters): Onward {
  return {
    async take(part) {
      const records = part.rows.map(row => row.toRecord())
      const refused = await sendFitting(output, topic, records)
      for (const position of refused) {
        const reason = `flat record: ${records[position]!.value.length} bytes are more than the bus takes`
        dead.add(part.messageOf(position), reason, part.originalOf(position))
      }
      await dead.send()
      return records.length - refused.length
    },
  }
}
