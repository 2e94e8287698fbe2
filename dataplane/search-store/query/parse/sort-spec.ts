/** The `sort` and `search_after` members of a search. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { illegalArgument, parsingError, refusedByShards, unsupported } from '../../api-error.ts'
import { type JsonObject, kindOf, readArray, readObject, readScalar, readString, refuseUnknown } from '../../json/json-reader.ts'
import type { Scalar } from './query.ts'

export interface SortSpec {
  /** A field, `_score`, `_doc`, `_seq_no`, `_id` or `_index`. */
  readonly field: string
  readonly order: 'asc' | 'desc'
  /** Where documents without a value go, or the value that they count as. */
  readonly missing: Scalar
  readonly mode: 'min' | 'max'
  /** Without it a field that the index lacks is an error. */
  readonly unmappedType?: string
  /** The type that values of numbers and dates are to be compared as. */
  readonly numericType?: string
}

const SORT_KEYS = ['order', 'missing', 'mode', 'unmapped_type', 'numeric_type']
const MAX_SORTS = 20

export function parseSort(value: unknown): readonly SortSpec[] {
  return limited(Array.isArray(value) ? value : [value]).flatMap(parseSortItem)
}

function limited<T>(items: readonly T[]): readonly T[] {
  if (items.length > MAX_SORTS) throw illegalArgument(`[sort] may hold at most ${MAX_SORTS} entries, found ${items.length}`)
  return items
}

function parseSortItem(item: unknown): readonly SortSpec[] {
  if (typeof item === 'string') return [specOf(item, {})]
  if (!isJsonObject(item)) throw parsingError(`[sort] entries must be strings or objects, found ${kindOf(item)}`)
  return Object.entries(item).map(([field, options]) => {
    if (field === '_script' || field === '_geo_distance') throw unsupported(`sort [${field}]`)
    if (typeof options === 'string') return specOf(field, { order: options })
    return specOf(field, readObject(options, `sort.${field}`))
  })
}

/** `field` or `field:desc`. */
function parseSortText(text: string): SortSpec {
  const match = /^(.*):(asc|desc)$/.exec(text)
  return specOf(match?.[1] ?? text, match === null ? {} : { order: match[2] })
}

/** Reads `timestamp:desc,nanos` of the query string. A body has the order beside the field: a colon there is of the name. */
export function parseSortParameter(text: string): readonly SortSpec[] {
  return limited(text.split(',').filter(part => part !== '')).map(parseSortText)
}

function specOf(field: string, options: JsonObject): SortSpec {
  refuseUnknown(options, `sort.${field}`, SORT_KEYS)
  const order =
    options['order'] === undefined
      ? field === '_score'
        ? 'desc'
        : 'asc'
      : readString(options['order'], `sort.${field}.order`).toLowerCase()
  if (order !== 'asc' && order !== 'desc') throw illegalArgument(`Unknown SortOrder [${order}]`)
  const mode = options['mode'] === undefined ? (order === 'asc' ? 'min' : 'max') : readString(options['mode'], `sort.${field}.mode`)
  if (mode !== 'min' && mode !== 'max') throw unsupported(`sort mode [${mode}]`)
  return {
    field,
    order,
    mode,
    missing: options['missing'] === undefined ? '_last' : readScalar(options['missing'], `sort.${field}.missing`),
    ...(options['unmapped_type'] !== undefined && { unmappedType: readString(options['unmapped_type'], `sort.${field}.unmapped_type`) }),
    ...(options['numeric_type'] !== undefined && { numericType: readString(options['numeric_type'], `sort.${field}.numeric_type`) }),
  }
}

/** Values of the last hit of the page before; null stands for a missing value. */
export function parseSearchAfter(value: unknown, sorts: readonly SortSpec[]): readonly (Scalar | null)[] {
  const values = readArray(value, 'search_after')
  if (sorts.length === 0) throw refusedByShards('Sort must contain at least one field.')
  if (values.length !== sorts.length) throw refusedByShards(`search_after has ${values.length} value(s) but sort has ${sorts.length}.`)
  return values.map((item, at) => (item === null ? null : readScalar(item, `search_after[${at}]`)))
}
