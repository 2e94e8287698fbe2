/** Messages that differ in numbers, ids and names alone, counted: now, when, and in the time before. */
import { sayRatio } from '../../../components/format.ts'
import { windowBefore } from '../../../url-state/time-range.ts'
import { type Scope, type SearchBody, scopeQuery } from './scope.ts'

/** Patterns that are listed. */
export const PATTERN_COUNT = 50
/** Bars of a trend. */
const TREND_BARS = 24

export const PATTERN_ORDERS = ['count', 'change'] as const
export type PatternOrder = (typeof PATTERN_ORDERS)[number]

export interface PatternTrend {
  readonly id: string
  readonly pattern: string
  readonly level: string
  /** Those that log most of it. */
  readonly services: readonly { readonly service: string; readonly count: number }[]
  /** Records of it by other services. */
  readonly otherCount: number
  readonly trend: readonly number[]
}

/** The most frequent ones; quick, and the list can be shown with them alone. */
export function patternCountsBody(scope: Scope): SearchBody {
  return {
    size: 0,
    track_total_hits: true,
    query: scopeQuery(scope),
    aggs: { patterns: { terms: { field: 'pattern_id', size: PATTERN_COUNT } } },
  }
}

/** The same of the time before. */
export function patternsBeforeBody({ query, window }: Scope): SearchBody {
  return patternCountsBody({ query, window: windowBefore(window) })
}

/** How often given patterns came in the time before, whether or not they were frequent there. */
export function patternCountsOfBody({ query, window }: Scope, ids: readonly string[]): SearchBody {
  const before = { query, window: windowBefore(window) }
  return {
    size: 0,
    track_total_hits: false,
    query: scopeQuery(before, { terms: { pattern_id: ids } }),
    aggs: { patterns: { terms: { field: 'pattern_id', size: Math.max(1, ids.length) } } },
  }
}

export const trendBarMs = ({ window }: Scope): number => Math.max(1, Math.ceil((window.toMs - window.fromMs) / TREND_BARS))

/**
 * Asks for the texts of patterns, their services and their times. The times stand apart: the embedded store tells the rest from its counts, without a look
 * at documents.
 */
export function patternDetailsBody(scope: Scope, ids: readonly string[]): SearchBody {
  const terms = { field: 'pattern_id', size: Math.max(1, ids.length) }
  return {
    size: 0,
    track_total_hits: false,
    query: scopeQuery(scope, { terms: { pattern_id: ids } }),
    aggs: {
      patterns: {
        terms,
        aggs: {
          services: { terms: { field: 'service', size: 3 } },
          sample: { top_hits: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['pattern', 'message', 'level', 'service'] } },
        },
      },
      trends: {
        terms,
        aggs: { times: { date_histogram: { field: 'timestamp', fixed_interval: `${trendBarMs(scope)}ms`, min_doc_count: 1 } } },
      },
    },
  }
}

interface Bucket {
  readonly key: string
  readonly doc_count: number
  readonly times?: { readonly buckets: readonly { readonly key: number; readonly doc_count: number }[] }
  readonly services?: {
    readonly sum_other_doc_count?: number
    readonly buckets: readonly { readonly key: string; readonly doc_count: number }[]
  }
  readonly sample?: { readonly hits: { readonly hits: readonly { readonly _source: Readonly<Record<string, string>> }[] } }
}

type Listed = 'patterns' | 'trends'

const bucketsOf = (answer: unknown, name: Listed = 'patterns'): readonly Bucket[] =>
  (answer as { aggregations?: { [N in Listed]?: { buckets?: readonly Bucket[] } } })?.aggregations?.[name]?.buckets ?? []

export function readPatternCounts(answer: unknown): ReadonlyMap<string, number> {
  return new Map(bucketsOf(answer).map(({ key, doc_count }) => [key, doc_count]))
}

export function readPatternDetails(answer: unknown, scope: Scope): ReadonlyMap<string, PatternTrend> {
  const barMs = trendBarMs(scope)
  const first = Math.floor(scope.window.fromMs / barMs) * barMs
  const barsOf = new Map(bucketsOf(answer, 'trends').map(({ key, times }) => [key, times?.buckets ?? []]))
  return new Map(
    bucketsOf(answer).map(({ key, services, sample }) => {
      const source = sample?.hits.hits[0]?._source ?? {}
      // One bar more: windows do not begin where bars do.
      const trend = new Array<number>(TREND_BARS + 1).fill(0)
      for (const bar of barsOf.get(key) ?? []) {
        const at = Math.round((bar.key - first) / barMs)
        if (at >= 0 && at < trend.length) trend[at] = bar.doc_count
      }
      const found = { id: key, pattern: source['pattern'] ?? source['message'] ?? key, level: source['level'] ?? '' }
      const loudest = (services?.buckets ?? []).map(bucket => ({ service: bucket.key, count: bucket.doc_count }))
      return [key, { ...found, services: loudest, otherCount: services?.sum_other_doc_count ?? 0, trend }]
    }),
  )
}

export type Change = { readonly kind: 'new' | 'gone' | 'same' } | { readonly kind: 'more' | 'less'; readonly factor: number }

/** Counts whose difference chance explains are the same: three times the root of what is expected. */
export function changeOf(count: number, countBefore: number): Change {
  if (countBefore === 0) return { kind: count === 0 ? 'same' : 'new' }
  if (count === 0) return { kind: 'gone' }
  if (Math.abs(count - countBefore) <= 3 * Math.sqrt((count + countBefore) / 2)) return { kind: 'same' }
  return count > countBefore ? { kind: 'more', factor: count / countBefore } : { kind: 'less', factor: countBefore / count }
}

export function sayChange(change: Change): string {
  if (change.kind === 'more') return sayRatio(change.factor)
  if (change.kind === 'less') return sayRatio(1 / change.factor)
  return { new: 'new', gone: 'gone', same: '≈' }[change.kind]
}
