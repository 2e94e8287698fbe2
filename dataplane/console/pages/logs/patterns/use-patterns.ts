/** Patterns with their counts first; what they say and how they changed follows. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { searchLogs, searchLogsEach } from '../../../api/search.ts'
import { keepUnless } from '../../../components/states/keep-shown.ts'
import { windowBefore } from '../../../url-state/time-range.ts'
import {
  PATTERN_COUNT,
  type PatternTrend,
  patternCountsBody,
  patternCountsOfBody,
  patternDetailsBody,
  patternsBeforeBody,
  readPatternCounts,
  readPatternDetails,
} from '../requests/patterns.ts'
import type { Scope } from '../requests/scope.ts'
import { logsKey } from '../use-logs.ts'

export interface Pattern {
  readonly id: string
  readonly count: number
  /** Undefined while it is being read. */
  readonly countBefore: number | undefined
  readonly details: PatternTrend | undefined
}

export interface Patterns {
  readonly patterns: readonly Pattern[]
  /** Records of the window. */
  readonly total: number
  /** Records of the time before were seen at all. */
  readonly hasBefore: boolean
}

export function usePatterns(scope: Scope | undefined) {
  const counts = useQuery({
    queryKey: logsKey('patterns', scope),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: scope !== undefined,
    queryFn: async ({ signal }) => {
      const [now, before] = await searchLogsEach([patternCountsBody(scope!), patternsBeforeBody(scope!)], signal)
      return {
        scope: scope!,
        counts: readPatternCounts(now),
        countsBefore: readPatternCounts(before),
        total: now!.hits.total.value,
        totalBefore: before!.hits.total.value,
      }
    },
    placeholderData: before => keepUnless(before, ({ counts, countsBefore }) => counts.size + countsBefore.size === 0),
  })
  const found = counts.data
  const ids = useMemo(() => (found === undefined ? [] : [...found.counts.keys()]), [found])
  // Whether a pattern has gone can be told only where all patterns of now are known.
  const gone = useMemo(
    () =>
      found === undefined || found.counts.size >= PATTERN_COUNT ? [] : [...found.countsBefore.keys()].filter(id => !found.counts.has(id)),
    [found],
  )
  const rest = useQuery({
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    queryKey: logsKey('pattern-details', found?.scope, ids, gone),
    enabled: found !== undefined && ids.length + gone.length > 0,
    queryFn: async ({ signal }) => {
      const here = found!.scope
      const before = { ...here, window: windowBefore(here.window) }
      const [details, counted, detailsOfGone] = await Promise.all([
        searchLogs(patternDetailsBody(here, ids), signal),
        searchLogs(patternCountsOfBody(here, ids), signal),
        gone.length === 0 ? undefined : searchLogs(patternDetailsBody(before, gone), signal),
      ])
      // A pattern that has gone has no trend in this window.
      const goneDetails = [...readPatternDetails(detailsOfGone, before)].map(
        ([id, one]) => [id, { ...one, trend: one.trend.map(() => 0) }] as const,
      )
      return { details: new Map([...readPatternDetails(details, here), ...goneDetails]), countsBefore: readPatternCounts(counted) }
    },
  })
  const data = useMemo((): Patterns | undefined => {
    if (found === undefined) return undefined
    // Texts stay from search to search, counts do not.
    const counted = rest.isPlaceholderData ? undefined : rest.data?.countsBefore
    const countBefore = (id: string) => (counted === undefined ? found.countsBefore.get(id) : (counted.get(id) ?? 0))
    return {
      total: found.total,
      hasBefore: found.totalBefore > 0,
      patterns: [
        ...[...found.counts].map(([id, count]) => ({ id, count, countBefore: countBefore(id), details: rest.data?.details.get(id) })),
        ...gone.map(id => ({ id, count: 0, countBefore: found.countsBefore.get(id) ?? 0, details: rest.data?.details.get(id) })),
      ],
    }
  }, [found, gone, rest.data, rest.isPlaceholderData])
  return { data, error: counts.error ?? rest.error, refetch: () => Promise.all([counts.refetch(), rest.refetch()]) }
}
