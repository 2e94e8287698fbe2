/** The work `anomaly`: scores `enriched-logs`, sends `anomaly-events` (Spec: Pipeline rules 4). */
import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { SettingsOf } from '../../contract/env.ts'
import type { ConsumedRecord } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { type CountDeadLetters, collectDeadLetters } from '../dead-letters/dead-letter.ts'
import type { Work } from '../runners/work.ts'
import type { HabitKeeper } from '../sinks/habit-keeper.ts'
import { createDetector, type DetectorConfig } from '../steps/detect.ts'
import { type GiveUp, scoreBatch, sendEvents } from './score-batch.ts'

export interface AnomalyWorkDeps {
  readonly settings: Pick<SettingsOf<'bridge'>, 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC'>
  /** Read for each batch. */
  readonly config: () => DetectorConfig
  /** Stands by: works only while no process that does not stand by is in the group. */
  readonly standsBy: boolean
  readonly count: (counter: 'anomaliesDetected', amount: number) => void
  readonly countDeadLetters?: CountDeadLetters | undefined
  /** Absent: habits of services are learned anew after a start. */
  readonly habits?: HabitKeeper
  readonly clock: Clock
  readonly log: Log
}

/** Records per partition that are read again when a partition comes, to fill the sliding windows as they were. */
export const REWIND_RECORDS = 5_000

/** Scores `enriched-logs` by rule and by Z-score; anomalies go to `anomaly-events` (Spec: Pipeline rules 4). */
export function createAnomalyWork({ settings, config, standsBy, count, countDeadLetters, habits, clock, log }: AnomalyWorkDeps): Work {
  let detector = createDetector(config())

  return {
    subscription: { groupId: consumerGroup('anomaly', [settings.ENRICHED_TOPIC]), topics: [settings.ENRICHED_TOPIC], standsBy },
    limits: { maxRecords: 5_000, maxBytes: 4 * 1024 * 1024, waitMs: 200 },
    minBatchMs: 40,
    memory: {
      records: REWIND_RECORDS,
      reset() {
        detector = createDetector(config())
        habits?.forget()
      },
      async restore(records) {
        detector.configure(config())
        await habits?.load(
          records.map(({ partition }) => partition),
          kept => detector.restoreHabits(kept),
        )
        for (const record of records) detector.warm(record)
      },
    },
    async handle(records, output) {
      detector.configure(config())
      const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'anomaly', clock, log, countDeadLetters })
      const giveUp: GiveUp<ConsumedRecord> = (record, reason) => dead.add(record, reason)
      const { found, byZscore } = scoreBatch(detector, records, giveUp)
      const changed = detector.takeHabits()
      await sendEvents(found, output, settings.ANOMALY_TOPIC, giveUp)
      await dead.send()
      return () => {
        count('anomaliesDetected', byZscore)
        dead.count()
        habits?.save(changed)
      }
    },
  }
}
