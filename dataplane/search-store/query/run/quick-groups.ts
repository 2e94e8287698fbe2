/** Groups of the usual questions in one pass over documents: values of a keyword, and values of a keyword by time. */
import type { Grid } from '../../aggregate/buckets/grid.ts'
import type { Column, NumberBlocks } from '../../storage/index-storage.ts'
import { readBlock } from '../plan/read-block.ts'
import type { GroupValues } from './coded-field.ts'
import { eachRun } from './number-runs.ts'
import { zeroedWords } from './scratch-words.ts'

type KeywordColumn = Extract<Column, { kind: 'keyword' }>

export interface CountedGroups {
  readonly counts: Uint32Array
  readonly fields: ReadonlyMap<string, GroupValues>
}

/** Counts of one keyword's values. */
export function countValues(path: string, { codes, dictionary }: KeywordColumn, docs: Uint32Array): CountedGroups {
  const counts = zeroedWords('counts', dictionary.length)
  // A value that all documents have.
  if (dictionary.length === 2 && !codes.includes(0 as never)) counts[1] = docs.length
  else addCounts(counts, 0, dictionary.length, codes, docs, 0, docs.length)
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
export function countBars(
  bars: Bars,
  keyword: { path: string; column: KeywordColumn },
  docs: Uint32Array,
  most: number,
): CountedGroups | undefined {
  const { codes, dictionary } = keyword.column
  const { blocks, grid } = bars
  const width = dictionary.length
  const keys: number[] = []
  const known = new Map<number, number>()
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
  // Documents that lie in the bucket, all of them, and are not counted yet.
  let [waiting, until] = [0, 0]
  const flush = (): void => {
    if (until > waiting) addCounts(counts, bar * width, width, codes, docs, waiting, until)
  }
  const isWhole = eachRun(docs, blocks.length, (block, start, end) => {
    const least = blocks.least[block]!
    if (least >= from && least < to && blocks.greatest[block]! < to) {
      until = end
      return true
    }
    flush()
    waiting = start
    until = start
    if (!(least >= from && least < to)) move(least)
    if (keys.length * width > most) return false
    if (blocks.greatest[block]! < to) {
      until = end
      return true
    }
    waiting = end
    until = end
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
  flush()
  return groupsOf(counts, keys, bars.path, keyword)
}

/** Groups of the cells that have documents: for each bucket the values of the keyword. */
function groupsOf(
  counts: Uint32Array,
  keys: readonly number[],
  path: string,
  { path: keywordPath, column: { dictionary } }: { path: string; column: KeywordColumn },
): CountedGroups {
  const width = dictionary.length
  const found: number[] = []
  const codes: number[] = []
  const values: number[] = []
  const numbers = new Uint32Array(width)
  const texts = ['']
  for (let at = 0; at < keys.length * width; at++) {
    if (counts[at] === 0) continue
    const code = at % width
    if (code !== 0 && numbers[code] === 0) numbers[code] = texts.push(dictionary[code]!) - 1
    found.push(counts[at]!)
    codes.push(numbers[code]!)
    values.push(keys[Math.floor(at / width)]!)
  }
  const fields: [string, GroupValues][] = [
    [keywordPath, { kind: 'keyword', codes: Uint32Array.from(codes), dictionary: texts }],
    [path, { kind: 'number', values: Float64Array.from(values) }],
  ]
  return { counts: Uint32Array.from(found), fields: new Map(fields) }
}

/** Values that are counted in lanes. */
const MAX_LANE = 256
const LANES = 4
const lanes = new Uint32Array(LANES * MAX_LANE)

/** Adds to `counts[from + code]` the documents from `start` to `end` with that code. */
function addCounts(
  counts: Uint32Array,
  from: number,
  width: number,
  codes: Uint8Array | Uint16Array | Uint32Array,
  docs: Uint32Array,
  start: number,
  end: number,
): void {
  if (codes instanceof Uint8Array) {
    lanes.fill(0, 0, LANES * width)
    countInLanes(codes, docs, start, end, width)
    for (let lane = 0; lane < LANES; lane++) for (let code = 0; code < width; code++) counts[from + code]! += lanes[lane * width + code]!
  } else if (codes instanceof Uint16Array) addShorts(counts, from, codes, docs, start, end)
  else for (let at = start; at < end; at++) counts[from + codes[docs[at]!]!]!++
}

// One for each width: a loop that meets several is some times as slow.
/** Neighbours go to counters of their own: most have the same value, and a counter has to be written before it is read again. */
function countInLanes(codes: Uint8Array, docs: Uint32Array, start: number, end: number, width: number): void {
  const [second, third, fourth] = [width, 2 * width, 3 * width]
  let at = start
  for (; at + LANES <= end; at += LANES) {
    lanes[codes[docs[at]!]!]!++
    lanes[second + codes[docs[at + 1]!]!]!++
    lanes[third + codes[docs[at + 2]!]!]!++
    lanes[fourth + codes[docs[at + 3]!]!]!++
  }
  for (; at < end; at++) lanes[codes[docs[at]!]!]!++
}

function addShorts(counts: Uint32Array, from: number, codes: Uint16Array, docs: Uint32Array, start: number, end: number): void {
  for (let at = start; at < end; at++) counts[from + codes[docs[at]!]!]!++
}
