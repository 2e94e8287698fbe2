/** Tables as Feast sends them: lists by column name. */
import { HttpError } from '../../http/http-error.ts'
import { MAX_ROWS } from './rows-in-turns.ts'

/** The number of rows; throws `HttpError` 400 when columns differ in length, or have more than a request may. */
export function countRows(where: string, columns: Readonly<Record<string, readonly unknown[]>>): number {
  const lengths = Object.entries(columns).map(([name, values]) => [name, values.length] as const)
  const [first] = lengths
  if (first === undefined) return 0
  const other = lengths.find(([, length]) => length !== first[1])
  if (other !== undefined)
    throw new HttpError(400, `${where}: expected columns of one length, seen ${first[1]} in ${first[0]} and ${other[1]} in ${other[0]}`)
  if (first[1] > MAX_ROWS) throw new HttpError(400, `${where}: expected at most ${MAX_ROWS} rows, seen ${first[1]}`)
  return first[1]
}

/** Names of tenants and services are text. A number is read as its digits. */
export function textOf(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw new HttpError(400, `${where}: expected text, seen ${JSON.stringify(value)}`)
}
