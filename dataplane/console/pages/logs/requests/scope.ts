/** Common to all requests of the page: the time window around the query, and the order of records. */
import type { TimeWindow } from '../../../url-state/time-range.ts'
import type { Query } from '../search/to-query.ts'

export interface Scope {
  readonly query: Query
  readonly window: TimeWindow
}

export type SearchBody = Readonly<Record<string, unknown>>

const iso = (ms: number): string => new Date(ms).toISOString()

/** The end of the window is not within it. */
export function timeClause({ fromMs, toMs }: TimeWindow): Query {
  return { range: { timestamp: { gte: iso(fromMs), lt: iso(toMs) } } }
}

/** Clauses that must all hold; `match_all` adds nothing. */
export function allClauses(clauses: readonly Query[]): Query {
  return { bool: { filter: clauses.filter(clause => !('match_all' in clause)) } }
}

export function scopeQuery({ query, window }: Scope, ...more: readonly Query[]): Query {
  return allClauses([timeClause(window), query, ...more])
}

export type Order = 'newest' | 'oldest'

/** Values of a record in the order below, as the store gives them with each hit. */
export type SortValues = readonly (string | number | null)[]

/**
 * Exact and the same at each request (Decisions 4). Records without a trace share a `log_id` where their times are equal, and come in the order in which
 * the store took them: each page begins right behind the last record of the page before. Records of other writers may lack nanoseconds and id.
 */
export function recordOrder(order: Order): readonly object[] {
  const direction = order === 'newest' ? 'desc' : 'asc'
  return [
    { timestamp: { order: direction } },
    { nanos: { order: direction, unmapped_type: 'integer', missing: 0 } },
    { log_id: { order: direction, unmapped_type: 'keyword', missing: '_last' } },
    { _seq_no: { order: direction } },
  ]
}
