/** Buckets for all combinations of the values of some sources. Only those that can be on the page are kept. */
import { illegalArgument } from '../../api-error.ts'
import { parseDateMath } from '../../dates/date-math.ts'
import { rawNumber } from '../../json/exact-numbers.ts'
import { classOf, exactNamed, type Field, type FieldClass, isExact, isLarge } from '../../query/bind/field.ts'
import type { CollectContext, Collector } from '../aggregation-collector.ts'
import { exactValues, groupField, isNumeric, needsDigits, numberField } from '../field-values.ts'
import type { MatchView } from '../match-view.ts'
import type { CompositeSource, CompositeValue, SpecOf } from '../spec.ts'
import { type Below, BucketTable, spendBuckets } from './bucket-table.ts'
import { combinationsOf, type Reader } from './combinations.ts'
import { type Grid, gridOf } from './grid.ts'
import { compareKeys, passingKeyOrder } from './key-order.ts'

/** One value of each source; null: the document has none. */
type Value = string | number | bigint | null
type Combination = readonly Value[]

export function createComposite(spec: SpecOf<'composite'>, newBelow: () => Below, context: CollectContext): Collector {
  const { sources, size } = spec
  const table = new BucketTable<string>(newBelow, context)
  const grids = sources.map(({ grid }) => (grid === undefined ? undefined : gridOf(grid)))
  const classes: (FieldClass | undefined)[] = sources.map(() => undefined)
  const orders = sources.map(() => compareKeys)
  const combinations: Combination[] = []
  let after: Combination | undefined
  /** Nothing behind it is on the page. */
  let last: Combination | undefined
  let pruneAt = 2 * size

  const compare = (a: Combination, b: Combination): number => {
    for (const [at, source] of sources.entries()) {
      const order = compareIn(source, orders[at]!, a[at]!, b[at]!)
      if (order !== 0) return order
    }
    return 0
  }

  const readerOf = (view: MatchView, at: number): Reader<Value> => {
    const source = sources[at]!
    const field = groupField(view, source.field)
    if (field === undefined) return source.hasMissing ? (_place, visit) => visit(null) : () => undefined
    classes[at] ??= classOf(field)
    orders[at] = passingKeyOrder(field)
    const each = valuesOf(view, field, source, grids[at])
    if (!source.hasMissing) return each
    return (place, visit) => {
      let hasValue = false
      each(place, value => {
        hasValue = true
        visit(value)
      })
      if (!hasValue) visit(null)
    }
  }

  const afterOf = (): Combination | undefined => spec.after?.map((value, at) => readValue(value, sources[at]!, classes[at], context.nowMs))

  /** The combinations so far that can still be on the page. */
  const page = (): number[] =>
    combinations
      .map((_, ordinal) => ordinal)
      .sort((a, b) => compare(combinations[a]!, combinations[b]!))
      .slice(0, size)

  const ordinalOf = (combination: Combination): number => {
    if (after !== undefined && compare(combination, after) <= 0) return -1
    if (last !== undefined && compare(combination, last) > 0) return -1
    const ordinal = table.ordinal(JSON.stringify(combination.map(value => (typeof value === 'bigint' ? [String(value)] : value))))
    if (ordinal === combinations.length) combinations.push([...combination])
    return ordinal
  }

  return {
    collect(view, places) {
      const each = combinationsOf(sources.map((_, at) => readerOf(view, at)))
      after ??= afterOf()
      // A document counts for each of its values, equal ones too.
      table.collect(
        view,
        places,
        (place, put) =>
          each(place, chosen => {
            const ordinal = ordinalOf(chosen)
            if (ordinal >= 0) put(ordinal)
          }),
        true,
      )
      if (combinations.length < pruneAt) return
      last = combinations[page().at(-1)!]
      pruneAt = combinations.length + size
    },
    result() {
      const chosen = page()
      spendBuckets(context.budget, chosen.length)
      const keyOf = (ordinal: number) =>
        Object.fromEntries(
          sources.map((source, at) => [source.name, showValue(combinations[ordinal]![at]!, source, classes[at], grids[at])]),
        )
      const buckets = chosen.map(ordinal => ({ key: keyOf(ordinal), doc_count: table.counts[ordinal]!, ...table.belowResults(ordinal) }))
      return { ...(buckets.length > 0 && { after_key: buckets.at(-1)!.key }), buckets }
    },
  }
}

function valuesOf(view: MatchView, field: Field, { grid }: CompositeSource, keys: Grid | undefined): Reader<Value> {
  if (grid !== undefined && keys !== undefined) {
    const numbers = view.numbers(numberField(view, grid.field, grid.type)!)
    return (place, visit) => numbers.each(place, value => visit(keys.keyOf(value)))
  }
  if (!isNumeric(classOf(field))) {
    const texts = view.keywords(field)
    if (texts.coded !== undefined) return (place, visit) => texts.each(place, visit)
    // A keyword that a document holds twice is one value, a number two.
    return (place, visit) => {
      const seen = new Set<string>()
      texts.each(place, text => seen.add(text))
      for (const text of seen) visit(text)
    }
  }
  const numbers = view.numbers(field)
  if (!isExact(field)) return (place, visit) => numbers.each(place, visit)
  return (place, visit) => {
    let hasRounded = false
    numbers.each(place, value => {
      hasRounded ||= needsDigits(field, value)
    })
    if (hasRounded) exactValues(view, place, field, visit)
    else numbers.each(place, visit)
  }
}

function compareIn({ isAscending, isMissingFirst }: CompositeSource, compare: typeof compareKeys, a: Value, b: Value): number {
  if (a === b) return 0
  if (a === null || b === null) return (a === null) === isMissingFirst ? -1 : 1
  return isAscending ? compare(a, b) : -compare(a, b)
}

/** A value of `after`, as the field has it. */
function readValue(value: CompositeValue, { grid, showsText }: CompositeSource, fieldClass: FieldClass | undefined, nowMs: number): Value {
  if (value === null) return null
  if (grid?.type === 'date_histogram' && typeof value === 'string')
    return parseDateMath(value, { nowMs, zone: grid.zone, ...(showsText && grid.format && { format: grid.format }) })
  if (fieldClass === 'boolean') return Number(value === true || value === 'true')
  if (grid === undefined && (fieldClass === undefined || !isNumeric(fieldClass))) return String(value)
  if (fieldClass === 'date' && typeof value === 'string') return parseDateMath(value, { nowMs })
  const number = Number(value)
  if (isLarge(number) && grid === undefined) return exactNamed(value, number)
  if (Number.isNaN(number)) throw illegalArgument(`For input string: "${String(value)}"`)
  return number
}

function showValue(value: Value, source: CompositeSource, fieldClass: FieldClass | undefined, grid: Grid | undefined): unknown {
  if (value === null) return null
  if (typeof value === 'bigint') return rawNumber(value)
  if (grid !== undefined && source.showsText && typeof value === 'number') return grid.text(value)
  return fieldClass === 'boolean' && grid === undefined ? value === 1 : value
}
