import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { SettingsOf } from '../../contract/env.ts'
import type { BusRecord, ConsumedRecord } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { collectDeadLetters } from '../dead-letter.ts'
import type { Work } from '../runners/work.ts'
import { createDetector, type DetectorConfig } from '../steps/detect.ts'

export interface AnomalyWorkDeps {
  readonly settings: Pick<SettingsOf<'bridge'>, 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC'>
  /** Read for each batch. */
  readonly config: () => DetectorConfig
  /** Works only while nobody does who does not stand by. */
  readonly standsBy: boolean
  readonly count: (counter: 'anomaliesDetected', amount: number) => void
  readonly clock: Clock
  readonly log: Log
}

/** Records per partition that are read again when a partition comes, to fill the sliding windows as they were. */
const REWIND_RECORDS = 5_000

/** Scores `enriched-logs` by rule and by Z-score; anomalies go to `anomaly-events` (Spec: Pipeline rule 4). */
export function createAnomalyWork({ settings, config, standsBy, count, clock, log }: AnomalyWorkDeps): Work {
  let detector = createDetector(config())

  const detect = (records: readonly ConsumedRecord[], dead: ReturnType<typeof collectDeadLetters>) => {
    const events: BusRecord[] = []
    let byZscore = 0
    for (const record of records) {
      const outcome = detector.process(record)
      if (outcome.kind === 'emit') {
        events.push(outcome.value.event)
        if (outcome.value.anomaly.detectors.includes('zscore')) byZscore++
      } else if (outcome.kind === 'deadLetter') {
        dead.add(record, outcome.reason)
      }
    }
    return { events, byZscore }
  }

  return {
    subscription: { groupId: consumerGroup('anomaly', [settings.ENRICHED_TOPIC]), topics: [settings.ENRICHED_TOPIC], standsBy },
    limits: { maxRecords: 5_000, maxBytes: 4 * 1024 * 1024, waitMs: 200 },
    minBatchMs: 40,
    memory: {
      records: REWIND_RECORDS,
      reset() {
        detector = createDetector(config())
      },
      async restore(records) {
        detector.configure(config())
        for (const record of records) detector.warm(record)
      },
    },
    async handle(records, output) {
      detector.configure(config())
      const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'anomaly', clock, log })
      const { events, byZscore } = detect(records, dead)
      await Promise.all([output.send(settings.ANOMALY_TOPIC, events), dead.send()])
      return () => count('anomaliesDetected', byZscore)
    },
  }
}
