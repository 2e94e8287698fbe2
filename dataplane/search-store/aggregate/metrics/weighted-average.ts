/** The average of a field, each value counted as often as another field says. */
import { illegalArgument } from '../../api-error.ts'
import { type Collector, eachOr, eachPlace } from '../aggregation-collector.ts'
import { missingNumber, numberField } from '../field-values.ts'
import type { MatchView } from '../match-view.ts'
import type { SpecOf, ValueSource } from '../spec.ts'

export function createWeightedAverage(spec: SpecOf<'weighted_avg'>): Collector {
  let sum = 0
  let weights = 0
  const average = (): number => (weights === 0 ? Number.NaN : sum / weights)
  return {
    collect(view, places) {
      const eachOfValue = readerOf(view, spec.value)
      const eachOfWeight = readerOf(view, spec.weight)
      eachPlace(view, places, place => {
        let weight: number | undefined
        let hasValue = false
        eachOfValue(place, () => {
          hasValue = true
        })
        if (!hasValue) return
        eachOfWeight(place, value => {
          if (weight !== undefined)
            throw illegalArgument(
              'Encountered more than one weight for a single document. Use a script to combine multiple weights-per-doc into a single value.',
            )
          weight = value
        })
        if (weight === undefined) return
        const times = weight
        eachOfValue(place, value => {
          sum += value * times
          weights += times
        })
      })
    },
    result: () => ({ value: Number.isNaN(average()) ? null : average() }),
    orderValue: average,
  }
}

function readerOf(view: MatchView, { field: path, missing }: ValueSource): (place: number, visit: (value: number) => void) => void {
  const field = numberField(view, path, 'weighted_avg')
  if (field === undefined) return (_place, visit) => missing !== undefined && visit(Number(missing))
  const reader = view.numbers(field)
  const standIn = missing === undefined ? undefined : missingNumber(missing, field)
  return (place, visit) => eachOr(reader, place, standIn, visit)
}
