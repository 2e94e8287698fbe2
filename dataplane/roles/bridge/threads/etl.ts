import { BRIDGE_GROUP_PREFIX } from '../../../contract/consumer-groups.ts'
import { collectDeadLetters, receivedAtMs } from '../../../pipeline/dead-letter.ts'
import type { FeatureCache } from '../../../pipeline/features/feature-cache.ts'
import type { Work } from '../../../pipeline/runners/at-least-once.ts'
import { createEtl, type EtlResult } from '../../../pipeline/steps/etl.ts'
import type { BusRecord, ConsumedRecord } from '../../../ports/bus.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** `raw-logs` in, one flat record per log record on `enriched-logs` out; what cannot be read goes to `dead-letter-queue` (Spec: Pipeline rules 2 and 3). */
export function createEtlWork({ settings, bus, count, clock, log }: ThreadDeps, features: FeatureCache): Work {
  const etl = createEtl({
    defaultTenant: settings.DEFAULT_TENANT,
    retentionDays: settings.RETENTION_DAYS,
    lookupFeatures: features.lookup,
  })

  /** A message that breaks the step itself must not stop its partition. */
  const process = (message: ConsumedRecord): EtlResult => {
    try {
      return etl.process(message.value, receivedAtMs(message))
    } catch (error) {
      return { records: [], deadLetters: [{ value: message.value, reason: `etl failed: ${error}` }], received: 0 }
    }
  }

  return {
    subscription: { groupId: `${BRIDGE_GROUP_PREFIX}etl`, topics: [settings.RAW_TOPIC] },
    limits: { maxRecords: 500, maxBytes: 1024 * 1024, waitMs: 200 },
    minBatchMs: 10,
    maxInFlight: 6,
    prepare: () => features.ready(),
    async handle(messages) {
      const enriched: BusRecord[] = []
      const dead = collectDeadLetters({ bus, topic: settings.DEAD_LETTER_TOPIC, stage: 'etl', clock, log })
      let received = 0
      for (const message of messages) {
        const result = process(message)
        for (const record of result.records) enriched.push(record)
        for (const { value, reason } of result.deadLetters) dead.add(message, reason, value)
        received += result.received
      }
      await Promise.all([bus.send(settings.ENRICHED_TOPIC, enriched), dead.send()])
      return () => {
        count('etlConsumed', messages.length)
        count('etlRecordsReceived', received)
        count('etlProduced', enriched.length)
      }
    },
  }
}
