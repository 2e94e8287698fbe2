/** Fetches records page by page and hands their lines on, so that no more than a page is in memory. */
import { missingParts } from '../../../api/missing-parts.ts'
import { type LogRecord, readRecords } from '../records/log-record.ts'
import { EXPORT_PAGE_SIZE, recordsBody } from '../requests/records.ts'
import type { Order, Scope, SearchBody } from '../requests/scope.ts'
import { type ExportFormat, exportHead, exportLines } from './csv.ts'

/** Records of one file. */
export const MAX_EXPORTED_RECORDS = 100_000

export interface ExportDeps {
  readonly search: (body: SearchBody, signal: AbortSignal) => Promise<unknown>
  readonly write: (text: string) => Promise<void> | void
  readonly progress: (written: number) => void
  readonly signal: AbortSignal
}

export interface ExportOrder {
  readonly scope: Scope
  readonly order: Order
  readonly format: ExportFormat
  readonly columns: readonly string[]
}

export interface Exported {
  readonly written: number
  /** There are more than a file may hold. */
  readonly isCut: boolean
  /** A part of the store could not be read: records are missing. */
  readonly isIncomplete: boolean
}

/** Rejects with the reason of the signal where that is aborted. */
export async function exportRecords({ scope, order, format, columns }: ExportOrder, deps: ExportDeps): Promise<Exported> {
  let written = 0
  let isIncomplete = false
  let last: LogRecord | undefined
  await deps.write(exportHead(format, columns))
  for (;;) {
    deps.signal.throwIfAborted()
    const left = MAX_EXPORTED_RECORDS - written
    const size = Math.min(EXPORT_PAGE_SIZE, left + 1)
    const answer = await deps.search(recordsBody(scope, { order, after: last?.sort, size }), deps.signal)
    isIncomplete ||= missingParts(answer) !== undefined
    const page = readRecords(answer)
    const taken = page.slice(0, left)
    await deps.write(exportLines(format, columns, taken))
    written += taken.length
    deps.progress(written)
    if (page.length > taken.length) return { written, isCut: true, isIncomplete }
    if (page.length < size) return { written, isCut: false, isIncomplete }
    last = page.at(-1)
  }
}
