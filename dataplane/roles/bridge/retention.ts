/** When the bridge looks for logs, anomalies and dispatches past retention, and what it says of them. */
import { deleteExpiredAnomalies } from '../../pipeline/sinks/anomaly-retention.ts'
import { dropExpiredLogs, dropOversizedLogs } from '../../pipeline/sinks/log-retention.ts'
import { deleteFinishedThreads } from '../../pipeline/sinks/thread-retention.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'

export interface RetentionDeps {
  readonly store: Pick<SearchStore, 'listIndices' | 'indexSizes' | 'deleteIndex' | 'search' | 'getMany' | 'deleteByQuery'>
  readonly retentionDays: number
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
 * Deletes expired daily indices and anomalies, and what was told of incidents long resolved, at once and every ten minutes; a minute after a
 * failure. Looks four times a minute whether daily indices take more disk than they may (Decisions 8).
 */
export function startRetention({ store, retentionDays, retentionBytes, clock, log }: RetentionDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const warnOf = (failed: readonly { readonly name: string; readonly error: unknown }[], things: string) => {
    for (const { name, error } of failed) log.warn({ index: name, error }, `${things} not deleted, tried again`)
  }
  const checkAnomalies = async (): Promise<boolean> => {
    const { deleted, isUnfinished, failed } = await deleteExpiredAnomalies({ store, clock, signal: stopping.signal }, retentionDays)
    if (deleted > 0) log.info({ deleted, retentionDays }, 'anomalies past retention deleted')
    warnOf(failed, 'anomalies past retention')
    return !isUnfinished && failed.length === 0
  }
  const checkThreads = async (): Promise<boolean> => {
    const { deleted, failed } = await deleteFinishedThreads({ store, clock, signal: stopping.signal }, retentionDays)
    if (deleted > 0) log.info({ deleted, retentionDays }, 'dispatches of incidents long resolved deleted')
    warnOf(failed, 'dispatches past retention')
    return failed.length === 0
  }
  const check = async (): Promise<number> => {
    try {
      const { dropped, failed } = await dropExpiredLogs(store, retentionDays, clock.nowMs())
      if (dropped.length > 0) log.info({ dropped, retentionDays }, 'daily indices past retention deleted')
      warnOf(failed, 'daily index past retention')
      const areAnomaliesDone = await checkAnomalies()
      const areThreadsDone = await checkThreads()
      return failed.length > 0 || !areAnomaliesDone || !areThreadsDone ? RETRY_MS : CHECK_MS
    } catch (error) {
      log.warn({ error }, 'retention check failed, tried again in a minute')
      return RETRY_MS
    }
  }
  let isTodayTooLarge = false
  const checkSizes = async (maxBytes: number): Promise<number> => {
    try {
      const { dropped, failed, keptBytes } = await dropOversizedLogs(store, maxBytes, clock.nowMs())
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
