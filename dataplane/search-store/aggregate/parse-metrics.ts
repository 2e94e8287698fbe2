/** Aggregations that compute values: min, max, avg, sum, value_count, stats, percentiles, cardinality, top_hits. */

import { illegalArgument, unsupported } from '../api-error.ts'
import { readArray, readBoolean, readInteger, readNumber, readObject, refuseUnknown } from '../json/json-reader.ts'
import { parseSort } from '../query/parse/sort-spec.ts'
import { parseSourceFilter } from '../query/show/source-filter.ts'
import { readField, readMissing } from './parse-buckets.ts'
import type { MetricSpec, SimpleMetric } from './spec.ts'

const simple =
  (type: SimpleMetric) =>
  (body: unknown): MetricSpec => {
    const content = readObject(body, type)
    refuseUnknown(content, type, ['field', 'script', 'missing'])
    return { type, field: readField(content, type), ...readMissing(content, type) }
  }

export const METRIC_PARSERS: Readonly<Record<string, (body: unknown) => MetricSpec>> = {
  min: simple('min'),
  max: simple('max'),
  avg: simple('avg'),
  sum: simple('sum'),
  value_count: simple('value_count'),
  stats: simple('stats'),
  percentiles: parsePercentiles,
  cardinality: parseCardinality,
  extended_stats: parseExtendedStats,
  top_hits: parseTopHits,
}

const DEFAULT_PERCENTS = [1, 5, 25, 50, 75, 95, 99]
const MAX_PERCENTS = 1000

function parsePercentiles(body: unknown): MetricSpec {
  const content = readObject(body, 'percentiles')
  refuseUnknown(content, 'percentiles', ['field', 'script', 'percents', 'keyed', 'missing', 'tdigest', 'hdr'])
  if (content['hdr'] !== undefined) throw unsupported('aggregation [percentiles]: [hdr]')
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
    ...readMissing(content, 'percentiles'),
  }
}

function parseExtendedStats(body: unknown): MetricSpec {
  const content = readObject(body, 'extended_stats')
  refuseUnknown(content, 'extended_stats', ['field', 'script', 'missing', 'sigma'])
  const sigma = content['sigma'] === undefined ? 2 : readNumber(content['sigma'], 'extended_stats.sigma')
  if (sigma < 0) throw illegalArgument(`[sigma] must be greater than or equal to 0. Found [${sigma}] in [extended_stats]`)
  return { type: 'extended_stats', field: readField(content, 'extended_stats'), sigma, ...readMissing(content, 'extended_stats') }
}

function parseCardinality(body: unknown): MetricSpec {
  const content = readObject(body, 'cardinality')
  refuseUnknown(content, 'cardinality', ['field', 'script', 'precision_threshold', 'missing', 'execution_hint'])
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
  }
}
