/** The most frequent values of fields, with counts. */
import type { TimeWindow } from '../../../url-state/time-range.ts'
import { withoutField } from '../search/edit-search.ts'
import { type FieldCatalog, kindOfField } from '../search/field-catalog.ts'
import { type Query, translateSearch } from '../search/to-query.ts'
import { type SearchBody, scopeQuery } from './scope.ts'

/** Fields beside the table as long as the user has not chosen others. */
export const USUAL_FACETS = ['level', 'service', 'host', 'environment'] as const
/** Facets of a page. */
export const MAX_FACETS = 12
/** Values of a facet. */
const FACET_SIZE = 10
/** Values that the search box offers. */
const OFFERED_VALUES = 12

export interface FacetValue {
  readonly value: string
  readonly count: number
}

export interface Facet {
  readonly field: string
  readonly values: readonly FacetValue[]
  /** Records with none of these values. */
  readonly otherCount: number
}

export interface FacetRequest {
  readonly fields: readonly string[]
  readonly body: SearchBody
}

/**
 * One request for all fields without a filter of their own; one more for each field that has one, without that filter: so
 * its other values keep their counts, and can be chosen beside.
 */
export function facetRequests(
  search: string,
  window: TimeWindow,
  fields: readonly string[],
  catalog: FieldCatalog,
): readonly FacetRequest[] {
  const bySearch = new Map<string, string[]>()
  for (const field of fields) {
    const own = withoutField(search, field)
    const key = own.trim() === search.trim() ? search : own
    bySearch.set(key, [...(bySearch.get(key) ?? []), field])
  }
  return [...bySearch].flatMap(([text, own]) => {
    const translated = translateSearch(text, catalog)
    return translated.ok ? [{ fields: own, body: facetBody({ query: translated.query, window }, own, FACET_SIZE) }] : []
  })
}

function facetBody(
  scope: { readonly query: Query; readonly window: TimeWindow },
  fields: readonly string[],
  size: number,
  ...more: Query[]
): SearchBody {
  return {
    size: 0,
    track_total_hits: false,
    query: scopeQuery(scope, ...more),
    aggs: Object.fromEntries(fields.map((field, at) => [`f${at}`, { terms: { field, size } }])),
  }
}

interface TermsAnswer {
  readonly aggregations?: Readonly<
    Record<
      string,
      {
        readonly sum_other_doc_count: number
        readonly buckets: readonly { readonly key: string | number; readonly key_as_string?: string; readonly doc_count: number }[]
      }
    >
  >
}

export function readFacets(fields: readonly string[], answer: unknown): readonly Facet[] {
  const aggregations = (answer as TermsAnswer).aggregations ?? {}
  return fields.map((field, at) => {
    const found = aggregations[`f${at}`]
    return {
      field,
      otherCount: found?.sum_other_doc_count ?? 0,
      values: (found?.buckets ?? []).map(bucket => ({ value: bucket.key_as_string ?? String(bucket.key), count: bucket.doc_count })),
    }
  })
}

/** Values of a field that begin so, the most frequent first, among all records of the window. */
export function valuesBody(field: string, prefix: string, window: TimeWindow, catalog: FieldCatalog): SearchBody {
  const isWord = kindOfField(catalog, field) === 'keyword'
  const cased = field === 'level' ? prefix.toUpperCase() : prefix
  const more: readonly Query[] = isWord && prefix !== '' ? [{ prefix: { [field]: { value: cased } } }] : []
  return facetBody({ query: { match_all: {} }, window }, [field], isWord ? OFFERED_VALUES : 100, ...more)
}

/** Numbers have no beginning for the store: those that begin so are picked here. */
export function readValues(field: string, prefix: string, answer: unknown): readonly FacetValue[] {
  const cased = prefix.toLowerCase()
  const [facet] = readFacets([field], answer)
  return facet!.values.filter(({ value }) => value.toLowerCase().startsWith(cased)).slice(0, OFFERED_VALUES)
}
