/** Metrics that need one pass and little memory: min, max, avg, sum, stats, value_count. */
import { classOf, type Field } from '../../query/bind/field.ts'
import { type Collector, eachOr, eachPlace } from '../aggregation-collector.ts'
import { groupField, isNumeric, missingNumber, numberField, textOfNumber } from '../field-values.ts'
import type { MatchView } from '../match-view.ts'
import type { SimpleMetric, SpecOf } from '../spec.ts'

interface Sums {
  count: number
  sum: number
  /** The part of the sum that rounding has lost (Kahan). */
  lost: number
  min: number
  max: number
}

/** Calls `visit` for each value of the field, `missing` standing in for none. */
export function eachValue(
  view: MatchView,
  places: Uint32Array | undefined,
  spec: { readonly field: string; readonly missing?: string | number | boolean; readonly type: string },
  visit: (value: number, weight: number) => void,
): Field | undefined {
  const field = numberField(view, spec.field, spec.type)
  const { weights } = view
  if (field === undefined) {
    const standIn = spec.missing === undefined ? Number.NaN : Number(spec.missing)
    if (!Number.isNaN(standIn)) eachPlace(view, places, place => visit(standIn, weights === undefined ? 1 : weights[place]!))
    return undefined
  }
  const reader = view.numbers(field)
  const missing = spec.missing === undefined ? undefined : missingNumber(spec.missing, field)
  const { single } = reader
  eachPlace(view, places, place => {
    const weight = weights === undefined ? 1 : weights[place]!
    if (single !== undefined) {
      const value = single(place)
      if (!Number.isNaN(value)) visit(value, weight)
      else if (missing !== undefined) visit(missing, weight)
      return
    }
    eachOr(reader, place, missing, value => visit(value, weight))
  })
  return field
}

export function createSimpleMetric(spec: SpecOf<SimpleMetric>): Collector {
  if (spec.type === 'value_count') return createValueCount(spec)
  const sums: Sums = { count: 0, sum: 0, lost: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  let field: Field | undefined
  const add = (value: number, weight: number): void => {
    sums.count += weight
    const term = value * weight - sums.lost
    const total = sums.sum + term
    sums.lost = total - sums.sum - term
    sums.sum = total
    if (value < sums.min) sums.min = value
    if (value > sums.max) sums.max = value
  }
  return {
    collect: (view, places) => {
      const found = eachValue(view, places, spec, add)
      field ??= found
    },
    result: () => showMetric(spec.type, sums, field),
    orderValue: metric => statistic((metric === undefined || metric === 'value' ? spec.type : metric) as keyof typeof VALUES, sums),
  }
}

const average = ({ count, sum }: Sums): number => (count === 0 ? Number.NaN : sum / count)

const VALUES = {
  min: (sums: Sums) => (sums.count === 0 ? Number.NaN : sums.min),
  max: (sums: Sums) => (sums.count === 0 ? Number.NaN : sums.max),
  avg: average,
  sum: (sums: Sums) => sums.sum,
  count: (sums: Sums) => sums.count,
} as const

function statistic(name: keyof typeof VALUES, sums: Sums): number {
  return Object.hasOwn(VALUES, name) ? VALUES[name](sums) : Number.NaN
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

function showMetric(type: SimpleMetric, sums: Sums, field: Field | undefined): Record<string, unknown> {
  if (type === 'stats') return showStats(sums, field)
  const value = statistic(type as keyof typeof VALUES, sums)
  const text = Number.isNaN(value) ? undefined : textOfNumber(value, field)
  return { value: orNull(value), ...(text !== undefined && { value_as_string: text }) }
}

function showStats(sums: Sums, field: Field | undefined): Record<string, unknown> {
  const shown: Record<string, unknown> = { count: sums.count }
  for (const name of ['min', 'max', 'avg', 'sum'] as const) shown[name] = orNull(statistic(name, sums))
  if (field !== undefined && classOf(field) === 'date' && sums.count > 0)
    for (const name of ['min', 'max', 'avg', 'sum'] as const)
      shown[`${name}_as_string`] = textOfNumber(Math.floor(statistic(name, sums)), field)
  return shown
}

/** Counts values of any field. */
function createValueCount(spec: SpecOf<SimpleMetric>): Collector {
  let count = 0
  return {
    collect: (view, places) => {
      const field = groupField(view, spec.field)
      const { weights } = view
      if (field === undefined) {
        if (spec.missing !== undefined) eachPlace(view, places, place => (count += weights === undefined ? 1 : weights[place]!))
        return
      }
      const isNumber = isNumeric(classOf(field))
      const reader = isNumber ? view.numbers(field) : view.keywords(field)
      const seen = new Set<number | string>()
      eachPlace(view, places, place => {
        seen.clear()
        let own = 0
        // A keyword that a document holds twice is one value, a number two.
        reader.each(place, value => {
          if (isNumber || !seen.has(value)) own++
          seen.add(value)
        })
        count += (weights === undefined ? 1 : weights[place]!) * (own === 0 && spec.missing !== undefined ? 1 : own)
      })
    },
    result: () => ({ value: count }),
    orderValue: () => count,
  }
}
