/** The work `anomaly`: scores `enriched-logs`, sends `anomaly-events` (Spec: Pipeline rules 4). */
import { consumerGroup } from '../../contract/consumer-groups.ts'
import type { SettingsOf } from '../../contract/env.ts'
import type { ConsumedRecord } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { encodeSmallAnomalyEvent } from '../anomaly-event.ts'
import { type CountDeadLetters, collectDeadLetters, type DeadLetters } from '../dead-letter.ts'
import type { Output, Work } from '../runners/work.ts'
import { sendFitting } from '../send-fitting.ts'
import { createDetector, type Detection, type DetectorConfig } from '../steps/detect.ts'

export interface AnomalyWorkDeps {
  readonly settings: Pick<SettingsOf<'bridge'>, 'ENRICHED_TOPIC' | 'ANOMALY_TOPIC' | 'DEAD_LETTER_TOPIC'>
  /** Read for each batch. */
  readonly config: () => DetectorConfig
  /** Stands by: works only while no process that does not stand by is in the group. */
  readonly standsBy: boolean
  readonly count: (counter: 'anomaliesDetected', amount: number) => void
  readonly countDeadLetters?: CountDeadLetters | undefined
  readonly clock: Clock
  readonly log: Log
}

/** An anomaly and the record of `enriched-logs` that is one. */
interface Found extends Detection {
  readonly record: ConsumedRecord
}

/** Records per partition that are read again when a partition comes, to fill the sliding windows as they were. */
const REWIND_RECORDS = 5_000

/** Scores `enriched-logs` by rule and by Z-score; anomalies go to `anomaly-events` (Spec: Pipeline rules 4). */
export function createAnomalyWork({ settings, config, standsBy, count, countDeadLetters, clock, log }: AnomalyWorkDeps): Work {
  let detector = createDetector(config())

  const detect = (records: readonly ConsumedRecord[], dead: DeadLetters) => {
    const found: Found[] = []
    let byZscore = 0
    for (const record of records) {
      const outcome = detector.process(record)
      if (outcome.kind === 'emit') {
        found.push({ record, ...outcome.value })
        if (outcome.value.anomaly.detectors.includes('zscore')) byZscore++
      } else if (outcome.kind === 'deadLetter') {
        dead.add(record, outcome.reason)
      }
      for (const { input, ...silent } of detector.takeSilent()) {
        found.push({ record: { ...record, ...input }, ...silent })
        byZscore++
      }
    }
    return { found, byZscore }
  }

  /** An event that the bus takes for too large goes without the attributes of its record; the log document has them. */
  const sendEvents = async (found: readonly Found[], output: Output, dead: DeadLetters) => {
    const refused = await sendFitting(
      output,
      settings.ANOMALY_TOPIC,
      found.map(({ event }) => event),
    )
    for (const { record, anomaly } of refused.map(position => found[position]!)) {
      const small = encodeSmallAnomalyEvent(anomaly, record)
      const isSent = small !== undefined && (await sendFitting(output, settings.ANOMALY_TOPIC, [small])).length === 0
      if (!isSent) dead.add(record, 'anomaly event: larger than the bus takes')
    }
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
      const dead = collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage: 'anomaly', clock, log, countDeadLetters })
      const { found, byZscore } = detect(records, dead)
      await sendEvents(found, output, dead)
      await dead.send()
      return () => {
        count('anomaliesDetected', byZscore)
        dead.count()
      }
    },
  }
}
