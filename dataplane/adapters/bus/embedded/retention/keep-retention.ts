/** Deletes segments whose records are too old, once a minute, by a clock that is not believed when it jumps. */
import { createBelievedTime } from '../../../../limits/believed-time.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { BusLog } from '../../bus-log.ts'
import type { GroupCoordinator } from '../groups/group-coordinator.ts'
import type { TopicLog } from '../log/topic-log.ts'

export interface RetentionDeps {
  readonly logs: readonly TopicLog[]
  /** When the newest segment was begun, before the start; 0: there was none. */
  readonly newestMs: number
  readonly coordinator: Pick<GroupCoordinator, 'noteSeen'>
  readonly noteEnds: () => Promise<void>
  readonly clock: Clock
  readonly log: BusLog
  readonly signal: AbortSignal
}

const CHECK_MS = 60_000
const DAY_MS = 86_400_000

/** Ends when the signal aborts. Whatever fails is tried again a minute later. */
export async function keepRetention({ logs, newestMs, coordinator, noteEnds, clock, log, signal }: RetentionDeps): Promise<void> {
  const believed = createBelievedTime(clock)
  const told = { storeMs: undefined, days: newestMs === 0 ? [] : [{ startMs: newestMs - DAY_MS }] }
  // The first look is that of the start: a clock may be set before the first check.
  believed(told)
  let isDoubtSaid = false
  for (;;) {
    await clock.sleep(CHECK_MS, signal)
    if (signal.aborted) return
    const { nowMs, heldMs } = believed(told)
    if (heldMs > 0 && !isDoubtSaid)
      log.warn(
        { clock: new Date(nowMs + heldMs).toISOString(), believed: new Date(nowMs).toISOString() },
        'the clock is ahead of what the bus holds, or has jumped: records that are old by it alone stay for a day',
      )
    isDoubtSaid = heldMs > 0
    await coordinator.noteSeen().catch((error: unknown) => log.warn({ error }, 'bus groups could not be noted as seen'))
    for (const topicLog of logs)
      await topicLog.enforceRetention(nowMs).catch((error: unknown) => log.warn({ error }, 'old bus segments could not be deleted'))
    await noteEnds()
  }
}
