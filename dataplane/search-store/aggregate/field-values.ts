/** Checks and conversions that aggregations on a field share. */
import { illegalArgument } from '../api-error.ts'
import { parseDateMath } from '../dates/date-math.ts'
import { UTC } from '../dates/time-zone.ts'
import { classOf, eachExact, type Field, type FieldClass, formatOf, isRounded, refuseKept } from '../query/bind/field.ts'
import type { Query, Scalar } from '../query/parse/query.ts'
import { readExactDocument } from '../query/run/segment-unit.ts'
import { refuseTextField } from '../query/run/sort-values.ts'
import type { MatchView } from './match-view.ts'
import type { AggregationSpec } from './spec.ts'

type FieldLookup = Pick<MatchView, 'field'>

/** The field, fit for grouping and counting; undefined when the index lacks it. Throws 400 for text. */
export function groupField(view: FieldLookup, path: string): Field | undefined {
  const field = view.field(path)
  if (field !== undefined) refuseKept(field)
  if (field === undefined || classOf(field) === 'object') return undefined
  refuseTextField(field)
  return field
}

/** Whether a group needs more digits than a column has. Dates with nanoseconds are grouped by their milliseconds. */
export const needsDigits = (field: Field, value: number): boolean => !field.hasNanos && isRounded(field, value)

/** All values of a match whose values a double may not hold. */
export function exactValues(view: MatchView, place: number, field: Field, visit: (value: number | bigint) => void): void {
  const { unit, docs } = view.documents!
  eachExact(field, readExactDocument(unit.segment, docs[place]!), visit)
}

/** The field, fit for arithmetic; undefined when the index lacks it. Throws 400 for text and keywords. */
export function numberField(view: FieldLookup, path: string, type: string): Field | undefined {
  const field = groupField(view, path)
  if (field === undefined || isNumeric(classOf(field))) return field
  throw illegalArgument(`Field [${path}] of type [${field.type}] is not supported for aggregation [${type}]`)
}

export const isNumeric = (fieldClass: FieldClass): boolean => fieldClass === 'number' || fieldClass === 'date' || fieldClass === 'boolean'

/** The part of a field that says how its numbers are written. */
export type ShownField = Pick<Field, 'type' | 'format'> & Partial<Pick<Field, 'isAddress'>>

/** The number that stands for a `missing` value in a numeric, date or boolean field. */
export function missingNumber(value: Scalar, field: ShownField, nowMs = 0): number {
  if (classOf(field) === 'date') return parseDateMath(String(value), { nowMs, format: formatOf(field) })
  if (value === true || value === 'true') return 1
  if (value === false || value === 'false') return 0
  const number = Number(value)
  if (Number.isNaN(number)) throw illegalArgument(`For input string: "${String(value)}"`)
  return number
}

/** How a number of the field is shown as text; undefined where OpenSearch shows none. */
export function textOfNumber(value: number, field: ShownField | undefined): string | undefined {
  if (field === undefined) return undefined
  if (classOf(field) === 'date') return formatOf(field).print(value, UTC)
  if (classOf(field) === 'boolean') return value === 1 ? 'true' : 'false'
  return undefined
}

const ANY_FIELD = new Set<AggregationSpec['type']>(['terms', 'rare_terms', 'multi_terms', 'value_count', 'cardinality', 'missing'])

/** Fields that an aggregation reads itself. */
export function fieldsOf(spec: AggregationSpec): readonly string[] {
  if ('sources' in spec) return spec.sources.map(({ field }) => field)
  if (spec.type === 'weighted_avg') return [spec.value.field, spec.weight.field]
  return 'field' in spec ? [spec.field] : []
}

/** Queries whose matches an aggregation tells apart. */
export function queriesOf(spec: AggregationSpec): readonly Query[] {
  if ('filters' in spec) return spec.filters.map(({ query }) => query)
  return spec.type === 'filter' ? [spec.query] : []
}

interface FieldsOfIndex extends Pick<MatchView, 'field'> {
  /** Throws 400 where the index cannot run the query. */
  bind(query: Query): unknown
}

/** Throws 400 where an index has a field of a kind that the aggregation cannot use. */
export function checkFields(specs: readonly AggregationSpec[], lookup: FieldsOfIndex): void {
  for (const spec of specs) {
    for (const query of queriesOf(spec)) lookup.bind(query)
    if (spec.type === 'composite')
      for (const { field, grid } of spec.sources) {
        if (grid === undefined) groupField(lookup, field)
        else numberField(lookup, field, grid.type)
      }
    else
      for (const field of fieldsOf(spec)) {
        if (ANY_FIELD.has(spec.type)) groupField(lookup, field)
        else numberField(lookup, field, spec.type)
      }
    checkFields(spec.below, lookup)
  }
}
