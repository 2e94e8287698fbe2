/** Patterns by id, for records that were read without: few patterns serve most records, and each is longer than the rest of a record. */
import type { SearchStore } from '../../ports/search-store.ts'
import { searchLogs } from '../search-logs.ts'
import type { TimeSlice } from './time-slices.ts'

/** Records of a time that fulfil a filter, which says the time as well. */
export interface Page extends TimeSlice {
  readonly filter: readonly object[]
}

interface PatternBucket {
  readonly key: string
  readonly first: { readonly hits: { readonly hits: readonly { readonly _source: { readonly pattern?: unknown } }[] } }
}

/** One pattern for each of the ids that a record of the page has. */
export async function readPatterns(
  store: SearchStore,
  { filter, fromMs, toMs }: Page,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const { aggregations } = await searchLogs(store, {
    ...{ fromMs, toMs },
    body: {
      size: 0,
      track_total_hits: false,
      query: { bool: { filter: [...filter, { terms: { pattern_id: ids } }] } },
      aggs: {
        patterns: {
          terms: { field: 'pattern_id', size: ids.length },
          aggs: { first: { top_hits: { size: 1, _source: ['pattern'] } } },
        },
      },
    },
  })
  const { patterns } = (aggregations ?? { patterns: { buckets: [] } }) as {
    readonly patterns: { readonly buckets: readonly PatternBucket[] }
  }
  return new Map(patterns.buckets.map(({ key, first }) => [key, String(first.hits.hits[0]?._source.pattern ?? '')]))
}
