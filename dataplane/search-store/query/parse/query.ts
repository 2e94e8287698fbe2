/** A query as the client wrote it, checked for form, not yet bound to the fields of an index. */

export type Scalar = string | number | boolean

/** As written: `2`, `-1`, `"75%"`, `"2<75%"`. */
export type MinimumShouldMatch = string | number

export interface FieldBoost {
  /** A field name, or a pattern with `*`. */
  readonly pattern: string
  readonly boost: number
}

/** The matches of a text without words; `void`: the text drops out of its clauses. */
export type ZeroTerms = 'none' | 'all' | 'void'

export interface RangeBounds {
  readonly gt?: Scalar
  readonly gte?: Scalar
  readonly lt?: Scalar
  readonly lte?: Scalar
  /** Date formats, joined by `||`. */
  readonly format?: string
  readonly timeZone?: string
}

/** How far a term may be from a word. */
export interface Fuzziness {
  /** Or by the length of the word, in characters: one from `low` on, two from `high` on. */
  readonly edits: number | { readonly low: number; readonly high: number }
  readonly prefixLength: number
  readonly transpositions: boolean
}

interface Boosted {
  readonly boost: number
  /** Hits say whether they match it. */
  readonly name?: string
}

/** Queries on one field. */
export type FieldQuery = Boosted & { readonly field: string } & (
    | {
        readonly kind: 'match'
        readonly value: Scalar
        readonly operator: 'and' | 'or'
        readonly minimumShouldMatch?: MinimumShouldMatch
        readonly zeroTerms: ZeroTerms
        readonly lenient: boolean
        /** Words that are near count too. */
        readonly fuzzy?: Fuzziness
        /** The last word stands for all that begin so. */
        readonly lastIsPrefix?: boolean
      }
    | {
        readonly kind: 'phrase'
        readonly value: Scalar
        readonly slop: number
        readonly lastIsPrefix: boolean
        readonly zeroTerms: ZeroTerms
        readonly lenient: boolean
      }
    | { readonly kind: 'terms'; readonly values: readonly Scalar[]; readonly caseInsensitive: boolean; readonly lenient: boolean }
    | { readonly kind: 'range'; readonly bounds: RangeBounds; readonly lenient: boolean }
    | { readonly kind: 'exists' }
    | { readonly kind: 'prefix'; readonly value: string; readonly caseInsensitive: boolean; readonly lenient: boolean }
    | {
        readonly kind: 'wildcard'
        readonly value: string
        readonly caseInsensitive: boolean
        /** On text the pattern is taken in lower case, as tokens are. */
        readonly isNormalized: boolean
        readonly lenient: boolean
      }
    | {
        readonly kind: 'regexp'
        readonly value: string
        readonly caseInsensitive: boolean
        /** `ALL`, `NONE`, or names of operators. */
        readonly flags: string
        readonly isNormalized: boolean
        readonly lenient: boolean
      }
    | {
        readonly kind: 'fuzzy'
        readonly value: string
        readonly fuzzy: Fuzziness
        readonly isNormalized: boolean
        readonly lenient: boolean
      }
  )

export type Query =
  | FieldQuery
  | (Boosted & { readonly kind: 'match_all' })
  | (Boosted & { readonly kind: 'match_none' })
  | (Boosted & { readonly kind: 'ids'; readonly values: readonly string[] })
  | (Boosted & {
      readonly kind: 'bool'
      readonly must: readonly Query[]
      readonly filter: readonly Query[]
      readonly should: readonly Query[]
      readonly mustNot: readonly Query[]
      readonly minimumShouldMatch?: MinimumShouldMatch
      /** Made of a query text: clauses without words fall out. */
      readonly isOfText?: boolean
    })
  | (Boosted & { readonly kind: 'constant_score'; readonly query: Query })
  /** One of them holds; the best of their scores counts. */
  | (Boosted & { readonly kind: 'dis_max'; readonly queries: readonly Query[] })
  /** `query` on each of the fields; a document matches when one of them does. */
  | (Boosted & {
      readonly kind: 'any_field'
      readonly fields: readonly FieldBoost[]
      readonly query: FieldQuery
      readonly score: 'max' | 'sum'
      /** How many words of the text have to match; counts only where the index has a single one of the fields. */
      readonly minimumShouldMatch?: MinimumShouldMatch
    })

/** Queries nested deeper, and bodies with more clauses, are refused (Decisions 7). */
export const MAX_QUERY_DEPTH = 100
export const MAX_CLAUSES = 1024
export const MAX_TERMS = 65_536

/** Counts what a body holds while it is parsed. */
export interface ParseState {
  readonly depth: number
  readonly clauses: { count: number }
}

export type ClauseParser = (body: unknown, name: string, state: ParseState) => Query

export const MATCH_ALL: Query = { kind: 'match_all', boost: 1 }

/** The named clauses of a query, itself included. */
export function* namedQueries(query: Query): Generator<readonly [name: string, query: Query]> {
  if (query.name !== undefined) yield [query.name, query]
  for (const inner of innerQueries(query)) yield* namedQueries(inner)
}

function innerQueries(query: Query): readonly Query[] {
  if (query.kind === 'bool') return [...query.must, ...query.filter, ...query.should, ...query.mustNot]
  if (query.kind === 'dis_max') return query.queries
  return query.kind === 'constant_score' ? [query.query] : []
}
