/** Buckets for ranges of numbers and dates. */
import { illegalArgument } from '../../api-error.ts'
import { type DateFormat, DEFAULT_DATE_FORMAT } from '../../dates/date-format.ts'
import { parseDateMath } from '../../dates/date-math.ts'
import { classOf, formatOf } from '../../query/bind/field.ts'
import type { Scalar } from '../../query/parse/query.ts'
import { type CollectContext, type Collector, eachOr } from '../aggregation-collector.ts'
import { missingNumber, numberField } from '../field-values.ts'
import { javaDouble } from '../java-double.ts'
import type { RangeSpec, SpecOf } from '../spec.ts'
import { type Below, BucketTable, spendBuckets } from './bucket-table.ts'

interface Range {
  readonly key: string
  /** Inclusive. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/** A bucket for each range of numbers or dates: from inclusive, to exclusive. */
export function createRange(spec: SpecOf<'range' | 'date_range'>, newBelow: () => Below, context: CollectContext): Collector {
  let isDate = spec.type === 'date_range'
  const rangesIn = (format: DateFormat): readonly Range[] => {
    const text = (value: number): string => (isDate ? format.print(value, spec.zone) : javaDouble(value))
    // A number is milliseconds in `range`, and in the format of the field in `date_range`.
    const bound = (value: Scalar): number =>
      isDate && (spec.type === 'date_range' || typeof value === 'string')
        ? parseDateMath(String(value), { nowMs: context.nowMs, format, zone: spec.zone })
        : numberOf(value)
    return spec.ranges.map(range => resolveRange(range, bound, text)).sort((a, b) => a.from - b.from || a.to - b.to)
  }
  // In the format that was asked for, else in that of the first field.
  let known: readonly Range[] | undefined
  let format = spec.format
  const table = new BucketTable<number>(newBelow, context)
  for (const at of spec.ranges.keys()) table.ordinal(at)

  return {
    collect: (view, places) => {
      const field = numberField(view, spec.field, spec.type)
      if (field === undefined && spec.missing === undefined) return
      if (field !== undefined && known === undefined) isDate ||= classOf(field) === 'date'
      format ??= field === undefined ? undefined : formatOf(field)
      known ??= rangesIn(format ?? DEFAULT_DATE_FORMAT)
      const ranges = known
      const missing =
        spec.missing === undefined ? undefined : field === undefined ? Number(spec.missing) : missingNumber(spec.missing, field)
      const each = (value: number, put: (ordinal: number) => void): void => {
        for (const [at, range] of ranges.entries()) if (value >= range.from && value < range.to) put(at)
      }
      if (field === undefined) return table.collect(view, places, (_place, put) => each(missing!, put))
      const reader = view.numbers(field)
      table.collect(view, places, (place, put) => eachOr(reader, place, missing, value => each(value, put)))
    },
    result: () => {
      const ranges = known ?? rangesIn(format ?? DEFAULT_DATE_FORMAT)
      const text = (value: number): string => (format ?? DEFAULT_DATE_FORMAT).print(value, spec.zone)
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
