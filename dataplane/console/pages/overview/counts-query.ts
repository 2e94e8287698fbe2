/** The overview's question for amounts: records by level, by service, and over time. */
import { bucketMsFor, type TimeWindow } from '../../url-state/time-range.ts'
import { allClauses, type SearchBody, timeClause } from '../logs/requests/scope.ts'

/** Services that are counted, far more than a page shows. */
const SERVICES_COUNTED = 1_000
const LEVELS = 6
const BY_LEVEL = { terms: { field: 'level', size: LEVELS } } as const
/** The levels of all records stand beside those of each service: there may be more services than are counted. */
const BY_SERVICE = {
  levels: BY_LEVEL,
  services: { terms: { field: 'service', size: SERVICES_COUNTED }, aggs: { levels: BY_LEVEL } },
} as const

export function countsBody(window: TimeWindow): SearchBody {
  const interval = `${bucketMsFor(window)}ms`
  return {
    size: 0,
    track_total_hits: true,
    query: allClauses([timeClause(window)]),
    aggs: {
      ...BY_SERVICE,
      time: {
        date_histogram: { field: 'timestamp', fixed_interval: interval },
        aggs: { levels: BY_LEVEL },
      },
    },
  }
}

export function countsBeforeBody(window: TimeWindow): SearchBody {
  return { size: 0, track_total_hits: true, query: allClauses([timeClause(window)]), aggs: BY_SERVICE }
}
