import { consumerGroup } from '../../../contract/consumer-groups.ts'
import type { Anomaly } from '../../../domain/records.ts'
import { decodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { collectDeadLetters } from '../../../pipeline/dead-letter.ts'
import type { Work } from '../../../pipeline/runners/work.ts'
import { createIncidentOpener } from '../../../pipeline/sinks/open-incidents.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { DeclaredTicketingSource } from '../../../ports/declared-ticketing.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { countDocuments } from '../count-documents.ts'
import { installIndexTemplates } from '../install-index-templates.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Anomalies per partition that are read again when a partition comes, to fill the grouping windows as they were. */
const REWIND_RECORDS = 1_000
/** In a storm many anomalies share the writes to their incidents. */
const MIN_BATCH_MS = 200

type Declared = Pick<DeclaredTicketingSource, 'current'>
const NOTHING_DECLARED: Declared = { current: () => undefined }

/** Stores every anomaly and groups anomalies into incidents (Spec: Pipeline rule 5, Incident status). */
export function createLifecycleWork(deps: ThreadDeps, store: SearchStore, declared: Declared = NOTHING_DECLARED): Work {
  const { settings, count, countDeadLetters, clock, log, signal } = deps
  const declaredAnomaly = () => declared.current()?.anomaly ?? {}
  const openOpener = () => createIncidentOpener({ store, clock, signal, onProgress: countDocuments(count), declaredAnomaly })
  let opener = openOpener()
  const topics = [settings.ANOMALY_TOPIC]

  return {
    subscription: { groupId: consumerGroup('lifecycle', topics), topics },
    limits: { maxRecords: 2_000, maxBytes: 8 * 1024 * 1024, waitMs: 200 },
    // Grouping is one state machine: batches follow one another.
    maxInFlight: 1,
    minBatchMs: MIN_BATCH_MS,
    memory: {
      records: REWIND_RECORDS,
      reset() {
        opener = openOpener()
      },
      restore: records => opener.restore(records.flatMap(record => decodeAnomalyEvent(record)?.anomaly ?? [])),
    },
    prepare: () => installIndexTemplates(store, settings),
    async handle(records, output) {
      const anomalies: Anomaly[] = []
      const origin = new Map<string, ConsumedRecord>()
      const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'lifecycle', clock, log, countDeadLetters })
      for (const record of records) {
        const event = decodeAnomalyEvent(record)
        if (event === undefined) {
          dead.add(record, 'anomaly event: cannot be read')
        } else {
          anomalies.push(event.anomaly)
          origin.set(event.anomaly.id, record)
        }
      }
      const { refused } = await opener.handle(anomalies)
      for (const { anomaly, reason } of refused) dead.add(origin.get(anomaly.id)!, reason)
      await dead.send()
      return dead.count
    },
  }
}
