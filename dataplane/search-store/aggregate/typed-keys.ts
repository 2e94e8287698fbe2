/** `typed_keys`: the name of each result says how it is to be read, `sterms#by_level`. Clients with types ask for it. */
import { isJsonObject } from '../../json/is-json-object.ts'
import type { JsonObject } from '../json/json-reader.ts'
import type { AggregationSpec } from './spec.ts'

/** Kinds of keys of terms: texts, whole numbers, whole numbers without a sign, other numbers; `um`: no index has the field. */
export type TermsKind = 's' | 'l' | 'ul' | 'd' | 'um'

/** Where a result of terms says of which kind it is; not shown. */
export const TERMS_KIND = Symbol('kind of terms')

/** The aggregations of one level. */
type Level = Pick<AggregationSpec, 'below' | 'summaries'> & Partial<Pick<AggregationSpec, 'pipelines'>>

export function typedResults({ below, summaries, pipelines = [] }: Level, results: JsonObject): Record<string, unknown> {
  const byName = new Map(below.map(spec => [spec.name, spec]))
  const made = new Map([...summaries, ...pipelines].map(({ name, type }) => [name, MADE_NAMES.get(type) ?? type]))
  return Object.fromEntries(
    Object.entries(results).map(([name, result]) => {
      const spec = byName.get(name)
      if (spec !== undefined && isJsonObject(result)) return [`${typeName(spec, result)}#${name}`, typedBelow(spec, result)]
      return [made.has(name) ? `${made.get(name)}#${name}` : name, result]
    }),
  )
}

function typedBelow(spec: AggregationSpec, result: JsonObject): JsonObject {
  if (spec.below.length + spec.pipelines.length === 0) return result
  const typed = (bucket: unknown) => (isJsonObject(bucket) ? typedResults(spec, bucket) : bucket)
  const { buckets } = result
  if (Array.isArray(buckets)) return { ...result, buckets: buckets.map(typed) }
  if (!isJsonObject(buckets)) return typedResults(spec, result)
  return { ...result, buckets: Object.fromEntries(Object.entries(buckets).map(([key, bucket]) => [key, typed(bucket)])) }
}

/** Names of results that are not those of their requests. */
const RESULT_NAMES: ReadonlyMap<string, string> = new Map([
  ['percentiles', 'tdigest_percentiles'],
  ['percentile_ranks', 'tdigest_percentile_ranks'],
])

/** Likewise of those that are made of other results. */
const MADE_NAMES: ReadonlyMap<string, string> = new Map([
  ...['avg_bucket', 'sum_bucket', 'cumulative_sum', 'moving_fn', 'moving_avg', 'serial_diff', 'bucket_script'].map(
    type => [type, 'simple_value'] as const,
  ),
  ['min_bucket', 'bucket_metric_value'],
  ['max_bucket', 'bucket_metric_value'],
])

function typeName(spec: AggregationSpec, result: JsonObject): string {
  const { type } = spec
  if (type === 'percentiles' && spec.digits !== undefined) return 'hdr_percentiles'
  const kind = (result as { readonly [TERMS_KIND]?: TermsKind })[TERMS_KIND]
  return kind === undefined ? (RESULT_NAMES.get(type) ?? type) : `${kind}${type.replace('_', '')}`
}
