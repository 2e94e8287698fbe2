/** Puts the results of pipelines into the buckets that they are made of, and summaries of all buckets beside them. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { ApiError, unsupported, validationError } from '../../api-error.ts'
import { type JsonObject, words } from '../../json/json-reader.ts'
import type { ParsedPipeline } from '../parse/parse-pipelines.ts'
import type { AggregationSpec, PipelineSpec, SummarySpec } from '../spec.ts'

const HISTOGRAMS = ['histogram', 'date_histogram']
const WITH_BUCKETS = [...HISTOGRAMS, ...words('terms rare_terms multi_terms range date_range filters composite adjacency_matrix')]

/** Each behind those that it is made of. Throws 400 where one does not fit its place. */
export function orderPipelines(
  above: AggregationSpec['type'] | undefined,
  below: readonly { readonly name: string }[],
  pipelines: readonly ParsedPipeline[],
): readonly PipelineSpec[] {
  const known = new Set(below.map(({ name }) => name))
  const ordered: PipelineSpec[] = []
  let left = pipelines
  while (left.length > 0) {
    const isReady = ({ paths }: PipelineSpec): boolean => Object.values(paths).every(path => OWN.has(path) || known.has(firstOf(path)))
    const ready = left.filter(isReady)
    if (ready.length === 0) throw validationError(`No aggregation found for path [${Object.values(left[0]!.paths).join(', ')}]`)
    for (const { needsHistogram, ...pipeline } of ready) {
      const { name, type } = pipeline
      if (above === undefined && pipeline.arrange !== undefined)
        throw validationError(`${type} aggregation [${name}] must be declared inside of another aggregation`)
      if (!(needsHistogram ? HISTOGRAMS : WITH_BUCKETS).includes(above ?? ''))
        throw validationError(
          needsHistogram
            ? `${type} aggregation [${name}] must have a histogram, date_histogram or auto_date_histogram as parent`
            : `${type} aggregation [${name}] must have an aggregation with several buckets as parent`,
        )
      known.add(name)
      ordered.push(pipeline)
    }
    left = left.filter(pipeline => !ready.includes(pipeline))
  }
  return ordered
}

const firstOf = (path: string): string => path.split(/[.>[]/)[0]!

/** Paths to the values of the bucket itself. */
const OWN = new Set(['_count', '_key'])

/** Throws 400 where a summary is of nothing beside it. */
export function checkSummaries(below: readonly AggregationSpec[], summaries: readonly SummarySpec[]): void {
  for (const { path } of summaries)
    if (!below.some(({ name }) => name === path.split('>')[0] || name === firstOf(path)))
      throw validationError(`No aggregation found for path [${path}]`)
}

type Bucket = Record<string, unknown>

const bucketsOf = (result: JsonObject): readonly Bucket[] => Object.values(result['buckets'] as Record<string, Bucket>)

type Made = Pick<AggregationSpec, 'pipelines' | 'summaries'>

/** Adds pipelines and summaries to the result of one aggregation. */
export function withPipelines(result: Bucket, { pipelines, summaries }: Made): Bucket {
  if (result['buckets'] === undefined) return withSummaries(result, summaries)
  for (const bucket of summaries.length > 0 ? bucketsOf(result) : []) withSummaries(bucket, summaries)
  return pipelines.reduce(withPipeline, result)
}

function withPipeline(result: Bucket, { name, paths, gaps, work, arrange }: PipelineSpec): Bucket {
  const buckets = bucketsOf(result)
  const values = buckets.map(bucket => Object.fromEntries(Object.entries(paths).map(([each, path]) => [each, valueAt(bucket, path, gaps)])))
  if (arrange !== undefined) return { ...result, buckets: chosen(result['buckets'] as object, arrange(values)) }
  const keys = buckets.map(({ key }) => Number(keyText(key)))
  for (const [at, made] of work(values, keys).entries())
    if (made !== undefined)
      buckets[at]![name] = Object.fromEntries(
        Object.entries(made).map(([member, value]) => [member, Number.isFinite(value) ? value : null]),
      )
  return result
}

function chosen(buckets: object, places: readonly number[]): unknown {
  if (Array.isArray(buckets)) return places.map(at => buckets[at])
  const entries = Object.entries(buckets)
  return Object.fromEntries(places.map(at => entries[at]!))
}

/** A large number is an object that stands for its digits. */
const keyText = (key: unknown): string => (typeof key === 'string' ? key : JSON.stringify(key))

/** `results`: of the aggregations that the summaries stand beside. */
export function withSummaries(results: Bucket, summaries: readonly SummarySpec[]): Bucket {
  for (const { name, path, gaps, work } of summaries) {
    const { buckets, within } = bucketsAt(results, path, name)
    const known = buckets
      .map(([key, bucket]) => ({ key: keyText(bucket['key_as_string'] ?? bucket['key'] ?? key), value: summedValue(bucket, within, gaps) }))
      .filter(({ value }) => !Number.isNaN(value))
    results[name] = work(
      known.map(({ value }) => value),
      known.map(({ key }) => key),
    )
  }
  return results
}

/** The first buckets on the path, and the path within each of them. */
function bucketsAt(results: JsonObject, path: string, summary: string) {
  const names = path.split('>')
  let at = results
  for (const [depth, each] of names.entries()) {
    const [name, metric] = splitMetric(each, at)
    const found = at[name]
    if (!isJsonObject(found)) break
    const within = [...(metric === undefined ? [] : [metric]), ...names.slice(depth + 1)].join('>')
    if (found['buckets'] !== undefined) return { buckets: Object.entries(found['buckets'] as Record<string, Bucket>), within }
    at = found
  }
  throw validationError(
    `Unable to find unqualified multi-bucket aggregation in buckets_path. Path must include a multi-bucket aggregation for aggregation [${summary}], found [${path}]`,
  )
}

const NUMBER_ASKED = 'buckets_path must reference either a number value or a single value numeric metric aggregation'

/** Throws 400 for anything but one number. */
function summedValue(bucket: JsonObject, path: string, gaps: PipelineSpec['gaps']): number {
  const names = path.split('>')
  let at: unknown = bucket
  for (const [depth, each] of names.entries()) {
    const found = isJsonObject(at) ? at[splitMetric(each, at)[0]] : undefined
    if (isJsonObject(found) && found['buckets'] !== undefined) {
      const kind = depth === names.length - 1 ? kindOfTerms(found) : 'Object[]'
      throw failedPath(`${NUMBER_ASKED}, got: [${kind}] at aggregation [${each}]`)
    }
    if (depth === names.length - 1 && isJsonObject(found) && !each.includes('[') && isJsonObject(found['values']) && !each.includes('.'))
      throw failedPath(`${NUMBER_ASKED}, but [${each}] contains multiple values. Please specify which to use.`)
    at = found
  }
  return valueAt(bucket, path, gaps)
}

const kindOfTerms = ({ buckets }: JsonObject): string =>
  Array.isArray(buckets) && typeof buckets[0]?.key === 'number' ? 'LongTerms' : 'StringTerms'

const failedPath = (reason: string): ApiError => new ApiError(400, 'aggregation_execution_exception', reason)

/** NaN for a gap: a bucket without documents, or without such a value. */
function valueAt(bucket: JsonObject, path: string, gaps: PipelineSpec['gaps']): number {
  if (path === '_count') return bucket['doc_count'] as number
  if (path === '_key' && typeof bucket['key'] === 'string') throw unsupported('sorting buckets by a [_key] that is a text')
  if (path === '_key') return bucket['key'] as number
  const value = bucket['doc_count'] === 0 ? undefined : numberAt(bucket, path)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  return gaps === 'zero' ? 0 : Number.NaN
}

function numberAt(bucket: JsonObject, path: string): unknown {
  const names = path.split('>')
  let at: unknown = bucket
  for (const name of names.slice(0, -1)) at = isJsonObject(at) ? at[name] : undefined
  if (!isJsonObject(at)) return undefined
  const last = names.at(-1)!
  if (last === '_count') return at['doc_count']
  const [name, metric] = splitMetric(last, at)
  const found = at[name]
  if (!isJsonObject(found)) return undefined
  if (metric === undefined) return found['value'] ?? found['doc_count']
  const values = isJsonObject(found['values']) ? found['values'] : found
  return (
    values[metric] ??
    values[`${metric}.0`] ??
    (isJsonObject(found['std_deviation_bounds']) ? found['std_deviation_bounds'][metric.replace(/^std_/, '')] : undefined)
  )
}

/** `stats.max`, `percentiles[50.0]`; a name may have dots of its own. */
function splitMetric(text: string, bucket: JsonObject): readonly [name: string, metric: string | undefined] {
  if (Object.hasOwn(bucket, text)) return [text, undefined]
  const bracket = /^(.*)\[['"]?([^[\]'"]+)['"]?\]$/.exec(text)
  if (bracket !== null) return [bracket[1]!, bracket[2]!]
  const dot = text.indexOf('.')
  return dot < 0 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)]
}
