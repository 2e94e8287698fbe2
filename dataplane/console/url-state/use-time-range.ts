import { useCallback, useMemo } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { parseTimeRange, type TimeRange, writeTimeRange } from './time-range.ts'
import { useSearch } from './use-search.ts'

/** The range keeps its identity as long as the URL says the same. */
export function useTimeRange(): readonly [TimeRange, (range: TimeRange) => void] {
  const search = useSearch()
  const range = useMemo(() => parseTimeRange(search), [search])
  const set = useCallback((next: TimeRange) => {
    const { pathname, search: current, hash } = window.location
    navigate(`${pathname}${writeTimeRange(current, next)}${hash}`)
  }, [])
  return [range, set]
}
