/** Puts matches together that are alike in all that an aggregation looks at: a few groups then stand for many documents. */
import { type Grid, gridOf } from '../../aggregate/buckets/grid.ts'
import type { AggregationSpec } from '../../aggregate/spec.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import type { Column, NumberBlocks } from '../../storage/index-storage.ts'
import { classOf, type Field, findField } from '../bind/field.ts'
import type { SortSpec } from '../parse/sort-spec.ts'
import { readBlock } from '../plan/read-block.ts'
import { type Coded, codesOf, type GroupValues, isTold } from './coded-field.ts'
import { eachRunBackwards } from './number-runs.ts'
import { countBars, countValues } from './quick-groups.ts'
import { zeroedWords } from './scratch-words.ts'
import type { SegmentUnit } from './segment-unit.ts'

/** A field that an aggregation looks at: each of its values, or the bucket that a value falls into. */
export interface Dimension {
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

export interface Groups {
  /** Documents in each group. */
  readonly counts: Uint32Array
  /** One document of each group, the first in the order that was asked for; without an order maybe none. */
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
  const most = docs.length < MIN_MATCHES ? docs.length : docs.length / 2
  const columnOf = (path: string) => segment.column(path)
  const quick = quickGroups(mapping, columnOf, docs, grouping)
  if (quick !== undefined) return quick.counts.length > most ? undefined : quick
  return groupRows({ mapping, columnOf, leastOf: columnOf, greatestOf: columnOf, rows: docs }, grouping, most)
}

/** Undefined where the grouping is none of the usual ones. */
function quickGroups(
  mapping: IndexMapping,
  columnOf: (path: string) => Column | undefined,
  docs: Uint32Array,
  { dimensions, best, extremes }: Grouping,
): Groups | undefined {
  if (best !== undefined || extremes.size > 0 || dimensions.length > 2) return undefined
  let keyword: { readonly path: string; readonly column: Extract<Column, { kind: 'keyword' }> } | undefined
  let bars: { readonly path: string; readonly blocks: NumberBlocks; readonly grid: Grid } | undefined
  for (const { path, grid } of dimensions) {
    const field = findField(mapping, path)
    const column = field === undefined ? undefined : columnOf(path)
    if (column === undefined) return undefined
    if (column.kind === 'keyword' && classOf(field!) === 'keyword' && grid === undefined) keyword = { path, column }
    else if (column.kind === 'number' && column.blocks !== undefined && grid !== undefined && isTold(field!, column, docs))
      bars = { path, blocks: column.blocks, grid }
    else return undefined
  }
  if (keyword === undefined) return undefined
  const found =
    bars !== undefined
      ? countBars(bars, keyword, docs, MAX_CELLS)
      : dimensions.length === 1
        ? countValues(keyword.path, keyword.column, docs)
        : undefined
  return found && { ...found, docs: NONE, bestValues: undefined, sizeBytes: sizeOf(found.counts.length, found.fields) }
}

const sizeOf = (groups: number, fields: ReadonlyMap<string, GroupValues>): number =>
  [...fields.values()].reduce((sum, values) => sum + bytesOf(values), 16 * groups + 300)

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
    const coded = codesOf(
      columnOf(dimension.path),
      field,
      dimension,
      rows,
      columns.every(({ isNumber }) => !isNumber),
    )
    if (coded === undefined) return undefined
    columns.push(coded)
  }
  // Neighbours are of one time: their cells then lie together.
  columns.sort((a, b) => Number(b.isNumber) - Number(a.isNumber))
  const cells = zeroedWords('cells', rows.length)
  let width = 1
  for (const { size, addTo } of columns) {
    if (width * size > MAX_CELLS) width = tally(cells, width, true).count
    if (width * size > MAX_CELLS) return undefined
    addTo(cells)
    width *= size
  }
  const isOrdered = grouping.best !== undefined || grouping.extremes.size > 0
  const { count, counts, places: first } = tally(cells, width, isOrdered || weights !== undefined)
  if (count > most) return undefined
  if (weights !== undefined) weigh(cells, weights, rows, counts)
  const best = grouping.best === undefined ? { places: first, values: undefined } : bestOf(counted, cells, count, grouping.best)
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
  return { counts, docs: own, bestValues: best.values, fields, sizeBytes: sizeOf(count, fields) }
}

interface Tally {
  /** Numbers of cells that some row has. */
  readonly count: number
  /** By number how many rows have the cell, and the first of them. */
  readonly counts: Uint32Array
  readonly places: Uint32Array
}

/** Numbers the cells, all below `width`, from 0 on in the order of their first rows; `renumbers`: each row's cell becomes its number. */
function tally(cells: Uint32Array, width: number, renumbers: boolean): Tally {
  const numbers = zeroedWords('numbers', width)
  const most = Math.min(width, cells.length)
  const counts = zeroedWords('counts', most)
  const places = zeroedWords('places', most)
  let count = 0
  for (let at = 0; at < cells.length; at++) {
    let number = numbers[cells[at]!]!
    if (number === 0) {
      places[count] = at
      number = ++count
      numbers[cells[at]!] = number
    }
    if (renumbers) cells[at] = number - 1
    counts[number - 1]!++
  }
  return { count, counts: counts.slice(0, count), places: places.slice(0, count) }
}

function weigh(cells: Uint32Array, weights: Uint32Array, rows: Uint32Array, counts: Uint32Array): void {
  counts.fill(0)
  for (let at = 0; at < cells.length; at++) counts[cells[at]!]! += weights[rows[at]!]!
}

const NONE = new Uint32Array(0)
const NO_GROUPS: Groups = { counts: NONE, docs: NONE, bestValues: undefined, fields: new Map(), sizeBytes: 100 }

const bytesOf = (values: GroupValues): number =>
  values.kind === 'number'
    ? values.values.byteLength + 100
    : values.codes.byteLength + values.dictionary.reduce((sum, text) => sum + 32 + text.length, 200)

const documentAt = ({ rows, greatest }: CountedRows, place: number): number =>
  greatest === undefined ? rows[place]! : greatest[rows[place]!]!

/** The place of the first match of each group in the order asked for. Undefined where there is no column to order by. */
function bestOf(
  counted: CountedRows,
  cells: Uint32Array,
  count: number,
  sort: SortSpec,
): { places: Uint32Array; values: Float64Array } | undefined {
  const { mapping, rows, leastOf, greatestOf } = counted
  const places = new Uint32Array(count)
  const isDescending = sort.order === 'desc'
  // Counts know the document with the greatest value, and no other.
  if (counted.greatest === undefined && counted.weights !== undefined) return undefined
  if (counted.greatest !== undefined && !isDescending) return undefined
  const field = findField(mapping, sort.field)
  const column = field === undefined ? undefined : (isDescending ? greatestOf : leastOf)(field.path)
  if (column?.kind !== 'number' || sort.missing !== '_last' || !isTold(field!, column, rows)) return undefined
  if (column.blocks !== undefined && isDescending && counted.greatest === undefined) return newestOf(column.blocks, rows, cells, count)
  const values = new Float64Array(count).fill(Number.NaN)
  const sign = isDescending ? -1 : 1
  const all = column.values
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at]!
    const value = all[rows[at]!]!
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

/** `bestOf` for the greatest number: a block whose numbers are all less than those known is not unpacked. */
function newestOf(
  blocks: NumberBlocks,
  docs: Uint32Array,
  cells: Uint32Array,
  count: number,
): { places: Uint32Array; values: Float64Array } {
  const places = new Uint32Array(count)
  const values = new Float64Array(count).fill(Number.NEGATIVE_INFINITY)
  eachRunBackwards(docs, blocks.length, (block, start, end) => {
    const greatest = blocks.greatest[block]!
    let at = end - 1
    while (at >= start && values[cells[at]!]! > greatest) at--
    if (at < start) return
    const own = readBlock(blocks, block)
    const first = block * blocks.length
    for (; at >= start; at--) {
      const cell = cells[at]!
      const value = own[docs[at]! - first]!
      // The first of several documents with an equal value wins.
      if (value < values[cell]!) continue
      values[cell] = value
      places[cell] = at
    }
  })
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
  if (column?.kind !== 'number' || !isTold(field, column, rows)) return undefined
  const values = new Float64Array(count).fill(Number.NaN)
  const sign = extreme === 'min' ? 1 : -1
  const all = column.values
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at]!
    const value = all[rows[at]!]!
    if (Number.isNaN(values[cell]!) || sign * value < sign * values[cell]!) values[cell] = value
  }
  return values
}
