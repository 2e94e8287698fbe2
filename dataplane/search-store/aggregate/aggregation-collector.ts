/** Collects the matches of a search, segment by segment, into the answer of one aggregation. */
import type { QueryMemory } from '../query/budget/query-memory.ts'
import type { RankedDocument } from '../query/run/top-documents.ts'
import type { MatchView } from './match-view.ts'
import type { SpecOf } from './spec.ts'

export interface Collector {
  /** `places`: the matches to take; undefined takes all. */
  collect(view: MatchView, places: Uint32Array | undefined): void
  /** The aggregation's part of the response; called once, at the end. */
  result(): Record<string, unknown>
  /** The value a parent orders its buckets by. */
  orderValue?(metric: string | undefined): number
}

/** Buckets in the whole answer; shared by all aggregations of a search. */
export interface BucketBudget {
  used: number
}

/** The context that all collectors of a search share. */
export interface CollectContext {
  /** The time of `now` throughout the request. */
  readonly nowMs: number
  readonly budget: BucketBudget
  readonly memory: QueryMemory
  /** A document as a hit. */
  showHit(document: RankedDocument, spec: SpecOf<'top_hits'>): Record<string, unknown>
}

/** Calls `visit` for each place. */
export function eachPlace(view: MatchView, places: Uint32Array | undefined, visit: (place: number) => void): void {
  if (places === undefined) for (let place = 0; place < view.size; place++) visit(place)
  else for (let at = 0; at < places.length; at++) visit(places[at]!)
}

/** Calls `visit` for each value of a match, or for `missing` where the match has none. */
export function eachOr<T>(
  reader: { each(place: number, visit: (value: T) => void): void },
  place: number,
  missing: T | undefined,
  visit: (value: T) => void,
): void {
  let hasValue = false
  reader.each(place, value => {
    hasValue = true
    visit(value)
  })
  if (!hasValue && missing !== undefined) visit(missing)
}
