/** The `_cat` answers: a table, as text or JSON. */

import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { illegalArgument, unsupported } from '../../api-error.ts'
import { words } from '../../json/json-reader.ts'
import { Turns } from '../../turns.ts'
import { isTooLong, tooLong } from '../answer/listing.ts'
import { ok, type Reply } from '../answer/reply.ts'
import { booleanParameter } from '../request/index-parameters.ts'

export interface CatColumn<Row> {
  readonly name: string
  /** Other names by which callers may ask for the column. */
  readonly aliases: readonly string[]
  readonly description: string
  /** Shown only when asked for. */
  readonly isExtra?: boolean
  /** Aligned to the right. */
  readonly isNumber?: boolean
  value(row: Row): string | null
}

/** `names`: the column's name, then its aliases, with spaces between them. */
export function column<Row>(
  names: string,
  description: string,
  value: CatColumn<Row>['value'],
  more: Pick<CatColumn<Row>, 'isExtra' | 'isNumber'> = {},
): CatColumn<Row> {
  const [name = '', ...aliases] = names.split(' ')
  return { name, aliases, description, value, ...more }
}

export const NUMBER = { isNumber: true }
export const EXTRA = { isExtra: true }

export const CAT_PARAMETERS = words(`
  h s v help bytes time size local master_timeout cluster_manager_timeout pri health expand_wildcards include_unloaded_segments ts
  full_id fields active_only detailed index timeout
`)

/** Characters of a cell beside its value: spaces, or its name in JSON. */
const ROOM_OF_A_VALUE = 16

/** Others run meanwhile. Throws 400 for an answer that is too long. */
export async function catReply<Row>(rows: readonly Row[], columns: readonly CatColumn<Row>[], query: URLSearchParams): Promise<Reply> {
  if (query.has('help'))
    return {
      status: 200,
      text: columns.map(column => `${column.name} | ${column.aliases.join(',')} | ${column.description}\n`).join(''),
    }
  const shown = chosenColumns(columns, query.get('h'))
  const table: (string | null)[][] = []
  const turns = new Turns()
  let length = 0
  for (const row of sortRows(rows, columns, query.get('s'))) {
    const values = shown.map(({ column }) => column.value(row))
    length = values.reduce((sum, value) => sum + (value?.length ?? 0) + ROOM_OF_A_VALUE, length)
    if (isTooLong(length)) throw tooLong()
    table.push(values)
    if (turns.isDue()) await turns.next()
  }
  const format = query.get('format')
  if (format === 'json') return ok(table.map(values => Object.fromEntries(shown.map(({ label }, at) => [label, values[at] ?? null]))))
  if (format !== null && format !== 'text') throw unsupported(`format [${format}]`)
  const lines = table.map(values => values.map(value => value ?? ''))
  if (booleanParameter(query, 'v')) lines.unshift(shown.map(({ label }) => label))
  return {
    status: 200,
    text: alignLines(
      lines,
      shown.map(({ column }) => column.isNumber === true),
    ),
  }
}

interface ChosenColumn<Row> {
  /** As the client named it. */
  readonly label: string
  readonly column: CatColumn<Row>
}

function chosenColumns<Row>(columns: readonly CatColumn<Row>[], wanted: string | null): readonly ChosenColumn<Row>[] {
  if (wanted === null) return columns.filter(column => column.isExtra !== true).map(column => ({ label: column.name, column }))
  return wanted.split(',').flatMap((name): ChosenColumn<Row>[] => {
    if (name.includes('*')) {
      const pattern = wildcardPattern(name)
      return columns.filter(column => pattern.test(column.name)).map(column => ({ label: column.name, column }))
    }
    const column = columns.find(each => each.name === name || each.aliases.includes(name))
    return column === undefined ? [] : [{ label: name, column }]
  })
}

function sortRows<Row>(rows: readonly Row[], columns: readonly CatColumn<Row>[], wanted: string | null): readonly Row[] {
  if (wanted === null) return rows
  const keys = wanted.split(',').map(part => {
    const [name, order = 'asc'] = part.split(':')
    const column = columns.find(each => each.name === name || each.aliases.includes(name!))
    if (column === undefined) throw illegalArgument(`Unable to sort by unknown sort key \`${name}\``)
    return { column, sign: order === 'desc' ? -1 : 1 }
  })
  return rows.toSorted((a, b) => {
    for (const { column, sign } of keys) {
      const order = (column.value(a) ?? '').localeCompare(column.value(b) ?? '', 'en', { numeric: column.isNumber === true })
      if (order !== 0) return sign * order
    }
    return 0
  })
}

function alignLines(lines: readonly (readonly string[])[], isRight: readonly boolean[]): string {
  const widths = isRight.map((_right, at) => lines.reduce((width, line) => Math.max(width, line[at]!.length), 0))
  const last = isRight.length - 1
  const padded = (value: string, at: number): string =>
    isRight[at] ? value.padStart(widths[at]!) : at === last ? value : value.padEnd(widths[at]!)
  return lines.map(line => `${line.map(padded).join(' ')}\n`).join('')
}
