import { classOf, type FieldClass } from '../query/field.ts'
import { type Collector, eachPlace } from './collector.ts'
import { groupField, isNumeric, missingNumber, numberField, textOfNumber } from './field-values.ts'
import type { MatchView } from './match-view.ts'
import type { SimpleMetric, SpecOf } from './spec.ts'

interface Sums {
  count: number
  sum: number
  sumOfSquares: number
  /** What the sum has lost to rounding (Kahan). */
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
): FieldClass | undefined {
  const field = numberField(view, spec.field, spec.type)
  if (field === undefined) return undefined
  const { weights } = view
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
    let hasValue = false
    reader.each(place, value => {
      hasValue = true
      visit(value, weight)
    })
    if (!hasValue && missing !== undefined) visit(missing, weight)
  })
  return classOf(field)
}

export function createSimpleMetric(spec: SpecOf<SimpleMetric>): Collector {
  if (spec.type === 'value_count') return createValueCount(spec)
  const sums: Sums = { count: 0, sum: 0, sumOfSquares: 0, lost: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
  let fieldClass: FieldClass | undefined
  const add = (value: number, weight: number): void => {
    sums.count += weight
    const term = value * weight - sums.lost
    const total = sums.sum + term
    sums.lost = total - sums.sum - term
    sums.sum = total
    sums.sumOfSquares += value * value * weight
    if (value < sums.min) sums.min = value
    if (value > sums.max) sums.max = value
  }
  return {
    collect: (view, places) => {
      const found = eachValue(view, places, spec, add)
      fieldClass ??= found
    },
    result: () => showMetric(spec.type, sums, fieldClass),
    orderValue: metric => statistic((metric === undefined || metric === 'value' ? spec.type : metric) as keyof typeof VALUES, sums),
  }
}

const average = ({ count, sum }: Sums): number => (count === 0 ? Number.NaN : sum / count)
const variance = (sums: Sums): number =>
  sums.count === 0 ? Number.NaN : Math.max(0, (sums.sumOfSquares - (sums.sum * sums.sum) / sums.count) / sums.count)

const VALUES = {
  min: (sums: Sums) => (sums.count === 0 ? Number.NaN : sums.min),
  max: (sums: Sums) => (sums.count === 0 ? Number.NaN : sums.max),
  avg: average,
  sum: (sums: Sums) => sums.sum,
  count: (sums: Sums) => sums.count,
  variance,
  std_deviation: (sums: Sums) => Math.sqrt(variance(sums)),
  sum_of_squares: (sums: Sums) => sums.sumOfSquares,
} as const

function statistic(name: keyof typeof VALUES, sums: Sums): number {
  return Object.hasOwn(VALUES, name) ? VALUES[name](sums) : Number.NaN
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

function showMetric(type: SimpleMetric, sums: Sums, fieldClass: FieldClass | undefined): Record<string, unknown> {
  if (type === 'stats' || type === 'extended_stats') return showStats(type, sums, fieldClass)
  const value = statistic(type as keyof typeof VALUES, sums)
  const text = Number.isNaN(value) ? undefined : textOfNumber(value, fieldClass)
  return { value: orNull(value), ...(text !== undefined && { value_as_string: text }) }
}

function showStats(type: 'stats' | 'extended_stats', sums: Sums, fieldClass: FieldClass | undefined): Record<string, unknown> {
  const shown: Record<string, unknown> = { count: sums.count }
  for (const name of ['min', 'max', 'avg', 'sum'] as const) shown[name] = orNull(statistic(name, sums))
  if (fieldClass === 'date' && sums.count > 0)
    for (const name of ['min', 'max', 'avg', 'sum'] as const)
      shown[`${name}_as_string`] = textOfNumber(Math.floor(statistic(name, sums)), 'date')
  if (type === 'stats') return shown
  const deviation = statistic('std_deviation', sums)
  const mean = average(sums)
  const sampling = sums.count > 1 ? (variance(sums) * sums.count) / (sums.count - 1) : Number.NaN
  return {
    ...shown,
    sum_of_squares: sums.count === 0 ? null : sums.sumOfSquares,
    variance: orNull(variance(sums)),
    variance_population: orNull(variance(sums)),
    variance_sampling: orNull(sampling),
    std_deviation: orNull(deviation),
    std_deviation_population: orNull(deviation),
    std_deviation_sampling: orNull(Math.sqrt(sampling)),
    std_deviation_bounds: { upper: orNull(mean + 2 * deviation), lower: orNull(mean - 2 * deviation) },
  }
}

/** Counts values of any field. */
function createValueCount(spec: SpecOf<SimpleMetric>): Collector {
  let count = 0
  return {
    collect: (view, places) => {
      const field = groupField(view, spec.field)
      if (field === undefined) return
      const { weights } = view
      const reader = isNumeric(classOf(field)) ? view.numbers(field) : view.keywords(field)
      eachPlace(view, places, place => {
        const weight = weights === undefined ? 1 : weights[place]!
        let own = 0
        reader.each(place, () => {
          own += weight
        })
        count += own === 0 && spec.missing !== undefined ? weight : own
      })
    },
    result: () => ({ value: count }),
    orderValue: () => count,
  }
}
