/** The readings of the trends, repeated while the page looks at a time up to now. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { searchIncidents } from '../../api/search.ts'
import { serverNow } from '../../api/server-clock.ts'
import { readStatistics } from '../../api/ticketing.ts'
import { keepUnless } from '../../components/states/keep-shown.ts'
import { type TimeRange, type TimeWindow, windowBefore, windowOf } from '../../url-state/time-range.ts'
import { readTrends, trendsBeforeBody, trendsBody } from './trends-data.ts'

const REFRESH_MS = 60_000

const refreshing = (range: TimeRange) => ({
  refetchInterval: range.kind === 'relative' ? REFRESH_MS : (false as const),
})

export function useTrends(range: TimeRange) {
  return useQuery({
    queryKey: ['trends', range],
    ...refreshing(range),
    async queryFn({ signal }) {
      const window = windowOf(range, serverNow())
      const [now, before] = await Promise.all([
        searchIncidents(trendsBody(window), signal),
        searchIncidents(trendsBeforeBody(windowBefore(window)), signal),
      ])
      return readTrends(now, before, window)
    },
    placeholderData: before => keepUnless(before, ({ series }) => series.length === 0),
  })
}

/** Both times are included by the API. */
const periodOf = ({ fromMs, toMs }: TimeWindow) => ({ from: new Date(fromMs).toISOString(), to: new Date(toMs - 1).toISOString() })

export function useStatistics(range: TimeRange) {
  return useQuery({
    queryKey: ['trends', 'statistics', range],
    placeholderData: keepPreviousData,
    ...refreshing(range),
    async queryFn({ signal }) {
      const window = windowOf(range, serverNow())
      const [now, before] = await Promise.all([
        readStatistics(periodOf(window), signal),
        readStatistics(periodOf(windowBefore(window)), signal),
      ])
      return { now, before }
    },
  })
}
