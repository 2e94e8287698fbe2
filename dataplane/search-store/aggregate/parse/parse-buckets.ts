/** Aggregations that make buckets: terms of several kinds, histograms, ranges, filters. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { regexPattern } from '../../analysis/regular-expression.ts'
import { ApiError, illegalArgument, parsingError, refusedByShards, unsupported } from '../../api-error.ts'
import { type CalendarUnit, LEAST_MS, UNIT_MS } from '../../dates/calendar.ts'
import { parseDateFormat } from '../../dates/date-format.ts'
import { parseTimeZone, UTC } from '../../dates/time-zone.ts'
import {
  type JsonObject,
  readArray,
  readBoolean,
  readInteger,
  readNumber,
  readObject,
  readScalar,
  readString,
  refuseUnknown,
  words,
} from '../../json/json-reader.ts'
import { textOf } from '../../json/text-of.ts'
import type { FieldType } from '../../mapping/field-types.ts'
import { NOT_AGGREGATED } from '../../mapping/metadata-fields.ts'
import { parseQuery } from '../../query/parse/parse.ts'
import { MAX_TERMS, type Query } from '../../query/parse/query.ts'
import type { BoundsSpec, BucketOrder, BucketSpec, RangeSpec, TermChoice, TermFilter } from '../spec.ts'

export const BUCKET_PARSERS: Readonly<Record<string, (body: unknown, name: string) => BucketSpec>> = {
  terms: parseTerms,
  rare_terms: parseRareTerms,
  multi_terms: parseMultiTerms,
  date_histogram: parseDateHistogram,
  histogram: parseHistogram,
  range: body => parseRange(body, 'range'),
  date_range: body => parseRange(body, 'date_range'),
  filters: parseFilters,
  adjacency_matrix: parseAdjacencyMatrix,
  filter: body => ({ type: 'filter', query: parseQuery(body) }),
  missing: body => {
    const content = readObject(body, 'missing')
    refuseUnknown(content, 'missing', ['field'])
    return { type: 'missing', field: readField(content, 'missing') }
  },
}

/** Buckets in one answer (`search.max_buckets`). */
export const MAX_BUCKETS = 65_535

export const tooManyBuckets = (count: number): ApiError =>
  new ApiError(
    400,
    'too_many_buckets_exception',
    `Trying to create too many buckets. Must be less than or equal to: [${MAX_BUCKETS}] but was [${count}]. ` +
      'This limit can be set by changing the [search.max_buckets] cluster level setting.',
    { details: { max_buckets: MAX_BUCKETS } },
  )

export function readField(content: JsonObject, type: string): string {
  if (content['script'] !== undefined) throw unsupported(`aggregation [${type}]: [script]`)
  if (content['field'] === undefined) throw illegalArgument(`Required one of fields [field, script], but none were specified in [${type}]`)
  const field = readString(content['field'], `${type}.field`)
  if (NOT_AGGREGATED.has(field)) throw unsupported(`aggregation [${type}] on the field [${field}]`)
  return field
}

export function readMissing(content: JsonObject, type: string): { missing?: string | number | boolean } {
  return content['missing'] === undefined ? {} : { missing: readScalar(content['missing'], `${type}.missing`) }
}

function readOrders(value: unknown, type: string): readonly BucketOrder[] {
  return (Array.isArray(value) ? value : [value]).flatMap(item =>
    Object.entries(readObject(item, `${type}.order`)).map(([path, direction]) => {
      const name = readString(direction, `${type}.order.${path}`).toLowerCase()
      if (name !== 'asc' && name !== 'desc') throw parsingError(`Unknown order direction [${name}]`)
      return { path, isAscending: name === 'asc' }
    }),
  )
}

const TERMS_KEYS = words(`
  field script size shard_size order min_doc_count shard_min_doc_count missing include exclude show_term_doc_count_error
  collect_mode execution_hint value_type
`)

function parseTerms(body: unknown): BucketSpec {
  const content = readObject(body, 'terms')
  refuseUnknown(content, 'terms', TERMS_KEYS)
  const valueType = content['value_type'] === undefined ? undefined : VALUE_TYPES.get(readString(content['value_type'], 'terms.value_type'))
  if (content['value_type'] !== undefined && valueType === undefined)
    throw unsupported(`aggregation [terms]: [value_type] [${textOf(content['value_type'])}]`)
  return {
    ...{ type: 'terms', field: content['field'] === '_index' ? '_index' : readField(content, 'terms'), ...readFirst(content, 'terms') },
    ...(valueType !== undefined && { valueType }),
    ...readMissing(content, 'terms'),
    ...readTermFilter(content, 'terms'),
  }
}

const VALUE_TYPES: ReadonlyMap<string, FieldType> = new Map([
  ['string', 'keyword'],
  ['long', 'long'],
  ['double', 'double'],
  ['number', 'double'],
  ['numeric', 'double'],
  ['date', 'date'],
  ['boolean', 'boolean'],
])

/** How many buckets, and which first. */
function readFirst(content: JsonObject, type: string) {
  return {
    size: content['size'] === undefined ? 10 : readInteger(content['size'], `${type}.size`, 1, MAX_BUCKETS),
    order: content['order'] === undefined ? [{ path: '_count', isAscending: false }] : readOrders(content['order'], type),
    minDocCount: content['min_doc_count'] === undefined ? 1 : readInteger(content['min_doc_count'], `${type}.min_doc_count`, 0),
    showsErrors: readBoolean(content['show_term_doc_count_error'] ?? false, `${type}.show_term_doc_count_error`),
  }
}

const MAX_RARE_COUNT = 100

function parseRareTerms(body: unknown): BucketSpec {
  const content = readObject(body, 'rare_terms')
  refuseUnknown(content, 'rare_terms', ['field', 'script', 'max_doc_count', 'precision', 'missing', 'include', 'exclude', 'value_type'])
  const limit = content['max_doc_count'] === undefined ? 1 : readInteger(content['max_doc_count'], 'rare_terms.max_doc_count', 0)
  if (limit < 1) throw illegalArgument(`[max_doc_count] must be greater than 0. Found [${limit}] in [rare_terms]`)
  if (limit > MAX_RARE_COUNT) throw illegalArgument(`[max_doc_count] must be smaller than [${MAX_RARE_COUNT}]in [rare_terms]`)
  return {
    ...{ type: 'rare_terms', field: readField(content, 'rare_terms'), maxDocCount: limit },
    ...readMissing(content, 'rare_terms'),
    ...readTermFilter(content, 'rare_terms'),
  }
}

const MULTI_TERMS_KEYS = words('terms size shard_size order min_doc_count shard_min_doc_count show_term_doc_count_error collect_mode')

function parseMultiTerms(body: unknown): BucketSpec {
  const content = readObject(body, 'multi_terms')
  refuseUnknown(content, 'multi_terms', MULTI_TERMS_KEYS)
  const sources = readArray(content['terms'] ?? [], 'multi_terms.terms').map(item => {
    const source = readObject(item, 'multi_terms.terms')
    refuseUnknown(source, 'multi_terms.terms', ['field', 'script', 'missing', 'value_type'])
    return { field: readField(source, 'multi_terms'), ...readMissing(source, 'multi_terms') }
  })
  if (sources.length < 2)
    throw illegalArgument(`multi term aggregation must has at least 2 terms. Found [${sources.length}] in [multi_terms]`)
  if (sources.length > MAX_SOURCES)
    throw illegalArgument(`[multi_terms.terms] may hold at most ${MAX_SOURCES} entries, found ${sources.length}`)
  const first = readFirst(content, 'multi_terms')
  if (first.minDocCount === 0) throw unsupported('aggregation [multi_terms]: [min_doc_count] 0')
  return { type: 'multi_terms', sources, ...first }
}

const MAX_SOURCES = 32

function readTermFilter(content: JsonObject, type: string): TermFilter {
  const include = readChoice(content['include'], `${type}.include`)
  const exclude = readChoice(content['exclude'], `${type}.exclude`)
  if (exclude !== undefined && ('partition' in exclude || (include !== undefined && 'partition' in include)))
    throw parsingError('Cannot specify an [exclude] beside an [include] by partition')
  return { ...(include !== undefined && { include }), ...(exclude !== undefined && { exclude }) }
}

function readChoice(value: unknown, where: string): TermChoice | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return { pattern: regexPattern(value, { caseInsensitive: false, flags: 'ALL' }) }
  if (isJsonObject(value)) {
    refuseUnknown(value, where, ['partition', 'num_partitions'])
    const partitions = readInteger(value['num_partitions'], `${where}.num_partitions`, 2)
    return { partitions, partition: readInteger(value['partition'], `${where}.partition`, 0, partitions - 1) }
  }
  const list = readArray(value, where)
  if (list.length > MAX_TERMS) throw illegalArgument(`[${where}] may hold at most ${MAX_TERMS} values, found ${list.length}`)
  return { names: new Set(list.map(item => String(readScalar(item, where)))) }
}

function parseAdjacencyMatrix(body: unknown): BucketSpec {
  const content = readObject(body, 'adjacency_matrix')
  refuseUnknown(content, 'adjacency_matrix', ['filters', 'separator', 'show_only_intersecting'])
  const filters = Object.entries(readObject(content['filters'] ?? {}, 'adjacency_matrix.filters'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, query]) => ({ key, query: parseQuery(query) }))
  if (filters.length === 0) throw illegalArgument('[filters] cannot be empty.')
  if (filters.length > MAX_MATRIX_FILTERS)
    throw illegalArgument(
      `Number of filters is too large, must be less than or equal to: [${MAX_MATRIX_FILTERS}] but was [${filters.length}]. ` +
        'This limit can be set by changing the [index.max_adjacency_matrix_filters] index level setting.',
    )
  return {
    type: 'adjacency_matrix',
    filters,
    separator: content['separator'] === undefined ? '&' : readString(content['separator'], 'adjacency_matrix.separator'),
    showsPairsAlone:
      content['show_only_intersecting'] !== undefined && readBoolean(content['show_only_intersecting'], 'show_only_intersecting'),
  }
}

const MAX_MATRIX_FILTERS = 100

/** Each unit by its name and by its sign. */
const CALENDAR: Readonly<Record<string, CalendarUnit>> = Object.fromEntries(
  Object.entries({
    second: '1s',
    minute: '1m',
    hour: '1h',
    day: '1d',
    week: '1w',
    month: '1M',
    quarter: '1q',
    year: '1y',
  } as const).flatMap(([unit, sign]) => [[unit, unit] as const, [sign, unit] as const]),
) as Record<string, CalendarUnit>

/** All times that a record may have lie within it. */
const MAX_INTERVAL_MS = 10_000 * 365 * UNIT_MS.day

const FIXED_MS: Readonly<Record<string, number>> = { ms: 1, s: UNIT_MS.second, m: UNIT_MS.minute, h: UNIT_MS.hour, d: UNIT_MS.day }

function fixedMs(text: string): number | undefined {
  const match = /^(\d{1,16})(ms|s|m|h|d)$/.exec(text)
  const ms = match === null ? 0 : Number(match[1]) * FIXED_MS[match[2]!]!
  return ms > 0 && ms <= MAX_INTERVAL_MS ? ms : undefined
}

/** Milliseconds of an interval such as `1h` or `month`, those of the calendar about. Throws 400. */
export function intervalMs(text: string): number {
  const unit = Object.hasOwn(CALENDAR, text) ? CALENDAR[text] : undefined
  const ms = unit === undefined ? fixedMs(text) : LEAST_MS[unit]
  if (ms === undefined) throw illegalArgument(`failed to parse [${text}] as an interval`)
  return ms
}

function readInterval(content: JsonObject): { ms: number } | { unit: CalendarUnit } {
  const given = ['fixed_interval', 'calendar_interval', 'interval'].filter(key => content[key] !== undefined)
  if (given.length === 0) throw refusedByShards('Invalid interval specified, must be non-null and non-empty')
  if (given.length > 1) throw illegalArgument(`Cannot use [${given[0]}] with [${given[1]}] configuration option.`)
  const key = given[0]!
  const text = typeof content[key] === 'number' ? `${content[key]}ms` : readString(content[key], `date_histogram.${key}`)
  const unit = Object.hasOwn(CALENDAR, text) ? CALENDAR[text] : undefined
  if (key !== 'fixed_interval' && unit !== undefined) return { unit }
  if (key === 'calendar_interval') throw illegalArgument(`The supplied interval [${text}] could not be parsed as a calendar interval.`)
  const ms = fixedMs(text)
  if (ms === undefined)
    throw illegalArgument(
      `failed to parse setting [date_histogram.${key}] with value [${text}] as a time value: it must be a whole number above 0 with the unit ms, s, m, h or d`,
    )
  return { ms }
}

function readOffsetMs(value: unknown): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return readInteger(value, 'date_histogram.offset', Number.MIN_SAFE_INTEGER)
  const text = readString(value, 'date_histogram.offset')
  const ms = fixedMs(text.replace(/^[+-]/, ''))
  if (ms === undefined)
    throw illegalArgument(`failed to parse setting [DateHistogramAggregationBuilder.parseOffset] with value [${text}] as a time value`)
  return text.startsWith('-') ? -ms : ms
}

function readBounds(value: unknown, where: string): BoundsSpec {
  const content = readObject(value, where)
  refuseUnknown(content, where, ['min', 'max'])
  return {
    ...(content['min'] !== undefined && content['min'] !== null && { min: readScalar(content['min'], `${where}.min`) }),
    ...(content['max'] !== undefined && content['max'] !== null && { max: readScalar(content['max'], `${where}.max`) }),
  }
}

const BY_KEY: BucketOrder = { path: '_key', isAscending: true }

function readHistogramOptions(content: JsonObject, type: string) {
  const orders = content['order'] === undefined ? [BY_KEY] : readOrders(content['order'], type)
  if (orders.length !== 1) throw unsupported(`aggregation [${type}]: more than one [order]`)
  return {
    field: readField(content, type),
    minDocCount: content['min_doc_count'] === undefined ? 0 : readInteger(content['min_doc_count'], `${type}.min_doc_count`, 0),
    order: orders[0]!,
    keyed: content['keyed'] !== undefined && readBoolean(content['keyed'], `${type}.keyed`),
    ...readMissing(content, type),
  }
}

const HISTOGRAM_KEYS = ['field', 'script', 'interval', 'offset', 'min_doc_count', 'order', 'keyed', 'missing', 'extended_bounds']
const DATE_HISTOGRAM_KEYS = [...HISTOGRAM_KEYS, 'fixed_interval', 'calendar_interval', 'time_zone', 'format', 'hard_bounds']

function parseDateHistogram(body: unknown): BucketSpec {
  const content = readObject(body, 'date_histogram')
  refuseUnknown(content, 'date_histogram', DATE_HISTOGRAM_KEYS)
  return {
    type: 'date_histogram',
    ...readHistogramOptions(content, 'date_histogram'),
    interval: readInterval(content),
    zone: content['time_zone'] === undefined ? UTC : parseTimeZone(readString(content['time_zone'], 'date_histogram.time_zone')),
    offsetMs: readOffsetMs(content['offset']),
    ...(content['format'] !== undefined && { format: parseDateFormat(readString(content['format'], 'date_histogram.format')) }),
    ...(content['extended_bounds'] !== undefined && { extendedBounds: readBounds(content['extended_bounds'], 'extended_bounds') }),
    ...(content['hard_bounds'] !== undefined && { hardBounds: readBounds(content['hard_bounds'], 'hard_bounds') }),
  }
}

function parseHistogram(body: unknown): BucketSpec {
  const content = readObject(body, 'histogram')
  refuseUnknown(content, 'histogram', HISTOGRAM_KEYS)
  const interval = readNumber(content['interval'], 'histogram.interval')
  if (interval <= 0) throw illegalArgument('[interval] must be >0 for histogram aggregation [histogram]')
  const bounds = content['extended_bounds'] === undefined ? undefined : readBounds(content['extended_bounds'], 'extended_bounds')
  return {
    type: 'histogram',
    ...readHistogramOptions(content, 'histogram'),
    interval,
    offset: content['offset'] === undefined ? 0 : readNumber(content['offset'], 'histogram.offset'),
    ...(bounds !== undefined && {
      extendedBounds: {
        min: bounds.min === undefined ? Number.POSITIVE_INFINITY : readNumber(bounds.min, 'extended_bounds.min'),
        max: bounds.max === undefined ? Number.NEGATIVE_INFINITY : readNumber(bounds.max, 'extended_bounds.max'),
      },
    }),
  }
}

const MAX_RANGES = 1024

function parseRange(body: unknown, type: 'range' | 'date_range'): BucketSpec {
  const content = readObject(body, type)
  refuseUnknown(content, type, ['field', 'script', 'ranges', 'keyed', 'missing', ...(type === 'date_range' ? ['format', 'time_zone'] : [])])
  const ranges = readArray(content['ranges'] ?? [], `${type}.ranges`)
  if (ranges.length === 0) throw illegalArgument(`No [ranges] specified for the [${type}] aggregation`)
  if (ranges.length > MAX_RANGES) throw illegalArgument(`[${type}.ranges] may hold at most ${MAX_RANGES} entries, found ${ranges.length}`)
  return {
    type,
    field: readField(content, type),
    ranges: ranges.map(item => readRange(item, type)),
    keyed: content['keyed'] !== undefined && readBoolean(content['keyed'], `${type}.keyed`),
    ...readMissing(content, type),
    ...(content['format'] !== undefined && { format: parseDateFormat(readString(content['format'], `${type}.format`)) }),
    zone: content['time_zone'] === undefined ? UTC : parseTimeZone(readString(content['time_zone'], `${type}.time_zone`)),
  }
}

function readRange(item: unknown, type: string): RangeSpec {
  const range = readObject(item, `${type}.ranges`)
  refuseUnknown(range, `${type}.ranges`, ['key', 'from', 'to'])
  return {
    ...(range['key'] !== undefined && { key: readString(range['key'], `${type}.ranges.key`) }),
    ...(range['from'] !== undefined && range['from'] !== null && { from: readScalar(range['from'], `${type}.ranges.from`) }),
    ...(range['to'] !== undefined && range['to'] !== null && { to: readScalar(range['to'], `${type}.ranges.to`) }),
  }
}

function parseFilters(body: unknown): BucketSpec {
  const content = readObject(body, 'filters')
  refuseUnknown(content, 'filters', ['filters', 'other_bucket', 'other_bucket_key'])
  const given = content['filters']
  if (given === undefined) throw illegalArgument('[filters] cannot be empty.')
  const filters: { key: string | undefined; query: Query }[] = []
  if (isJsonObject(given)) for (const [key, query] of Object.entries(given)) filters.push({ key, query: parseQuery(query) })
  else for (const query of readArray(given, 'filters.filters')) filters.push({ key: undefined, query: parseQuery(query) })
  if (filters.length === 0) throw illegalArgument('[filters] cannot be empty.')
  if (filters.length > MAX_RANGES)
    throw illegalArgument(`[filters.filters] may hold at most ${MAX_RANGES} entries, found ${filters.length}`)
  // A key alone asks for the bucket.
  const hasOther =
    content['other_bucket'] === undefined
      ? content['other_bucket_key'] !== undefined
      : readBoolean(content['other_bucket'], 'filters.other_bucket')
  if (!hasOther) return { type: 'filters', filters }
  const otherKey =
    content['other_bucket_key'] === undefined ? '_other_' : readString(content['other_bucket_key'], 'filters.other_bucket_key')
  return { type: 'filters', filters, otherKey }
}
