/** A field of rows as small numbers, which combine with those of other fields. */
import type { Grid } from '../../aggregate/buckets/grid.ts'
import type { Column, NumberColumn } from '../../storage/index-storage.ts'
import { classOf, type Field, isExact, isRounded } from '../bind/field.ts'
import { readBlock } from '../plan/read-block.ts'
import { eachRun } from './number-runs.ts'
import { zeroedWords } from './scratch-words.ts'

/** Distinct numbers of a field. */
const MAX_NUMBERS = 4_096

/** Values of a field by group. */
export type GroupValues =
  | { readonly kind: 'keyword'; readonly codes: Uint32Array; readonly dictionary: readonly string[] }
  | { readonly kind: 'number'; readonly values: Float64Array }

/** A field as small numbers. */
export interface Coded {
  readonly path: string
  readonly size: number
  readonly isNumber: boolean
  /** Multiplies each match's cell by `size` and adds the match's number. */
  addTo(cells: Uint32Array): void
  valuesAt(places: Uint32Array, docs: Uint32Array): GroupValues
}

/** `isFirst`: of the number fields of these rows; its codes are gone with the next rows. */
export function codesOf(
  column: Column | undefined,
  field: Field,
  { path, grid }: { readonly path: string; readonly grid: Grid | undefined },
  docs: Uint32Array,
  isFirst: boolean,
): Coded | undefined {
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
      isNumber: false,
      addTo: cells => add(cells, size, codes as never, docs),
      valuesAt: (places, of) => keywordsAt(codes, dictionary, places, of),
    }
  }
  if (!isTold(field, column, docs)) return undefined
  const numbered =
    grid === undefined
      ? numberValues(column.values, docs)
      : numberBuckets(column, docs, grid, isFirst ? zeroedWords('buckets', docs.length) : new Uint32Array(docs.length))
  if (numbered === undefined) return undefined
  const { codes, numbers } = numbered
  const size = numbers.length
  return {
    path,
    size,
    isNumber: true,
    addTo: cells => addNumbered(cells, size, codes),
    valuesAt: places => ({ kind: 'number', values: Float64Array.from(places, place => numbers[codes[place]!]!) }),
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

function addNumbered(cells: Uint32Array, size: number, codes: Uint32Array): void {
  for (let at = 0; at < cells.length; at++) cells[at] = cells[at]! * size + codes[at]!
}

function keywordsAt(codes: ArrayLike<number>, dictionary: readonly string[], places: Uint32Array, docs: Uint32Array): GroupValues {
  const numbers = new Uint32Array(dictionary.length)
  const texts = ['']
  const own = new Uint32Array(places.length)
  for (let at = 0; at < own.length; at++) {
    const code = codes[docs[places[at]!]!]!
    if (code === 0) continue
    if (numbers[code] === 0) numbers[code] = texts.push(dictionary[code]!) - 1
    own[at] = numbers[code]!
  }
  return { kind: 'keyword', codes: own, dictionary: texts }
}

/** Whether the column tells all values of these documents apart; others are in the documents alone. */
export function isTold(field: Field, column: NumberColumn, docs: Uint32Array): boolean {
  if (!isExact(field)) return true
  const { values } = column
  return docs.every(doc => !isRounded(field, values[doc]!))
}

interface Numbered {
  readonly codes: Uint32Array
  /** A number of each code, or the first of its bucket; that of code 0 is NaN, "no value". */
  readonly numbers: readonly number[]
}

function numberValues(values: Float64Array, docs: Uint32Array): Numbered | undefined {
  const codes = new Uint32Array(docs.length)
  const known = new Map<number, number>()
  const numbers = [Number.NaN]
  for (let at = 0; at < docs.length; at++) {
    const value = values[docs[at]!]!
    if (Number.isNaN(value)) continue
    let code = known.get(value)
    if (code === undefined) {
      if (known.size === MAX_NUMBERS) return undefined
      code = numbers.push(value) - 1
      known.set(value, code)
    }
    codes[at] = code
  }
  return { codes, numbers }
}

/** `codes`: as many as documents, all 0. */
function numberBuckets(column: NumberColumn, docs: Uint32Array, grid: Grid, codes: Uint32Array): Numbered | undefined {
  const known = new Map<number, number>()
  const numbers = [Number.NaN]
  let from = Number.NaN
  let to = Number.NaN
  let code = 0
  const move = (value: number): void => {
    from = grid.keyOf(value)
    to = grid.next(from)
    code = known.get(from) ?? numbers.push(from) - 1
    known.set(from, code)
  }
  const { blocks } = column
  if (blocks !== undefined) {
    const isWhole = eachRun(docs, blocks.length, (block, start, end) => {
      const least = blocks.least[block]!
      if (!(least >= from && least < to)) move(least)
      if (blocks.greatest[block]! < to) {
        codes.fill(code, start, end)
        return true
      }
      const values = readBlock(blocks, block)
      const first = block * blocks.length
      for (let at = start; at < end; at++) {
        const value = values[docs[at]! - first]!
        if (!(value >= from && value < to)) move(value)
        codes[at] = code
      }
      return numbers.length <= MAX_NUMBERS
    })
    return isWhole ? { codes, numbers } : undefined
  }
  const { values } = column
  for (let at = 0; at < docs.length; at++) {
    const value = values[docs[at]!]!
    if (Number.isNaN(value)) continue
    if (!(value >= from && value < to)) move(value)
    if (numbers.length > MAX_NUMBERS) return undefined
    codes[at] = code
  }
  return { codes, numbers }
}
