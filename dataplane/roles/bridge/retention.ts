/** When the bridge looks for logs, anomalies, incidents and dispatches past retention, and what it says of them. */

import { ALL_LOGS } from '../../contract/indices.ts'
import { createBelievedTime, TOLERATED_MS } from '../../limits/believed-time.ts'
import { deleteExpiredAnomalies } from '../../pipeline/sinks/retention/anomaly-retention.ts'
import type { Deletions } from '../../pipeline/sinks/retention/delete-in-portions.ts'
import { deleteOldIncidents } from '../../pipeline/sinks/retention/incident-retention.ts'
import { dropExpiredLogs, dropOversizedLogs, expiredIndices, listLogDays } from '../../pipeline/sinks/retention/log-retention.ts'
import { deleteFinishedThreads } from '../../pipeline/sinks/retention/thread-retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

export interface RetentionDeps {
  readonly store: Pick<
    SearchStore,
    'listIndices' | 'indexSizes' | 'indexCreations' | 'timeMs' | 'deleteIndex' | 'search' | 'getMany' | 'deleteByQuery'
  >
  readonly retentionDays: number
  /** For resolved incidents and their audit entries. */
  readonly incidentRetentionDays: number
  /** Disk that daily indices may take, bytes. Default: any. */
  readonly retentionBytes?: number | undefined
  readonly clock: Clock
  readonly log: Log
}

const CHECK_MS = 600_000
const RETRY_MS = 60_000
/** Records come in faster than days pass. */
const CHECK_SIZES_MS = 15_000

/**
 * Deletes expired daily indices and anomalies, incidents long resolved, and what was told of such incidents, at once and every ten minutes; a minute after a
 * failure; by a time that no single clock that is ahead gives (`limits/believed-time.ts`). Looks four times a minute whether daily indices take more disk than they may (Decisions 8).
 */
export function startRetention({ store, retentionDays, incidentRetentionDays, retentionBytes, clock, log }: RetentionDeps): {
  stop(): Promise<void>
} {
  const stopping = new AbortController()
  const warnOf = (failed: readonly { readonly name: string; readonly error: unknown }[], things: string) => {
    for (const { name, error } of failed) log.warn({ index: name, error }, `${things} not deleted, tried again`)
  }
  const readTime = createBelievedTime(clock)
  let isDoubtSaid = false
  let isDifferenceSaid = false
  /** The clock of one check. */
  const trusted = async (days: ReadonlyMap<string, number>): Promise<Clock> => {
    const creations = await store.indexCreations(ALL_LOGS)
    const logDays = [...days].map(([name, startMs]) => ({ startMs, madeMs: creations.get(name) }))
    const { nowMs, heldMs, aheadOfStoreMs } = readTime({ storeMs: await store.timeMs(), days: logDays })
    const expired = expiredIndices(days, retentionDays, nowMs)
    const held = expiredIndices(days, retentionDays, nowMs + heldMs).filter(name => !expired.includes(name))
    if (held.length > 0 && !isDoubtSaid)
      log.error(
        { kept: held, clock: new Date(nowMs + heldMs).toISOString(), believed: new Date(nowMs).toISOString() },
        'the clock says that these daily indices are past retention, and nothing else does: they are deleted in a day unless it is set right',
      )
    isDoubtSaid = held.length > 0
    const isDifferent = Math.abs(aheadOfStoreMs ?? 0) > TOLERATED_MS
    if (isDifferent && !isDifferenceSaid)
      log.error(
        { aheadSeconds: Math.round(aheadOfStoreMs! / 1000) },
        "this machine's clock and the search store's differ: retention goes by the earlier one until they are set right",
      )
    isDifferenceSaid = isDifferent
    return { ...clock, nowMs: () => nowMs }
  }
  /** Says what came of it. True: nothing is left for the next turn. */
  const report = (result: Omit<Deletions, 'isUnfinished'> & Partial<Deletions>, done: string, things: string, days: object): boolean => {
    const { deleted, isUnfinished = false, failed } = result
    if (deleted > 0) log.info({ deleted, ...days }, done)
    warnOf(failed, things)
    return !isUnfinished && failed.length === 0
  }
  const check = async (): Promise<number> => {
    try {
      const days = await listLogDays(store)
      const now = await trusted(days)
      const { dropped, failed } = await dropExpiredLogs(store, days, retentionDays, now.nowMs())
      if (dropped.length > 0) log.info({ dropped, retentionDays }, 'daily indices past retention deleted')
      warnOf(failed, 'daily index past retention')
      const deps = { store, clock: now, signal: stopping.signal }
      const anomalies = await deleteExpiredAnomalies(deps, retentionDays)
      const areAnomaliesDone = report(anomalies, 'anomalies past retention deleted', 'anomalies past retention', { retentionDays })
      const incidents = await deleteOldIncidents(deps, incidentRetentionDays)
      const areIncidentsDone = report(incidents, 'incidents long resolved deleted', 'incidents past retention', { incidentRetentionDays })
      const threads = await deleteFinishedThreads(deps, retentionDays)
      const areThreadsDone = report(threads, 'dispatches of incidents long resolved deleted', 'dispatches past retention', {
        retentionDays,
      })
      return failed.length > 0 || !areAnomaliesDone || !areIncidentsDone || !areThreadsDone ? RETRY_MS : CHECK_MS
    } catch (error) {
      log.warn({ error }, 'retention check failed, tried again in a minute')
      return RETRY_MS
    }
  }
  let isTodayTooLarge = false
  const checkSizes = async (maxBytes: number): Promise<number> => {
    try {
      const { dropped, failed, keptBytes } = await dropOversizedLogs(store, maxBytes, (await store.timeMs()) ?? clock.nowMs())
      if (dropped.length > 0) log.warn({ dropped, retentionBytes }, 'daily indices beyond RETENTION_BYTES deleted')
      warnOf(failed, 'daily index beyond RETENTION_BYTES')
      if (keptBytes !== undefined && !isTodayTooLarge)
        log.error(
          { keptBytes, retentionBytes },
          'the logs of today alone take more than RETENTION_BYTES, and are kept: set more, or send less',
        )
      isTodayTooLarge = keptBytes !== undefined
    } catch (error) {
      log.warn({ error }, 'the sizes of daily indices could not be checked, tried again')
    }
    return CHECK_SIZES_MS
  }
  const repeat = async (work: () => Promise<number>) => {
    while (!stopping.signal.aborted) await clock.sleep(await work(), stopping.signal)
  }
  const done = Promise.all([repeat(check), ...(retentionBytes === undefined ? [] : [repeat(() => checkSizes(retentionBytes))])])
  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
