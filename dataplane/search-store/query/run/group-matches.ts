/** Puts matches together that are alike in all that an aggregation looks at: a few groups then stand for many documents. */
import { type Grid, gridOf } from '../../aggregate/grid.ts'
import type { AggregationSpec } from '../../aggregate/spec.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import type { Segment } from '../../storage/index-storage.ts'
import { classOf, type Field, findField, isExact, isRounded } from '../bind/field.ts'
import type { SortSpec } from '../parse/sort-spec.ts'
import type { SegmentUnit } from './segment-unit.ts'

/** A field that an aggregation looks at: each of its values, or the bucket that a value falls into. */
interface Dimension {
  readonly path: string
  readonly grid: Grid | undefined
}

/** The differences between documents that an aggregation sees. */
export interface Grouping {
  /** Equal for groupings that tell the same documents apart. */
  readonly key: string
  readonly dimensions: readonly Dimension[]
  /** Of each group the first document in this order is told, too. */
  readonly best: SortSpec | undefined
}

/** Undefined where documents count one by one. */
export function groupingOf(spec: AggregationSpec): Grouping | undefined {
  const dimensions = new Map<string, Dimension>()
  let best: SortSpec | undefined
  const takeTopHit = (sort: readonly SortSpec[], hits: number): boolean => {
    const [first, ...rest] = sort
    if (first === undefined || rest.length > 0 || hits > 1 || first.field.startsWith('_')) return false
    if (best !== undefined && JSON.stringify(best) !== JSON.stringify(first)) return false
    best = first
    return true
  }
  const take = (each: AggregationSpec): boolean => {
    switch (each.type) {
      case 'terms':
      case 'cardinality':
        dimensions.set(each.field, { path: each.field, grid: undefined })
        break
      case 'date_histogram':
      case 'histogram': {
        const grid = gridOf(each)
        dimensions.set(`${each.field} ${grid.name}`, { path: each.field, grid })
        break
      }
      case 'top_hits':
        if (!takeTopHit(each.sort, each.from + each.size)) return false
        break
      default:
        return false
    }
    return each.below.every(take)
  }
  if (!take(spec)) return undefined
  const paths = [...dimensions.values()].map(({ path }) => path)
  if (new Set(paths).size < paths.length) return undefined
  return { key: JSON.stringify([best ?? null, ...dimensions.keys()]), dimensions: [...dimensions.values()], best }
}

/** Values of a field by group. */
export type GroupValues =
  | { readonly kind: 'keyword'; readonly codes: Uint32Array; readonly dictionary: readonly string[] }
  | { readonly kind: 'number'; readonly values: Float64Array }

export interface Groups {
  /** Documents in each. */
  readonly counts: Uint32Array
  /** A document of each: the first in the order that was asked for. */
  readonly docs: Uint32Array
  /** Values that `docs` are the first by; undefined unless an order was asked for. */
  readonly bestValues: Float64Array | undefined
  /** By path, of the fields that the index has. */
  readonly fields: ReadonlyMap<string, GroupValues>
  /** Memory, about. */
  readonly sizeBytes: number
}

/** Fewer matches are worked off as quickly one by one. */
const MIN_MATCHES = 256
/** Combinations of values that are counted in a table. */
const MAX_CELLS = 1 << 18
/** Distinct numbers of a field. */
const MAX_NUMBERS = 4_096

/**
 * `docs` in ascending order. Undefined where groups would hardly be fewer than documents, or a field has no column; and for few matches, unless
 * `isForLater`.
 */
export function groupMatches(
  { segment, bound: { mapping } }: SegmentUnit,
  docs: Uint32Array,
  grouping: Grouping,
  isForLater: boolean,
): Groups | undefined {
  if (docs.length < MIN_MATCHES && !isForLater) return undefined
  if (docs.length === 0) return NO_GROUPS
  const columns: Coded[] = []
  for (const dimension of grouping.dimensions) {
    const field = findField(mapping, dimension.path)
    if (field === undefined || classOf(field) === 'object') continue
    const column = codesOf(segment, field, dimension, docs)
    if (column === undefined) return undefined
    columns.push(column)
  }
  const cells = new Uint32Array(docs.length)
  let width = 1
  for (const { size, addTo } of columns) {
    if (width * size > MAX_CELLS) width = renumber(cells, width)
    if (width * size > MAX_CELLS) return undefined
    addTo(cells)
    width *= size
  }
  const count = renumber(cells, width)
  if (docs.length >= MIN_MATCHES && 2 * count > docs.length) return undefined
  const counts = new Uint32Array(count)
  for (let at = 0; at < cells.length; at++) counts[cells[at]!]!++
  const best = bestOf(segment, mapping, docs, cells, count, grouping.best)
  if (best === undefined) return undefined
  const places = best.places
  const fields = new Map(columns.map(column => [column.path, column.valuesAt(places, docs)]))
  const own = Uint32Array.from(places, place => docs[place]!)
  const sizeBytes = [...fields.values()].reduce((sum, values) => sum + bytesOf(values), 16 * count + 300)
  return { counts, docs: own, bestValues: best.values, fields, sizeBytes }
}

const NONE = new Uint32Array(0)
const NO_GROUPS: Groups = { counts: NONE, docs: NONE, bestValues: undefined, fields: new Map(), sizeBytes: 100 }

const bytesOf = (values: GroupValues): number =>
  values.kind === 'number'
    ? values.values.byteLength + 100
    : values.codes.byteLength + values.dictionary.reduce((sum, text) => sum + 32 + text.length, 200)

/** Numbers the cells that are in use from 0; gives their count. */
function renumber(cells: Uint32Array, width: number): number {
  const numbers = new Uint32Array(width)
  let next = 0
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at]!
    if (numbers[cell] === 0) numbers[cell] = ++next
    cells[at] = numbers[cell]! - 1
  }
  return next
}

/** A field as small numbers. */
interface Coded {
  readonly path: string
  readonly size: number
  /** Multiplies each match's cell by `size` and adds the match's number. */
  addTo(cells: Uint32Array): void
  valuesAt(places: Uint32Array, docs: Uint32Array): GroupValues
}

function codesOf(segment: Segment, field: Field, { path, grid }: Dimension, docs: Uint32Array): Coded | undefined {
  const column = segment.column(path)
  const isKeyword = classOf(field) === 'keyword'
  if (column === undefined || classOf(field) === 'flat' || (column.kind === 'keyword') !== isKeyword) return undefined
  if (column.kind === 'keyword') {
    if (grid !== undefined) return undefined
    const { codes, dictionary } = column
    const size = dictionary.length
    const add = codes instanceof Uint8Array ? addBytes : codes instanceof Uint16Array ? addShorts : addWords
    return {
      path,
      size,
      addTo: cells => add(cells, size, codes as never, docs),
      valuesAt: (places, of) => keywordsAt(codes, dictionary, places, of),
    }
  }
  const { values } = column
  if (!isTold(field, values, docs)) return undefined
  const numbered = grid === undefined ? numberValues(values, docs) : numberBuckets(values, docs, grid)
  if (numbered === undefined) return undefined
  const { codes, size } = numbered
  return {
    path,
    size,
    addTo(cells) {
      for (let at = 0; at < cells.length; at++) cells[at] = cells[at]! * size + codes[at]!
    },
    valuesAt: (places, of) => ({ kind: 'number', values: Float64Array.from(places, place => values[of[place]!]!) }),
  }
}

// One for each width: a loop that meets several is some times as slow.
function addBytes(cells: Uint32Array, size: number, codes: Uint8Array, docs: Uint32Array): void {
  for (let at = 0; at < cells.length; at++) cells[at] = cells[at]! * size + codes[docs[at]!]!
}

function addShorts(cells: Uint32Array, size: number, codes: Uint16Array, docs: Uint32Array): void {
  for (let at = 0; at < cells.length; at++) cells[at] = cells[at]! * size + codes[docs[at]!]!
}

function addWords(cells: Uint32Array, size: number, codes: Uint32Array, docs: Uint32Array): void {
  for (let at = 0; at < cells.length; at++) cells[at] = cells[at]! * size + codes[docs[at]!]!
}

function keywordsAt(codes: ArrayLike<number>, dictionary: readonly string[], places: Uint32Array, docs: Uint32Array): GroupValues {
  const numbers = new Map<number, number>([[0, 0]])
  const texts = ['']
  const own = Uint32Array.from(places, place => {
    const code = codes[docs[place]!]!
    let number = numbers.get(code)
    if (number === undefined) {
      number = texts.push(dictionary[code]!) - 1
      numbers.set(code, number)
    }
    return number
  })
  return { kind: 'keyword', codes: own, dictionary: texts }
}

/** Whether the column tells all values of these documents apart; others are in the documents alone. */
function isTold(field: Field, values: Float64Array, docs: Uint32Array): boolean {
  return !isExact(field) || docs.every(doc => !isRounded(field, values[doc]!))
}

/** Code 0 is "no value". */
interface Numbered {
  readonly codes: Uint32Array
  readonly size: number
}

function numberValues(values: Float64Array, docs: Uint32Array): Numbered | undefined {
  const codes = new Uint32Array(docs.length)
  const known = new Map<number, number>()
  for (let at = 0; at < docs.length; at++) {
    const value = values[docs[at]!]!
    if (Number.isNaN(value)) continue
    let code = known.get(value)
    if (code === undefined) {
      if (known.size === MAX_NUMBERS) return undefined
      code = known.size + 1
      known.set(value, code)
    }
    codes[at] = code
  }
  return { codes, size: known.size + 1 }
}

function numberBuckets(values: Float64Array, docs: Uint32Array, grid: Grid): Numbered | undefined {
  const codes = new Uint32Array(docs.length)
  const known = new Map<number, number>()
  let from = Number.NaN
  let to = Number.NaN
  let code = 0
  for (let at = 0; at < docs.length; at++) {
    const value = values[docs[at]!]!
    if (Number.isNaN(value)) continue
    if (!(value >= from && value < to)) {
      from = grid.keyOf(value)
      to = grid.next(from)
      code = known.get(from) ?? known.size + 1
      if (code > MAX_NUMBERS) return undefined
      known.set(from, code)
    }
    codes[at] = code
  }
  return { codes, size: known.size + 1 }
}

/** The place of the first match of each group: in the order asked for, else any. Undefined where there is no column to order by. */
function bestOf(
  segment: Segment,
  mapping: IndexMapping,
  docs: Uint32Array,
  cells: Uint32Array,
  count: number,
  sort: SortSpec | undefined,
): { places: Uint32Array; values: Float64Array | undefined } | undefined {
  const places = new Uint32Array(count)
  if (sort === undefined) {
    for (let at = cells.length - 1; at >= 0; at--) places[cells[at]!] = at
    return { places, values: undefined }
  }
  const field = findField(mapping, sort.field)
  const column = field === undefined ? undefined : segment.column(field.path)
  if (column?.kind !== 'number' || sort.missing !== '_last' || !isTold(field!, column.values, docs)) return undefined
  const values = new Float64Array(count).fill(Number.NaN)
  const sign = sort.order === 'desc' ? -1 : 1
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at]!
    const value = column.values[docs[at]!]!
    if (Number.isNaN(value)) return undefined
    // Of equals the one that came first.
    if (Number.isNaN(values[cell]!) || sign * value < sign * values[cell]!) {
      values[cell] = value
      places[cell] = at
    }
  }
  return { places, values }
}
