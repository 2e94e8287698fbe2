/** Buckets for the values of a field. */
import { unsupported } from '../api-error.ts'
import { rawNumber } from '../json/exact-numbers.ts'
import { classOf, type Field, type FieldClass, isRounded } from '../query/bind/field.ts'
import { type CollectContext, type Collector, eachOr } from './aggregation-collector.ts'
import { type Below, BucketTable, compareKeys, spendBuckets } from './bucket-table.ts'
import { exactValues, groupField, isNumeric, missingNumber, textOfNumber } from './field-values.ts'
import type { MatchView } from './match-view.ts'
import type { SpecOf } from './spec.ts'

type Key = string | number | bigint

/** A bucket for each value of a field. Counts are exact. */
export function createTerms(spec: SpecOf<'terms'>, newBelow: () => Below, context: CollectContext): Collector {
  const table = new BucketTable<Key>(newBelow, context)
  let fieldClass: FieldClass | undefined

  const collect = (view: MatchView, places: Uint32Array | undefined): void => {
    const field = groupField(view, spec.field)
    if (field === undefined) {
      const missing = typeof spec.missing === 'boolean' ? String(spec.missing) : spec.missing
      if (missing === undefined || !isWanted(missing, undefined, spec)) return
      const ordinal = table.ordinal(missing)
      table.collect(view, places, (_place, put) => put(ordinal))
      return
    }
    if (field.hasNanos) throw unsupported(`aggregation [terms] on the field [${spec.field}] of type [date_nanos]`)
    fieldClass ??= classOf(field)
    const assign = isNumeric(classOf(field)) ? byNumber(table, spec, view, field) : byKeyword(table, spec, view, field, places?.length)
    table.collect(view, places, assign)
  }

  return { collect, result: () => showTerms(table, spec, fieldClass, context) }
}

/** Puts a match into its buckets. */
type Assign = Parameters<BucketTable<Key>['collect']>[2]

function byNumber(table: BucketTable<Key>, spec: SpecOf<'terms'>, view: MatchView, field: Field): Assign {
  const reader = view.numbers(field)
  const missing = spec.missing === undefined ? undefined : wanted(missingNumber(spec.missing, field), spec)
  return (place, put) => {
    let hasValue = false
    reader.each(place, value => {
      hasValue = true
      if (isRounded(field, value)) return exactValues(view, place, field, key => isWanted(key, undefined, spec) && put(table.ordinal(key)))
      if (isWanted(value, textOfNumber(value, classOf(field)), spec)) put(table.ordinal(value))
    })
    if (!hasValue && missing !== undefined) put(table.ordinal(missing))
  }
}

function isWanted(value: Key, text: string | undefined, { include, exclude }: SpecOf<'terms'>): boolean {
  if (include === undefined && exclude === undefined) return true
  const isNamed = (names: ReadonlySet<string>): boolean => names.has(String(value)) || (text !== undefined && names.has(text))
  return (include === undefined || isNamed(include)) && (exclude === undefined || !isNamed(exclude))
}

function wanted<K extends Key>(value: K, spec: SpecOf<'terms'>): K | undefined {
  return isWanted(value, undefined, spec) ? value : undefined
}

/** With fewer places than so many codes each, what a code stands for is not remembered. */
const FEW_PLACES = 8

const UNSEEN = -2
const UNWANTED = -1

function byKeyword(table: BucketTable<Key>, spec: SpecOf<'terms'>, view: MatchView, field: Field, places = view.size): Assign {
  const reader = view.keywords(field)
  const missing = spec.missing === undefined ? undefined : wanted(String(spec.missing), spec)
  const { coded } = reader
  if (coded === undefined) {
    return (place, put) =>
      eachOr(reader, place, missing, value => {
        if (isWanted(value, undefined, spec)) put(table.ordinal(value))
      })
  }
  const seen = places * FEW_PLACES < coded.dictionary.length ? undefined : new Int32Array(coded.dictionary.length).fill(UNSEEN)
  const ordinalOf = (code: number): number => {
    if (code === 0) return missing === undefined ? UNWANTED : table.ordinal(missing)
    const text = coded.dictionary[code]!
    return isWanted(text, undefined, spec) ? table.ordinal(text) : UNWANTED
  }
  return (place, put) => {
    const code = coded.code(place)
    let ordinal = seen === undefined ? UNSEEN : seen[code]!
    if (ordinal === UNSEEN) {
      ordinal = ordinalOf(code)
      if (seen !== undefined) seen[code] = ordinal
    }
    if (ordinal >= 0) put(ordinal)
  }
}

function showTerms(
  table: BucketTable<Key>,
  spec: SpecOf<'terms'>,
  fieldClass: FieldClass | undefined,
  context: CollectContext,
): Record<string, unknown> {
  const compare = (a: number, b: number): number => {
    for (const order of spec.order) {
      const result = table.compare(a, b, order)
      if (result !== 0) return result
    }
    return compareKeys(table.keys[a], table.keys[b])
  }
  const eligible = table.keys.map((_key, ordinal) => ordinal).filter(ordinal => table.counts[ordinal]! >= spec.minDocCount)
  const all = eligible.reduce((sum, ordinal) => sum + table.counts[ordinal]!, 0)
  const chosen = eligible.sort(compare).slice(0, spec.size)
  spendBuckets(context.budget, chosen.length)
  return {
    doc_count_error_upper_bound: 0,
    sum_other_doc_count: all - chosen.reduce((sum, ordinal) => sum + table.counts[ordinal]!, 0),
    buckets: chosen.map(ordinal => {
      const key = table.keys[ordinal]!
      const text = typeof key === 'number' ? textOfNumber(key, fieldClass) : undefined
      return {
        key: typeof key === 'bigint' ? rawNumber(key) : key,
        ...(text !== undefined && { key_as_string: text }),
        doc_count: table.counts[ordinal]!,
        ...table.belowResults(ordinal),
      }
    }),
  }
}
