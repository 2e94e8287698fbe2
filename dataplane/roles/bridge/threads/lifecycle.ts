import { BRIDGE_GROUP_PREFIX } from '../../../contract/consumer-groups.ts'
import type { Anomaly } from '../../../domain/records.ts'
import { decodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { collectDeadLetters } from '../../../pipeline/dead-letter.ts'
import type { Work } from '../../../pipeline/runners/at-least-once.ts'
import { createIncidentOpener } from '../../../pipeline/sinks/open-incidents.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { installIndexTemplates } from '../install-index-templates.ts'
import { createRewind } from '../rewind.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Anomalies per partition that are read again after a restart, to fill the grouping windows as they were. */
const REWIND_RECORDS = 1_000
/** In a storm many anomalies share the writes to their incidents. */
const MIN_BATCH_MS = 200

/** Stores every anomaly and groups anomalies into incidents (Spec: Pipeline rule 5, Incident status). */
export function createLifecycleWork({ settings, bus, count, clock, log, signal }: ThreadDeps, store: SearchStore): Work {
  const opener = createIncidentOpener({ store, clock, signal })
  const groupId = `${BRIDGE_GROUP_PREFIX}lifecycle`
  const rewind = createRewind({ bus, groupId, topic: settings.ANOMALY_TOPIC, records: REWIND_RECORDS })

  return {
    subscription: { groupId, topics: [settings.ANOMALY_TOPIC] },
    limits: { maxRecords: 2_000, maxBytes: 8 * 1024 * 1024, waitMs: 200 },
    // Grouping is one state machine: batches follow one another.
    maxInFlight: 1,
    minBatchMs: MIN_BATCH_MS,
    async prepare(subscription) {
      await installIndexTemplates(store)
      await rewind.start(subscription)
    },
    async handle(records) {
      const restored: Anomaly[] = []
      const fresh: Anomaly[] = []
      const origin = new Map<string, ConsumedRecord>()
      const dead = collectDeadLetters({ bus, topic: settings.DEAD_LETTER_TOPIC, stage: 'lifecycle', clock, log })
      for (const record of records) {
        const event = decodeAnomalyEvent(record)
        if (event === undefined) {
          if (!rewind.isRepeated(record)) dead.add(record, 'anomaly event: cannot be read')
        } else if (rewind.isRepeated(record)) {
          restored.push(event.anomaly)
        } else {
          fresh.push(event.anomaly)
          origin.set(event.anomaly.id, record)
        }
      }
      await opener.restore(restored)
      const { created, errors, refused } = await opener.handle(fresh)
      for (const { anomaly, reason } of refused) dead.add(origin.get(anomaly.id)!, reason)
      await dead.send()
      return () => {
        count('indexed', created)
        count('indexErrors', errors)
      }
    },
  }
}
