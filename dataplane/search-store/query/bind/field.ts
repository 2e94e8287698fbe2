/** A field of one index as queries, sorting and aggregations use it. */

import { normalized } from '../../analysis/normalizers.ts'
import { analyze } from '../../analysis/standard-analyzer.ts'
import { unsupported } from '../../api-error.ts'
import { type DateFormat, DEFAULT_DATE_FORMAT, parseDateFormat } from '../../dates/date-format.ts'
import { WrittenNumber } from '../../json/exact-numbers.ts'
import { DocumentRejected } from '../../mapping/document-rejected.ts'
import type { FieldType, IndexMapping } from '../../mapping/field-types.ts'
import { keywordText, type Leaf, numberOf } from '../../mapping/values.ts'

export interface Field {
  /** Full dotted path, e.g. `message.keyword`; that of the field itself where an alias was asked for. */
  readonly path: string
  readonly type: FieldType
  /** Path of the values in the document: the parent's for a multi-field. */
  readonly sourcePath: readonly string[]
  /** Longer keyword values cannot be found. */
  readonly ignoreAbove: number
  readonly isIndexed: boolean
  /** Its type, where its values are kept and no more. */
  readonly kept: string | undefined
  /** A date whose nanoseconds count. */
  readonly hasNanos: boolean
  /** Format of a date field that has one of its own. */
  readonly format?: string
  /** Normalizer that the values of a keyword pass. */
  readonly normalizer?: string
  /** A keyword whose values are IP addresses. */
  readonly isAddress: boolean
}

export type FieldClass = 'text' | 'keyword' | 'number' | 'date' | 'boolean' | 'flat' | 'object'

const CLASS_OF: Readonly<Record<FieldType, FieldClass>> = {
  text: 'text',
  match_only_text: 'text',
  keyword: 'keyword',
  long: 'number',
  integer: 'number',
  short: 'number',
  byte: 'number',
  double: 'number',
  float: 'number',
  unsigned_long: 'number',
  boolean: 'boolean',
  date: 'date',
  flat_object: 'flat',
  object: 'object',
  alias: 'object',
}

/** Throws 400 for a field whose values are kept and no more. */
export function refuseKept({ kept, path }: Field): void {
  if (kept !== undefined) throw unsupported(`searching, sorting and grouping by the field [${path}] of type [${kept}]`)
}

/** How dates of the field are read and shown. */
export const formatOf = ({ format }: Pick<Field, 'format'>): DateFormat =>
  format === undefined ? DEFAULT_DATE_FORMAT : parseDateFormat(format)

export const classOf = (field: Pick<Field, 'type'>): FieldClass => CLASS_OF[field.type]

export const isWholeNumber = (field: Field): boolean => classOf(field) === 'number' && field.type !== 'double' && field.type !== 'float'

/** Whether a field has values that are found where nothing is indexed. */
export const hasDocValues = (field: Pick<Field, 'type'>): boolean => !['text', 'object'].includes(classOf(field))

/** Whether the path is another name of a field: what is kept by a field's path is not found by it. */
export const isAlias = (mapping: IndexMapping, path: string): boolean => mapping.field(path)?.type === 'alias'

/** Aliases of each list of paths that a mapping has had. */
const knownAliases = new WeakMap<readonly string[], readonly string[]>()

/** The aliases of an index. */
export function aliasesOf(mapping: IndexMapping): readonly string[] {
  const paths = mapping.paths()
  const known = knownAliases.get(paths) ?? paths.filter(path => isAlias(mapping, path))
  knownAliases.set(paths, known)
  return known
}

export function findField(mapping: IndexMapping, path: string): Field | undefined {
  const found = mapping.field(path)
  if (found === undefined) return undefined
  if (found.target !== undefined) return findField(mapping, found.target)
  const dot = path.lastIndexOf('.')
  const parent = dot < 0 ? undefined : mapping.field(path.slice(0, dot))
  const isMultiField = parent?.fields !== undefined && Object.hasOwn(parent.fields, path.slice(dot + 1))
  return {
    path,
    type: found.type,
    sourcePath: (isMultiField ? path.slice(0, dot) : path).split('.'),
    ignoreAbove: found.ignoreAbove ?? Number.POSITIVE_INFINITY,
    kept: found.kept,
    hasNanos: found.nanos === true,
    isAddress: found.address === true,
    ...(found.format !== undefined && { format: found.format }),
    ...(found.normalizer !== undefined && { normalizer: found.normalizer }),
    isIndexed: found.index !== false && (!isMultiField || parent?.index !== false),
  }
}

/** Calls `visit` for every scalar at a path; keys of the document may hold dots themselves. */
export function eachLeaf(source: unknown, path: readonly string[], visit: (leaf: Leaf) => void): void {
  eachValue(source, path, value => eachScalar(value, visit))
}

/** The value itself, or the scalars of a list, of lists within it too. */
function eachScalar(value: unknown, visit: (leaf: Leaf) => void): void {
  if (Array.isArray(value)) for (const item of value) eachScalar(item, visit)
  else if (isLeaf(value)) visit(value)
}

const isLeaf = (value: unknown): value is Leaf =>
  value instanceof WrittenNumber || (value !== null && value !== undefined && typeof value !== 'object')

/** Calls `visit` for every scalar below a value. A flat_object is searched as a whole by them. */
function eachDeepLeaf(source: unknown, visit: (leaf: Leaf) => void): void {
  if (source === null || source === undefined) return
  if (isLeaf(source)) visit(source)
  else for (const value of Object.values(source)) eachDeepLeaf(value, visit)
}

/** Calls `visit` with each value at the path, objects and lists too. */
function eachValue(source: unknown, path: readonly string[], visit: (value: unknown) => void, at = 0): void {
  if (at === path.length) visit(source)
  else if (Array.isArray(source)) for (const item of source) eachValue(item, path, visit, at)
  else if (typeof source === 'object' && source !== null) {
    const object = source as Record<string, unknown>
    if (path.length - at > MAX_TRIED_KEYS) {
      eachValueFarBelow(object, path, visit, at)
      return
    }
    let key = ''
    for (let end = at; end < path.length; end++) {
      key = end === at ? path[end]! : `${key}.${path[end]}`
      if (Object.hasOwn(object, key)) eachValue(object[key], path, visit, end + 1)
    }
  }
}

/** Below a longer path the keys of an object are held against it, since all keys that it may begin with take the square of its length. */
const MAX_TRIED_KEYS = 32

function eachValueFarBelow(object: Record<string, unknown>, path: readonly string[], visit: (value: unknown) => void, at: number): void {
  const rest = path.slice(at).join('.')
  for (const key of Object.keys(object)) {
    const isPrefix = rest.startsWith(key) && (rest.length === key.length || rest[key.length] === '.')
    if (isPrefix) eachValue(object[key], path, visit, at + key.split('.').length)
  }
}

function eachFieldLeaf(field: Field, source: unknown, visit: (leaf: Leaf) => void): void {
  if (field.type === 'flat_object') eachValue(source, field.sourcePath, value => eachDeepLeaf(value, visit))
  else eachLeaf(source, field.sourcePath, visit)
}

/** Undefined where the field cannot hold the value: it was kept, not indexed. */
function numberValue(field: Field, leaf: Leaf): number | undefined {
  try {
    return numberOf(field.path, { type: field.type, ...(field.format !== undefined && { format: field.format }) }, leaf)
  } catch (error) {
    if (error instanceof DocumentRejected) return undefined
    throw error
  }
}

/** Numbers of numeric, boolean (0, 1) and date (ms) fields. */
export function eachNumber(field: Field, source: unknown, visit: (value: number) => void): void {
  eachFieldLeaf(field, source, leaf => {
    const number = numberValue(field, leaf)
    if (number !== undefined) visit(number)
  })
}

/** Whether a double may say less than the field holds. */
export const isExact = (field: Field): boolean => field.hasNanos || field.type === 'long' || field.type === 'unsigned_long'

/** From here on doubles leave whole numbers out. */
export const isLarge = (value: number): boolean => Math.abs(value) >= 2 ** 53

/** Whether the number of a column may not be the value in full: then the document has it. NaN stands for no value. */
export const isRounded = (field: Field, value: number): boolean =>
  field.hasNanos ? !Number.isNaN(value) : isLarge(value) && isExact(field)

/** The values of an exact field in full: `bigint` where a double cannot hold them, nanoseconds since the epoch of a date that has them. `source`: of `readExactDocument`. */
export function eachExact(field: Field, source: unknown, visit: (value: number | bigint) => void): void {
  eachFieldLeaf(field, source, leaf => {
    const number = numberValue(field, leaf)
    if (number === undefined) return
    if (field.hasNanos) visit(nanosOf(leaf, number))
    else visit(isLarge(number) ? wholeOf(leaf, number) : number)
  })
}

/** Nanoseconds of a date whose milliseconds are known. */
export function nanosOf(date: unknown, ms: number): bigint {
  const below = typeof date === 'string' ? (/[.,]\d{3}(\d{1,6})/.exec(date)?.[1] ?? '') : ''
  return BigInt(ms) * NANOS_PER_MS + BigInt(below.padEnd(6, '0'))
}

export const NANOS_PER_MS = 1_000_000n

function wholeOf(value: unknown, rounded: number): bigint {
  const digits = /^\+?(-?\d+)(?:\.\d*)?$/.exec(String(value))?.[1]
  return BigInt(digits ?? rounded)
}

/** A whole number that a query names, in full. */
export const exactNamed = (value: unknown, rounded: number): number | bigint => (isLarge(rounded) ? wholeOf(value, rounded) : rounded)

/** The texts under which `terms` finds the field: whole keyword values, numbers, booleans; for text each token. */
export function eachTerm(field: Field, source: unknown, visit: (term: string) => void): void {
  switch (classOf(field)) {
    case 'text':
      eachFieldLeaf(field, source, leaf => {
        for (const term of analyze(String(leaf))) visit(term)
      })
      break
    case 'keyword':
    case 'flat':
      eachKeyword(field, source, visit)
      break
    case 'boolean':
      eachNumber(field, source, value => visit(value === 1 ? 'true' : 'false'))
      break
    default:
      eachNumber(field, source, value => visit(String(value)))
  }
}

export function eachKeyword(field: Field, source: unknown, visit: (value: string) => void): void {
  eachFieldLeaf(field, source, leaf => {
    const text = keywordText(leaf)
    if (text.length <= field.ignoreAbove) visit(normalized(text, field.normalizer))
  })
}

/** Whole values of a text field, for phrases. */
export function eachText(field: Field, source: unknown, visit: (text: string) => void): void {
  eachFieldLeaf(field, source, leaf => visit(String(leaf)))
}

/** A 32-bit float in the fewest digits that name it: 3.1, not 3.0999999046325684. */
export function shortestFloat(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

/** Whether a document has a value that the field indexes. */
export function hasValue(field: Field, source: unknown): boolean {
  let found = false
  const see = (): void => {
    found = true
  }
  switch (classOf(field)) {
    case 'text':
      eachFieldLeaf(field, source, see)
      break
    case 'keyword':
    case 'flat':
      eachKeyword(field, source, see)
      break
    default:
      eachNumber(field, source, see)
  }
  return found
}
