import { useCallback, useMemo } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { DEFAULT_RANGE, parseTimeRange, type TimeRange, writeTimeRange } from './time-range.ts'
import { useSearch } from './use-search.ts'

/** The range keeps its identity as long as the URL says the same. `usual`: that of the page where the URL says none. */
export function useTimeRange(usual: TimeRange = DEFAULT_RANGE): readonly [TimeRange, (range: TimeRange) => void] {
  const search = useSearch()
  const range = useMemo(() => parseTimeRange(search, usual), [search, usual])
  const set = useCallback(
    (next: TimeRange) => {
      const { pathname, search: current, hash } = window.location
      const written = writeTimeRange(current, next, usual)
      // The same range again is no step of its own.
      if (written !== current) navigate(`${pathname}${written}${hash}`)
    },
    [usual],
  )
  return [range, set]
}
