/** Pages of records, one record, and those around it. */
import { MATCH_ALL, type Query } from '../search/to-query.ts'
import { allClauses, type Order, recordOrder, type Scope, type SearchBody, type SortValues, scopeQuery } from './scope.ts'

/** Records of a page. */
export const PAGE_SIZE = 200
/** Records that a request of an export brings. */
export const EXPORT_PAGE_SIZE = 1_000
/** Records before and after one that are shown at first, and added by each press. */
export const SURROUNDING_SIZE = 20

export interface PageOptions {
  readonly order: Order
  readonly after?: SortValues | undefined
  readonly size?: number
}

/** The count of all comes from the histogram, so that the page itself reads no further than it must. */
export function recordsBody(scope: Scope, { order, after, size = PAGE_SIZE }: PageOptions): SearchBody {
  return {
    size,
    query: scopeQuery(scope),
    sort: recordOrder(order),
    track_total_hits: false,
    ...(after !== undefined && { search_after: after }),
  }
}

/** One record by the id of its document, as a link names it. */
export function recordBody(id: string): SearchBody {
  return { size: 1, query: { ids: { values: [id] } }, sort: recordOrder('newest'), track_total_hits: false }
}

export interface SurroundingOptions {
  /** The sort values of the record in the middle. */
  readonly sort: SortValues
  readonly side: 'before' | 'after'
  /** Undefined: of all services. */
  readonly service: string | undefined
  /** The instance of the service, where records name one; undefined: of all. */
  readonly host?: string | undefined
  /** The tenant of the record in the middle; undefined: not known. */
  readonly tenant?: string | undefined
  readonly size?: number
}

/** Nearest first, earlier or later. Days that cannot hold one are left out by the range. */
export function surroundingBody({ sort, side, service, host, tenant, size = SURROUNDING_SIZE }: SurroundingOptions): SearchBody {
  const time = new Date(Number(sort[0])).toISOString()
  const range: Query = { range: { timestamp: side === 'before' ? { lte: time } : { gte: time } } }
  return {
    size,
    query: allClauses([
      range,
      service === undefined ? MATCH_ALL : { term: { service } },
      host === undefined ? MATCH_ALL : { term: { host } },
      tenant === undefined ? MATCH_ALL : { term: { tenant_id: tenant } },
    ]),
    sort: recordOrder(side === 'before' ? 'newest' : 'oldest'),
    search_after: sort,
    track_total_hits: false,
  }
}
