/** When the bridge looks for logs, anomalies, incidents and dispatches past retention, and what it says of them. */

import { deleteExpiredAnomalies } from '../../pipeline/sinks/retention/anomaly-retention.ts'
import type { Deletions, PortionDeps } from '../../pipeline/sinks/retention/delete-in-portions.ts'
import { deleteOldIncidents } from '../../pipeline/sinks/retention/incident-retention.ts'
import { dropExpiredLogs, dropOversizedLogs, listLogDays } from '../../pipeline/sinks/retention/log-retention.ts'
import { deleteFinishedThreads } from '../../pipeline/sinks/retention/thread-retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { createRetentionClock } from './retention-clock.ts'

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
 * failure; by a time that no single clock that is ahead gives (`retention-clock.ts`). Looks four times a minute whether daily indices take more disk than they may (Decisions 8).
 */
export function startRetention({ store, retentionDays, incidentRetentionDays, retentionBytes, clock, log }: RetentionDeps): {
  stop(): Promise<void>
} {
  const stopping = new AbortController()
  const clockOf = createRetentionClock({ store, retentionDays, clock, log })
  const warnOf = (failed: Deletions['failed'], things: string) => {
    for (const { name, error } of failed) log.warn({ index: name, error }, `${things} not deleted, tried again`)
  }

  /** Daily indices past retention. True: nothing is left for the next turn. */
  const dropDays = async (days: ReadonlyMap<string, number>, nowMs: number): Promise<boolean> => {
    const { dropped, failed } = await dropExpiredLogs(store, days, retentionDays, nowMs)
    if (dropped.length > 0) log.info({ dropped, retentionDays }, 'daily indices past retention deleted')
    warnOf(failed, 'daily index past retention')
    return failed.length === 0
  }

  /** Documents of one kind past retention. True: nothing is left for the next turn. */
  const deleteOf = async ({ run, done, things, days }: DocumentRetention, deps: DeletionDeps): Promise<boolean> => {
    const { deleted, isUnfinished = false, failed } = await run(deps)
    if (deleted > 0) log.info({ deleted, ...days }, done)
    warnOf(failed, things)
    return !isUnfinished && failed.length === 0
  }

  const kinds = documentRetentions(retentionDays, incidentRetentionDays)

  const check = async (): Promise<number> => {
    try {
      const days = await listLogDays(store)
      const now = await clockOf(days)
      let isDone = await dropDays(days, now.nowMs())
      for (const kind of kinds) isDone = (await deleteOf(kind, { store, clock: now, signal: stopping.signal })) && isDone
      return isDone ? CHECK_MS : RETRY_MS
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

type DeletionDeps = PortionDeps & Pick<RetentionDeps, 'store'>

/** How documents of one kind are deleted, and what the log says of it. */
interface DocumentRetention {
  readonly run: (deps: DeletionDeps) => Promise<Omit<Deletions, 'isUnfinished'> & Partial<Deletions>>
  readonly done: string
  readonly things: string
  readonly days: object
}

function documentRetentions(retentionDays: number, incidentRetentionDays: number): readonly DocumentRetention[] {
  return [
    {
      run: deps => deleteExpiredAnomalies(deps, retentionDays),
      ...{ done: 'anomalies past retention deleted', things: 'anomalies past retention', days: { retentionDays } },
    },
    {
      run: deps => deleteOldIncidents(deps, incidentRetentionDays),
      ...{ done: 'incidents long resolved deleted', things: 'incidents past retention', days: { incidentRetentionDays } },
    },
    {
      run: deps => deleteFinishedThreads(deps, retentionDays),
      ...{ done: 'dispatches of incidents long resolved deleted', things: 'dispatches past retention', days: { retentionDays } },
    },
  ]
}
