/** Aggregations that compute values: min, max, avg, sum, value_count, stats, percentiles and ranks, cardinality, top_hits. */

import { illegalArgument, unsupported } from '../../api-error.ts'
import { optionalBoolean, readArray, readBoolean, readInteger, readNumber, readObject, refuseUnknown } from '../../json/json-reader.ts'
import { parseSort } from '../../query/parse/sort-spec.ts'
import { parseSourceFilter } from '../../query/show/source-filter.ts'
import { javaDouble } from '../java-double.ts'
import type { MetricSpec, SimpleMetric, ValueSource } from '../spec.ts'
import { readField, readMissing } from './parse-buckets.ts'

const simple =
  (type: SimpleMetric) =>
  (body: unknown): MetricSpec => {
    const content = readObject(body, type)
    refuseUnknown(content, type, ['field', 'script', 'missing'])
    return { type, field: readField(content, type), ...readMissing(content, type) }
  }

export const METRIC_PARSERS: Readonly<Record<string, (body: unknown, name: string) => MetricSpec>> = {
  min: simple('min'),
  max: simple('max'),
  avg: simple('avg'),
  sum: simple('sum'),
  value_count: simple('value_count'),
  stats: simple('stats'),
  percentiles: parsePercentiles,
  percentile_ranks: parsePercentileRanks,
  cardinality: parseCardinality,
  extended_stats: parseExtendedStats,
  top_hits: parseTopHits,
  median_absolute_deviation: (body, name) => {
    const content = readObject(body, 'median_absolute_deviation')
    refuseUnknown(content, 'median_absolute_deviation', ['field', 'script', 'missing', 'compression'])
    const compression = content['compression'] === undefined ? 1 : readNumber(content['compression'], 'compression')
    if (!(compression > 0)) throw illegalArgument(`[compression] must be greater than 0. Found [${javaDouble(compression)}] in [${name}]`)
    const field = readField(content, 'median_absolute_deviation')
    return { type: 'median_absolute_deviation', field, ...readMissing(content, 'median_absolute_deviation') }
  },
  weighted_avg: body => {
    const content = readObject(body, 'weighted_avg')
    refuseUnknown(content, 'weighted_avg', ['value', 'weight', 'format', 'value_type'])
    for (const key of ['format', 'value_type']) if (content[key] !== undefined) throw unsupported(`aggregation [weighted_avg]: [${key}]`)
    return { type: 'weighted_avg', value: readSource(content['value'], 'value'), weight: readSource(content['weight'], 'weight') }
  },
}

function readSource(value: unknown, name: string): ValueSource {
  const where = `weighted_avg.${name}`
  const content = readObject(value, where)
  refuseUnknown(content, where, ['field', 'script', 'missing'])
  return { field: readField(content, where), ...readMissing(content, where) }
}

export const DEFAULT_PERCENTS = [1, 5, 25, 50, 75, 95, 99]
export const MAX_PERCENTS = 1000

function parsePercentiles(body: unknown): MetricSpec {
  const content = readObject(body, 'percentiles')
  refuseUnknown(content, 'percentiles', ['field', 'script', 'percents', 'keyed', 'missing', 'tdigest', 'hdr'])
  checkCompression(content['tdigest'], 'percentiles.tdigest')
  const hdr = content['hdr'] === undefined ? undefined : readObject(content['hdr'], 'percentiles.hdr')
  if (hdr !== undefined) refuseUnknown(hdr, 'percentiles.hdr', ['number_of_significant_value_digits'])
  const digits =
    hdr === undefined
      ? undefined
      : readNumber(
          hdr['number_of_significant_value_digits'] === undefined ? 3 : hdr['number_of_significant_value_digits'],
          'number_of_significant_value_digits',
        )
  if (digits !== undefined && !(Number.isInteger(digits) && digits >= 0 && digits <= 5))
    throw illegalArgument('[numberOfSignificantValueDigits] must be between 0 and 5: [percentiles]')
  const percents = content['percents'] === undefined ? DEFAULT_PERCENTS : readArray(content['percents'], 'percentiles.percents')
  if (percents.length === 0) throw illegalArgument('[percents] must not be empty')
  if (percents.length > MAX_PERCENTS) throw illegalArgument(`[percents] may hold at most ${MAX_PERCENTS} values, found ${percents.length}`)
  return {
    type: 'percentiles',
    field: readField(content, 'percentiles'),
    percents: percents
      .map(item => {
        const percent = readNumber(item, 'percentiles.percents')
        if (percent < 0 || percent > 100) throw illegalArgument(`percent must be in [0,100], got [${percent}]: [percentiles]`)
        return percent
      })
      .sort((a, b) => a - b),
    keyed: content['keyed'] === undefined || readBoolean(content['keyed'], 'percentiles.keyed'),
    ...(digits !== undefined && { digits }),
    ...readMissing(content, 'percentiles'),
  }
}

/** The compression is that of estimates; here values are exact, or finer. */
function checkCompression(tdigest: unknown, where: string): void {
  const { compression = 1 } = tdigest === undefined ? {} : readObject(tdigest, where)
  const given = readNumber(compression, `${where}.compression`)
  if (given < 0) throw illegalArgument(`[compression] must be greater than or equal to 0. Found [${javaDouble(given)}]`)
}

function parsePercentileRanks(body: unknown, name: string): MetricSpec {
  const content = readObject(body, 'percentile_ranks')
  refuseUnknown(content, 'percentile_ranks', ['field', 'script', 'values', 'keyed', 'missing', 'tdigest', 'hdr'])
  checkCompression(content['tdigest'], 'percentile_ranks.tdigest')
  if (content['hdr'] !== undefined) throw unsupported('aggregation [percentile_ranks]: [hdr]')
  const given = content['values'] ?? undefined
  if (given === undefined) throw illegalArgument(`[values] must not be null: [${name}]`)
  const values = (Array.isArray(given) ? given : [given]).map(value => readNumber(value, 'percentile_ranks.values'))
  if (values.length === 0) throw illegalArgument(`[values] must not be an empty array: [${name}]`)
  if (values.length > MAX_PERCENTS) throw illegalArgument(`[values] may hold at most ${MAX_PERCENTS} values, found ${values.length}`)
  return {
    type: 'percentile_ranks',
    field: readField(content, 'percentile_ranks'),
    values: values.sort((a, b) => a - b),
    keyed: optionalBoolean(content, 'keyed', true),
    ...readMissing(content, 'percentile_ranks'),
  }
}

function parseExtendedStats(body: unknown, name: string): MetricSpec {
  const content = readObject(body, 'extended_stats')
  refuseUnknown(content, 'extended_stats', ['field', 'script', 'missing', 'sigma'])
  const sigma = content['sigma'] === undefined ? 2 : readNumber(content['sigma'], 'extended_stats.sigma')
  if (sigma < 0) throw illegalArgument(`[sigma] must be greater than or equal to 0. Found [${javaDouble(sigma)}] in [${name}]`)
  return { type: 'extended_stats', field: readField(content, 'extended_stats'), sigma, ...readMissing(content, 'extended_stats') }
}

function parseCardinality(body: unknown, name: string): MetricSpec {
  const content = readObject(body, 'cardinality')
  refuseUnknown(content, 'cardinality', ['field', 'script', 'precision_threshold', 'missing', 'execution_hint'])
  const threshold =
    content['precision_threshold'] === undefined
      ? 0
      : readInteger(content['precision_threshold'], 'precision_threshold', Number.MIN_SAFE_INTEGER)
  if (threshold < 0) throw illegalArgument(`[precisionThreshold] must be greater than or equal to 0. Found [${threshold}] in [${name}]`)
  return { type: 'cardinality', field: readField(content, 'cardinality'), ...readMissing(content, 'cardinality') }
}

const TOP_HITS_KEYS = ['from', 'size', 'sort', '_source', 'track_scores', 'version', 'seq_no_primary_term', 'explain']
const MAX_TOP_HITS = 100

function parseTopHits(body: unknown): MetricSpec {
  const content = readObject(body, 'top_hits')
  for (const key of ['highlight', 'script_fields', 'docvalue_fields', 'fields', 'stored_fields'])
    if (content[key] !== undefined) throw unsupported(`aggregation [top_hits]: [${key}]`)
  refuseUnknown(content, 'top_hits', TOP_HITS_KEYS)
  if (content['explain'] === true) throw unsupported('aggregation [top_hits]: [explain]')
  const from = content['from'] === undefined ? 0 : readInteger(content['from'], 'top_hits.from', 0)
  const size = content['size'] === undefined ? 3 : readInteger(content['size'], 'top_hits.size', 0)
  if (from + size > MAX_TOP_HITS)
    throw illegalArgument(
      `Top hits result window is too large, the top hits aggregator [top_hits]'s from + size must be less than or equal to: [${MAX_TOP_HITS}] but was [${from + size}]. ` +
        'This limit can be set by changing the [index.max_inner_result_window] index level setting.',
    )
  return {
    type: 'top_hits',
    from,
    size,
    sort: content['sort'] === undefined ? [] : parseSort(content['sort']),
    source: parseSourceFilter(content['_source']),
    showVersion: optionalBoolean(content, 'version'),
    showSeqNo: optionalBoolean(content, 'seq_no_primary_term'),
  }
}
