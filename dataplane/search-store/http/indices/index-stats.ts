/** Statistics of indices: figures of what this store does, and zeros for what it never does. */
import type { CatalogIndex } from '../../catalog/catalog.ts'
import type { OperationCounts } from '../../catalog/operation-counts.ts'

type Sum = (pick: (index: CatalogIndex) => number) => number
type Section = (sum: Sum) => Record<string, unknown>

const zeros = (names: string): Record<string, number> => Object.fromEntries(names.split(' ').map(name => [name, 0]))

const counted = (sum: Sum, name: keyof OperationCounts): number => Math.round(sum(({ counts }) => counts[name]))

/** By the names that requests have for them. */
const SECTIONS: ReadonlyMap<string, { readonly name: string; readonly of: Section }> = new Map(
  Object.entries<readonly [string, Section]>({
    docs: ['docs', sum => ({ count: sum(({ storage }) => storage.docCount), deleted: sum(({ storage }) => storage.deletedCount) })],
    store: ['store', sum => ({ size_in_bytes: sum(({ storage }) => storage.sizeBytes), reserved_in_bytes: 0 })],
    indexing: [
      'indexing',
      sum => ({
        ...{ index_total: counted(sum, 'indexed'), index_time_in_millis: counted(sum, 'writeMs'), index_current: 0 },
        ...{ index_failed: counted(sum, 'failed'), delete_total: counted(sum, 'deleted'), delete_time_in_millis: 0, delete_current: 0 },
        ...{ noop_update_total: counted(sum, 'unchanged'), is_throttled: false, throttle_time_in_millis: 0 },
      }),
    ],
    get: [
      'get',
      sum => ({
        ...{ total: counted(sum, 'found') + counted(sum, 'missing'), time_in_millis: 0 },
        ...{ exists_total: counted(sum, 'found'), exists_time_in_millis: 0 },
        ...{ missing_total: counted(sum, 'missing'), missing_time_in_millis: 0, current: 0 },
      }),
    ],
    search: [
      'search',
      sum => ({
        ...{ open_contexts: 0, query_total: counted(sum, 'queries'), query_time_in_millis: counted(sum, 'queryMs'), query_current: 0 },
        ...{ fetch_total: counted(sum, 'queries'), fetch_time_in_millis: 0, fetch_current: 0 },
        ...zeros('scroll_total scroll_time_in_millis scroll_current suggest_total suggest_time_in_millis suggest_current'),
      }),
    ],
    merge: [
      'merges',
      () =>
        zeros(
          'current current_docs current_size_in_bytes total total_time_in_millis total_docs total_size_in_bytes total_stopped_time_in_millis ' +
            'total_throttled_time_in_millis total_auto_throttle_in_bytes unreferenced_file_cleanups_performed',
        ),
    ],
    refresh: ['refresh', () => zeros('total total_time_in_millis external_total external_total_time_in_millis listeners')],
    flush: ['flush', () => zeros('total periodic total_time_in_millis')],
    warmer: ['warmer', () => zeros('current total total_time_in_millis')],
    query_cache: ['query_cache', () => zeros('memory_size_in_bytes total_count hit_count miss_count cache_size cache_count evictions')],
    fielddata: ['fielddata', () => zeros('memory_size_in_bytes evictions')],
    completion: ['completion', () => zeros('size_in_bytes')],
    segments: [
      'segments',
      sum => ({
        count: sum(segmentsOf),
        ...zeros(
          'memory_in_bytes terms_memory_in_bytes stored_fields_memory_in_bytes term_vectors_memory_in_bytes norms_memory_in_bytes ' +
            'points_memory_in_bytes doc_values_memory_in_bytes index_writer_memory_in_bytes version_map_memory_in_bytes fixed_bit_set_memory_in_bytes',
        ),
        ...{ max_unsafe_auto_id_timestamp: -1, file_sizes: {} },
      }),
    ],
    translog: [
      'translog',
      () => zeros('operations size_in_bytes uncommitted_operations uncommitted_size_in_bytes earliest_last_modified_age'),
    ],
    request_cache: ['request_cache', () => zeros('memory_size_in_bytes evictions hit_count miss_count')],
    recovery: ['recovery', () => zeros('current_as_source current_as_target throttle_time_in_millis')],
  }).map(([metric, [name, of]]) => [metric, { name, of }]),
)

export const INDEX_METRICS: readonly string[] = [...SECTIONS.keys()]

const segmentsOf = ({ storage, isClosed }: CatalogIndex): number =>
  storage.problem !== undefined || isClosed ? 0 : storage.segments().filter(({ size }) => size > 0).length

export function statsOf(indices: readonly CatalogIndex[], metrics: Iterable<string> = INDEX_METRICS): Record<string, unknown> {
  const sum: Sum = pick => indices.reduce((total, index) => total + pick(index), 0)
  return Object.fromEntries(
    Array.from(metrics, metric => {
      const { name, of } = SECTIONS.get(metric)!
      return [name, of(sum)]
    }),
  )
}
