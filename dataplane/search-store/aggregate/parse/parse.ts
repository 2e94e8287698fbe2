/** The `aggs` member of a search. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { ApiError, illegalArgument, parsingError, unknownName, unsupported } from '../../api-error.ts'
import { readObject, words } from '../../json/json-reader.ts'
import { checkSummaries, orderPipelines } from '../pipelines/pipelines.ts'
import type { AggregationSpec, BucketSpec, MetricSpec, SummarySpec } from '../spec.ts'
import { orderPath } from './order-path.ts'
import { BUCKET_PARSERS } from './parse-buckets.ts'
import { parseComposite } from './parse-composite.ts'
import { METRIC_PARSERS } from './parse-metrics.ts'
import { isPipeline, type ParsedPipeline, parsePipeline } from './parse-pipelines.ts'
import { isSummary, parseSummary } from './parse-summaries.ts'

export type { AggregationSpec, SummarySpec } from '../spec.ts'

const MAX_DEPTH = 20
const MAX_AGGREGATIONS = 200

const PARSERS: Readonly<Record<string, (body: unknown, name: string) => BucketSpec | MetricSpec>> = {
  ...BUCKET_PARSERS,
  composite: parseComposite,
  ...METRIC_PARSERS,
}

const KNOWN_ELSEWHERE = new Set(
  words(`
    nested reverse_nested global sampler diversified_sampler significant_terms significant_text
    auto_date_histogram variable_width_histogram ip_range geo_distance geohash_grid geotile_grid geohex_grid children
    parent scripted_metric matrix_stats geo_bounds geo_centroid bucket_selector
  `),
)

/** Throws 400 for what is malformed, unknown, not supported or out of bounds. */
export function parseAggregations(value: unknown): Level {
  return value === undefined ? NOTHING : parseLevel(value, undefined, 1, { count: 0 })
}

type Level = Pick<AggregationSpec, 'below' | 'pipelines' | 'summaries'>

/** `above`: the kind of the aggregation that these are below. */
function parseLevel(value: unknown, above: AggregationSpec['type'] | undefined, depth: number, total: { count: number }): Level {
  if (depth > MAX_DEPTH) throw parsingError(`aggregations are nested deeper than ${MAX_DEPTH} levels`)
  const parsed = Object.entries(readObject(value, 'aggs')).map(([name, body]) => {
    if (++total.count > MAX_AGGREGATIONS) throw illegalArgument(`a search may hold at most ${MAX_AGGREGATIONS} aggregations`)
    return parseOne(name, body, above, depth, total)
  })
  const below = parsed.filter(spec => 'below' in spec)
  const summaries = parsed.filter(spec => 'path' in spec)
  checkSummaries(below, summaries)
  const pipelines = parsed.filter(spec => 'paths' in spec)
  return { below, pipelines: orderPipelines(above, [...below, ...summaries], pipelines), summaries }
}

const NOTHING: Level = { below: [], pipelines: [], summaries: [] }

function parseOne(
  name: string,
  value: unknown,
  above: AggregationSpec['type'] | undefined,
  depth: number,
  total: { count: number },
): AggregationSpec | ParsedPipeline | SummarySpec {
  if (name === '' || /[[\]>]/.test(name))
    throw parsingError(`Invalid aggregation name [${name}]. Aggregation names can contain any character except '[', ']', and '>'`)
  if (!isJsonObject(value)) throw parsingError(`Aggregation definition for [${name}] must be an object`)
  const types = Object.keys(value).filter(key => key !== 'aggs' && key !== 'aggregations' && key !== 'meta')
  if (types.length === 0) throw parsingError(`Missing definition for aggregation [${name}]`)
  if (types.length > 1) throw parsingError(`Found two aggregation type definitions in [${name}]: [${types[0]}] and [${types[1]}]`)
  const type = types[0]!
  const meta = value['meta'] === undefined ? undefined : readObject(value['meta'], `${name}.meta`)
  if (meta !== undefined && (isPipeline(type) || isSummary(type))) throw unsupported(`aggregation [${name}] of type [${type}]: [meta]`)
  if (isPipeline(type)) return parsePipeline(type, name, value[type])
  if (isSummary(type)) return parseSummary(type, name, value[type])
  if (type === 'composite' && above !== undefined && above !== 'filter')
    throw illegalArgument(`[composite] aggregation cannot be used with a parent aggregation of type: [${above}]`)
  if (!Object.hasOwn(PARSERS, type)) {
    if (KNOWN_ELSEWHERE.has(type)) throw unsupported(`aggregation type [${type}]`)
    throw unknownName(`Unknown aggregation type [${type}]`)
  }
  const below = value['aggs'] ?? value['aggregations']
  if (below !== undefined && Object.hasOwn(METRIC_PARSERS, type))
    throw new ApiError(400, 'aggregation_initialization_exception', `Aggregator [${name}] of type [${type}] cannot accept sub-aggregations`)
  const own = PARSERS[type]!(value[type], name)
  const spec: AggregationSpec = {
    name,
    ...(below === undefined ? NOTHING : parseLevel(below, own.type, depth + 1, total)),
    ...own,
    ...(meta !== undefined && { meta }),
  }
  checkOrders(spec)
  return spec
}

const DIRECT = new Set(['_count', '_key', '_term', '_time'])

/** An order by a metric must name one that stands below, or below aggregations of one bucket. */
function checkOrders(spec: AggregationSpec): void {
  if (!('order' in spec)) return
  for (const { path } of Array.isArray(spec.order) ? spec.order : [spec.order]) {
    if (DIRECT.has(path)) continue
    let { below } = spec
    for (const [at, name] of orderPath(path).names.entries()) {
      const found = below.find(each => each.name === name)
      if (found === undefined)
        throw badOrder(
          path,
          `The provided aggregation [${name}] either does not exist, or is a pipeline aggregation and cannot be used to sort the buckets.`,
        )
      below = found.below
      if (at < orderPath(path).names.length - 1 && !ONE_BUCKET.has(found.type))
        throw badOrder(
          path,
          'Buckets can only be sorted on a sub-aggregator path that is built out of zero or more single-bucket aggregations within the path ' +
            `and a final single-bucket or a metrics aggregation at the path end. Sub-path [${name}] points to non single-bucket aggregation`,
        )
    }
  }
}

const ONE_BUCKET = new Set<AggregationSpec['type']>(['filter', 'missing'])

const badOrder = (path: string, why: string): ApiError =>
  new ApiError(400, 'aggregation_execution_exception', `Invalid aggregator order path [${path}]. ${why}`)
