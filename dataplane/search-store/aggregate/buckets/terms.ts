/** Buckets for the values of a field. */
import { rawNumber } from '../../json/exact-numbers.ts'
import { classOf, type Field } from '../../query/bind/field.ts'
import { type CollectContext, type Collector, eachOr, type TermKey, type Vocabulary } from '../aggregation-collector.ts'
import { exactValues, groupField, isNumeric, missingNumber, needsDigits, type ShownField, textOfNumber } from '../field-values.ts'
import type { MatchView } from '../match-view.ts'
import type { SpecOf } from '../spec.ts'
import { TERMS_KIND, type TermsKind } from '../typed-keys.ts'
import { type Below, BucketTable, spendBuckets } from './bucket-table.ts'
import { keyOrder } from './key-order.ts'
import { termTest } from './term-filter.ts'

type TermsSpec = SpecOf<'terms'> | SpecOf<'rare_terms'>

/** A bucket for each value of a field, or for those that few documents have. Counts are exact. */
export function createTerms(spec: TermsSpec, newBelow: () => Below, context: CollectContext): Collector {
  const { collect, table, shownField } = collectTerms(spec, newBelow, context)
  const vocabulary = spec.type === 'terms' ? context.vocabularies.get(spec) : undefined
  if (spec.type !== 'terms' || vocabulary === undefined) return { collect, result: () => showTerms(table, spec, shownField(), context) }
  const field = () => shownField() ?? vocabulary.field
  return {
    collect,
    result: () => {
      addWithoutMatch(table, spec, vocabulary)
      return showTerms(table, spec, field(), context)
    },
    gapResult: () => showTerms(table, spec, field(), context),
  }
}

/** The terms of all that is collected, and the field that they are of. */
export function collectTerms(spec: TermsSpec, newBelow: () => Below, context: CollectContext) {
  const table = new BucketTable<TermKey>(newBelow, context)
  let shownField: ShownField | undefined

  const collect = (view: MatchView, places: Uint32Array | undefined): void => {
    const field = groupField(view, spec.field)
    if (field === undefined) {
      const key = spec.field === '_index' ? view.documents!.unit.bound.index : standIn(spec)
      if (spec.type === 'terms' && spec.valueType !== undefined) shownField ??= { type: spec.valueType }
      if (key === undefined || !termTest(spec, undefined)(key)) return
      const ordinal = table.ordinal(key)
      table.collect(view, places, (_place, put) => put(ordinal))
      return
    }
    shownField ??= field
    const assign = isNumeric(classOf(field)) ? byNumber(table, spec, view, field) : byKeyword(table, spec, view, field, places?.length)
    table.collect(view, places, assign)
  }

  return { collect, table, shownField: () => shownField }
}

/** Adds the buckets of terms without a match that may be shown: they are equal but for their keys, so that the first of these are enough. */
function addWithoutMatch(table: BucketTable<TermKey>, { order, size }: SpecOf<'terms'>, vocabulary: Vocabulary): void {
  const [first] = order
  if (first?.path === '_count' && !first.isAscending && table.keys.length >= size) return
  const isDescending = order.find(({ path }) => isKeyPath(path))?.isAscending === false
  const { keys } = vocabulary
  let added = 0
  for (let at = 0; at < keys.length && added < size; at++) {
    const key = keys[isDescending ? keys.length - 1 - at : at]!
    if (table.find(key) !== undefined) continue
    table.ordinal(key)
    added++
  }
}

const isKeyPath = (path: string): boolean => path === '_key' || path === '_term'

/** The value of documents in an index without the field. */
function standIn(spec: TermsSpec): TermKey | undefined {
  const { missing } = spec
  if (missing === undefined) return undefined
  if (spec.type === 'terms' && spec.valueType !== undefined && isNumeric(classOf({ type: spec.valueType })))
    return missingNumber(missing, { type: spec.valueType })
  return typeof missing === 'boolean' ? String(missing) : missing
}

/** Puts a match into its buckets. */
type Assign = Parameters<BucketTable<TermKey>['collect']>[2]

function byNumber(table: BucketTable<TermKey>, spec: TermsSpec, view: MatchView, field: Field): Assign {
  const reader = view.numbers(field)
  const isWanted = termTest(spec, field)
  const standIn = spec.missing === undefined ? undefined : missingNumber(spec.missing, field)
  const missing = standIn !== undefined && isWanted(standIn) ? standIn : undefined
  return (place, put) => {
    let hasValue = false
    reader.each(place, value => {
      hasValue = true
      if (needsDigits(field, value)) return exactValues(view, place, field, key => isWanted(key) && put(table.ordinal(key)))
      if (isWanted(value)) put(table.ordinal(value))
    })
    if (!hasValue && missing !== undefined) put(table.ordinal(missing))
  }
}

/** The keyword that stands for no value, where its bucket is wanted. */
export function keywordStandIn(spec: TermsSpec, field: Field): string | undefined {
  if (spec.missing === undefined) return undefined
  const keyword = String(spec.missing)
  return termTest(spec, field)(keyword) ? keyword : undefined
}

/** With fewer places than so many codes each, what a code stands for is not remembered. */
const FEW_PLACES = 8

const UNSEEN = -2
const UNWANTED = -1

function byKeyword(table: BucketTable<TermKey>, spec: TermsSpec, view: MatchView, field: Field, places = view.size): Assign {
  const reader = view.keywords(field)
  const isWanted = termTest(spec, field)
  const missing = keywordStandIn(spec, field)
  const { coded } = reader
  if (coded === undefined) {
    return (place, put) =>
      eachOr(reader, place, missing, value => {
        if (isWanted(value)) put(table.ordinal(value))
      })
  }
  const seen = places * FEW_PLACES < coded.dictionary.length ? undefined : new Int32Array(coded.dictionary.length).fill(UNSEEN)
  const ordinalOf = (code: number): number => {
    if (code === 0) return missing === undefined ? UNWANTED : table.ordinal(missing)
    const text = coded.dictionary[code]!
    return isWanted(text) ? table.ordinal(text) : UNWANTED
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
  table: BucketTable<TermKey>,
  spec: TermsSpec,
  field: ShownField | undefined,
  context: CollectContext,
): Record<string, unknown> {
  // OpenSearch shows the digits of such numbers beside them where they are rare, and nowhere else.
  const hasDigits = spec.type === 'rare_terms' && field?.type === 'unsigned_long'
  const show = (ordinal: number): Record<string, unknown> => {
    const key = table.keys[ordinal]!
    const text = hasDigits ? String(key) : typeof key === 'number' ? textOfNumber(key, field) : undefined
    return {
      key: typeof key === 'bigint' ? rawNumber(key) : key,
      ...(text !== undefined && { key_as_string: text }),
      doc_count: table.counts[ordinal]!,
      ...table.belowResults(ordinal),
    }
  }
  const kind = { [TERMS_KIND]: kindOf(field) }
  const compareKey = keyOrder(field)
  if (spec.type === 'terms') return { ...showFirst(table, spec, compareKey, show, context), ...kind }
  const rare = ordinalsOf(table, count => count <= spec.maxDocCount)
  spendBuckets(context.budget, rare.length)
  return {
    ...kind,
    buckets: rare.sort((a, b) => table.counts[a]! - table.counts[b]! || compareKey(table.keys[a], table.keys[b])).map(show),
  }
}

function kindOf(field: ShownField | undefined): TermsKind {
  if (field === undefined) return 'um'
  if (field.type === 'unsigned_long') return 'ul'
  if (!isNumeric(classOf(field))) return 's'
  return field.type === 'double' || field.type === 'float' ? 'd' : 'l'
}

const ordinalsOf = <K>(table: BucketTable<K>, fits: (count: number) => boolean): number[] =>
  Array.from(table.keys.keys()).filter(ordinal => fits(table.counts[ordinal]!))

/** The first buckets in the order that was asked for; equals by their keys. */
export function showFirst<K>(
  table: BucketTable<K>,
  { order, size, minDocCount, showsErrors }: Pick<SpecOf<'terms'>, 'order' | 'size' | 'minDocCount' | 'showsErrors'>,
  compareKey: (a: K, b: K) => number,
  show: (ordinal: number) => Record<string, unknown>,
  { budget }: CollectContext,
): Record<string, unknown> {
  const compare = (a: number, b: number): number => {
    for (const each of order) {
      const result = isKeyPath(each.path)
        ? (each.isAscending ? 1 : -1) * compareKey(table.keys[a]!, table.keys[b]!)
        : table.compare(a, b, each)
      if (result !== 0) return result
    }
    return compareKey(table.keys[a]!, table.keys[b]!)
  }
  const eligible = ordinalsOf(table, count => count >= minDocCount)
  const all = eligible.reduce((sum, ordinal) => sum + table.counts[ordinal]!, 0)
  const chosen = eligible.sort(compare).slice(0, size)
  spendBuckets(budget, chosen.length)
  return {
    doc_count_error_upper_bound: 0,
    sum_other_doc_count: all - chosen.reduce((sum, ordinal) => sum + table.counts[ordinal]!, 0),
    buckets: chosen.map(ordinal => ({ ...show(ordinal), ...(showsErrors && { doc_count_error_upper_bound: 0 }) })),
  }
}
