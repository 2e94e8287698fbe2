/** Collects the matches of a search, segment by segment, into the answer of one aggregation. */
import type { QueryMemory } from '../query/budget/query-memory.ts'
import type { RankedDocument } from '../query/run/top-documents.ts'
import type { ShownField } from './field-values.ts'
import type { MatchView } from './match-view.ts'
import type { AggregationSpec, SpecOf } from './spec.ts'

export interface Collector {
  /** `places`: the matches to take; undefined takes all. */
  collect(view: MatchView, places: Uint32Array | undefined): void
  /** The aggregation's part of the response; called once, at the end. */
  result(): Record<string, unknown>
  /** Its part of a bucket that fills a gap between others, where that is not the result of no matches. */
  gapResult?(): Record<string, unknown>
  /** The value a parent orders its buckets by. */
  orderValue?(metric: string | undefined): number
  /** The aggregations below an aggregation with a single bucket. */
  below?(): ReadonlyMap<string, Collector>
}

/** Buckets in the whole answer; shared by all aggregations of a search. */
export interface BucketBudget {
  used: number
}

/** A term that has a bucket. */
export type TermKey = string | number | bigint

/** The terms of a field in all documents, in ascending order. */
export interface Vocabulary {
  readonly keys: readonly TermKey[]
  /** Undefined: no index has it. */
  readonly field: ShownField | undefined
}

export type Vocabularies = ReadonlyMap<AggregationSpec, Vocabulary>

/** The context that all collectors of a search share. */
export interface CollectContext {
  /** The time of `now` throughout the request. */
  readonly nowMs: number
  readonly budget: BucketBudget
  readonly memory: QueryMemory
  /** The terms of each aggregation that shows terms without a match. */
  readonly vocabularies: Vocabularies
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
