/** The work `etl`: flattens and enriches `raw-logs`, sends `enriched-logs`. */
import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { SettingsOf } from '../../contract/env.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { type CountDeadLetters, collectDeadLetters } from '../dead-letter.ts'
import type { FeatureCache } from '../features/feature-cache.ts'
import { divideByTenant } from '../light-tenants.ts'
import type { Work } from '../runners/work.ts'
import { createEtl, type Etl, type RawMessage } from '../steps/flatten/etl.ts'
import { EtlBatch } from './etl-batch.ts'

export interface EtlWorkDeps {
  readonly settings: Pick<SettingsOf<'bridge'>, 'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'DEAD_LETTER_TOPIC' | 'RETENTION_DAYS'> & {
    /** Tenant of a record where neither its resource nor the message's key name one. */
    readonly DEFAULT_TENANT: string
  }
  readonly features: FeatureCache
  /** Stands by: works only while no process that does not stand by is in the group. */
  readonly standsBy: boolean
  readonly count: (counter: 'etlConsumed' | 'etlRecordsReceived' | 'etlProduced', amount: number) => void
  readonly countDeadLetters?: CountDeadLetters | undefined
  readonly clock: Clock
  readonly log: Log
}

/** `raw-logs` in, one flat record per log record on `enriched-logs` out; what cannot be read goes to `dead-letter-queue` (Spec: Pipeline rules 2 and 3). */
export function createEtlWork({ settings, features, standsBy, count, countDeadLetters, clock, log }: EtlWorkDeps): Work {
  const newEtl = () =>
    createEtl({ defaultTenant: settings.DEFAULT_TENANT, retentionDays: settings.RETENTION_DAYS, lookupFeatures: features.lookup })
  const etl = newEtl()
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
      const turn = batchBefore
      const workedThrough = Promise.withResolvers<void>()
      batchBefore = workedThrough.promise
      await turn
      const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'etl', clock, log, countDeadLetters })
      const batch = new EtlBatch({ etl, letterOfRecord, output, topic: settings.ENRICHED_TOPIC, dead })
      try {
        const { light, heavy } = divideByTenant(messages)
        for (const part of [light, heavy].filter(({ length }) => length > 0)) {
          for (const message of part) await batch.add(message)
          await batch.sendPart()
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
      }
    },
  }
}
