/** Aggregations over the buckets of the one above: derivative, cumulative_sum, moving_fn, moving_avg, serial_diff, bucket_script, bucket_sort. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { illegalArgument, parsingError, unsupported } from '../../api-error.ts'
import { type JsonObject, readInteger, readNumber, readObject, readString, refuseUnknown } from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import { parseSort } from '../../query/parse/sort-spec.ts'
import { parseArithmetic } from '../pipelines/bucket-arithmetic.ts'
import type { PipelineSpec } from '../spec.ts'
import { intervalMs } from './parse-buckets.ts'

type Work = PipelineSpec['work']

/** The one value of a pipeline that has one path. */
const ONE = 'value'

interface Pipeline {
  readonly keys: readonly string[]
  /** False: any aggregation with buckets may be above. */
  readonly needsHistogram: boolean
  readonly work: (content: JsonObject, names: readonly string[], name: string) => Work
}

const PIPELINES: Readonly<Record<string, Pipeline>> = {
  derivative: { keys: ['unit'], needsHistogram: true, work: derivative },
  cumulative_sum: { keys: [], needsHistogram: true, work: () => cumulativeSum },
  serial_diff: { keys: ['lag'], needsHistogram: true, work: serialDiff },
  moving_fn: { keys: ['window', 'shift', 'script'], needsHistogram: true, work: movingFunction },
  moving_avg: { keys: ['window', 'model', 'settings', 'predict', 'minimize'], needsHistogram: true, work: movingAverage },
  bucket_script: { keys: ['script'], needsHistogram: false, work: bucketScript },
}

export const isPipeline = (type: string): boolean => type === 'bucket_sort' || Object.hasOwn(PIPELINES, type)

export interface ParsedPipeline extends PipelineSpec {
  readonly needsHistogram: boolean
}

/** Throws 400. */
export function parsePipeline(type: string, name: string, body: unknown): ParsedPipeline {
  if (type === 'bucket_sort') return parseBucketSort(name, body)
  const { keys, needsHistogram, work } = PIPELINES[type]!
  const content = readObject(body, type)
  refuseUnknown(content, type, ['buckets_path', 'gap_policy', 'format', ...keys])
  if (content['buckets_path'] === undefined) throw parsingError(`Missing required field [buckets_path] for ${type} aggregation [${name}]`)
  if (content['format'] !== undefined) throw unsupported(`aggregation [${type}]: [format]`)
  const gaps = readGaps(content, type)
  const paths = readPaths(content['buckets_path'], type)
  return {
    ...{ type, name, paths, needsHistogram },
    gaps: type === 'cumulative_sum' ? 'zero' : gaps,
    work: work(content, Object.keys(paths), name),
  }
}

export function readGaps(content: JsonObject, type: string): PipelineSpec['gaps'] {
  const gaps = content['gap_policy'] === undefined ? 'skip' : readString(content['gap_policy'], `${type}.gap_policy`).toLowerCase()
  if (gaps !== 'skip' && gaps !== 'insert_zeros') throw parsingError(`Invalid gap policy: [${gaps}], accepted values: [insert_zeros, skip]`)
  return gaps === 'skip' ? 'skip' : 'zero'
}

/** Buckets without a value come last; those without any are left out. */
function parseBucketSort(name: string, body: unknown): ParsedPipeline {
  const content = readObject(body, 'bucket_sort')
  refuseUnknown(content, 'bucket_sort', ['sort', 'from', 'size', 'gap_policy'])
  const sorts = parseSort(content['sort'] ?? [])
  const from = content['from'] === undefined ? 0 : readInteger(content['from'], 'bucket_sort.from', 0)
  const size = content['size'] === undefined ? Number.POSITIVE_INFINITY : readInteger(content['size'], 'bucket_sort.size', 1)
  return {
    ...{ type: 'bucket_sort', name, needsHistogram: false, gaps: readGaps(content, 'bucket_sort') },
    paths: Object.fromEntries(sorts.map(({ field }) => [field, field])),
    work: () => [],
    arrange: values => {
      const compare = (a: number, b: number): number => {
        for (const { field, order } of sorts) {
          const [first, second] = [values[a]![field]!, values[b]![field]!]
          if (Number.isNaN(first) || Number.isNaN(second)) {
            const result = Number(Number.isNaN(first)) - Number(Number.isNaN(second))
            if (result !== 0) return result
          } else if (first !== second) return order === 'asc' ? first - second : second - first
        }
        return a - b
      }
      return Array.from(values.keys())
        .filter(at => sorts.length === 0 || sorts.some(({ field }) => !Number.isNaN(values[at]![field])))
        .sort(compare)
        .slice(from, from + size)
    },
  }
}

function readPaths(value: unknown, type: string): Readonly<Record<string, string>> {
  if (type !== 'bucket_script')
    return { [ONE]: readString(Array.isArray(value) && value.length === 1 ? value[0] : value, `${type}.buckets_path`) }
  if (typeof value === 'string') return { _value: value }
  if (Array.isArray(value))
    return Object.fromEntries(value.map((path, at) => [`_value${at}`, readString(path, 'bucket_script.buckets_path')]))
  return Object.fromEntries(
    Object.entries(readObject(value, 'bucket_script.buckets_path')).map(([name, path]) => [name, readString(path, `buckets_path.${name}`)]),
  )
}

const valuesOf = (values: Parameters<Work>[0]): readonly number[] => values.map(value => value[ONE]!)

function derivative(content: JsonObject): Work {
  const unitMs = content['unit'] === undefined ? undefined : intervalMs(readString(content['unit'], 'derivative.unit'))
  return (values, keys) =>
    valuesOf(values).map((value, at, all) => {
      if (at === 0) return undefined
      const gradient = value - all[at - 1]!
      return { value: gradient, ...(unitMs !== undefined && { normalized_value: gradient / ((keys[at]! - keys[at - 1]!) / unitMs) }) }
    })
}

const cumulativeSum: Work = values => {
  let sum = 0
  return valuesOf(values).map(value => {
    if (Number.isFinite(value)) sum += value
    return { value: sum }
  })
}

function serialDiff(content: JsonObject, _names: readonly string[], name: string): Work {
  const lag = content['lag'] === undefined ? 1 : readInteger(content['lag'], 'serial_diff.lag', Number.MIN_SAFE_INTEGER)
  if (lag <= 0) throw parsingError(`Lag must be a positive, non-zero integer.  Value supplied was${lag} in [${name}]: [lag].`)
  return values =>
    valuesOf(values).map((value, at, all) => {
      const difference = at < lag ? Number.NaN : value - all[at - lag]!
      return Number.isNaN(difference) ? undefined : { value: difference }
    })
}

type Summary = (values: readonly number[]) => number

const sumOf: Summary = values => values.reduce((sum, value) => sum + value, 0)
const averageOf: Summary = values => (values.length === 0 ? Number.NaN : sumOf(values) / values.length)
const extremeOf =
  (pick: (...values: number[]) => number): Summary =>
  values =>
    values.length === 0 ? Number.NaN : values.reduce((best, value) => pick(best, value))
const deviationOf: Summary = values => {
  const average = averageOf(values)
  return Math.sqrt(averageOf(values.map(value => (value - average) ** 2)))
}
/** The weights begin with a 1 that has no value, as in OpenSearch. */
const linearOf: Summary = values => {
  if (values.length === 0) return Number.NaN
  const weights = 1 + (values.length * (values.length + 1)) / 2
  return values.reduce((sum, value, at) => sum + value * (at + 1), 0) / weights
}
const exponentialOf =
  (alpha: number): Summary =>
  values =>
    values.length === 0 ? Number.NaN : values.reduce((average, value) => value * alpha + average * (1 - alpha))

const FUNCTIONS: Readonly<Record<string, Summary>> = {
  'max(values)': extremeOf(Math.max),
  'min(values)': extremeOf(Math.min),
  'sum(values)': sumOf,
  'unweightedAvg(values)': averageOf,
  'linearWeightedAvg(values)': linearOf,
  'stdDev(values,MovingFunctions.unweightedAvg(values))': deviationOf,
}

function scriptOf(content: JsonObject, type: string): string {
  const script = content['script']
  if (script === undefined) throw illegalArgument('Required [script]')
  if (!isJsonObject(script)) return readString(script, `${type}.script`)
  refuseUnknown(script, `${type}.script`, ['source', 'inline', 'lang', 'params'])
  if (script['lang'] !== undefined && script['lang'] !== 'painless' && script['lang'] !== 'expression')
    throw unsupported(`[${type}] script in [${textOf(script['lang'])}]`)
  if (isJsonObject(script['params']) && Object.keys(script['params']).length > 0) throw unsupported(`[${type}] script with [params]`)
  return readString(script['source'] ?? script['inline'], `${type}.script.source`)
}

function readWindow(content: JsonObject, type: string): number {
  const window = readInteger(content['window'], `${type}.window`, Number.MIN_SAFE_INTEGER)
  if (window <= 0) throw illegalArgument('[window] must be a positive, non-zero integer.')
  return window
}

function movingFunction(content: JsonObject): Work {
  if (content['window'] === undefined) throw illegalArgument('Required [window]')
  const window = readWindow(content, 'moving_fn')
  const shift = content['shift'] === undefined ? 0 : readInteger(content['shift'], 'moving_fn.shift', Number.MIN_SAFE_INTEGER)
  const script = scriptOf(content, 'moving_fn')
  const call = /^(?:return)?MovingFunctions\.(.*?);?$/s.exec(script.replace(/\s+/g, ''))?.[1] ?? ''
  const alpha = /^ewma\(values,(\d+|\d*\.\d+)\)$/.exec(call)?.[1]
  const summary = alpha === undefined ? (Object.hasOwn(FUNCTIONS, call) ? FUNCTIONS[call]! : undefined) : exponentialOf(Number(alpha))
  if (summary === undefined) throw unsupported(`[moving_fn] script [${script.slice(0, 100)}]`)
  return overWindows(window, shift, summary, true)
}

const MODELS: Readonly<Record<string, (settings: JsonObject) => Summary>> = {
  simple: () => averageOf,
  linear: () => linearOf,
  ewma: settings => exponentialOf(settings['alpha'] === undefined ? 0.3 : readNumber(settings['alpha'], 'moving_avg.settings.alpha')),
}

function movingAverage(content: JsonObject): Work {
  for (const key of ['predict', 'minimize'])
    if (content[key] !== undefined && content[key] !== false) throw unsupported(`aggregation [moving_avg]: [${key}]`)
  const model = content['model'] === undefined ? 'simple' : readString(content['model'], 'moving_avg.model')
  if (!Object.hasOwn(MODELS, model)) throw unsupported(`[moving_avg] model [${model}]`)
  const window = content['window'] === undefined ? 5 : readWindow(content, 'moving_avg')
  return overWindows(window, 0, MODELS[model]!(readObject(content['settings'] ?? {}, 'moving_avg.settings')), false)
}

/** Gives each bucket with a value the summary of the values in its window. `hasFirst`: also a bucket whose window is empty. */
function overWindows(window: number, shift: number, summary: Summary, hasFirst: boolean): Work {
  return buckets => {
    const values = valuesOf(buckets)
    const known = values.filter(value => !Number.isNaN(value))
    const within = (at: number): number => Math.min(known.length, Math.max(0, at))
    let index = 0
    return values.map(value => {
      if (Number.isNaN(value)) return undefined
      const chosen = known.slice(within(index - window + shift), within(index + shift))
      index++
      return chosen.length === 0 && !hasFirst ? undefined : { value: summary(chosen) }
    })
  }
}

function bucketScript(content: JsonObject, names: readonly string[]): Work {
  const arithmetic = parseArithmetic(scriptOf(content, 'bucket_script'), names)
  return values => values.map(params => (Object.values(params).some(Number.isNaN) ? undefined : { value: arithmetic(params) }))
}
