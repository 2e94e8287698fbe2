/** `typed_keys`: the name of each result says how it is to be read, `sterms#by_level`. Clients with types ask for it. */
import { isObject, type JsonObject } from '../json/json-reader.ts'
import type { AggregationSpec } from './spec.ts'

export function typedResults(specs: readonly AggregationSpec[], results: JsonObject): Record<string, unknown> {
  const byName = new Map(specs.map(spec => [spec.name, spec]))
  return Object.fromEntries(
    Object.entries(results).map(([name, result]) => {
      const spec = byName.get(name)
      return spec === undefined || !isObject(result) ? [name, result] : [`${typeName(spec, result)}#${name}`, typedBelow(spec, result)]
    }),
  )
}

function typedBelow({ below }: AggregationSpec, result: JsonObject): JsonObject {
  if (below.length === 0) return result
  const typed = (bucket: unknown) => (isObject(bucket) ? typedResults(below, bucket) : bucket)
  const { buckets } = result
  if (Array.isArray(buckets)) return { ...result, buckets: buckets.map(typed) }
  if (!isObject(buckets)) return typedResults(below, result)
  return { ...result, buckets: Object.fromEntries(Object.entries(buckets).map(([key, bucket]) => [key, typed(bucket)])) }
}

/** Names of results that are not those of their requests. */
const RESULT_NAMES: ReadonlyMap<string, string> = new Map([
  ['percentiles', 'tdigest_percentiles'],
  ['percentile_ranks', 'tdigest_percentile_ranks'],
])

function typeName({ type }: AggregationSpec, { buckets }: JsonObject): string {
  if (type !== 'terms' || !Array.isArray(buckets)) return RESULT_NAMES.get(type) ?? type
  const keys = (buckets as readonly JsonObject[]).map(({ key }) => key)
  if (keys.length === 0 || keys.some(key => typeof key === 'string')) return 'sterms'
  return keys.some(key => typeof key === 'number' && !Number.isInteger(key)) ? 'dterms' : 'lterms'
}
