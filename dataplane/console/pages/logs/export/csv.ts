/** Records as lines of a file. */
import { type LogRecord, valueAt } from '../records/log-record.ts'

export type ExportFormat = 'ndjson' | 'csv'

/** A spreadsheet would run it. Those of East Asia read the wide signs, too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A cell by RFC 4180. Texts that begin like a formula get an apostrophe, which spreadsheets take for "this is text"; numbers stay numbers. */
export function csvCell(value: string): string {
  const isNumber = value !== '' && Number.isFinite(Number(value)) && !/\s/.test(value)
  const safe = FORMULA.test(value) && !isNumber ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const csvLine = (values: readonly string[]): string => `${values.map(csvCell).join(',')}\r\n`

/** The head of a file: for CSV the mark by which spreadsheets know UTF-8, and the names of the columns. */
export function exportHead(format: ExportFormat, columns: readonly string[]): string {
  return format === 'csv' ? `\uFEFF${csvLine(columns)}` : ''
}

export function exportLines(format: ExportFormat, columns: readonly string[], records: readonly LogRecord[]): string {
  if (format === 'ndjson') return records.map(({ source }) => `${JSON.stringify(source)}\n`).join('')
  return records.map(({ source }) => csvLine(columns.map(column => valueAt(source, column)))).join('')
}

/** `logs-2026-11-22T10-00.csv`: of the start of the window. */
export function exportName(format: ExportFormat, fromMs: number): string {
  return `logs-${new Date(fromMs).toISOString().slice(0, 16).replace(':', '-')}.${format}`
}
