import { deleteExpiredAnomalies } from '../../pipeline/sinks/anomaly-retention.ts'
import { dropExpiredLogs } from '../../pipeline/sinks/log-retention.ts'
import { deleteFinishedThreads } from '../../pipeline/sinks/thread-retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

export interface RetentionDeps {
  readonly store: Pick<SearchStore, 'listIndices' | 'deleteIndex' | 'search' | 'getMany' | 'deleteByQuery'>
  readonly retentionDays: number
  readonly clock: Clock
  readonly log: Log
}

const CHECK_MS = 600_000
const RETRY_MS = 60_000

/** Deletes expired daily indices and anomalies, and what was told of incidents long resolved, at once and every ten minutes; a minute after a failure (Decisions 8). */
export function startRetention({ store, retentionDays, clock, log }: RetentionDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const checkAnomalies = async (): Promise<boolean> => {
    const { deleted, isUnfinished, failed } = await deleteExpiredAnomalies({ store, clock, signal: stopping.signal }, retentionDays)
    if (deleted > 0) log.info({ deleted, retentionDays }, 'anomalies past retention deleted')
    for (const { name, error } of failed) log.warn({ index: name, error }, 'anomalies past retention not deleted, tried again in a minute')
    return !isUnfinished && failed.length === 0
  }
  const checkThreads = async (): Promise<boolean> => {
    const { deleted, failed } = await deleteFinishedThreads({ store, clock, signal: stopping.signal }, retentionDays)
    if (deleted > 0) log.info({ deleted, retentionDays }, 'dispatches of incidents long resolved deleted')
    for (const { name, error } of failed) log.warn({ index: name, error }, 'dispatches past retention not deleted, tried again in a minute')
    return failed.length === 0
  }
  const check = async (): Promise<number> => {
    try {
      const { dropped, failed } = await dropExpiredLogs(store, retentionDays, clock.nowMs())
      if (dropped.length > 0) log.info({ dropped, retentionDays }, 'daily indices past retention deleted')
      for (const { name, error } of failed)
        log.warn({ index: name, error }, 'daily index past retention not deleted, tried again in a minute')
      const areAnomaliesDone = await checkAnomalies()
      const areThreadsDone = await checkThreads()
      return failed.length > 0 || !areAnomaliesDone || !areThreadsDone ? RETRY_MS : CHECK_MS
    } catch (error) {
      log.warn({ error }, 'retention check failed, tried again in a minute')
      return RETRY_MS
    }
  }
  const loop = async () => {
    while (!stopping.signal.aborted) await clock.sleep(await check(), stopping.signal)
  }
  const done = loop()
  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
