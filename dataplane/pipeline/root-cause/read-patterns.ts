/** Patterns by id, for records that were read without: few patterns serve most records, and each is longer than the rest of a record. */
import { ALL_LOGS } from '../../contract/indices.ts'
import type { SearchStore } from '../../ports/search-store.ts'

interface PatternBucket {
  readonly key: string
  readonly first: { readonly hits: { readonly hits: readonly { readonly _source: { readonly pattern?: string } }[] } }
}

/** One pattern for each of the ids that a record fulfilling `filter` has. */
export async function readPatterns(
  store: SearchStore,
  filter: readonly object[],
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const { aggregations } = await store.search({
    index: ALL_LOGS,
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
  return new Map(patterns.buckets.map(({ key, first }) => [key, first.hits.hits[0]?._source.pattern ?? '']))
}
