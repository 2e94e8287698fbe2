/** Puts matches together that are alike in all that an aggregation looks at: a few groups then stand for many documents. */
import { type Grid, gridOf } from '../../aggregate/grid.ts'
import type { AggregationSpec } from '../../aggregate/spec.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import { renumber } from '../../renumber.ts'
import type { Column } from '../../storage/index-storage.ts'
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
  /** An order whose first document each group tells, too. */
  readonly best: SortSpec | undefined
  /** Fields, by path, of which a group tells the least or the greatest value in place of each value. */
  readonly extremes: ReadonlyMap<string, Extreme>
}

type Extreme = 'min' | 'max'

/** Undefined where documents count one by one. */
export function groupingOf(spec: AggregationSpec): Grouping | undefined {
  const dimensions = new Map<string, Dimension>()
  const extremes = new Map<string, Extreme>()
  let best: SortSpec | undefined
  const takeExtreme = (path: string, extreme: Extreme): boolean => {
    if ((extremes.get(path) ?? extreme) !== extreme) return false
    extremes.set(path, extreme)
    return true
  }
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
        if (each.field === '_index') return false
        dimensions.set(each.field, { path: each.field, grid: undefined })
        break
      case 'date_histogram':
      case 'histogram': {
        const grid = gridOf(each)
        dimensions.set(`${each.field} ${grid.name}`, { path: each.field, grid })
        break
      }
      case 'min':
      case 'max':
        if (each.missing !== undefined || !takeExtreme(each.field, each.type)) return false
        break
      case 'top_hits':
        if (!takeTopHit(each.sort, each.from + each.size)) return false
        break
      default:
        return false
    }
    return each.below.every(take)
  }
  if (!take(spec)) return undefined
  const paths = [...[...dimensions.values()].map(({ path }) => path), ...extremes.keys()]
  if (new Set(paths).size < paths.length) return undefined
  const key = JSON.stringify([best ?? null, [...extremes], ...dimensions.keys()])
  return { key, dimensions: [...dimensions.values()], best, extremes }
}

/** Values of a field by group. */
export type GroupValues =
  | { readonly kind: 'keyword'; readonly codes: Uint32Array; readonly dictionary: readonly string[] }
  | { readonly kind: 'number'; readonly values: Float64Array }

export interface Groups {
  /** Documents in each group. */
  readonly counts: Uint32Array
  /** One document of each group: the first in the order that was asked for. */
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
  const most = docs.length < MIN_MATCHES ? docs.length : docs.length / 2
  const columnOf = (path: string) => segment.column(path)
  return groupRows({ mapping, columnOf, leastOf: columnOf, greatestOf: columnOf, rows: docs }, grouping, most)
}

/** Documents, or counts of documents. */
export interface CountedRows {
  readonly mapping: IndexMapping
  readonly columnOf: (path: string) => Column | undefined
  /** Columns of the least and of the greatest values of the documents that a place stands for. */
  readonly leastOf: (path: string) => Column | undefined
  readonly greatestOf: (path: string) => Column | undefined
  /** Places in the columns, ascending. */
  readonly rows: Uint32Array
  /** Documents that each place in the columns stands for; absent: one each. */
  readonly weights?: Uint32Array
  /** By place the document with the greatest value; absent: the places are documents. */
  readonly greatest?: ArrayLike<number>
}

/** Undefined where a field has no column, or there are more than `most` groups. */
export function groupRows(counted: CountedRows, grouping: Grouping, most = Number.POSITIVE_INFINITY): Groups | undefined {
  const { mapping, columnOf, rows, weights } = counted
  if (rows.length === 0) return NO_GROUPS
  const columns: Coded[] = []
  for (const dimension of grouping.dimensions) {
    const field = findField(mapping, dimension.path)
    if (field === undefined || classOf(field) === 'object') continue
    const coded = codesOf(columnOf(dimension.path), field, dimension, rows)
    if (coded === undefined) return undefined
    columns.push(coded)
  }
  const cells = new Uint32Array(rows.length)
  let width = 1
  for (const { size, addTo } of columns) {
    if (width * size > MAX_CELLS) width = renumber(cells, width)
    if (width * size > MAX_CELLS) return undefined
    addTo(cells)
    width *= size
  }
  const count = renumber(cells, width)
  if (count > most) return undefined
  const counts = new Uint32Array(count)
  if (weights === undefined) for (let at = 0; at < cells.length; at++) counts[cells[at]!]!++
  else for (let at = 0; at < cells.length; at++) counts[cells[at]!]! += weights[rows[at]!]!
  const best = bestOf(counted, cells, count, grouping.best)
  if (best === undefined) return undefined
  const places = best.places
  const fields = new Map(columns.map(column => [column.path, column.valuesAt(places, rows)]))
  for (const [path, extreme] of grouping.extremes) {
    const field = findField(mapping, path)
    if (field === undefined) continue
    const values = extremesOf(counted, field, extreme, cells, count)
    if (values === undefined) return undefined
    fields.set(path, { kind: 'number', values })
  }
  const own = Uint32Array.from(places, place => documentAt(counted, place))
  const sizeBytes = [...fields.values()].reduce((sum, values) => sum + bytesOf(values), 16 * count + 300)
  return { counts, docs: own, bestValues: best.values, fields, sizeBytes }
}

const NONE = new Uint32Array(0)
const NO_GROUPS: Groups = { counts: NONE, docs: NONE, bestValues: undefined, fields: new Map(), sizeBytes: 100 }

const bytesOf = (values: GroupValues): number =>
  values.kind === 'number'
    ? values.values.byteLength + 100
    : values.codes.byteLength + values.dictionary.reduce((sum, text) => sum + 32 + text.length, 200)

/** A field as small numbers. */
interface Coded {
  readonly path: string
  readonly size: number
  /** Multiplies each match's cell by `size` and adds the match's number. */
  addTo(cells: Uint32Array): void
  valuesAt(places: Uint32Array, docs: Uint32Array): GroupValues
}

function codesOf(column: Column | undefined, field: Field, { path, grid }: Dimension, docs: Uint32Array): Coded | undefined {
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

const documentAt = ({ rows, greatest }: CountedRows, place: number): number =>
  greatest === undefined ? rows[place]! : greatest[rows[place]!]!

/** The place of the first match of each group: in the order asked for, else any. Undefined where there is no column to order by. */
function bestOf(
  counted: CountedRows,
  cells: Uint32Array,
  count: number,
  sort: SortSpec | undefined,
): { places: Uint32Array; values: Float64Array | undefined } | undefined {
  const { mapping, rows, leastOf, greatestOf } = counted
  const places = new Uint32Array(count)
  if (sort === undefined) {
    for (let at = cells.length - 1; at >= 0; at--) places[cells[at]!] = at
    return { places, values: undefined }
  }
  const isDescending = sort.order === 'desc'
  // Counts know the document with the greatest value, and no other.
  if (counted.greatest === undefined && counted.weights !== undefined) return undefined
  if (counted.greatest !== undefined && !isDescending) return undefined
  const field = findField(mapping, sort.field)
  const column = field === undefined ? undefined : (isDescending ? greatestOf : leastOf)(field.path)
  if (column?.kind !== 'number' || sort.missing !== '_last' || !isTold(field!, column.values, rows)) return undefined
  const values = new Float64Array(count).fill(Number.NaN)
  const sign = isDescending ? -1 : 1
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at]!
    const value = column.values[rows[at]!]!
    if (Number.isNaN(value)) return undefined
    const known = values[cell]!
    // The first of several documents with an equal value wins.
    const isFirst = value === known && documentAt(counted, at) < documentAt(counted, places[cell]!)
    if (Number.isNaN(known) || sign * value < sign * known || isFirst) {
      values[cell] = value
      places[cell] = at
    }
  }
  return { places, values }
}

/** The least or greatest value of each group, NaN for none; undefined where there is no column that tells it. */
function extremesOf(
  { rows, leastOf, greatestOf }: CountedRows,
  field: Field,
  extreme: Extreme,
  cells: Uint32Array,
  count: number,
): Float64Array | undefined {
  const column = (extreme === 'min' ? leastOf : greatestOf)(field.path)
  if (column?.kind !== 'number' || !isTold(field, column.values, rows)) return undefined
  const values = new Float64Array(count).fill(Number.NaN)
  const sign = extreme === 'min' ? 1 : -1
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at]!
    const value = column.values[rows[at]!]!
    if (Number.isNaN(values[cell]!) || sign * value < sign * values[cell]!) values[cell] = value
  }
  return values
}
