/** Aggregations over all buckets of one beside them: avg_bucket, sum_bucket, min_bucket, max_bucket, stats_bucket, … */
import { illegalArgument, parsingError, unsupported } from '../../api-error.ts'
import { type JsonObject, readArray, readNumber, readObject, readString, refuseUnknown } from '../../json/json-reader.ts'
import { javaDouble } from '../java-double.ts'
import type { SummarySpec } from '../spec.ts'
import { DEFAULT_PERCENTS, MAX_PERCENTS } from './parse-metrics.ts'
import { readGaps } from './parse-pipelines.ts'

type Work = SummarySpec['work']

interface Summary {
  readonly keys: readonly string[]
  readonly work: (content: JsonObject) => Work
}

const SUMMARIES: ReadonlyMap<string, Summary> = new Map<string, Summary>([
  ['avg_bucket', { keys: [], work: () => values => ({ value: values.length === 0 ? null : sumOf(values) / values.length }) }],
  ['sum_bucket', { keys: [], work: () => values => ({ value: sumOf(values) }) }],
  ['min_bucket', { keys: [], work: () => extreme(values => Math.min(...values)) }],
  ['max_bucket', { keys: [], work: () => extreme(values => Math.max(...values)) }],
  ['stats_bucket', { keys: [], work: () => statsOf }],
  ['extended_stats_bucket', { keys: ['sigma'], work: extendedStats }],
  ['percentiles_bucket', { keys: ['percents', 'keyed'], work: percentiles }],
])

export const isSummary = (type: string): boolean => SUMMARIES.has(type)

/** Throws 400. */
export function parseSummary(type: string, name: string, body: unknown): SummarySpec {
  const { keys, work } = SUMMARIES.get(type)!
  const content = readObject(body, type)
  refuseUnknown(content, type, ['buckets_path', 'gap_policy', 'format', ...keys])
  if (content['format'] !== undefined) throw unsupported(`aggregation [${type}]: [format]`)
  const path = content['buckets_path']
  if (path === undefined) throw parsingError(`Missing required field [buckets_path] for ${type} aggregation [${name}]`)
  return {
    ...{ name, type, gaps: readGaps(content, type), work: work(content) },
    path: readString(Array.isArray(path) && path.length === 1 ? path[0] : path, `${type}.buckets_path`),
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** With the keys of all buckets that have it. */
const extreme =
  (pick: (values: readonly number[]) => number): Work =>
  (values, keys) => {
    const value = pick(values)
    return { value: values.length === 0 ? null : value, keys: keys.filter((_, at) => values[at] === value) }
  }

const statsOf = (values: readonly number[]): Record<string, unknown> => {
  const count = values.length
  if (count === 0) return { count, min: null, max: null, avg: null, sum: 0 }
  return { count, min: Math.min(...values), max: Math.max(...values), avg: sumOf(values) / count, sum: sumOf(values) }
}

function extendedStats(content: JsonObject): Work {
  const sigma = content['sigma'] === undefined ? 2 : readNumber(content['sigma'], 'extended_stats_bucket.sigma')
  if (sigma < 0) throw illegalArgument('[sigma] must be a non-negative double')
  return values => {
    const count = values.length
    const squares = sumOf(values.map(value => value * value))
    const average = sumOf(values) / count
    const variance = (divisor: number): number => Math.max(0, (squares - (sumOf(values) * sumOf(values)) / count) / divisor)
    const [population, sampling] = [Math.sqrt(variance(count)), Math.sqrt(variance(count - 1))]
    const shown = (members: Record<string, number>): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(members).map(([name, value]) => [name, Number.isFinite(value) ? value : count === 0 ? null : 'NaN']),
      )
    return {
      ...statsOf(values),
      ...shown({ sum_of_squares: count === 0 ? Number.NaN : squares, variance: variance(count), variance_population: variance(count) }),
      ...shown({ variance_sampling: variance(count - 1), std_deviation: population, std_deviation_population: population }),
      ...shown({ std_deviation_sampling: sampling }),
      std_deviation_bounds: shown({
        ...{ upper: average + sigma * population, lower: average - sigma * population },
        ...{ upper_population: average + sigma * population, lower_population: average - sigma * population },
        ...{ upper_sampling: average + sigma * sampling, lower_sampling: average - sigma * sampling },
      }),
    }
  }
}

function percentiles(content: JsonObject): Work {
  if (content['keyed'] !== undefined && content['keyed'] !== true) throw unsupported('aggregation [percentiles_bucket]: [keyed] false')
  const given = content['percents'] === undefined ? DEFAULT_PERCENTS : readArray(content['percents'], 'percentiles_bucket.percents')
  if (given.length > MAX_PERCENTS) throw illegalArgument(`[percents] may hold at most ${MAX_PERCENTS} values, found ${given.length}`)
  const percents = given.map(item => readNumber(item, 'percentiles_bucket.percents'))
  if (percents.length === 0 || percents.some(percent => percent < 0 || percent > 100))
    throw illegalArgument('[percents] must only contain non-null doubles from 0.0-100.0 inclusive')
  return values => {
    const sorted = values.toSorted((a, b) => a - b)
    const at = (percent: number): number | null => sorted[Math.round((percent / 100) * (sorted.length - 1))] ?? null
    return { values: Object.fromEntries(percents.map(percent => [javaDouble(percent), at(percent)])) }
  }
}
