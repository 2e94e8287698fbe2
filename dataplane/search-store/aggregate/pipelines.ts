/** Puts the results of pipelines into the buckets that they are made of. */
import { validationError } from '../api-error.ts'
import { isObject, type JsonObject } from '../json/json-reader.ts'
import type { ParsedPipeline } from './parse-pipelines.ts'
import type { AggregationSpec, PipelineSpec } from './spec.ts'

const HISTOGRAMS = ['histogram', 'date_histogram']
const WITH_BUCKETS = [...HISTOGRAMS, 'terms', 'range', 'date_range', 'filters', 'composite']

/** Each behind those that it is made of. Throws 400 where one does not fit its place. */
export function orderPipelines(
  above: AggregationSpec['type'] | undefined,
  below: readonly AggregationSpec[],
  pipelines: readonly ParsedPipeline[],
): readonly PipelineSpec[] {
  const known = new Set(below.map(({ name }) => name))
  const ordered: PipelineSpec[] = []
  let left = pipelines
  while (left.length > 0) {
    const isReady = ({ paths }: PipelineSpec): boolean => Object.values(paths).every(path => path === '_count' || known.has(firstOf(path)))
    const ready = left.filter(isReady)
    if (ready.length === 0) throw validationError(`No aggregation found for path [${Object.values(left[0]!.paths).join(', ')}]`)
    for (const { name, type, needsHistogram, ...rest } of ready) {
      if (!(needsHistogram ? HISTOGRAMS : WITH_BUCKETS).includes(above ?? ''))
        throw validationError(
          needsHistogram
            ? `${type} aggregation [${name}] must have a histogram, date_histogram or auto_date_histogram as parent`
            : `${type} aggregation [${name}] must have an aggregation with several buckets as parent`,
        )
      known.add(name)
      ordered.push({ name, ...rest })
    }
    left = left.filter(pipeline => !ready.includes(pipeline))
  }
  return ordered
}

const firstOf = (path: string): string => path.split(/[.>[]/)[0]!

/** Of the result of an aggregation with buckets. */
export function withPipelines(result: Record<string, unknown>, pipelines: readonly PipelineSpec[]): Record<string, unknown> {
  const buckets = Object.values(result['buckets'] as Record<string, Record<string, unknown>>)
  const keys = buckets.map(({ key }) => Number(key))
  for (const { name, paths, gaps, work } of pipelines) {
    const values = buckets.map(bucket =>
      Object.fromEntries(Object.entries(paths).map(([each, path]) => [each, valueAt(bucket, path, gaps)])),
    )
    for (const [at, made] of work(values, keys).entries())
      if (made !== undefined)
        buckets[at]![name] = Object.fromEntries(
          Object.entries(made).map(([member, value]) => [member, Number.isFinite(value) ? value : null]),
        )
  }
  return result
}

/** NaN for a gap: a bucket without documents, or without such a value. */
function valueAt(bucket: JsonObject, path: string, gaps: PipelineSpec['gaps']): number {
  if (path === '_count') return bucket['doc_count'] as number
  const value = bucket['doc_count'] === 0 ? undefined : numberAt(bucket, path)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  return gaps === 'zero' ? 0 : Number.NaN
}

function numberAt(bucket: JsonObject, path: string): unknown {
  const names = path.split('>')
  let at: unknown = bucket
  for (const name of names.slice(0, -1)) at = isObject(at) ? at[name] : undefined
  if (!isObject(at)) return undefined
  const last = names.at(-1)!
  if (last === '_count') return at['doc_count']
  const [name, metric] = splitMetric(last, at)
  const found = at[name]
  if (!isObject(found)) return undefined
  if (metric === undefined) return found['value'] ?? found['doc_count']
  const values = isObject(found['values']) ? found['values'] : found
  return (
    values[metric] ??
    values[`${metric}.0`] ??
    (isObject(found['std_deviation_bounds']) ? found['std_deviation_bounds'][metric.replace(/^std_/, '')] : undefined)
  )
}

/** `stats.max`, `percentiles[50.0]`; a name may have dots of its own. */
function splitMetric(text: string, bucket: JsonObject): readonly [name: string, metric: string | undefined] {
  if (Object.hasOwn(bucket, text)) return [text, undefined]
  const bracket = /^(.*)\[['"]?([^\]'"]+)['"]?\]$/.exec(text)
  if (bracket !== null) return [bracket[1]!, bracket[2]!]
  const dot = text.indexOf('.')
  return dot < 0 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)]
}
