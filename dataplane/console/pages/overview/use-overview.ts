/** The readings of the overview, repeated while the page is open and looks at a time up to now. */
import { useQuery } from '@tanstack/react-query'
import { readInfrastructure } from '../../api/agent.ts'
import { readBridgeHealth } from '../../api/bridge.ts'
import { searchLogs, searchLogsEach } from '../../api/search.ts'
import { serverNow } from '../../api/server-clock.ts'
import { listIncidents } from '../../api/ticketing.ts'
import { keepUnless } from '../../components/states/keep-shown.ts'
import { type TimeRange, windowBefore, windowOf } from '../../url-state/time-range.ts'
import { readIncidentCounts } from '../incidents/data/use-incidents.ts'
import { NO_FILTERS } from '../incidents/rules/incident-filters.ts'
import { countsBeforeBody, countsBody, servicesBody } from './counts-query.ts'
import {
  findNewest,
  knownPatternsBody,
  newPatternsBody,
  patternIds,
  patternsBody,
  readCounts,
  readNewPatterns,
  uncountedServices,
  withServices,
} from './overview-data.ts'
import { type OpenStatus, readOpenIncidents } from './read-open-incidents.ts'

const REFRESH_MS = 15_000

const refreshing = (range: TimeRange) => ({
  refetchInterval: range.kind === 'relative' ? REFRESH_MS : (false as const),
})

export function useCounts(range: TimeRange) {
  return useQuery({
    queryKey: ['overview', 'counts', range],
    ...refreshing(range),
    async queryFn({ signal }) {
      const window = windowOf(range, serverNow())
      const earlier = windowBefore(window)
      const [now, before] = await searchLogsEach([countsBody(window), countsBeforeBody(earlier)], signal)
      const names = uncountedServices(now!)
      if (names.length === 0) return readCounts(now!, before!, window)
      const [more, moreBefore] = await searchLogsEach([servicesBody(window, names), servicesBody(earlier, names)], signal)
      return readCounts(withServices(now!, more!), withServices(before!, moreBefore!), window)
    },
    placeholderData: before => keepUnless(before, ({ records }) => records === 0),
  })
}

/** The time of the newest record; undefined: there is none. */
export function useNewest() {
  return useQuery({
    queryKey: ['overview', 'newest'],
    refetchInterval: REFRESH_MS,
    queryFn: async ({ signal }) => ({ timestamp: await findNewest(body => searchLogs(body, signal), serverNow()) }),
  })
}

export function useNewPatterns(range: TimeRange) {
  return useQuery({
    queryKey: ['overview', 'patterns', range],
    ...refreshing(range),
    async queryFn({ signal }) {
      const window = windowOf(range, serverNow())
      const ids = patternIds(await searchLogs(patternsBody(window), signal))
      if (ids.length === 0) return []
      const known = new Set(patternIds(await searchLogs(knownPatternsBody(ids, window), signal)))
      const unknown = ids.filter(id => !known.has(id))
      return unknown.length === 0 ? [] : readNewPatterns(await searchLogs(newPatternsBody(unknown, window), signal))
    },
    placeholderData: before => keepUnless(before, patterns => patterns.length === 0),
  })
}

export function useOpenIncidents() {
  return useQuery({
    queryKey: ['incidents', 'open'],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) => {
      const count = (status: OpenStatus) => readIncidentCounts({ ...NO_FILTERS, status }, signal)
      return readOpenIncidents(filter => listIncidents({ ...filter, recurring: false }, signal), count)
    },
  })
}

export function useInfrastructure() {
  return useQuery({
    queryKey: ['overview', 'infrastructure'],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) => readInfrastructure(signal),
  })
}

export function useBridgeHealth() {
  return useQuery({ queryKey: ['overview', 'bridge'], refetchInterval: REFRESH_MS, queryFn: ({ signal }) => readBridgeHealth(signal) })
}
