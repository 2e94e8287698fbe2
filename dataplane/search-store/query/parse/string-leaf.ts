/** The leaves that both query-string languages build: words, phrases, patterns, ranges on default or named fields. */
import { queryShardError } from '../../api-error.ts'
import type { FieldBoost, FieldQuery, Fuzziness, MinimumShouldMatch, Query, RangeBounds } from './query.ts'

export interface StringQueryOptions {
  /** Fields searched where the text names none. */
  readonly fields: readonly FieldBoost[]
  readonly operator: 'and' | 'or'
  readonly lenient: boolean
  readonly phraseSlop: number
  readonly minimumShouldMatch?: MinimumShouldMatch
  readonly timeZone?: string
  /** Patterns may not begin with a wildcard. */
  readonly refusesLeadingWildcard?: boolean
  /** The fuzziness of a word with `~`, given the number behind the `~` where there is one. */
  fuzzyWith(fuzziness: string | undefined): Fuzziness
  readonly boost: number
}

export type StringLeaf =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'phrase'; readonly text: string; readonly slop: number }
  | { readonly kind: 'pattern'; readonly text: string }
  | { readonly kind: 'regex'; readonly text: string }
  | { readonly kind: 'fuzzy'; readonly text: string; readonly fuzziness: string | undefined }
  | { readonly kind: 'range'; readonly bounds: RangeBounds }
  | { readonly kind: 'exists' }

function fieldQuery(leaf: StringLeaf, field: string, options: StringQueryOptions): FieldQuery {
  const { lenient } = options
  switch (leaf.kind) {
    case 'words':
      return { kind: 'match', field, value: leaf.text, operator: options.operator, zeroTerms: 'void', lenient, boost: 1 }
    case 'phrase':
      return { kind: 'phrase', field, value: leaf.text, slop: leaf.slop, lastIsPrefix: false, zeroTerms: 'void', lenient, boost: 1 }
    case 'pattern':
      return { kind: 'wildcard', field, value: leaf.text, caseInsensitive: false, isNormalized: true, lenient, boost: 1 }
    case 'regex':
      return { kind: 'regexp', field, value: leaf.text, caseInsensitive: false, flags: 'ALL', isNormalized: true, lenient, boost: 1 }
    case 'fuzzy':
      return { kind: 'fuzzy', field, value: leaf.text, fuzzy: options.fuzzyWith(leaf.fuzziness), isNormalized: true, lenient, boost: 1 }
    case 'range':
      return {
        kind: 'range',
        field,
        bounds: { ...leaf.bounds, ...(options.timeZone !== undefined && { timeZone: options.timeZone }) },
        lenient,
        boost: 1,
      }
    case 'exists':
      return { kind: 'exists', field, boost: 1 }
  }
}

/** Longest query text, as in OpenSearch (`search.query.max_query_string_length`). */
const MAX_QUERY_STRING_LENGTH = 32_000

export function checkLength(text: string): void {
  if (text.length <= MAX_QUERY_STRING_LENGTH) return
  throw queryShardError(
    `Query string length exceeds max allowed length ${MAX_QUERY_STRING_LENGTH} (search.query.max_query_string_length); actual length: ${text.length}`,
  )
}

/** Puts a leaf on the field the text names, or on the default fields. */
export function leafQuery(leaf: StringLeaf, field: string | undefined, options: StringQueryOptions): Query {
  if (field !== undefined && !field.includes('*')) return fieldQuery(leaf, field, options)
  const fields = field === undefined ? options.fields : [{ pattern: field, boost: 1 }]
  return { kind: 'any_field', fields, query: fieldQuery(leaf, '', options), score: 'max', boost: 1 }
}

/** As OpenSearch applies the minimum: to the optional clauses that the whole text came to, where it came to clauses. */
export function withMinimum(query: Query, minimumShouldMatch: MinimumShouldMatch | undefined): Query {
  if (minimumShouldMatch === undefined || query.boost !== 1) return query
  return query.kind === 'bool' || query.kind === 'any_field' || query.kind === 'match' ? { ...query, minimumShouldMatch } : query
}

export function boolOf(parts: Partial<Record<'must' | 'filter' | 'should' | 'mustNot', readonly Query[]>>): Query {
  return {
    kind: 'bool',
    must: parts.must ?? [],
    filter: parts.filter ?? [],
    should: parts.should ?? [],
    mustNot: parts.mustNot ?? [],
    isOfText: true,
    boost: 1,
  }
}
