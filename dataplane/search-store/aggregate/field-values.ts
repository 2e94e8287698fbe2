/** Checks and conversions that aggregations on a field share. */
import { illegalArgument } from '../api-error.ts'
import { printDate } from '../dates/date-format.ts'
import { parseDateMath } from '../dates/date-math.ts'
import { classOf, eachExact, type Field, type FieldClass, refuseKept } from '../query/bind/field.ts'
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

/** The number that stands for a `missing` value in a numeric, date or boolean field. */
export function missingNumber(value: Scalar, field: Field, nowMs = 0): number {
  if (classOf(field) === 'date') return parseDateMath(String(value), { nowMs })
  if (value === true || value === 'true') return 1
  if (value === false || value === 'false') return 0
  const number = Number(value)
  if (Number.isNaN(number)) throw illegalArgument(`For input string: "${String(value)}"`)
  return number
}

/** How a number of the field is shown as text; undefined where OpenSearch shows none. */
export function textOfNumber(value: number, fieldClass: FieldClass | undefined): string | undefined {
  if (fieldClass === 'date') return printDate(value)
  if (fieldClass === 'boolean') return value === 1 ? 'true' : 'false'
  return undefined
}

const ANY_FIELD = new Set<AggregationSpec['type']>(['terms', 'value_count', 'cardinality', 'missing'])

interface FieldsOfIndex extends Pick<MatchView, 'field'> {
  /** Throws 400 where the index cannot run the query. */
  bind(query: Query): unknown
}

/** Throws 400 where an index has a field of a kind that the aggregation cannot use. */
export function checkFields(specs: readonly AggregationSpec[], lookup: FieldsOfIndex): void {
  for (const spec of specs) {
    if (spec.type === 'filter') lookup.bind(spec.query)
    if (spec.type === 'filters') for (const { query } of spec.filters) lookup.bind(query)
    if (spec.type === 'composite')
      for (const { field, grid } of spec.sources) {
        if (grid === undefined) groupField(lookup, field)
        else numberField(lookup, field, grid.type)
      }
    if ('field' in spec) {
      if (ANY_FIELD.has(spec.type)) groupField(lookup, spec.field)
      else numberField(lookup, spec.field, spec.type)
    }
    checkFields(spec.below, lookup)
  }
}
