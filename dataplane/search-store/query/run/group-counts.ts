/** Groups of matches from the counts that a segment holds: no document and no column is looked at. */
import type { Grid } from '../../aggregate/buckets/grid.ts'
import type { Column, MinuteCount, RowTimes, Segment, ValueCounts } from '../../storage/index-storage.ts'
import { type Condition, TIMESTAMP } from '../bind/condition.ts'
import { classOf, findField } from '../bind/field.ts'
import { reduceForSegment } from '../plan/plan.ts'
import { type Grouping, groupRows } from './group-matches.ts'
import type { KeptGroups } from './kept-matches.ts'
import { type RowTest, rowTest } from './row-test.ts'
import type { SegmentUnit } from './segment-unit.ts'

/** Characters that a pattern is tested on at once; longer dictionaries are gone through in turns, as columns are. */
const MAX_TESTED_LENGTH = 4_096
const MINUTE_MS = 60_000

/** Undefined where counts cannot tell. */
export function groupCounts({ segment, bound: { condition, mapping } }: SegmentUnit, grouping: Grouping): KeptGroups | undefined {
  if (segment.valueCounts === undefined) return undefined
  const reduced = reduceForSegment(condition, segment)
  const fields = fieldsOf(reduced)
  if (fields === undefined) return undefined
  let times: Grid | undefined
  for (const { path, grid } of grouping.dimensions) {
    const field = findField(mapping, path)
    if (field === undefined || classOf(field) === 'object') continue
    if (path === TIMESTAMP && grid !== undefined) times = grid
    else if (grid !== undefined || classOf(field) !== 'keyword') return undefined
    else fields.add(path)
  }
  for (const counted of countsWith(segment, fields, times !== undefined)) {
    const test = rowTest(reduced, leaf => testOnValue(leaf, counted.columns))
    if (test === undefined) return undefined
    const rows = rowsThat(test, counted.counts.length)
    if (times !== undefined && !isWithinBuckets(times, counted.times, rows)) continue
    const groups = groupRows({ mapping, rows, weights: counted.counts, ...columnsOf(counted) }, grouping)
    if (groups !== undefined) return { matches: rows.reduce((sum, row) => sum + counted.counts[row]!, 0), groups }
  }
  return undefined
}

/** Counts of a segment that hold the fields, those with the fewest rows first; by minute where times are asked for. */
function* countsWith(segment: Segment, fields: ReadonlySet<string>, isByTime: boolean): Generator<ValueCounts, void, undefined> {
  const byValue = segment.valueCounts!(fields)
  if (byValue !== undefined) yield byValue
  const byMinute = isByTime && [...fields].every(field => MINUTE_FIELDS.has(field)) ? segment.counts() : undefined
  if (byMinute !== undefined) yield byMinutes(byMinute)
}

const MINUTE_FIELDS: ReadonlyMap<string, (count: MinuteCount) => string> = new Map([
  ['tenant_id', (count: MinuteCount) => count.tenant],
  ['service', (count: MinuteCount) => count.service],
  ['level', (count: MinuteCount) => count.level],
])

function byMinutes(minutes: readonly MinuteCount[]): ValueCounts {
  return {
    counts: Uint32Array.from(minutes, ({ count }) => count),
    columns: new Map([...MINUTE_FIELDS].map(([field, read]) => [field, codesOf(minutes.map(read))])),
    times: {
      first: Float64Array.from(minutes, ({ minuteMs }) => minuteMs),
      last: Float64Array.from(minutes, ({ minuteMs }) => minuteMs + MINUTE_MS - 1),
    },
  }
}

type KeywordColumn = Extract<Column, { kind: 'keyword' }>

function codesOf(texts: readonly string[]): KeywordColumn {
  const dictionary = ['', ...new Set(texts.filter(text => text !== ''))]
  const codes = new Map(dictionary.map((text, code) => [text, code]))
  return { kind: 'keyword', codes: Uint16Array.from(texts, text => codes.get(text)!), dictionary }
}

function rowsThat(test: RowTest<number>, count: number): Uint32Array {
  const rows = new Uint32Array(count)
  let found = 0
  for (let row = 0; row < count; row++) if (test(row)) rows[found++] = row
  return rows.subarray(0, found)
}

/** Whether all documents of each row fall into one bucket. */
function isWithinBuckets(grid: Grid, times: RowTimes | undefined, rows: Uint32Array): boolean {
  if (times === undefined) return false
  let from = Number.NaN
  let to = Number.NaN
  for (const row of rows) {
    const first = times.first[row]!
    const last = times.last[row]!
    if (!(first >= from && first < to)) {
      from = grid.keyOf(first)
      to = grid.next(from)
    }
    if (!(last < to) && grid.keyOf(last) !== grid.keyOf(first)) return false
  }
  return true
}

function columnsOf({ columns, times }: ValueCounts) {
  const at = (values: Float64Array | undefined): Column | undefined => (values === undefined ? undefined : { kind: 'number', values })
  const isExact = times?.newest !== undefined
  return {
    columnOf: (path: string) => (path === TIMESTAMP ? at(times?.first) : columns.get(path)),
    leastOf: (path: string) => (path === TIMESTAMP && isExact ? at(times.first) : undefined),
    greatestOf: (path: string) => (path === TIMESTAMP && isExact ? at(times.last) : undefined),
    ...(isExact && { greatest: times.newest }),
  }
}

/** The keyword fields that a condition is on; undefined where it is on anything else. */
function fieldsOf(condition: Condition): Set<string> | undefined {
  const fields = new Set<string>()
  const test = rowTest(condition, leaf => {
    if (!isOnValue(leaf)) return undefined
    fields.add(leaf.field.path)
    return () => true
  })
  return test === undefined ? undefined : fields
}

type OnValue = Extract<Condition, { op: 'terms' | 'pattern' }>

/** An empty text stands for "no value" in counts. */
function isOnValue(leaf: Condition): leaf is OnValue {
  if (leaf.op !== 'terms' && leaf.op !== 'pattern') return false
  if (classOf(leaf.field) !== 'keyword') return false
  return leaf.op === 'terms' ? !leaf.terms.has('') : !leaf.pattern.test('')
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0)

function testOnValue(leaf: Condition, columns: ReadonlyMap<string, KeywordColumn>): RowTest<number> | undefined {
  if (!isOnValue(leaf)) return undefined
  const { codes, dictionary } = columns.get(leaf.field.path)!
  if (leaf.op === 'pattern' && lengthOf(dictionary) > MAX_TESTED_LENGTH) return undefined
  const fits = dictionary.map(leaf.op === 'terms' ? text => leaf.terms.has(text) : text => leaf.pattern.test(text))
  return row => fits[codes[row]!]!
}
