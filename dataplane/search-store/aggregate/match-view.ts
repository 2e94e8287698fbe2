/** One segment's matches, as aggregations see them. */
import type { Field } from '../query/bind/field.ts'
import type { Query } from '../query/parse/query.ts'
import type { SegmentUnit } from '../query/run/segment-unit.ts'

/** Numbers of a field by place among the matches. */
export interface NumberReader {
  /** The single value, NaN for none; undefined when a match may have several. */
  readonly single: ((place: number) => number) | undefined
  each(place: number, visit: (value: number) => void): void
}

export interface KeywordReader {
  /** Codes into `dictionary`, 0 for none; undefined when a match may have several values. */
  readonly coded: { readonly dictionary: readonly string[]; code(place: number): number } | undefined
  each(place: number, visit: (value: string) => void): void
}

/** Matches are numbered 0 … size − 1. */
export interface MatchView {
  readonly size: number
  /** How many documents a match stands for; undefined: one each. */
  readonly weights: ArrayLike<number> | undefined
  /** The field in this segment's index; undefined when it has none. */
  field(path: string): Field | undefined
  numbers(field: Field): NumberReader
  keywords(field: Field): KeywordReader
  /** Which matches fulfil a query of the request. */
  filter(query: Query): (place: number) => boolean
  /** Document and segment of a match. */
  readonly documents: MatchedDocuments | undefined
}

export interface MatchedDocuments {
  readonly unit: SegmentUnit
  /** By place. A match that stands for many documents gives the first of them in the order of the hits below. */
  readonly docs: Uint32Array
  score(doc: number): number
  /** First values that hits are sorted by, by place, where they are at hand. */
  readonly firstSortValues?: Float64Array
}
