/** Buckets for the combinations of the values of several fields. */
import { rawNumber } from '../../json/exact-numbers.ts'
import { classOf, type Field } from '../../query/bind/field.ts'
import { type CollectContext, type Collector, eachOr } from '../aggregation-collector.ts'
import { exactValues, groupField, isNumeric, missingNumber, needsDigits, textOfNumber } from '../field-values.ts'
import { javaDouble } from '../java-double.ts'
import type { MatchView } from '../match-view.ts'
import type { SpecOf, ValueSource } from '../spec.ts'
import { type Below, BucketTable } from './bucket-table.ts'
import { combinationsOf, type Reader } from './combinations.ts'
import { keyOrder } from './key-order.ts'
import { showFirst } from './terms.ts'

type Value = string | number | bigint

export function createMultiTerms(spec: SpecOf<'multi_terms'>, newBelow: () => Below, context: CollectContext): Collector {
  const { sources } = spec
  const table = new BucketTable<string>(newBelow, context)
  /** The values of each bucket, by its ordinal. */
  const combinations: (readonly Value[])[] = []
  const fields: (Field | undefined)[] = sources.map(() => undefined)
  const nameOf = (value: Value): string => `${typeof value}${value}`
  const find = (name: string): readonly Value[] => combinations[table.find(name)!]!
  const comparison = () => {
    const orders = fields.map(keyOrder)
    return (a: string, b: string): number => {
      for (const [at, value] of find(a).entries()) {
        const order = orders[at]!(value, find(b)[at])
        if (order !== 0) return order
      }
      return 0
    }
  }
  const show = (ordinal: number): Record<string, unknown> => {
    const values = combinations[ordinal]!.map((value, at) => shownValue(value, fields[at]))
    return {
      key: values,
      key_as_string: combinations[ordinal]!.map((value, at) =>
        typeof value === 'number' && isFraction(fields[at])
          ? javaDouble(value)
          : String(typeof value === 'bigint' ? value : shownValue(value, fields[at])),
      ).join('|'),
      doc_count: table.counts[ordinal]!,
      ...table.belowResults(ordinal),
    }
  }

  return {
    collect(view, places) {
      const readers = sources.map((source, at) => {
        const field = groupField(view, source.field)
        fields[at] ??= field
        return readerOf(view, source, field)
      })
      const each = combinationsOf(readers)
      table.collect(view, places, (place, put) =>
        each(place, chosen => {
          const ordinal = table.ordinal(JSON.stringify(chosen.map(nameOf)))
          if (ordinal === combinations.length) combinations.push([...chosen])
          put(ordinal)
        }),
      )
    },
    result: () => showFirst(table, spec, comparison(), show, context),
  }
}

function readerOf(view: MatchView, { missing }: ValueSource, field: Field | undefined): Reader<Value> {
  if (field === undefined)
    return (_place, visit) => missing !== undefined && visit(typeof missing === 'boolean' ? String(missing) : missing)
  if (!isNumeric(classOf(field))) {
    const reader = view.keywords(field)
    return (place, visit) => eachOr(reader, place, missing === undefined ? undefined : String(missing), visit)
  }
  const reader = view.numbers(field)
  const standIn = missing === undefined ? undefined : missingNumber(missing, field)
  return (place, visit) => {
    const see = (value: number): void => {
      if (needsDigits(field, value)) exactValues(view, place, field, visit)
      else visit(value)
    }
    eachOr(reader, place, standIn, see)
  }
}

const isFraction = (field: Field | undefined): boolean => field?.type === 'double' || field?.type === 'float'

function shownValue(value: Value, field: Field | undefined): unknown {
  if (typeof value === 'bigint') return rawNumber(value)
  if (field?.type === 'boolean' && typeof value === 'number') return value === 1
  return (typeof value === 'number' ? textOfNumber(value, field) : undefined) ?? value
}
