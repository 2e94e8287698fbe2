/** The overview's questions to the search store, and the reading of the answers. */
import { bucketsOf, LEVELS, type Level, type LogDocument, type SearchAnswer, type SearchBody, timeFilter } from '../../api/search.ts'
import { bucketStarts, type ChartSeries, levelSeries } from '../../components/chart/stack.ts'
import { bucketMsFor, type TimeWindow } from '../../url-state/time-range.ts'

/** Patterns of a window that are held against the time before. */
const PATTERNS_COMPARED = 500
/** New patterns that are read; the loudest of them are shown. */
const NEW_PATTERNS_READ = 40
const NEW_PATTERNS_SHOWN = 8
/** Time in which a new pattern must not have been seen before. */
const KNOWN_BEFORE_MS = 24 * 3_600_000
const ERRORS: ReadonlySet<string> = new Set(['ERROR', 'FATAL'])

const within = (window: TimeWindow, ...more: readonly object[]) => ({ bool: { filter: [timeFilter(window), ...more] } })

export interface ServiceCounts {
  readonly service: string
  readonly records: number
  readonly errors: number
  /** Share of errors in its records, 0 to 1. */
  readonly errorShare: number
  /** Undefined: too many services logged in the time before for all to be counted. */
  readonly recordsBefore: number | undefined
  readonly errorsBefore: number | undefined
}

export interface Counts {
  readonly records: number
  readonly errors: number
  readonly recordsBefore: number
  readonly errorsBefore: number
  readonly services: readonly ServiceCounts[]
  /** More services logged than were counted. */
  readonly hasMoreServices: boolean
  readonly chart: { readonly starts: readonly number[]; readonly bucketMs: number; readonly series: readonly ChartSeries[] }
}

export function readCounts(now: SearchAnswer, before: SearchAnswer, window: TimeWindow): Counts {
  return {
    records: now.hits.total.value,
    recordsBefore: before.hits.total.value,
    errors: errorsOf(now.aggregations),
    errorsBefore: errorsOf(before.aggregations),
    services: readServices(now, before),
    hasMoreServices: isCut(now),
    chart: readChart(now, window),
  }
}

/** Services of the fewest records are left out where there are too many. */
function isCut({ aggregations }: SearchAnswer): boolean {
  return ((aggregations?.['services'] as { readonly sum_other_doc_count?: number } | undefined)?.sum_other_doc_count ?? 0) > 0
}

/** Services that fail most often, and that are not among those of the most records. */
export function uncountedServices({ aggregations }: SearchAnswer): readonly string[] {
  const counted = new Set(bucketsOf(aggregations, 'services').map(({ key }) => key))
  const failing = aggregations?.['failing'] as Readonly<Record<string, unknown>> | undefined
  return bucketsOf(failing, 'services').flatMap(({ key }) => (counted.has(key) ? [] : String(key)))
}

/** The answer with the services of another one, which it did not count, beside its own. */
export function withServices(answer: SearchAnswer, more: SearchAnswer): SearchAnswer {
  const { aggregations } = answer
  const counted = new Set(bucketsOf(aggregations, 'services').map(({ key }) => key))
  const added = bucketsOf(more.aggregations, 'services').filter(({ key }) => !counted.has(key))
  const services = { ...(aggregations?.['services'] as object), buckets: [...bucketsOf(aggregations, 'services'), ...added] }
  return { ...answer, aggregations: { ...aggregations, services } }
}

/** A service that was not counted did not fall silent. */
function readServices(now: SearchAnswer, before: SearchAnswer): readonly ServiceCounts[] {
  const earlier = new Map(bucketsOf(before.aggregations, 'services').map(bucket => [String(bucket.key), bucket]))
  const silent = isCut(now) ? [] : earlier.keys()
  const names = new Set([...bucketsOf(now.aggregations, 'services').map(({ key }) => String(key)), ...silent])
  const current = new Map(bucketsOf(now.aggregations, 'services').map(bucket => [String(bucket.key), bucket]))
  return [...names].map(service => {
    const [here, there] = [current.get(service), earlier.get(service)]
    const [records, errors] = [here?.doc_count ?? 0, errorsOf(here)]
    return {
      ...{ service, records, errors, errorShare: records === 0 ? 0 : errors / records },
      ...(there === undefined && isCut(before)
        ? { recordsBefore: undefined, errorsBefore: undefined }
        : { recordsBefore: there?.doc_count ?? 0, errorsBefore: errorsOf(there) }),
    }
  })
}

function errorsOf(bucket: Readonly<Record<string, unknown>> | undefined): number {
  return bucketsOf(bucket, 'levels').reduce((sum, { key, doc_count }) => sum + (ERRORS.has(String(key)) ? doc_count : 0), 0)
}

function readChart(answer: SearchAnswer, window: TimeWindow): Counts['chart'] {
  const bucketMs = bucketMsFor(window)
  const starts = bucketStarts(window, bucketMs)
  const found = new Map(bucketsOf(answer.aggregations, 'time').map(bucket => [Number(bucket.key), bucketsOf(bucket, 'levels')]))
  const countAt = (start: number, level: Level) => found.get(start)?.find(({ key }) => key === level)?.doc_count ?? 0
  return { starts, bucketMs, series: levelSeries(LEVELS, level => starts.map(start => countAt(start, level))) }
}

/** Patterns of the window, the rarest of which may be new. */
export function patternsBody(window: TimeWindow): SearchBody {
  const loud = { terms: { level: ['WARN', 'ERROR', 'FATAL'] } }
  return {
    size: 0,
    track_total_hits: false,
    query: within(window, loud),
    aggs: { patterns: { terms: { field: 'pattern_id', size: PATTERNS_COMPARED } } },
  }
}

export function patternIds(answer: SearchAnswer): readonly string[] {
  return bucketsOf(answer.aggregations, 'patterns').map(({ key }) => String(key))
}

/** Which of the patterns were there before. */
export function knownPatternsBody(ids: readonly string[], { fromMs }: TimeWindow): SearchBody {
  const before = { fromMs: fromMs - KNOWN_BEFORE_MS, toMs: fromMs }
  return {
    size: 0,
    track_total_hits: false,
    query: within(before, { terms: { pattern_id: ids } }),
    aggs: { patterns: { terms: { field: 'pattern_id', size: Math.max(ids.length, 1) } } },
  }
}

/** Clocks of senders may run ahead so far. */
const AHEAD_MS = 60_000

/** A record of a wrong clock, days ahead, must not hide that no others come; it counts only where there are no others. */
export async function findNewest(search: (body: SearchBody) => Promise<SearchAnswer>, nowMs: number): Promise<string | undefined> {
  const body = { size: 1, sort: [{ timestamp: 'desc' }], _source: ['timestamp'], track_total_hits: false }
  const past = { range: { timestamp: { lte: new Date(nowMs + AHEAD_MS).toISOString() } } }
  const { hits } = await search({ ...body, query: past })
  return (hits.hits[0] ?? (await search(body)).hits.hits[0])?._source.timestamp
}

/** The new patterns themselves, each with its latest record. */
export function newPatternsBody(ids: readonly string[], window: TimeWindow): SearchBody {
  return {
    size: 0,
    track_total_hits: false,
    query: within(window, { terms: { pattern_id: ids } }),
    aggs: {
      patterns: {
        terms: { field: 'pattern_id', size: NEW_PATTERNS_READ },
        aggs: {
          first: { min: { field: 'timestamp' } },
          latest: { top_hits: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['message', 'pattern', 'service', 'level'] } },
        },
      },
    },
  }
}

export interface NewPattern {
  readonly id: string
  readonly pattern: string
  readonly service: string
  readonly level: string
  readonly count: number
  /** ISO-8601. */
  readonly firstSeen: string
}

/** The worst levels first, then the most frequent. */
export function readNewPatterns(answer: SearchAnswer): readonly NewPattern[] {
  const patterns = bucketsOf(answer.aggregations, 'patterns').map(bucket => {
    const latest = bucket['latest'] as { readonly hits: { readonly hits: readonly { readonly _source: LogDocument }[] } }
    const source = latest.hits.hits[0]?._source
    return {
      id: String(bucket.key),
      pattern: source?.pattern ?? source?.message ?? '',
      service: source?.service ?? '',
      level: source?.level ?? '',
      count: bucket.doc_count,
      firstSeen: new Date((bucket['first'] as { readonly value: number }).value).toISOString(),
    }
  })
  const rankOf = ({ level }: NewPattern) => LEVELS.indexOf(level as Level)
  return patterns.toSorted((a, b) => rankOf(a) - rankOf(b) || b.count - a.count).slice(0, NEW_PATTERNS_SHOWN)
}
