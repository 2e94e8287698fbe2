/** How many records there were when, by level. */
import type { TimeWindow } from '../../../url-state/time-range.ts'
import { LEVELS, type Level } from '../records/level.ts'
import { type Scope, type SearchBody, scopeQuery } from './scope.ts'

const STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map(s => s * 1_000),
  ...[1, 2, 5, 10, 15, 30].map(m => m * 60_000),
  ...[1, 2, 3, 6, 12].map(h => h * 3_600_000),
  ...[1, 2, 7, 14, 30, 90, 365].map(d => d * 86_400_000),
]

/** The width of a bar: a round one, with at most `bars` of them. */
export function barMsFor({ fromMs, toMs }: TimeWindow, bars: number): number {
  return STEPS_MS.find(step => (toMs - fromMs) / step <= bars) ?? STEPS_MS.at(-1)!
}

export interface Histogram {
  readonly barMs: number
  /** Starts of bars, one for each bar of the window. */
  readonly times: readonly number[]
  /** Beside `times`. `OTHER` holds levels that are none of the six. */
  readonly counts: Readonly<Record<Level, readonly number[]>>
  readonly total: number
  readonly tookMs: number
}

export function histogramBody(scope: Scope, barMs: number): SearchBody {
  return {
    size: 0,
    track_total_hits: true,
    query: scopeQuery(scope),
    aggs: {
      times: {
        date_histogram: { field: 'timestamp', fixed_interval: `${barMs}ms`, min_doc_count: 1 },
        aggs: { levels: { terms: { field: 'level', size: 10 } } },
      },
    },
  }
}

interface HistogramAnswer {
  readonly took: number
  readonly hits: { readonly total: { readonly value: number } }
  readonly aggregations?: {
    readonly times: {
      readonly buckets: readonly {
        readonly key: number
        readonly doc_count: number
        readonly levels: { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }
      }[]
    }
  }
}

/** Bars without records are filled in, so that each window has all of its bars. */
export function readHistogram(answer: unknown, { fromMs, toMs }: TimeWindow, barMs: number): Histogram {
  const { hits, aggregations, took } = answer as HistogramAnswer
  const first = Math.floor(fromMs / barMs) * barMs
  const count = Math.max(1, Math.ceil((toMs - first) / barMs))
  const times = Array.from({ length: count }, (_, i) => first + i * barMs)
  const counts = Object.fromEntries(LEVELS.map(level => [level, new Array<number>(count).fill(0)])) as Record<Level, number[]>
  for (const bucket of aggregations?.times.buckets ?? []) {
    const at = Math.round((bucket.key - first) / barMs)
    if (at < 0 || at >= count) continue
    let known = 0
    for (const { key, doc_count } of bucket.levels.buckets) {
      const level = LEVELS.find(name => name === key)
      if (level === undefined || level === 'OTHER') continue
      counts[level][at] = doc_count
      known += doc_count
    }
    counts.OTHER[at] = bucket.doc_count - known
  }
  return { barMs, times, counts, total: hits.total.value, tookMs: took }
}
