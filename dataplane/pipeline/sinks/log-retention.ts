import { ALL_LOGS, LOGS_PREFIX } from '../../contract/indices.ts'
import type { SearchStore } from '../../ports/search-store.ts'

const DAY_MS = 86_400_000

/** The daily indices among `names` whose whole day is older than `retentionDays` at `nowMs`. */
export function expiredIndices(names: readonly string[], retentionDays: number, nowMs: number): readonly string[] {
  return names.filter(name => {
    const day = /^(\d{4})\.(\d{2})\.(\d{2})$/.exec(name.slice(LOGS_PREFIX.length))
    if (!name.startsWith(LOGS_PREFIX) || day === null) return false
    const endOfDayMs = Date.UTC(Number(day[1]), Number(day[2]) - 1, Number(day[3])) + DAY_MS
    return endOfDayMs + retentionDays * DAY_MS <= nowMs
  })
}

/** Deletes daily indices past retention; resolves to their names. */
export async function dropExpiredLogs(
  store: Pick<SearchStore, 'listIndices' | 'deleteIndex'>,
  retentionDays: number,
  nowMs: number,
): Promise<readonly string[]> {
  const expired = expiredIndices(await store.listIndices(ALL_LOGS), retentionDays, nowMs)
  for (const name of expired) await store.deleteIndex(name)
  return expired
}
