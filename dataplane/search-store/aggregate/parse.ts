/** The `aggs` member of a search. */
import { ApiError, illegalArgument, parsingError, unsupported } from '../api-error.ts'
import { isObject, readObject, words } from '../json/json-reader.ts'
import { BUCKET_PARSERS } from './parse-buckets.ts'
import { parseComposite } from './parse-composite.ts'
import { METRIC_PARSERS } from './parse-metrics.ts'
import { isPipeline, type ParsedPipeline, parsePipeline } from './parse-pipelines.ts'
import { orderPipelines } from './pipelines.ts'
import type { AggregationSpec, BucketSpec, MetricSpec } from './spec.ts'

export type { AggregationSpec } from './spec.ts'

const MAX_DEPTH = 20
const MAX_AGGREGATIONS = 200

const PARSERS: Readonly<Record<string, (body: unknown) => BucketSpec | MetricSpec>> = {
  ...BUCKET_PARSERS,
  composite: parseComposite,
  ...METRIC_PARSERS,
}

const KNOWN_ELSEWHERE = new Set(
  words(`
    nested reverse_nested global sampler diversified_sampler significant_terms significant_text rare_terms multi_terms
    auto_date_histogram variable_width_histogram ip_range geo_distance geohash_grid geotile_grid geohex_grid adjacency_matrix children
    parent percentile_ranks median_absolute_deviation scripted_metric weighted_avg matrix_stats geo_bounds geo_centroid
    avg_bucket sum_bucket min_bucket max_bucket stats_bucket extended_stats_bucket percentiles_bucket bucket_selector bucket_sort
  `),
)

/** Throws 400 for what is malformed, unknown, not supported or out of bounds. */
export function parseAggregations(value: unknown): readonly AggregationSpec[] {
  return value === undefined ? [] : parseLevel(value, undefined, 1, { count: 0 }).below
}

type Level = Pick<AggregationSpec, 'below' | 'pipelines'>

/** `above`: the kind of the aggregation that these are below. */
function parseLevel(value: unknown, above: AggregationSpec['type'] | undefined, depth: number, total: { count: number }): Level {
  if (depth > MAX_DEPTH) throw parsingError(`aggregations are nested deeper than ${MAX_DEPTH} levels`)
  const parsed = Object.entries(readObject(value, 'aggs')).map(([name, body]) => {
    if (++total.count > MAX_AGGREGATIONS) throw illegalArgument(`a search may hold at most ${MAX_AGGREGATIONS} aggregations`)
    return parseOne(name, body, above, depth, total)
  })
  const below = parsed.filter((spec): spec is AggregationSpec => !isParsedPipeline(spec))
  return { below, pipelines: orderPipelines(above, below, parsed.filter(isParsedPipeline)) }
}

const isParsedPipeline = (spec: AggregationSpec | ParsedPipeline): spec is ParsedPipeline => 'paths' in spec

const NOTHING: Level = { below: [], pipelines: [] }

function parseOne(
  name: string,
  value: unknown,
  above: AggregationSpec['type'] | undefined,
  depth: number,
  total: { count: number },
): AggregationSpec | ParsedPipeline {
  if (name === '' || /[[\]>]/.test(name))
    throw parsingError(`Invalid aggregation name [${name}]. Aggregation names can contain any character except '[', ']', and '>'`)
  if (!isObject(value)) throw parsingError(`Aggregation definition for [${name}] must be an object`)
  const types = Object.keys(value).filter(key => key !== 'aggs' && key !== 'aggregations' && key !== 'meta')
  if (types.length === 0) throw parsingError(`Missing definition for aggregation [${name}]`)
  if (types.length > 1) throw parsingError(`Found two aggregation type definitions in [${name}]: [${types[0]}] and [${types[1]}]`)
  if (value['meta'] !== undefined) throw unsupported(`aggregation [${name}]: [meta]`)
  const type = types[0]!
  if (isPipeline(type)) return parsePipeline(type, name, value[type])
  if (type === 'composite' && above !== undefined && above !== 'filter')
    throw illegalArgument(`[composite] aggregation cannot be used with a parent aggregation of type: [${above}]`)
  if (!Object.hasOwn(PARSERS, type)) {
    if (KNOWN_ELSEWHERE.has(type)) throw unsupported(`aggregation type [${type}]`)
    throw parsingError(`Unknown aggregation type [${type}]`)
  }
  const below = value['aggs'] ?? value['aggregations']
  if (below !== undefined && Object.hasOwn(METRIC_PARSERS, type))
    throw new ApiError(400, 'aggregation_initialization_exception', `Aggregator [${name}] of type [${type}] cannot accept sub-aggregations`)
  const own = PARSERS[type]!(value[type])
  const spec: AggregationSpec = { name, ...(below === undefined ? NOTHING : parseLevel(below, own.type, depth + 1, total)), ...own }
  checkOrders(spec)
  return spec
}

const DIRECT = new Set(['_count', '_key', '_term', '_time'])

/** An order by a metric must name one that stands below. */
function checkOrders(spec: AggregationSpec): void {
  if (spec.type !== 'terms' && spec.type !== 'histogram' && spec.type !== 'date_histogram') return
  for (const { path } of Array.isArray(spec.order) ? spec.order : [spec.order]) {
    if (DIRECT.has(path)) continue
    const name = path.split(/[.>]/)[0]
    if (path.includes('>')) throw unsupported(`aggregation [${spec.name}]: order by the nested path [${path}]`)
    if (!spec.below.some(each => each.name === name))
      throw new ApiError(
        400,
        'aggregation_execution_exception',
        `Invalid aggregator order path [${path}]. The provided aggregation [${name}] either does not exist, or is a pipeline aggregation and cannot be used to sort the buckets.`,
      )
  }
}
