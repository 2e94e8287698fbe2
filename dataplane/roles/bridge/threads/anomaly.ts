import { BRIDGE_GROUP_PREFIX } from '../../../contract/consumer-groups.ts'
import { collectDeadLetters } from '../../../pipeline/dead-letter.ts'
import type { Work } from '../../../pipeline/runners/at-least-once.ts'
import { createDetector } from '../../../pipeline/steps/detect.ts'
import type { BusRecord, ConsumedRecord } from '../../../ports/bus.ts'
import { createRewind } from '../rewind.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Records per partition that are read again after a restart, to fill the sliding windows as they were. */
const REWIND_RECORDS = 5_000

/** Scores `enriched-logs` by rule and by Z-score; anomalies go to `anomaly-events` (Spec: Pipeline rule 4). */
export function createAnomalyWork({ settings, bus, config, count, clock, log }: ThreadDeps): Work {
  const detector = createDetector(config.read())
  const groupId = `${BRIDGE_GROUP_PREFIX}anomaly`
  const rewind = createRewind({ bus, groupId, topic: settings.ENRICHED_TOPIC, records: REWIND_RECORDS })

  const detect = (records: readonly ConsumedRecord[]) => {
    const events: BusRecord[] = []
    const dead = collectDeadLetters({ bus, topic: settings.DEAD_LETTER_TOPIC, stage: 'anomaly', clock, log })
    let byZscore = 0
    for (const record of records) {
      if (rewind.isRepeated(record)) {
        detector.warm(record)
        continue
      }
      const outcome = detector.process(record)
      if (outcome.kind === 'emit') {
        events.push(outcome.value.event)
        if (outcome.value.anomaly.detectors.includes('zscore')) byZscore++
      } else if (outcome.kind === 'deadLetter') {
        dead.add(record, outcome.reason)
      }
    }
    return { events, dead, byZscore }
  }

  return {
    subscription: { groupId, topics: [settings.ENRICHED_TOPIC] },
    limits: { maxRecords: 5_000, maxBytes: 4 * 1024 * 1024, waitMs: 200 },
    minBatchMs: 40,
    maxInFlight: 4,
    prepare: subscription => rewind.start(subscription),
    async handle(records) {
      detector.configure(config.read())
      const { events, dead, byZscore } = detect(records)
      await Promise.all([bus.send(settings.ANOMALY_TOPIC, events), dead.send()])
      return () => count('anomaliesDetected', byZscore)
    },
  }
}
