/** Buckets for ranges of numbers and dates. */
import { illegalArgument } from '../api-error.ts'
import { DEFAULT_DATE_FORMAT } from '../dates/date-format.ts'
import { parseDateMath } from '../dates/date-math.ts'
import { UTC } from '../dates/time-zone.ts'
import type { Scalar } from '../query/parse/query.ts'
import type { CollectContext, Collector } from './aggregation-collector.ts'
import { type Below, BucketTable, spendBuckets } from './bucket-table.ts'
import { numberField } from './field-values.ts'
import { javaDouble } from './histogram.ts'
import type { RangeSpec, SpecOf } from './spec.ts'

interface Range {
  readonly key: string
  /** Inclusive. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** A bucket for each range of numbers or dates: from inclusive, to exclusive. */
export function createRange(spec: SpecOf<'range' | 'date_range'>, newBelow: () => Below, context: CollectContext): Collector {
  const isDate = spec.type === 'date_range'
  const format = spec.format ?? DEFAULT_DATE_FORMAT
  const text = (value: number): string => (isDate ? format.print(value, UTC) : javaDouble(value))
  const bound = (value: Scalar): number => (isDate ? parseDateMath(String(value), { nowMs: context.nowMs, format }) : numberOf(value))
  const ranges = spec.ranges.map(range => resolveRange(range, bound, text)).sort((a, b) => a.from - b.from || a.to - b.to)
  const table = new BucketTable<number>(newBelow, context)
  for (const at of ranges.keys()) table.ordinal(at)

  return {
    collect: (view, places) => {
      const field = numberField(view, spec.field, spec.type)
      if (field === undefined) return
      const reader = view.numbers(field)
      table.collect(view, places, (place, put) =>
        reader.each(place, value => {
          for (const [at, range] of ranges.entries()) if (value >= range.from && value < range.to) put(at)
        }),
      )
    },
    result: () => {
      spendBuckets(context.budget, ranges.length)
      const buckets = ranges.map((range, at) => ({
        key: range.key,
        ...(range.from !== Number.NEGATIVE_INFINITY && { from: range.from, ...(isDate && { from_as_string: text(range.from) }) }),
        ...(range.to !== Number.POSITIVE_INFINITY && { to: range.to, ...(isDate && { to_as_string: text(range.to) }) }),
        doc_count: table.counts[at]!,
        ...table.belowResults(at),
      }))
      if (!spec.keyed) return { buckets }
      return { buckets: Object.fromEntries(buckets.map(({ key, ...bucket }) => [key, bucket])) }
    },
  }
}

function numberOf(value: Scalar): number {
  const number = typeof value === 'boolean' ? Number.NaN : Number(value)
  if (Number.isNaN(number)) throw illegalArgument(`[range] bounds must be numbers, found [${String(value)}]`)
  return number
}

function resolveRange(range: RangeSpec, bound: (value: Scalar) => number, text: (value: number) => string): Range {
  const from = range.from === undefined ? Number.NEGATIVE_INFINITY : bound(range.from)
  const to = range.to === undefined ? Number.POSITIVE_INFINITY : bound(range.to)
  const show = (value: number): string => (Number.isFinite(value) ? text(value) : '*')
  return { key: range.key ?? `${show(from)}-${show(to)}`, from, to }
}
