/** Puts groups of several segments of one index together, so that an aggregation meets each combination of values once, not once in each segment. */
import { grown } from '../../grown.ts'
import type { QueryMemory } from '../budget/query-memory.ts'
import type { SortSpec } from '../parse/sort-spec.ts'
import { firstDocs } from '../plan/doc-set.ts'
import type { GroupValues } from './coded-field.ts'
import type { Grouping, Groups } from './group-matches.ts'
import { GroupsView } from './groups-view.ts'
import type { BoundIndex, SegmentUnit } from './segment-unit.ts'

/** With so many groups together, the aggregation gets them before more come. */
const MAX_ROWS = 8_192
const FIRST_ROWS = 64

/** Whether groups with equal values make one: bounds of another field are not put together. */
export const canMerge = ({ extremes }: Grouping): boolean => extremes.size === 0

/** Groups of one aggregation that are waiting to be collected. */
export class MergedGroups {
  readonly #best: SortSpec | undefined
  readonly #memory: QueryMemory
  readonly #byIndex = new Map<BoundIndex, Merger>()

  constructor({ best }: Grouping, memory: QueryMemory) {
    this.#best = best
    this.#memory = memory
  }

  /** Gives groups that have to be collected before more are added. */
  add(unit: SegmentUnit, groups: Groups): readonly GroupsView[] {
    if (groups.counts.length === 0) return []
    let merger = this.#byIndex.get(unit.bound)
    if (merger === undefined) {
      merger = new Merger(groups, this.#best, this.#memory)
      this.#byIndex.set(unit.bound, merger)
    }
    merger.add(unit, groups)
    if (merger.size < MAX_ROWS) return []
    this.#byIndex.delete(unit.bound)
    return merger.take()
  }

  rest(): readonly GroupsView[] {
    const views = [...this.#byIndex.values()].flatMap(merger => merger.take())
    this.#byIndex.clear()
    return views
  }
}

/** Groups of one index. */
class Merger {
  readonly #memory: QueryMemory
  readonly #columns: readonly (readonly [path: string, column: MergedColumn])[]
  /** Rows by hash, counted from 1; 0: free. */
  #table = new Int32Array(4 * FIRST_ROWS)
  #counts = new Uint32Array(FIRST_ROWS)
  #rows = 0
  #chargedBytes = 0
  /** −1 where the greatest value is the first. */
  readonly #sign: 1 | -1 | undefined
  /** By row the first document in the order that is asked for; without an order the segment of any. */
  readonly #units: SegmentUnit[] = []
  readonly #docs: number[] = []
  readonly #bestValues: number[] = []

  constructor({ fields }: Groups, best: SortSpec | undefined, memory: QueryMemory) {
    this.#memory = memory
    this.#sign = best && (best.order === 'desc' ? -1 : 1)
    this.#columns = [...fields].map(([path, { kind }]) => [path, kind === 'keyword' ? new MergedKeywords() : new MergedNumbers()])
    this.#charge()
  }

  get size(): number {
    return this.#rows
  }

  add(unit: SegmentUnit, { counts, docs, bestValues, fields }: Groups): void {
    const columns = this.#columns.map(([, column]) => column)
    const codes = this.#columns.map(([path, column]) => column.codesOf(fields.get(path)!))
    if (this.#units.length === 0) this.#units.push(unit)
    for (let at = 0; at < counts.length; at++) {
      if (this.#rows === this.#counts.length) this.#grow()
      const place = this.#placeOf(columns, codes, at)
      let row = this.#table[place]! - 1
      const isNew = row < 0
      if (isNew) {
        row = this.#rows++
        this.#table[place] = row + 1
        for (let k = 0; k < columns.length; k++) columns[k]!.rows[row] = codes[k]![at]!
      }
      this.#counts[row]! += counts[at]!
      if (bestValues !== undefined && (isNew || this.#isBefore(unit, docs[at]!, bestValues[at]!, row))) {
        this.#units[row] = unit
        this.#docs[row] = docs[at]!
        this.#bestValues[row] = bestValues[at]!
      }
    }
  }

  /** Whether a document comes before that of the row. */
  #isBefore(unit: SegmentUnit, doc: number, value: number, row: number): boolean {
    const known = this.#bestValues[row]!
    if (value !== known) return this.#sign! * value < this.#sign! * known
    return (unit.ordinal - this.#units[row]!.ordinal || doc - this.#docs[row]!) < 0
  }

  /** Where the row with these codes stands in the table, or a free place. */
  #placeOf(columns: readonly MergedColumn[], codes: readonly Uint32Array[], at: number): number {
    const last = this.#table.length - 1
    let hash = 0
    for (let k = 0; k < codes.length; k++) hash = Math.imul(hash ^ codes[k]![at]!, 0x9e3779b1)
    let place = (hash ^ (hash >>> 15)) & last
    for (; ; place = (place + 1) & last) {
      const row = this.#table[place]! - 1
      if (row < 0) return place
      let isSame = true
      for (let k = 0; k < codes.length && isSame; k++) isSame = columns[k]!.rows[row] === codes[k]![at]!
      if (isSame) return place
    }
  }

  #grow(): void {
    this.#counts = grown(this.#counts)
    this.#table = new Int32Array(2 * this.#table.length)
    const columns = this.#columns.map(([, column]) => column)
    for (const column of columns) column.rows = grown(column.rows)
    const codes = columns.map(({ rows }) => rows)
    for (let row = 0; row < this.#rows; row++) this.#table[this.#placeOf(columns, codes, row)] = row + 1
    this.#charge()
  }

  #charge(): void {
    const bestBytes = this.#sign === undefined ? 0 : BEST_BYTES * this.#counts.length
    const bytes = this.#table.byteLength + this.#counts.byteLength * (1 + this.#columns.length) + bestBytes
    this.#memory.charge(bytes - this.#chargedBytes, 'fewer aggregations')
    this.#chargedBytes = bytes
  }

  /** All rows: in one view, or in one for each segment that has the first documents of some. */
  take(): readonly GroupsView[] {
    this.#memory.giveBack(this.#chargedBytes)
    const all = firstDocs(this.#rows)
    if (this.#sign === undefined) return [this.#viewOf(this.#units[0]!, all)]
    const byUnit = Map.groupBy(all, row => this.#units[row]!)
    return [...byUnit].map(([unit, rows]) => this.#viewOf(unit, Uint32Array.from(rows)))
  }

  #viewOf(unit: SegmentUnit, rows: Uint32Array): GroupsView {
    const isBest = this.#sign !== undefined
    return new GroupsView(unit, {
      counts: rows.map(row => this.#counts[row]!),
      docs: isBest ? rows.map(row => this.#docs[row]!) : NONE,
      bestValues: isBest ? Float64Array.from(rows, row => this.#bestValues[row]!) : undefined,
      fields: new Map(this.#columns.map(([path, column]) => [path, column.valuesOf(rows.map(row => column.rows[row]!))])),
      sizeBytes: this.#chargedBytes,
    })
  }
}

/** Memory of a row's first document, about. */
const BEST_BYTES = 24

const NONE = new Uint32Array(0)

/** One field of groups that are put together: its values as numbers that all of them share. */
interface MergedColumn {
  /** Codes by row. */
  rows: Uint32Array<ArrayBuffer>
  /** The codes of the groups of one segment. */
  codesOf(values: GroupValues): Uint32Array
  valuesOf(codes: Uint32Array): GroupValues
}

/** Numbers values in the order in which they come, behind those at the start. */
class Codes<T> {
  readonly values: T[]
  readonly #known = new Map<T, number>()

  constructor(start: T[]) {
    this.values = start
  }

  codeOf(value: T): number {
    let code = this.#known.get(value)
    if (code === undefined) {
      code = this.values.push(value) - 1
      this.#known.set(value, code)
    }
    return code
  }
}

class MergedKeywords implements MergedColumn {
  rows = new Uint32Array(FIRST_ROWS)
  /** The first stands for no value. */
  readonly #texts = new Codes([''])

  codesOf(values: GroupValues): Uint32Array {
    const { codes, dictionary } = values as Extract<GroupValues, { kind: 'keyword' }>
    const own = Uint32Array.from(dictionary, (text, code) => (code === 0 ? 0 : this.#texts.codeOf(text)))
    const found = new Uint32Array(codes.length)
    for (let at = 0; at < codes.length; at++) found[at] = own[codes[at]!]!
    return found
  }

  valuesOf(codes: Uint32Array): GroupValues {
    return { kind: 'keyword', codes, dictionary: this.#texts.values }
  }
}

class MergedNumbers implements MergedColumn {
  rows = new Uint32Array(FIRST_ROWS)
  readonly #numbers = new Codes<number>([])

  codesOf(values: GroupValues): Uint32Array {
    const { values: numbers } = values as Extract<GroupValues, { kind: 'number' }>
    const found = new Uint32Array(numbers.length)
    // Neighbours mostly have the same.
    let [last, code] = [Number.NEGATIVE_INFINITY, -1]
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at]!
      if (number !== last || code < 0) {
        code = this.#numbers.codeOf(number)
        last = number
      }
      found[at] = code
    }
    return found
  }

  valuesOf(codes: Uint32Array): GroupValues {
    const numbers = this.#numbers.values
    return { kind: 'number', values: Float64Array.from(codes, code => numbers[code]!) }
  }
}
