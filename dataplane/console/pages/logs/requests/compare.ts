/** Two windows of time beside each other: counts of levels, services and patterns. */
import type { TimeWindow } from '../../../url-state/time-range.ts'
import type { Query } from '../search/to-query.ts'
import { type Change, changeOf } from './patterns.ts'
import { type SearchBody, scopeQuery } from './scope.ts'

/** How far back the other window lies. `before`: as far as the window is long. */
export const COMPARE_WITH = ['before', '1h', '1d', '1w'] as const
export type CompareWith = (typeof COMPARE_WITH)[number]

const BACK_MS: Readonly<Record<Exclude<CompareWith, 'before'>, number>> = { '1h': 3_600_000, '1d': 86_400_000, '1w': 604_800_000 }

export function otherWindow({ fromMs, toMs }: TimeWindow, compareWith: CompareWith): TimeWindow {
  const backMs = compareWith === 'before' ? toMs - fromMs : BACK_MS[compareWith]
  return { fromMs: fromMs - backMs, toMs: toMs - backMs }
}

const KINDS = { levels: 'level', services: 'service', patterns: 'pattern_id' } as const
export type CompareKind = keyof typeof KINDS
const SIZES: Readonly<Record<CompareKind, number>> = { levels: 10, services: 50, patterns: 100 }

export function compareBody(query: Query, window: TimeWindow): SearchBody {
  const aggs = (Object.keys(KINDS) as CompareKind[]).map(kind => [kind, { terms: { field: KINDS[kind], size: SIZES[kind] } }])
  return { size: 0, track_total_hits: true, query: scopeQuery({ query, window }), aggs: Object.fromEntries(aggs) }
}

export interface CompareRow {
  readonly key: string
  readonly count: number
  readonly countBefore: number
  readonly change: Change
}

export interface Comparison {
  readonly total: number
  readonly totalBefore: number
  readonly rows: Readonly<Record<CompareKind, readonly CompareRow[]>>
}

interface CompareAnswer {
  readonly hits: { readonly total: { readonly value: number } }
  readonly aggregations?: Readonly<Record<string, { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }>>
}

/** Values among the most frequent of both windows; what changed most comes first. */
export function readComparison(now: unknown, before: unknown): Comparison {
  const [a, b] = [now as CompareAnswer, before as CompareAnswer]
  const rowsOf = (kind: CompareKind): readonly CompareRow[] => {
    const counts = countsOf(a, kind)
    const countsBefore = countsOf(b, kind)
    return [...new Set([...counts.keys(), ...countsBefore.keys()])]
      .map(key => ({ key, count: counts.get(key) ?? 0, countBefore: countsBefore.get(key) ?? 0 }))
      .map(row => ({ ...row, change: changeOf(row.count, row.countBefore) }))
      .sort((x, y) => surprise(y) - surprise(x) || y.count - x.count || (x.key < y.key ? -1 : 1))
  }
  return {
    total: a.hits.total.value,
    totalBefore: b.hits.total.value,
    rows: { levels: rowsOf('levels'), services: rowsOf('services'), patterns: rowsOf('patterns') },
  }
}

function countsOf({ aggregations }: CompareAnswer, kind: CompareKind): ReadonlyMap<string, number> {
  return new Map((aggregations?.[kind]?.buckets ?? []).map(({ key, doc_count }) => [key, doc_count]))
}

/** In standard deviations, about. */
function surprise({ count, countBefore, change }: CompareRow): number {
  return change.kind === 'same' ? 0 : Math.abs(count - countBefore) / Math.sqrt((count + countBefore) / 2)
}
