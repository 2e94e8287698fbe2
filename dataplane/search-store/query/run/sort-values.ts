/** Values that hits are sorted by. */
import { ApiError, illegalArgument, queryShardError } from '../../api-error.ts'
import { parseDateMath } from '../../dates/date-math.ts'
import { FIELD_TYPES, type FieldType } from '../../mapping/field-types.ts'
import { classOf, eachKeyword, eachNumber, type Field, findField, shortestFloat } from '../bind/field.ts'
import type { Scalar } from '../parse/query.ts'
import type { SortSpec } from '../parse/sort-spec.ts'
import type { SegmentUnit } from './segment-unit.ts'

/** Undefined: the document has no value. */
export type SortValue = number | string | undefined

export interface SortReader {
  /** Values of all documents, where the segment has them ready; NaN for none. */
  readonly column: Float64Array | undefined
  /** `document` gives the parsed document when it is needed. */
  read(doc: number, score: number, document: () => unknown): SortValue
  /** The value in a hit's `sort` array, which `search_after` takes back. */
  show(value: SortValue): unknown
}

/** Negative when `a` comes first; missing values go where the sort says. */
export function compareSortValues(a: SortValue, b: SortValue, spec: SortSpec): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return (a === undefined) === (spec.missing === '_first') ? -1 : 1
  const order = typeof a === typeof b ? (a < b ? -1 : 1) : typeof a === 'number' ? -1 : 1
  return spec.order === 'asc' ? order : -order
}

/** Throws 400 where the index cannot sort by the field. */
export function sortReader(spec: SortSpec, unit: SegmentUnit): SortReader {
  const type = findField(unit.bound.mapping, spec.field)?.type
  const reader = valueReader(spec, unit)
  return {
    get column() {
      return reader.column
    },
    read: reader.read,
    show: value => showSortValue(value, spec, type),
  }
}

type ValueReader = Omit<SortReader, 'show'>

function valueReader(spec: SortSpec, unit: SegmentUnit): ValueReader {
  const { segment, bound } = unit
  switch (spec.field) {
    case '_score':
      return { column: undefined, read: (_doc, score) => score }
    case '_doc':
    case '_shard_doc':
      return { column: undefined, read: doc => unit.ordinal * 2 ** 32 + doc }
    case '_id':
      return { column: undefined, read: doc => segment.id(doc) }
    case '_index':
      return { column: undefined, read: () => bound.index }
    default: {
      const field = sortField(spec, unit)
      return field === undefined ? { column: undefined, read: () => missingValue(spec) } : fieldReader(field, spec, unit)
    }
  }
}

function sortField(spec: SortSpec, unit: SegmentUnit): Field | undefined {
  const field = findField(unit.bound.mapping, spec.field)
  if (field === undefined || classOf(field) === 'object') {
    if (spec.unmappedType === undefined) throw queryShardError(`No mapping found for [${spec.field}] in order to sort on`)
    if (!FIELD_TYPES.some(type => type === spec.unmappedType)) throw illegalArgument(`No mapper found for type [${spec.unmappedType}]`)
    return undefined
  }
  refuseTextField(field)
  return field
}

/** Text has no values to sort or group by. */
export function refuseTextField(field: Field): void {
  if (classOf(field) !== 'text') return
  throw new ApiError(
    400,
    'illegal_argument_exception',
    'Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are ' +
      'disabled by default. Please use a keyword field instead. Alternatively, set fielddata=true on ' +
      `[${field.path}] in order to load field data by uninverting the inverted index. Note that this can use significant memory.`,
  )
}

function missingValue(spec: SortSpec): SortValue {
  if (spec.missing === '_last' || spec.missing === '_first') return undefined
  return typeof spec.missing === 'boolean' ? Number(spec.missing) : spec.missing
}

function fieldReader(field: Field, spec: SortSpec, unit: SegmentUnit): ValueReader {
  const missing = missingValue(spec)
  const isKeyword = classOf(field) === 'keyword' || classOf(field) === 'flat'
  const fromDocument: ValueReader['read'] = (_doc, _score, document) => {
    let best: SortValue
    const visit = (value: number | string): void => {
      if (best === undefined || (spec.mode === 'min' ? value < best : value > best)) best = value
    }
    if (isKeyword) eachKeyword(field, document(), visit)
    else eachNumber(field, document(), visit)
    return best ?? missing
  }
  if (isKeyword) return { column: undefined, read: fromDocument }
  // Read when it is first asked for: of most segments no document is compared.
  let loaded: { readonly values: Float64Array | undefined } | undefined
  const valuesOf = (): Float64Array | undefined => {
    if (loaded === undefined) {
      const column = unit.segment.column(field.path)
      loaded = { values: column?.kind === 'number' ? column.values : undefined }
    }
    return loaded.values
  }
  return {
    get column() {
      return typeof missing === 'number' ? undefined : valuesOf()
    },
    read(doc, score, document) {
      const values = valuesOf()
      if (values === undefined) return fromDocument(doc, score, document)
      return Number.isNaN(values[doc]!) ? missing : values[doc]!
    },
  }
}

function showSortValue(value: SortValue, spec: SortSpec, type: FieldType | undefined): unknown {
  if (value === undefined) return missingText(type ?? spec.unmappedType, spec)
  return type === 'float' && typeof value === 'number' ? shortestFloat(value) : value
}

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
const MAX_INT = 2 ** 31 - 1

/** OpenSearch shows missing numbers as the largest or smallest that the type has; [largest, smallest]. */
const EXTREMES: Readonly<Record<string, readonly [unknown, unknown]>> = {
  long: [rawJson('9223372036854775807'), rawJson('-9223372036854775808')],
  date: [rawJson('9223372036854775807'), rawJson('-9223372036854775808')],
  unsigned_long: [rawJson('18446744073709551615'), 0],
  integer: [MAX_INT, -MAX_INT - 1],
  short: [MAX_INT, -MAX_INT - 1],
  byte: [MAX_INT, -MAX_INT - 1],
  boolean: [MAX_INT, -MAX_INT - 1],
  double: ['Infinity', '-Infinity'],
  float: ['Infinity', '-Infinity'],
}

function missingText(type: string | undefined, spec: SortSpec): unknown {
  if (type === undefined || !Object.hasOwn(EXTREMES, type)) return null
  return EXTREMES[type]![(spec.missing === '_last') === (spec.order === 'asc') ? 0 : 1]
}

/** Whether a `search_after` value stands for a missing one: an extreme, as JSON numbers can hold it. */
function isMissingText(value: Scalar, type: string | undefined): boolean {
  if (value === 'Infinity' || value === '-Infinity' || (typeof value === 'number' && Math.abs(value) >= 2 ** 63)) return true
  const [max, min] = (type !== undefined && Object.hasOwn(EXTREMES, type) && EXTREMES[type]) || []
  return type !== 'unsigned_long' && (value === max || value === min)
}

/** Reads a `search_after` value for comparison with an index's values. */
export function parseSortValue(value: Scalar | null, spec: SortSpec, unit: SegmentUnit): SortValue {
  if (value === null) return undefined
  const field = findField(unit.bound.mapping, spec.field)
  const fieldClass = field === undefined ? undefined : classOf(field)
  const isNumber =
    fieldClass === 'number' || fieldClass === 'date' || fieldClass === 'boolean' || spec.field === '_score' || spec.field === '_doc'
  const type = field?.type ?? spec.unmappedType
  if (type !== undefined && type !== 'keyword' && isMissingText(value, type)) return undefined
  if (!isNumber) return fieldClass === undefined && typeof value === 'number' ? value : String(value)
  if (typeof value === 'number') return value
  if (fieldClass === 'date') {
    return parseDateMath(String(value), { nowMs: 0 })
  }
  if (fieldClass === 'boolean') return value === true || value === 'true' ? 1 : 0
  const number = Number(value)
  if (Number.isNaN(number)) throw illegalArgument(`Failed to parse search_after value for field [${spec.field}].`)
  return number
}
