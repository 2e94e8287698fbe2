/**
 * The direct lane: what is read from `raw-logs` once becomes log documents and anomaly events in one pass, with nothing written and read back in
 * between. It is the work of `etl`, `anomaly` and `indexer` where bus and search store are both embedded.
 */
import { withFlagsWritten } from '../../../pipeline/anomaly-event.ts'
import { collectDeadLetters, type DeadLetterStage, type DeadLetters } from '../../../pipeline/dead-letters/dead-letter.ts'
import type { FeatureCache } from '../../../pipeline/features/feature-cache.ts'
import type { FlatRow } from '../../../pipeline/flat-row.ts'
import type { Output, Work } from '../../../pipeline/runners/work.ts'
import type { HabitKeeper } from '../../../pipeline/sinks/habit-keeper.ts'
import { createDetector } from '../../../pipeline/steps/detect.ts'
import { REWIND_RECORDS } from '../../../pipeline/work/anomaly-work.ts'
import { createEtlOf, createEtlWork, flatRowsOf, type Onward } from '../../../pipeline/work/etl-work.ts'
import type { FlatPart } from '../../../pipeline/work/flat-part.ts'
import { type Found, scoreBatch, sendEvents } from '../../../pipeline/work/score-batch.ts'
import type { DocumentWriter } from './document-writer.ts'
import { MAX_BATCHES } from './indexer.ts'
import type { ThreadDeps } from './thread-deps.ts'

export interface DirectLaneDeps extends ThreadDeps {
  readonly features: FeatureCache
  readonly writer: DocumentWriter
  /** Absent: habits of services are learned anew after a start. */
  readonly habits?: HabitKeeper
}

/** A batch costs lane and store as much as some thirty records: small ones start so far apart. A record waits for that long at most. */
const MIN_BATCH_MS = 60
/** Messages of a batch. What is made of them takes five times as much, once as rows and once as documents on their way. */
const MAX_BATCH_BYTES = 512 * 1024

/** Takes `raw-logs` to the daily indices and `anomaly-events`. Offsets are committed once documents and events are durable. */
export function createDirectLane(deps: DirectLaneDeps): Work {
  const { settings, config, features, writer, habits, count, countDeadLetters, clock, log } = deps
  const etl = createEtlWork({ ...deps, standsBy: false, openOnward })
  let detector = createDetector(config.read())
  /** For messages that are read again, while the other is within a message. */
  const remembering = createEtlOf({ settings, features })

  return {
    ...etl,
    limits: { maxRecords: 1_000, maxBytes: MAX_BATCH_BYTES, waitMs: 200 },
    minBatchMs: MIN_BATCH_MS,
    maxInFlight: MAX_BATCHES,
    memory: {
      records: REWIND_RECORDS,
      weigh: message => countOf(flatRowsOf(remembering, message)),
      reset() {
        detector = createDetector(config.read())
        habits?.forget()
      },
      async restore(messages) {
        detector.configure(config.read())
        await habits?.load(
          messages.map(({ partition }) => partition),
          kept => detector.restoreHabits(kept),
        )
        for (const message of messages)
          for (const row of flatRowsOf(remembering, message)) {
            row.partition = message.partition
            detector.warm(row)
          }
      },
    },
    async prepare() {
      await Promise.all([etl.prepare?.(), writer.prepare()])
    },
  }

  function openOnward(output: Output): Onward {
    const lettersOf = (stage: DeadLetterStage) =>
      collectDeadLetters({ bus: output, topic: settings.DEAD_LETTER_TOPIC, stage, clock, log, countDeadLetters })
    const unscored = lettersOf('anomaly')
    const unindexed = lettersOf('indexer')
    let byZscore = 0
    const changed: ReturnType<typeof detector.takeHabits>[] = []
    return {
      async take(part) {
        const { rows } = part
        detector.configure(config.read())
        const scored = scoreBatch(detector, rows, letterTo(unscored, part))
        byZscore += scored.byZscore
        changed.push(detector.takeHabits())
        const areFlagged = await writeDocuments(part, scored.found, unindexed)
        // An event comes behind its document. Where that was there before, it may be without the flags, and the indexer adds them.
        const events = areFlagged ? scored.found.map(flagsWritten) : scored.found
        await sendEvents(events, output, settings.ANOMALY_TOPIC, letterTo(unscored, part))
        await Promise.all([unscored.send(), unindexed.send()])
        return rows.length
      },
      afterCommit() {
        count('anomaliesDetected', byZscore)
        unscored.count()
        unindexed.count()
        for (const kept of changed) habits?.save(kept)
      },
    }
  }

  /** True when each was made as it is. */
  function writeDocuments(part: FlatPart, found: readonly Found<FlatRow>[], unindexed: DeadLetters): Promise<boolean> {
    const flagged = new Map(found.filter(({ isEarlier }) => !isEarlier).map(({ record, flags }) => [record.position, flags]))
    const { rows, isHeavy } = part
    return writer.writeRows({ rows, isHeavy, flagsOf: ({ position }) => flagged.get(position), giveUp: letterTo(unindexed, part) })
  }
}

function countOf(rows: Iterable<unknown>): number {
  let count = 0
  for (const _ of rows) count++
  return count
}

/** The log record that a record was made of goes there. Records of earlier parts never do: those that are kept are small enough for any event. */
function letterTo(dead: DeadLetters, part: FlatPart): (record: FlatRow, reason: string) => void {
  return ({ position }, reason) => dead.add(part.messageOf(position), reason, part.originalOf(position))
}

function flagsWritten(found: Found<FlatRow>): Found<FlatRow> {
  return found.isEarlier ? found : { ...found, event: withFlagsWritten(found.event) }
}
