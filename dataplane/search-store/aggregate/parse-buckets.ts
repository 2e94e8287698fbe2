/** Aggregations that make buckets: terms, histograms, ranges, filters. */
import { illegalArgument, parsingError, unsupported } from '../api-error.ts'
import { type CalendarUnit, LEAST_MS, UNIT_MS } from '../dates/calendar.ts'
import { DEFAULT_DATE_FORMAT, parseDateFormat } from '../dates/date-format.ts'
import { parseTimeZone, UTC } from '../dates/time-zone.ts'
import {
  isObject,
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
} from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
import { parseQuery } from '../query/parse/parse.ts'
import { MAX_TERMS, type Query } from '../query/parse/query.ts'
import type { BoundsSpec, BucketOrder, BucketSpec, RangeSpec } from './spec.ts'

export const BUCKET_PARSERS: Readonly<Record<string, (body: unknown) => BucketSpec>> = {
  terms: parseTerms,
  date_histogram: parseDateHistogram,
  histogram: parseHistogram,
  range: body => parseRange(body, 'range'),
  date_range: body => parseRange(body, 'date_range'),
  filters: parseFilters,
  filter: body => ({ type: 'filter', query: parseQuery(body) }),
  missing: body => {
    const content = readObject(body, 'missing')
    refuseUnknown(content, 'missing', ['field'])
    return { type: 'missing', field: readField(content, 'missing') }
  },
}

/** Buckets in one answer (`search.max_buckets`). */
export const MAX_BUCKETS = 65_535

/** OpenSearch has values of these, this store none: groups of nothing would be a wrong answer. */
const METADATA = new Set(['_id', '_index', '_seq_no', '_version', '_routing', '_primary_term', '_doc_count', '_tier'])

export function readField(content: JsonObject, type: string): string {
  if (content['script'] !== undefined) throw unsupported(`aggregation [${type}]: [script]`)
  if (content['field'] === undefined) throw illegalArgument(`Required one of fields [field, script], but none were specified in [${type}]`)
  const field = readString(content['field'], `${type}.field`)
  if (METADATA.has(field)) throw unsupported(`aggregation [${type}] on the field [${field}]`)
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
  if (content['value_type'] !== undefined) throw unsupported('aggregation [terms]: [value_type]')
  const include = readNames(content['include'], 'terms.include')
  const exclude = readNames(content['exclude'], 'terms.exclude')
  const orders = content['order'] === undefined ? [{ path: '_count', isAscending: false }] : readOrders(content['order'], 'terms')
  if (Number(textOf(content['min_doc_count'] ?? 1)) === 0) throw unsupported('aggregation [terms]: [min_doc_count] 0')
  return {
    type: 'terms',
    field: readField(content, 'terms'),
    size: content['size'] === undefined ? 10 : readInteger(content['size'], 'terms.size', 1, MAX_BUCKETS),
    order: orders,
    minDocCount: content['min_doc_count'] === undefined ? 1 : readInteger(content['min_doc_count'], 'terms.min_doc_count', 0),
    ...readMissing(content, 'terms'),
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
  }
}

function readNames(value: unknown, where: string): ReadonlySet<string> | undefined {
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw unsupported(`aggregation [terms]: [${where}] as anything but a list of values`)
  if (value.length > MAX_TERMS) throw illegalArgument(`[${where}] may hold at most ${MAX_TERMS} values, found ${value.length}`)
  return new Set(value.map(item => String(readScalar(item, where))))
}

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

const FIXED_MS: Readonly<Record<string, number>> = { ms: 1, s: UNIT_MS.second, m: UNIT_MS.minute, h: UNIT_MS.hour, d: UNIT_MS.day }

function fixedMs(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  if (match === null || Number(match[1]) === 0) return undefined
  return Number(match[1]) * FIXED_MS[match[2]!]!
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
  if (given.length === 0) throw illegalArgument('Invalid interval specified, must be non-null and non-empty')
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
    format: content['format'] === undefined ? DEFAULT_DATE_FORMAT : parseDateFormat(readString(content['format'], 'date_histogram.format')),
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
  refuseUnknown(content, type, ['field', 'script', 'ranges', 'keyed', ...(type === 'date_range' ? ['format'] : [])])
  const ranges = readArray(content['ranges'] ?? [], `${type}.ranges`)
  if (ranges.length === 0) throw illegalArgument(`No [ranges] specified for the [${type}] aggregation`)
  if (ranges.length > MAX_RANGES) throw illegalArgument(`[${type}.ranges] may hold at most ${MAX_RANGES} entries, found ${ranges.length}`)
  return {
    type,
    field: readField(content, type),
    ranges: ranges.map(item => readRange(item, type)),
    keyed: content['keyed'] !== undefined && readBoolean(content['keyed'], `${type}.keyed`),
    ...(content['format'] !== undefined && { format: parseDateFormat(readString(content['format'], `${type}.format`)) }),
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
  const filters: { key: string | undefined; query: Query }[] = []
  if (isObject(given)) for (const [key, query] of Object.entries(given)) filters.push({ key, query: parseQuery(query) })
  else for (const query of readArray(given, 'filters.filters')) filters.push({ key: undefined, query: parseQuery(query) })
  if (filters.length === 0) throw illegalArgument('[filters] cannot be empty.')
  if (filters.length > MAX_RANGES)
    throw illegalArgument(`[filters.filters] may hold at most ${MAX_RANGES} entries, found ${filters.length}`)
  const hasOther =
    content['other_bucket_key'] !== undefined ||
    (content['other_bucket'] !== undefined && readBoolean(content['other_bucket'], 'filters.other_bucket'))
  if (!hasOther) return { type: 'filters', filters }
  const otherKey =
    content['other_bucket_key'] === undefined ? '_other_' : readString(content['other_bucket_key'], 'filters.other_bucket_key')
  return { type: 'filters', filters, otherKey }
}
