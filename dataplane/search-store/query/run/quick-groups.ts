/** Groups of the usual questions in one pass over documents: values of a keyword, and values of a keyword by time. */
import type { Grid } from '../../aggregate/grid.ts'
import type { Column, NumberBlocks } from '../../storage/index-storage.ts'
import type { GroupValues } from './coded-field.ts'
import { eachRun, readBlock } from './number-runs.ts'
import { zeroedWords } from './scratch-words.ts'

type KeywordColumn = Extract<Column, { kind: 'keyword' }>

export interface CountedGroups {
  readonly counts: Uint32Array
  readonly fields: ReadonlyMap<string, GroupValues>
}

/** Counts of one keyword's values. */
export function countValues(path: string, { codes, dictionary }: KeywordColumn, docs: Uint32Array): CountedGroups {
  const counts = zeroedWords('counts', dictionary.length)
  addCounts(counts, 0, codes, docs, 0, docs.length)
  const groups = counts.reduce((sum, count) => sum + Number(count > 0), 0)
  const found = { counts: new Uint32Array(groups), codes: new Uint32Array(groups) }
  const texts = ['']
  for (let code = 0, at = 0; code < counts.length; code++) {
    if (counts[code] === 0) continue
    found.counts[at] = counts[code]!
    found.codes[at++] = code === 0 ? 0 : texts.push(dictionary[code]!) - 1
  }
  return { counts: found.counts, fields: new Map([[path, { kind: 'keyword', codes: found.codes, dictionary: texts }]]) }
}

interface Bars {
  readonly path: string
  readonly blocks: NumberBlocks
  readonly grid: Grid
}

/** Counts of one keyword's values in each bucket; undefined where there are too many. */
export function countBars(bars: Bars, keyword: { path: string; column: KeywordColumn }, docs: Uint32Array, most: number): CountedGroups | undefined {
  const { codes, dictionary } = keyword.column
  const { blocks, grid } = bars
  const width = dictionary.length
  const keys: number[] = []
  const known = new Map<number, number>()
  const cells: number[][] = []
  let counts = zeroedWords('counts', width)
  let [from, to, bar] = [Number.NaN, Number.NaN, -1]
  const move = (value: number): void => {
    from = grid.keyOf(value)
    to = grid.next(from)
    bar = known.get(from) ?? keys.push(from) - 1
    known.set(from, bar)
    if (keys.length * width <= counts.length || keys.length * width > most) return
    const more = new Uint32Array(2 * keys.length * width)
    more.set(counts)
    counts = more
  }
  const isWhole = eachRun(docs, blocks.length, (block, start, end) => {
    const least = blocks.least[block]!
    if (!(least >= from && least < to)) move(least)
    if (blocks.greatest[block]! < to) {
      if (keys.length * width <= most) addCounts(counts, bar * width, codes, docs, start, end)
      return keys.length * width <= most
    }
    const values = readBlock(blocks, block)
    const first = block * blocks.length
    for (let at = start; at < end; at++) {
      const value = values[docs[at]! - first]!
      if (!(value >= from && value < to)) move(value)
      if (keys.length * width > most) return false
      counts[bar * width + codes[docs[at]!]!]!++
    }
    return true
  })
  if (!isWhole) return undefined
  for (let at = 0; at < keys.length * width; at++) if (counts[at]! > 0) cells.push([at % width, Math.floor(at / width), counts[at]!])
  const numbers = new Map<number, number>([[0, 0]])
  const texts = ['']
  const numberOf = (code: number): number => {
    const number = numbers.get(code) ?? texts.push(dictionary[code]!) - 1
    numbers.set(code, number)
    return number
  }
  const fields: [string, GroupValues][] = [
    [keyword.path, { kind: 'keyword', codes: Uint32Array.from(cells, ([code]) => numberOf(code!)), dictionary: texts }],
    [bars.path, { kind: 'number', values: Float64Array.from(cells, ([, own]) => keys[own!]!) }],
  ]
  return { counts: Uint32Array.from(cells, ([, , count]) => count!), fields: new Map(fields) }
}

function addCounts(
  counts: Uint32Array,
  from: number,
  codes: Uint8Array | Uint16Array | Uint32Array,
  docs: Uint32Array,
  start: number,
  end: number,
): void {
  if (codes instanceof Uint8Array) addBytes(counts, from, codes, docs, start, end)
  else if (codes instanceof Uint16Array) addShorts(counts, from, codes, docs, start, end)
  else for (let at = start; at < end; at++) counts[from + codes[docs[at]!]!]!++
}

// One for each width: a loop that meets several is some times as slow.
function addBytes(counts: Uint32Array, from: number, codes: Uint8Array, docs: Uint32Array, start: number, end: number): void {
  for (let at = start; at < end; at++) counts[from + codes[docs[at]!]!]!++
}

function addShorts(counts: Uint32Array, from: number, codes: Uint16Array, docs: Uint32Array, start: number, end: number): void {
  for (let at = start; at < end; at++) counts[from + codes[docs[at]!]!]!++
}
