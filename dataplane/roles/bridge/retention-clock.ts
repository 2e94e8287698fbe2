/** The time by which retention deletes (`limits/believed-time.ts`), and what is said of clocks that are not believed. */
import { ALL_LOGS } from '../../contract/indices.ts'
import { isoTime } from '../../domain/time/iso-time.ts'
import { createBelievedTime, TOLERATED_MS } from '../../limits/believed-time.ts'
import { expiredIndices } from '../../pipeline/sinks/retention/log-retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

export interface RetentionClockDeps {
  readonly store: Pick<SearchStore, 'indexCreations' | 'timeMs'>
  readonly retentionDays: number
  readonly clock: Clock
  readonly log: Log
}

/** Resolves to the clock of one check; `days`: the daily indices of logs, and when their days begin. */
export type RetentionClock = (days: ReadonlyMap<string, number>) => Promise<Clock>

export function createRetentionClock({ store, retentionDays, clock, log }: RetentionClockDeps): RetentionClock {
  const readTime = createBelievedTime(clock)
  let isDoubtSaid = false
  let isDifferenceSaid = false

  const sayDoubt = (kept: readonly string[], nowMs: number, heldMs: number) => {
    if (kept.length > 0 && !isDoubtSaid)
      log.error(
        { kept, clock: isoTime(nowMs + heldMs), believed: isoTime(nowMs) },
        'the clock says that these daily indices are past retention, and nothing else does: they are deleted in a day unless it is set right',
      )
    isDoubtSaid = kept.length > 0
  }

  const sayDifference = (aheadOfStoreMs = 0) => {
    const isDifferent = Math.abs(aheadOfStoreMs) > TOLERATED_MS
    if (isDifferent && !isDifferenceSaid)
      log.error(
        { aheadSeconds: Math.round(aheadOfStoreMs / 1000) },
        "this machine's clock and the search store's differ: retention goes by the earlier one until they are set right",
      )
    isDifferenceSaid = isDifferent
  }

  return async days => {
    const creations = await store.indexCreations(ALL_LOGS)
    const logDays = [...days].map(([name, startMs]) => ({ startMs, madeMs: creations.get(name) }))
    const { nowMs, heldMs, aheadOfStoreMs } = readTime({ storeMs: await store.timeMs(), days: logDays })
    const expired = expiredIndices(days, retentionDays, nowMs)
    const kept = expiredIndices(days, retentionDays, nowMs + heldMs).filter(name => !expired.includes(name))
    sayDoubt(kept, nowMs, heldMs)
    sayDifference(aheadOfStoreMs)
    return { ...clock, nowMs: () => nowMs }
  }
}
