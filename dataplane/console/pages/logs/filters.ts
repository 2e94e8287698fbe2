/** Links of a value anywhere on the page: ask for it, leave it out, follow it. */
import { createContext, useContext } from 'react'
import type { LogRecord } from './records/log-record.ts'
import type { FilterKind } from './search/edit-search.ts'

export interface LogsActions {
  /** Whether the search, as it stands, asks for a value or leaves it out. */
  filterOf(field: string, value: string): FilterKind
  setFilter(field: string, value: string, kind: FilterKind): void
  /** Only this value, and the records. */
  showOnly(field: string, value: string): void
  openRecord(record: LogRecord): void
  showTrace(traceId: string): void
  toggleColumn(field: string): void
  /** Columns beside time, level and message. */
  readonly columns: readonly string[]
  hasColumn(field: string): boolean
}

export const LogsActionsContext = createContext<LogsActions | undefined>(undefined)

export function useLogsActions(): LogsActions {
  const actions = useContext(LogsActionsContext)
  if (actions === undefined) throw new Error('useLogsActions: expected to stand within the logs page')
  return actions
}
