/** Searches the logs of a time: whole, or not at all. An index of another day that is away keeps nobody from its answer. */
import { ALL_LOGS, LOGS_PREFIX } from '../contract/indices.ts'
import { formatDay } from '../domain/records/timestamp.ts'
import { type SearchRequest, type SearchResult, type SearchStore, SearchStoreUnavailable } from '../ports/search-store.ts'

const DAY = /^\d{4}\.\d{2}\.\d{2}$/

export interface LogsOfTime extends Pick<SearchRequest, 'body' | 'isBackground'> {
  /** The first and the last time of a record that the query may match, ms since the epoch. */
  readonly fromMs: number
  readonly toMs: number
}

/** Rejects with `SearchStoreUnavailable` when logs of that time may be missing. */
export async function searchLogs<T>(
  store: Pick<SearchStore, 'search' | 'indexHealth'>,
  { fromMs, toMs, ...request }: LogsOfTime,
): Promise<SearchResult<T>> {
  const result = await store.search<T>({ ...request, index: ALL_LOGS, takesPart: true })
  if (result.missing === undefined) return result
  const away = [...(await store.indexHealth())].filter(([name, { isRed }]) => isRed && name.startsWith(LOGS_PREFIX)).map(([name]) => name)
  // Nothing that is away now explains the part that was missing then.
  if (away.length === 0) throw new SearchStoreUnavailable('search store answered a search of logs in part')
  const needed = away.filter(name => mayHold(name, fromMs, toMs))
  if (needed.length > 0) throw new SearchStoreUnavailable(`search store cannot read ${needed.join(', ')}`)
  return result
}

/** A record whose own time is past retention, or far ahead, lies in another day's index: no search is of such a time. */
function mayHold(index: string, fromMs: number, toMs: number): boolean {
  const day = index.slice(LOGS_PREFIX.length)
  return !DAY.test(day) || (day >= formatDay(fromMs) && day <= formatDay(toMs))
}
