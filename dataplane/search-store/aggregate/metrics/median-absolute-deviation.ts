import type { CollectContext, Collector } from '../aggregation-collector.ts'
import type { SpecOf } from '../spec.ts'
import { eachValue } from './metrics.ts'
import { PercentileSketch } from './percentiles.ts'

/** The median of how far values are from their median. */
export function createMedianAbsoluteDeviation(spec: SpecOf<'median_absolute_deviation'>, { memory }: CollectContext): Collector {
  const values = new PercentileSketch(memory)
  const deviation = (): number | null => {
    const median = values.percentile(50)
    if (median === null) return null
    const deviations = new PercentileSketch(memory)
    values.each((value, count) => deviations.add(Math.abs(value - median), count))
    return deviations.percentile(50)
  }
  return {
    collect(view, places) {
      eachValue(view, places, spec, (value, weight) => values.add(value, weight))
    },
    result: () => ({ value: deviation() }),
    orderValue: () => deviation() ?? Number.NaN,
  }
}
