/** Values that hits are sorted by. */
import { compareTexts } from '../../analysis/compare-texts.ts'
import { ApiError, illegalArgument, queryShardError, unsupported } from '../../api-error.ts'
import { parseDateMath } from '../../dates/date-math.ts'
import { rawNumber } from '../../json/exact-numbers.ts'
import { FIELD_TYPES, type FieldType } from '../../mapping/field-types.ts'
import {
  classOf,
  eachExact,
  eachKeyword,
  eachNumber,
  type Field,
  findField,
  formatOf,
  isExact,
  isRounded,
  NANOS_PER_MS,
  nanosOf,
  refuseKept,
  shortestFloat,
} from '../bind/field.ts'
import type { Scalar } from '../parse/query.ts'
import type { SortSpec } from '../parse/sort-spec.ts'
import { readExactDocument, type SegmentUnit } from './segment-unit.ts'

/** Undefined: the document has no text. One without a number has the largest or smallest of the type, as OpenSearch has it. */
export type SortValue = number | bigint | string | undefined

export interface SortReader {
  /** Values of all documents, where the segment has them ready; NaN for none. */
  readonly column: Float64Array | undefined
  /** `document` gives the parsed document when it is needed. */
  read(doc: number, score: number, document: () => unknown): SortValue
  /** The value in a hit's `sort` array, which `search_after` takes back. */
  show(value: SortValue): unknown
  /** The number that a column is compared with to rule documents out quickly; NaN where that cannot be told. */
  threshold(value: SortValue): number
}

/** Negative when `a` comes first; missing values go where the sort says. */
export function compareSortValues(a: SortValue, b: SortValue, spec: SortSpec): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return (a === undefined) === (spec.missing === '_first') ? -1 : 1
  const isText = typeof a === 'string'
  const order = isText ? (typeof b === 'string' ? compareTexts(a, b) : 1) : typeof b === 'string' ? -1 : a < b ? -1 : a > b ? 1 : 0
  return spec.order === 'asc' ? order : -order
}

/** Throws 400 where the index cannot sort by the field. */
export function sortReader(spec: SortSpec, unit: SegmentUnit): SortReader {
  const field = findField(unit.bound.mapping, spec.field)
  const reader = valueReader(spec, unit)
  return {
    get column() {
      return reader.column
    },
    read: reader.read,
    show: value => showSortValue(value, field?.type),
    threshold: value => {
      if (value === undefined || typeof value === 'string') return Number.NaN
      return field?.hasNanos === true ? Number(BigInt(Math.floor(Number(value))) / NANOS_PER_MS) : Number(value)
    },
  }
}

type ValueReader = Omit<SortReader, 'show' | 'threshold'>

function valueReader(spec: SortSpec, unit: SegmentUnit): ValueReader {
  const { segment, bound } = unit
  switch (spec.field) {
    case '_score':
      return { column: undefined, read: (_doc, score) => score }
    case '_doc':
    case '_shard_doc':
      return { column: undefined, read: doc => unit.ordinal * 2 ** 32 + doc }
    case '_seq_no':
      return { column: undefined, read: doc => segment.seqNo(doc) }
    case '_id':
      return { column: undefined, read: doc => segment.id(doc) }
    case '_index':
      return { column: undefined, read: () => bound.index }
    default: {
      const field = sortField(spec, unit)
      return field === undefined ? { column: undefined, read: () => unmappedMissing(spec) } : fieldReader(field, spec, unit)
    }
  }
}

function sortField(spec: SortSpec, unit: SegmentUnit): Field | undefined {
  const field = findField(unit.bound.mapping, spec.field)
  if (field !== undefined) refuseKept(field)
  if (field === undefined || classOf(field) === 'object') {
    if (spec.unmappedType === undefined) throw queryShardError(`No mapping found for [${spec.field}] in order to sort on`)
    if (!FIELD_TYPES.some(type => type === spec.unmappedType)) throw illegalArgument(`No mapper found for type [${spec.unmappedType}]`)
    return undefined
  }
  refuseTextField(field)
  if (spec.numericType !== undefined && spec.numericType !== (field.hasNanos ? 'date_nanos' : field.type))
    throw unsupported(
      `sorting by the field [${field.path}] of type [${field.hasNanos ? 'date_nanos' : field.type}] as [numeric_type] [${spec.numericType}]`,
    )
  if (field.isAddress) throw unsupported(`sorting by the field [${field.path}] of type [ip]`)
  return field
}

/** Text has no values to sort or group by. */
export function refuseTextField(field: Field): void {
  if (classOf(field) !== 'text') return
  throw new ApiError(
    400,
    'illegal_argument_exception',
    'Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are ' +
      'disabled by default. Please use a keyword field instead: [fielddata] of ' +
      `[${field.path}] is not supported by the embedded search store`,
  )
}

const isEdge = ({ missing }: SortSpec): boolean => missing === '_last' || missing === '_first'

function missingValue(spec: SortSpec, type: string | undefined): SortValue {
  if (isEdge(spec)) return extremeOf(type, spec)
  return typeof spec.missing === 'boolean' ? Number(spec.missing) : spec.missing
}

/** The same where the index lacks the field. */
function unmappedMissing(spec: SortSpec): SortValue {
  const missing = missingValue(spec, spec.unmappedType)
  if (spec.unmappedType === 'keyword') return missingText(spec)
  const number = typeof missing === 'string' && missing.trim() !== '' ? Number(missing) : Number.NaN
  return Number.isNaN(number) ? missing : number
}

/** The same of a field of texts. */
function missingText(spec: SortSpec): SortValue {
  return isEdge(spec) ? undefined : String(spec.missing)
}

/** The same of a field of numbers or dates: a number, or the text of one. */
function missingNumber(spec: SortSpec, field: Field): SortValue {
  if (isEdge(spec)) return extremeOf(field.type, spec)
  const { missing: given } = spec
  const number = typeof given === 'boolean' || (typeof given === 'string' && given.trim() === '') ? Number.NaN : Number(given)
  if (Number.isNaN(number)) throw illegalArgument(`For input string: "${String(given)}"`)
  return isExact(field) && isDigits(given) && !Number.isSafeInteger(number) ? BigInt(given) : number
}

const isBetter = (value: number | string, best: SortValue, mode: SortSpec['mode']): boolean => {
  const order = typeof value === 'string' && typeof best === 'string' ? compareTexts(value, best) : value < best! ? -1 : 1
  return mode === 'min' ? order < 0 : order > 0
}

function fieldReader(field: Field, spec: SortSpec, unit: SegmentUnit): ValueReader {
  const isKeyword = classOf(field) === 'keyword' || classOf(field) === 'flat'
  const missing = isKeyword ? missingText(spec) : missingNumber(spec, field)
  if (isExact(field)) return exactReader(field, spec, unit)
  const fromDocument: ValueReader['read'] = (_doc, _score, document) => {
    let best: SortValue
    const visit = (value: number | string): void => {
      if (best === undefined || isBetter(value, best, spec.mode)) best = value
    }
    if (isKeyword) eachKeyword(field, document(), visit)
    else eachNumber(field, document(), visit)
    return best ?? missing
  }
  if (isKeyword) return { column: undefined, read: fromDocument }
  const valuesOf = numbersOf(field, unit)
  return {
    get column() {
      return typeof missing === 'number' && !isEdge(spec) ? undefined : valuesOf()
    },
    read(doc, score, document) {
      const values = valuesOf()
      if (values === undefined) return fromDocument(doc, score, document)
      return Number.isNaN(values[doc]!) ? missing : values[doc]!
    },
  }
}

/** The column, read when it is first asked for: of most segments no document is compared. */
function numbersOf({ path }: Field, { segment }: SegmentUnit): () => Float64Array | undefined {
  let loaded: { readonly values: Float64Array | undefined } | undefined
  return () => {
    if (loaded === undefined) {
      const column = segment.column(path)
      loaded = { values: column?.kind === 'number' ? column.values : undefined }
    }
    return loaded.values
  }
}

/** For values that a double may not hold: those are read from the document. */
function exactReader(field: Field, spec: SortSpec, unit: SegmentUnit): ValueReader {
  const missing = missingNumber(spec, field)
  const valuesOf = numbersOf(field, unit)
  const readExact = (doc: number): SortValue => {
    let best: number | bigint | undefined
    eachExact(field, readExactDocument(unit.segment, doc), value => {
      if (best === undefined || (spec.mode === 'min' ? value < best : value > best)) best = value
    })
    return best ?? missing
  }
  return {
    get column() {
      return typeof missing === 'number' && !isEdge(spec) ? undefined : valuesOf()
    },
    read: doc => {
      const value = valuesOf()?.[doc]
      if (value === undefined || isRounded(field, value)) return readExact(doc)
      return Number.isNaN(value) ? missing : value
    },
  }
}

function showSortValue(value: SortValue, type: FieldType | undefined): unknown {
  if (value === undefined) return null
  if (typeof value === 'bigint') return rawNumber(value)
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return String(value)
  return type === 'float' && typeof value === 'number' ? shortestFloat(value) : value
}

const MAX_INT = 2 ** 31 - 1
const MAX_LONG = 2n ** 63n - 1n

/** The largest and smallest number of a type, which documents without one have in OpenSearch. */
const EXTREMES: Readonly<Record<string, readonly [largest: number | bigint, smallest: number | bigint]>> = {
  long: [MAX_LONG, -MAX_LONG - 1n],
  date: [MAX_LONG, -MAX_LONG - 1n],
  unsigned_long: [2n ** 64n - 1n, 0],
  integer: [MAX_INT, -MAX_INT - 1],
  short: [MAX_INT, -MAX_INT - 1],
  byte: [MAX_INT, -MAX_INT - 1],
  boolean: [MAX_INT, -MAX_INT - 1],
  double: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  float: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
}

const extremesOf = (type: string | undefined) => (type !== undefined && Object.hasOwn(EXTREMES, type) ? EXTREMES[type] : undefined)

/** The value of documents without one; undefined for types without numbers. */
const extremeOf = (type: string | undefined, spec: SortSpec): SortValue =>
  extremesOf(type)?.[(spec.missing === '_last') === (spec.order === 'asc') ? 0 : 1]

/** The extreme that a `search_after` value stands for, or is beyond, as it is where a client holds numbers in doubles. */
function extremeAt(value: Scalar, type: string | undefined): SortValue {
  const [largest, smallest] = extremesOf(type) ?? []
  if (largest === undefined || smallest === undefined) return undefined
  const number = isDigits(value) ? BigInt(value) : Number(value)
  // Numbers of a double or of an integer type are what they are.
  if (typeof largest === 'number' && Number.isFinite(Number(value))) return undefined
  return number >= largest ? largest : number <= smallest ? smallest : undefined
}

/** Large whole numbers of a request come as texts, with all their digits. */
const isDigits = (value: Scalar): value is string => typeof value === 'string' && /^-?\d+$/.test(value)

/** Names beside the fields of the mapping that sort as numbers. */
const NUMBERED: readonly string[] = ['_score', '_doc', '_seq_no']

/** Reads a `search_after` value for comparison with an index's values, those of documents without one too. */
export function parseSortValue(value: Scalar | null, spec: SortSpec, unit: SegmentUnit): SortValue {
  if (value === null) return undefined
  const field = findField(unit.bound.mapping, spec.field)
  const fieldClass = field === undefined ? undefined : classOf(field)
  const isNumber = fieldClass === 'number' || fieldClass === 'date' || fieldClass === 'boolean' || NUMBERED.includes(spec.field)
  const type = field?.type ?? spec.unmappedType
  const extreme = extremeAt(value, type)
  if (extreme !== undefined) return extreme
  if (field !== undefined && isExact(field)) return exactSortValue(value, spec, field)
  const isUnmappedNumber = field === undefined && extremesOf(type) !== undefined && !Number.isNaN(Number(value))
  if (isUnmappedNumber) return isDigits(value) ? BigInt(value) : Number(value)
  if (!isNumber) return fieldClass === undefined && typeof value === 'number' ? value : String(value)
  if (typeof value === 'number') return type === 'float' ? Math.fround(value) : value
  if (fieldClass === 'date') {
    return parseDateMath(String(value), { nowMs: 0, format: formatOf(field!) })
  }
  if (fieldClass === 'boolean') return value === true || value === 'true' ? 1 : 0
  const number = Number(value)
  if (Number.isNaN(number)) throw illegalArgument(`Failed to parse search_after value for field [${spec.field}].`)
  return type === 'float' ? Math.fround(number) : number
}

function exactSortValue(value: Scalar, spec: SortSpec, field: Field): SortValue {
  if (isDigits(value)) return BigInt(value)
  if (field.hasNanos && typeof value === 'string') return nanosOf(value, parseDateMath(value, { nowMs: 0, format: formatOf(field) }))
  const number = Number(value)
  if (Number.isNaN(number)) throw illegalArgument(`Failed to parse search_after value for field [${spec.field}].`)
  return number
}
