/** The overview's question for amounts: records by level, by service, and over time. */
import { bucketMsFor, type TimeWindow } from '../../url-state/time-range.ts'
import { allClauses, type SearchBody, timeClause } from '../logs/requests/scope.ts'

/** Services that are counted, far more than a page shows: those of the most records. */
const SERVICES_COUNTED = 1_000
/** Services of the most errors, also where they have few records. */
const FAILING_COUNTED = 100
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
      failing: {
        filter: { terms: { level: ['ERROR', 'FATAL'] } },
        aggs: { services: { terms: { field: 'service', size: FAILING_COUNTED } } },
      },
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

/** Counts of services by name. */
export function servicesBody(window: TimeWindow, names: readonly string[]): SearchBody {
  return {
    size: 0,
    track_total_hits: false,
    query: allClauses([timeClause(window), { terms: { service: names } }]),
    aggs: { services: { terms: { field: 'service', size: Math.max(1, names.length) }, aggs: { levels: BY_LEVEL } } },
  }
}
