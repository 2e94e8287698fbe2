/** Percentiles of a field, and the ranks of values among its values. */
import type { Field } from '../../query/bind/field.ts'
import type { QueryMemory } from '../../query/budget/query-memory.ts'
import type { CollectContext, Collector } from '../aggregation-collector.ts'
import { textOfNumber } from '../field-values.ts'
import { javaDouble } from '../java-double.ts'
import type { SpecOf } from '../spec.ts'
import { eachValue } from './metrics.ts'

/** Values kept one by one; beyond, they are counted in steps of 1 % of their size. */
const EXACT_VALUES = 100_000
/** Memory of a value, and of a step, bytes, about. */
const VALUE_BYTES = 12
const STEP_BYTES = 48
const STEP = Math.log(1.01)

/** Percentiles: exact up to 100,000 values, within 0.5 % of the value beyond. */
export function createPercentiles(spec: SpecOf<'percentiles'>, { memory }: CollectContext): Collector {
  const sketch = new PercentileSketch(memory)
  const percentile = (percent: number): number | null =>
    spec.digits === undefined ? sketch.percentile(percent) : stepPercentile(sketch, percent, spec.digits)
  return {
    ...sketchResult(sketch, spec, spec.percents, percentile),
    orderValue: metric => sketch.percentile(Number(metric)) ?? Number.NaN,
  }
}

/** How many of a hundred values are below a value; those that equal the value count half. */
export function createPercentileRanks(spec: SpecOf<'percentile_ranks'>, { memory }: CollectContext): Collector {
  const sketch = new PercentileSketch(memory)
  return {
    ...sketchResult(sketch, spec, spec.values, value => sketch.rank(value)),
    orderValue: metric => sketch.rank(Number(metric)) ?? Number.NaN,
  }
}

/** Puts the values of a field into a sketch, and shows what it says for each of the keys. */
function sketchResult(
  sketch: PercentileSketch,
  spec: SpecOf<'percentiles' | 'percentile_ranks'>,
  keys: readonly number[],
  valueAt: (key: number) => number | null,
): Pick<Collector, 'collect' | 'result'> {
  let field: Field | undefined
  return {
    collect: (view, places) => {
      const found = eachValue(view, places, spec, (value, weight) => sketch.add(value, weight))
      field ??= found
    },
    result: () => {
      const values = keys.map(key => {
        const value = valueAt(key)
        return { key, value, text: value === null ? undefined : textOfNumber(value, field) }
      })
      if (!spec.keyed)
        return { values: values.map(({ key, value, text }) => ({ key, value, ...(text !== undefined && { value_as_string: text }) })) }
      const entries = values.flatMap(({ key, value, text }): [string, unknown][] => {
        const name = javaDouble(key)
        return text === undefined
          ? [[name, value]]
          : [
              [name, value],
              [`${name}_as_string`, text],
            ]
      })
      return { values: Object.fromEntries(entries) }
    },
  }
}

/** As a histogram of high dynamic range has it: the highest number that it does not tell from the value. */
function stepPercentile(sketch: PercentileSketch, percent: number, digits: number): number | null {
  const value = sketch.percentile(percent, true)
  if (value === null || value <= 0) return value
  const half = 2 ** (Math.ceil(Math.log2(2 * 10 ** digits)) - 1)
  const unit = 2 ** Math.floor(Math.log2(sketch.leastPositive)) / half
  const step = 2 ** Math.max(0, Math.floor(Math.log2(value / unit)) - Math.log2(half))
  return (Math.floor(value / unit / step) * step + step - 1) * unit
}

export class PercentileSketch {
  readonly #memory: QueryMemory
  #values: number[] = []
  #isSorted = true
  #steps: Map<number, number> | undefined
  #count = 0
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY

  constructor(memory: QueryMemory) {
    this.#memory = memory
  }

  /** Infinity until a positive value has come. */
  leastPositive = Number.POSITIVE_INFINITY

  add(value: number, weight = 1): void {
    this.#count += weight
    if (value > 0 && value < this.leastPositive) this.leastPositive = value
    this.#min = Math.min(this.#min, value)
    this.#max = Math.max(this.#max, value)
    if (this.#steps === undefined && this.#count > EXACT_VALUES) this.#coarsen()
    if (this.#steps !== undefined) this.#addToStep(value, weight)
    else {
      this.#memory.charge(VALUE_BYTES * weight, 'percentiles of fewer values')
      for (let at = 0; at < weight; at++) this.#values.push(value)
    }
    this.#isSorted = false
  }

  /** The value with `percent` of the values below it, or with `isUpTo` up to it; null without any value. */
  percentile(percent: number, isUpTo = false): number | null {
    if (this.#count === 0 || Number.isNaN(percent)) return null
    const rank = (percent / 100) * this.#count
    const place = Math.min(this.#count - 1, isUpTo ? Math.max(0, Math.ceil(rank) - 1) : Math.floor(rank))
    if (this.#steps !== undefined) return this.#percentileOfSteps(place)
    if (!this.#isSorted) this.#values.sort((a, b) => a - b)
    this.#isSorted = true
    return this.#values[place]!
  }

  /** The percentage of values below a value, with half of those that equal it; null without any value. */
  rank(of: number): number | null {
    if (this.#count === 0 || Number.isNaN(of)) return null
    if (of < this.#min || of > this.#max) return of < this.#min ? 0 : 100
    const point = this.#steps === undefined ? of : middleOf(stepOf(of))
    let below = 0
    this.each((value, count) => {
      if (value <= point) below += value < point ? count : count / 2
    })
    return (below / this.#count) * 100
  }

  /** Calls `visit` with every value, or with the steps that stand for values. */
  each(visit: (value: number, count: number) => void): void {
    if (this.#steps === undefined) for (const value of this.#values) visit(value, 1)
    else for (const [step, count] of this.#steps) visit(middleOf(step), count)
  }

  #coarsen(): void {
    this.#steps = new Map()
    for (const value of this.#values) this.#addToStep(value, 1)
    this.#memory.giveBack(VALUE_BYTES * this.#values.length)
    this.#values = []
  }

  #addToStep(value: number, weight: number): void {
    const steps = this.#steps!
    const step = stepOf(value)
    if (!steps.has(step)) this.#memory.charge(STEP_BYTES, 'percentiles of fewer values')
    steps.set(step, (steps.get(step) ?? 0) + weight)
  }

  #percentileOfSteps(place: number): number {
    const steps = [...this.#steps!].sort((a, b) => middleOf(a[0]) - middleOf(b[0]))
    let below = 0
    for (const [step, count] of steps) {
      below += count
      if (place < below) return Math.min(this.#max, Math.max(this.#min, middleOf(step)))
    }
    return this.#max
  }
}

/** Steps are numbered by the logarithm; far apart for both signs, 0 for values next to nothing. */
const NEGATIVE = 1_000_000
const TINY = 1e-9

function stepOf(value: number): number {
  const size = Math.abs(value)
  if (size < TINY) return 0
  const step = Math.round(Math.log(size / TINY) / STEP) + 1
  return value > 0 ? step : step + NEGATIVE
}

function middleOf(step: number): number {
  if (step === 0) return 0
  const size = TINY * Math.exp((step >= NEGATIVE ? step - NEGATIVE - 1 : step - 1) * STEP)
  return step >= NEGATIVE ? -size : size
}
