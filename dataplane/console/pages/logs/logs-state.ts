/** All that the logs page shows stands in its URL, beside the time range and the tenant. */
import { choice, flag, list, optionalText, text } from '../../url-state/fields.ts'
import { COMPARE_WITH } from './requests/compare.ts'
import { MAX_FACETS, USUAL_FACETS } from './requests/facets.ts'
import { PATTERN_ORDERS } from './requests/patterns.ts'

export const MODES = ['records', 'patterns', 'trace', 'compare', 'live'] as const
export type Mode = (typeof MODES)[number]

/** Parts of the open record. */
const RECORD_TABS = ['fields', 'surrounding', 'json'] as const
export type RecordTab = (typeof RECORD_TABS)[number]

export const LOGS_STATE = {
  q: text(),
  mode: choice(MODES, 'records'),
  order: choice(['newest', 'oldest'], 'newest'),
  /** Beside time, level and message; empty: the usual. */
  columns: list(),
  facets: list(),
  wrap: flag(),
  /** The open record, by the id of its document. */
  record: optionalText(),
  tab: choice(RECORD_TABS, 'fields'),
  trace: text(),
  with: choice(COMPARE_WITH, 'before'),
  patterns: choice(PATTERN_ORDERS, 'count'),
}

/** Columns of a table. */
export const MAX_COLUMNS = 12
const USUAL_COLUMNS = ['service'] as const

export function shownColumns(columns: readonly string[]): readonly string[] {
  return columns.length === 0 ? USUAL_COLUMNS : columns.slice(0, MAX_COLUMNS)
}

/** The columns with one more or one less; the last one stays. */
export function toggleColumn(columns: readonly string[], field: string): readonly string[] {
  const shown = shownColumns(columns)
  const next = shown.includes(field) ? shown.filter(name => name !== field) : [...shown, field]
  return next.length === 0 ? shown : next.slice(0, MAX_COLUMNS)
}

export function shownFacets(facets: readonly string[]): readonly string[] {
  return facets.length === 0 ? USUAL_FACETS : facets.slice(0, MAX_FACETS)
}
