/** Buckets at equal distances: histogram over numbers, date_histogram over time. */
import { illegalArgument } from '../../api-error.ts'
import { parseDateMath } from '../../dates/date-math.ts'
import { classOf, type Field, formatOf } from '../../query/bind/field.ts'
import { type BucketBudget, type CollectContext, type Collector, eachOr } from '../aggregation-collector.ts'
import { missingNumber, numberField } from '../field-values.ts'
import { javaDouble } from '../java-double.ts'
import type { MatchView } from '../match-view.ts'
import { MAX_BUCKETS } from '../parse/parse-buckets.ts'
import type { BoundsSpec, NumberBounds, SpecOf } from '../spec.ts'
import { type Below, BucketTable, spendBuckets } from './bucket-table.ts'
import { type Grid, gridOf } from './grid.ts'

type HistogramSpec = SpecOf<'histogram'> | SpecOf<'date_histogram'>

export function createHistogram(spec: SpecOf<'histogram'>, newBelow: () => Below, context: CollectContext): Collector {
  return createOnGrid(spec, gridOf(spec), spec.extendedBounds, undefined, newBelow, context)
}

export function createDateHistogram(spec: SpecOf<'date_histogram'>, newBelow: () => Below, context: CollectContext): Collector {
  const instant = (bounds: BoundsSpec | undefined, shiftMs = 0): NumberBounds | undefined => {
    if (bounds === undefined) return undefined
    const parse = (value: string | number | boolean): number =>
      typeof value === 'number'
        ? value
        : parseDateMath(String(value), { nowMs: context.nowMs, zone: spec.zone, ...(spec.format && { format: spec.format }) })
    return {
      min: bounds.min === undefined ? Number.POSITIVE_INFINITY : parse(bounds.min) + shiftMs,
      max: bounds.max === undefined ? Number.NEGATIVE_INFINITY : parse(bounds.max) + shiftMs,
    }
  }
  // Bounds are rounded as if there was no offset, and then moved by it.
  return createOnGrid(spec, gridOf(spec), instant(spec.extendedBounds, spec.offsetMs), instant(spec.hardBounds), newBelow, context)
}

function createOnGrid(
  spec: HistogramSpec,
  grid: Grid,
  extended: NumberBounds | undefined,
  hard: NumberBounds | undefined,
  newBelow: () => Below,
  context: CollectContext,
): Collector {
  const table = new BucketTable<number>(newBelow, context)
  const isInside = (key: number): boolean =>
    hard === undefined ||
    ((hard.min === Number.POSITIVE_INFINITY || key >= hard.min) && (hard.max === Number.NEGATIVE_INFINITY || key < hard.max))
  let shownField: Field | undefined
  // Neighbours mostly fall into the same bucket.
  let last = { from: Number.NaN, to: Number.NaN, ordinal: 0 }
  const ordinalOf = (value: number): number => {
    if (value >= last.from && value < last.to) return last.ordinal
    const key = grid.keyOf(value)
    if (!isInside(key)) return -1
    last = { from: key, to: grid.next(key), ordinal: table.ordinal(key) }
    return last.ordinal
  }

  const collect = (view: MatchView, places: Uint32Array | undefined): void => {
    const field = numberField(view, spec.field, spec.type)
    if (field === undefined) return
    shownField ??= field
    if (spec.type === 'date_histogram' && classOf(field) === 'boolean')
      throw illegalArgument(`Field [${spec.field}] of type [${field.type}] is not supported for aggregation [date_histogram]`)
    const reader = view.numbers(field)
    const missing = spec.missing === undefined ? Number.NaN : missingNumber(spec.missing, field, context.nowMs)
    const { single } = reader
    const putValue = (value: number, put: (ordinal: number) => void): void => {
      const ordinal = ordinalOf(value)
      if (ordinal >= 0) put(ordinal)
    }
    if (single !== undefined) {
      table.collect(view, places, (place, put) => {
        const value = single(place)
        const known = Number.isNaN(value) ? missing : value
        if (!Number.isNaN(known)) putValue(known, put)
      })
      return
    }
    const standIn = Number.isNaN(missing) ? undefined : missing
    table.collect(view, places, (place, put) => eachOr(reader, place, standIn, value => putValue(value, put)))
  }

  return { collect, result: () => showHistogram(table, spec, shownIn(grid, spec, shownField), extended, context) }
}

/** Where no format was asked for, dates are shown in that of their field. */
function shownIn(grid: Grid, spec: HistogramSpec, field: Field | undefined): Grid {
  if (spec.type === 'histogram' || spec.format !== undefined || field?.format === undefined) return grid
  const format = formatOf(field)
  return { ...grid, text: key => format.print(key, spec.zone) }
}

/** Keys of the answer in ascending order; with `minDocCount` 0 the gaps between them too. */
function keysOf(
  table: BucketTable<number>,
  minDocCount: number,
  grid: Grid,
  extended: NumberBounds | undefined,
  budget: BucketBudget,
): readonly number[] {
  if (minDocCount > 0) return table.keys.filter((_key, ordinal) => table.counts[ordinal]! >= minDocCount).sort((a, b) => a - b)
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const key of table.keys) {
    min = Math.min(min, key)
    max = Math.max(max, key)
  }
  if (extended !== undefined && Number.isFinite(extended.min)) min = Math.min(min, grid.keyOf(extended.min))
  if (extended !== undefined && Number.isFinite(extended.max)) max = Math.max(max, grid.keyOf(extended.max))
  if (!Number.isFinite(min) || !Number.isFinite(max)) return table.keys.toSorted((a, b) => a - b)
  // Far too many need not be counted one by one.
  const least = (max - min) / grid.width / 2
  if (least > MAX_BUCKETS) spendBuckets(budget, Math.floor(least))
  const keys: number[] = []
  for (let key = min; key <= max; key = grid.next(key)) {
    if (keys.length > MAX_BUCKETS || grid.next(key) <= key) break
    keys.push(key)
  }
  return keys
}

function showHistogram(
  table: BucketTable<number>,
  spec: HistogramSpec,
  grid: Grid,
  extended: NumberBounds | undefined,
  context: CollectContext,
): Record<string, unknown> {
  const keys = keysOf(table, spec.minDocCount, grid, extended, context.budget)
  spendBuckets(context.budget, keys.length)
  const sorted = spec.order.path === '_key' && spec.order.isAscending ? keys : keys.toSorted((a, b) => compareBuckets(table, spec, a, b))
  const buckets = sorted.map(key => {
    const ordinal = table.find(key)
    const text = grid.text(key)
    return {
      ...(text !== undefined && { key_as_string: text }),
      key,
      doc_count: ordinal === undefined ? 0 : table.counts[ordinal]!,
      ...table.belowResults(ordinal),
    }
  })
  if (!spec.keyed) return { buckets }
  return { buckets: Object.fromEntries(buckets.map(bucket => [bucket.key_as_string ?? javaDouble(bucket.key), bucket])) }
}

function compareBuckets(table: BucketTable<number>, spec: HistogramSpec, a: number, b: number): number {
  const sign = spec.order.isAscending ? 1 : -1
  if (spec.order.path === '_key' || spec.order.path === '_time') return sign * (a - b)
  return table.compare(table.find(a), table.find(b), spec.order) || a - b
}
