/** Documents of a sealed segment by the values of a few fields together: counts of patterns and the like need no look at documents then. */
import { renumber } from '../../../../renumber.ts'
import type { Column, ValueCounts } from '../../../index-storage.ts'
import type { ReadSection, Span, WriteSection } from './column-codec.ts'

/** Fields that are counted together: those that lists of values, of patterns and of services are made of, by the names of the log documents. */
const COUNTED_TOGETHER: readonly (readonly string[])[] = [
  ['tenant_id', 'level', 'service', 'environment', 'host'],
  ['tenant_id', 'level', 'service', 'pattern_id'],
]

/** With more rows than these, walking columns is as quick. */
const MAX_ROWS = 8_192
const MIN_DOCUMENTS_PER_ROW = 4
/** Combinations that are counted in a table. */
const MAX_CELLS = 1 << 18

/** The entry of one table in the directory of a sealed segment. */
export interface ValueCountsEntry {
  readonly fields: readonly string[]
  readonly rows: number
  /** Added to times; absent where there are none. */
  readonly timesFrom?: number
  /**
   * By row: `u32` counts, `u32` first and last times; `u16` newest documents, and for each field `u16` codes of the field's column. Without times neither
   * those nor the newest documents.
   */
  readonly table: Span
}

type KeywordColumn = Extract<Column, { kind: 'keyword' }>

/** Tables that would hardly be smaller than columns are left out, and those of a field that has no column. There is a pause now and then. */
export function* encodeValueCounts(
  columnOf: (field: string) => Column | undefined,
  size: number,
  write: WriteSection,
): Generator<void, readonly ValueCountsEntry[], undefined> {
  const entries: ValueCountsEntry[] = []
  for (const fields of COUNTED_TOGETHER) {
    const columns = fields.map(columnOf).filter(column => column?.kind === 'keyword')
    const rowOf = columns.length < fields.length ? undefined : numberRows(columns, size)
    if (rowOf === undefined) continue
    yield
    const { rows, samples, counts } = countRows(rowOf)
    const times = timesOf(columnOf('timestamp'), rowOf, rows)
    const codes = columns.map(column => Uint16Array.from(samples, doc => column.codes[doc]!))
    const parts = [counts, ...(times === undefined ? [] : [times.first, times.last, times.newest]), ...codes]
    const table = write(Buffer.concat(parts.map(part => Buffer.from(part.buffer))))
    entries.push({ fields, rows, ...(times !== undefined && { timesFrom: times.from }), table })
    yield
  }
  return entries
}

/** The row of each document; undefined where there would be too many. */
function numberRows(columns: readonly KeywordColumn[], size: number): Uint32Array | undefined {
  const cells = new Uint32Array(size)
  let width = 1
  for (const { codes, dictionary } of columns) {
    const values = dictionary.length
    if (width * values > MAX_CELLS) width = renumber(cells, width)
    if (width * values > MAX_CELLS) return undefined
    for (let doc = 0; doc < size; doc++) cells[doc] = cells[doc]! * values + codes[doc]!
    width *= values
  }
  const rows = renumber(cells, width)
  return rows > MAX_ROWS || rows * MIN_DOCUMENTS_PER_ROW > size ? undefined : cells
}

/** `samples`: a document of each row. */
function countRows(rowOf: Uint32Array): { rows: number; samples: Uint32Array; counts: Uint32Array } {
  const rows = rowOf.reduce((most, row) => Math.max(most, row + 1), 0)
  const counts = new Uint32Array(rows)
  const samples = new Uint32Array(rows)
  for (let doc = 0; doc < rowOf.length; doc++) {
    counts[rowOf[doc]!]!++
    samples[rowOf[doc]!] = doc
  }
  return { rows, samples, counts }
}

interface EncodedTimes {
  /** Added to the others. */
  readonly from: number
  readonly first: Uint32Array
  readonly last: Uint32Array
  readonly newest: Uint16Array
}

/** Undefined where a document has no time, or they are too far apart. */
function timesOf(column: Column | undefined, rowOf: Uint32Array, rows: number): EncodedTimes | undefined {
  if (column?.kind !== 'number') return undefined
  const { values } = column
  const from = values.reduce((least, ms) => (ms < least ? ms : least), Number.POSITIVE_INFINITY)
  const first = new Uint32Array(rows).fill(0xffff_ffff)
  const last = new Uint32Array(rows)
  const newest = new Uint16Array(rows)
  const isSeen = new Uint8Array(rows)
  for (let doc = 0; doc < rowOf.length; doc++) {
    const row = rowOf[doc]!
    const ms = values[doc]! - from
    if (!(Number.isSafeInteger(ms) && ms < 2 ** 32)) return undefined
    if (ms < first[row]!) first[row] = ms
    if (isSeen[row] === 1 && ms <= last[row]!) continue
    isSeen[row] = 1
    last[row] = ms
    newest[row] = doc
  }
  return { from, first, last, newest }
}

/** The smallest table with all of the fields. */
export function tableWith(entries: readonly ValueCountsEntry[], fields: ReadonlySet<string>): ValueCountsEntry | undefined {
  const wanted = [...fields]
  return entries.filter(entry => wanted.every(field => entry.fields.includes(field))).sort((a, b) => a.rows - b.rows)[0]
}

export function readValueCounts(
  { fields, rows, timesFrom, table }: ValueCountsEntry,
  read: ReadSection,
  dictionaryOf: (field: string) => readonly string[],
): ValueCounts {
  const packed = read(table)
  const bytes = packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.byteLength)
  const words = (before: number) => new Uint32Array(bytes, 4 * rows * before, rows)
  const halves = (before: number) => new Uint16Array(bytes, 2 * rows * before, rows)
  const timesAt = (before: number, from: number) => {
    const times = new Float64Array(rows)
    const distances = words(before)
    for (let row = 0; row < rows; row++) times[row] = from + distances[row]!
    return times
  }
  const times = timesFrom === undefined ? undefined : { first: timesAt(1, timesFrom), last: timesAt(2, timesFrom), newest: halves(6) }
  const codesFrom = times === undefined ? 2 : 7
  const columns = fields.map(
    (field, at) => [field, { kind: 'keyword', codes: halves(codesFrom + at), dictionary: dictionaryOf(field) }] as const,
  )
  return { counts: words(0), columns: new Map(columns), ...(times !== undefined && { times }) }
}
