/** Count, extremes, sum, and how far values spread. */
import { unsupported } from '../../api-error.ts'
import { classOf } from '../../query/bind/field.ts'
import type { Collector } from '../aggregation-collector.ts'
import type { SpecOf } from '../spec.ts'
import { eachValue } from './metrics.ts'

/** A sum that keeps what rounding loses (Kahan). */
class ExactSum {
  value = 0
  #lost = 0

  add(term: number): void {
    const part = term - this.#lost
    const total = this.value + part
    this.#lost = total - this.value - part
    this.value = total
  }
}

export function createExtendedStats(spec: SpecOf<'extended_stats'>): Collector {
  const sum = new ExactSum()
  const squares = new ExactSum()
  let count = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY

  const spread = (divisor: number): number => {
    const variance = (squares.value - (sum.value * sum.value) / count) / divisor
    return variance < 0 ? 0 : variance
  }

  const values = (): Record<string, number> => {
    const average = sum.value / count
    const [population, sampling] = [spread(count), spread(count - 1)]
    return {
      ...{ min: count === 0 ? Number.NaN : min, max: count === 0 ? Number.NaN : max, avg: average },
      ...{ sum_of_squares: count === 0 ? Number.NaN : squares.value, variance: population, variance_population: population },
      ...{ variance_sampling: sampling, std_deviation: Math.sqrt(population), std_deviation_population: Math.sqrt(population) },
      std_deviation_sampling: Math.sqrt(sampling),
    }
  }

  const bounds = (): Record<string, number> => {
    const { avg = 0, std_deviation: population = 0, std_deviation_sampling: sampling = 0 } = values()
    const at = (deviation: number): number => avg + spec.sigma * deviation
    return {
      ...{ upper: at(population), lower: at(-population), upper_population: at(population), lower_population: at(-population) },
      ...{ upper_sampling: at(sampling), lower_sampling: at(-sampling) },
    }
  }

  /** Figures that do not exist: null where there are no values, `NaN` for the sampling figures of a single value. */
  const shown = (numbers: Record<string, number>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number.isNaN(value) ? (count === 0 ? null : 'NaN') : value]))

  return {
    collect(view, places) {
      const found = eachValue(view, places, spec, (value, weight) => {
        count += weight
        sum.add(value * weight)
        squares.add(value * value * weight)
        if (value < min) min = value
        if (value > max) max = value
      })
      if (found !== undefined && classOf(found) === 'date') throw unsupported(`aggregation [extended_stats] of the date [${spec.field}]`)
    },
    result() {
      const { min: least, max: most, avg, ...rest } = shown(values())
      return { count, min: least, max: most, avg, sum: sum.value, ...rest, std_deviation_bounds: shown(bounds()) }
    },
    orderValue: metric => ({ ...values(), count, sum: sum.value, ...boundsByPath(bounds()) })[metric ?? ''] ?? Number.NaN,
  }
}

/** As an order names them: `std_upper`, `std_lower`, … */
const boundsByPath = (bounds: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(bounds).map(([name, value]) => [`std_${name}`, value]))
