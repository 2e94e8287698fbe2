import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { SettingsOf } from '../../contract/env.ts'
import type { BusRecord, ConsumedRecord } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { collectDeadLetters, receivedAtMs } from '../dead-letter.ts'
import type { FeatureCache } from '../features/feature-cache.ts'
import type { Work } from '../runners/work.ts'
import { createEtl, type EtlResult } from '../steps/etl.ts'

export interface EtlWorkDeps {
  readonly settings: Pick<SettingsOf<'bridge'>, 'RAW_TOPIC' | 'ENRICHED_TOPIC' | 'DEAD_LETTER_TOPIC' | 'RETENTION_DAYS'> & {
    /** Tenant of a record where neither its resource nor the message's key name one. */
    readonly DEFAULT_TENANT: string
  }
  readonly features: FeatureCache
  /** Works only while nobody does who does not stand by. */
  readonly standsBy: boolean
  readonly count: (counter: 'etlConsumed' | 'etlRecordsReceived' | 'etlProduced', amount: number) => void
  readonly clock: Clock
  readonly log: Log
}

/** `raw-logs` in, one flat record per log record on `enriched-logs` out; what cannot be read goes to `dead-letter-queue` (Spec: Pipeline rules 2 and 3). */
export function createEtlWork({ settings, features, standsBy, count, clock, log }: EtlWorkDeps): Work {
  const etl = createEtl({
    defaultTenant: settings.DEFAULT_TENANT,
    retentionDays: settings.RETENTION_DAYS,
    lookupFeatures: features.lookup,
  })

  /** A message that breaks the step itself must not stop its partition. */
  const process = (message: ConsumedRecord): EtlResult => {
    try {
      return etl.process(message.value, receivedAtMs(message), message.key)
    } catch (error) {
      return { records: [], deadLetters: [{ value: message.value, reason: `etl failed: ${error}` }], received: 0 }
    }
  }

  return {
    subscription: { groupId: consumerGroup('etl', [settings.RAW_TOPIC]), topics: [settings.RAW_TOPIC], standsBy },
    limits: { maxRecords: 500, maxBytes: 1024 * 1024, waitMs: 200 },
    minBatchMs: 10,
    prepare: () => features.ready(),
    async handle(messages, output) {
      const enriched: BusRecord[] = []
      const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'etl', clock, log })
      let received = 0
      for (const message of messages) {
        const result = process(message)
        for (const record of result.records) enriched.push(record)
        for (const { value, reason } of result.deadLetters) dead.add(message, reason, value)
        received += result.received
      }
      await Promise.all([output.send(settings.ENRICHED_TOPIC, enriched), dead.send()])
      return () => {
        count('etlConsumed', messages.length)
        count('etlRecordsReceived', received)
        count('etlProduced', enriched.length)
      }
    },
  }
}
