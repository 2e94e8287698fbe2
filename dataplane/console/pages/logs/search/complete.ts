/** Completions in the search box where the cursor stands. */
import { type FieldCatalog, isCountable, kindOfField } from './field-catalog.ts'
import { formatField, formatValue, unescapeQuoted } from './spelling.ts'

export type Completion =
  | { readonly kind: 'field'; readonly prefix: string; readonly from: number; readonly to: number }
  | { readonly kind: 'value'; readonly field: string; readonly prefix: string; readonly from: number; readonly to: number }

/** Longest part before the cursor that is looked at. */
const MAX_LOOK_BACK = 300
const VALUE = /(?:^|[\s(!-])([\p{L}_@][\p{L}\p{N}_@.\-/]*):(?:\((?:[^()]*\sOR\s+)?)?("(?:[^"\\]|\\.)*|[^\s()"<>[\]{}]*)$/u
const WORD = /(?:^|[\s(!])-?([\p{L}_@][\p{L}\p{N}_@.\-/]*)?$/u

/** The part of the search at the cursor that can be completed: a value behind `field:`, else a name of a field. */
export function completionAt(search: string, cursor: number): Completion | undefined {
  const before = search.slice(Math.max(0, cursor - MAX_LOOK_BACK), cursor)
  const quotes = before.replace(/\\./g, '').split('"').length - 1
  const value = VALUE.exec(before)
  if (value !== null) {
    const raw = value[2]!
    const prefix = raw.startsWith('"') ? unescapeQuoted(raw.slice(1)) : raw.replace(/\\(.)/g, '$1')
    return { kind: 'value', field: value[1]!, prefix, from: cursor - raw.length, to: cursor }
  }
  if (quotes % 2 === 1) return undefined
  const word = WORD.exec(before)
  if (word === null) return undefined
  const prefix = word[1] ?? ''
  return { kind: 'field', prefix, from: cursor - prefix.length, to: cursor }
}

/** Fields whose names hold the prefix: those that begin with it first, the usual ones before others. */
export function completeField(prefix: string, catalog: FieldCatalog, limit = 12): readonly string[] {
  const wanted = prefix.toLowerCase()
  const rank = (name: string): number => (name.toLowerCase().startsWith(wanted) ? 0 : 1)
  return [...catalog]
    .filter(([name, kind]) => kind !== 'stored' && kind !== 'flat' && name.toLowerCase().includes(wanted))
    .map(([name]) => name)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, limit)
}

/** The search with the part at the cursor replaced, and where the cursor goes. */
export function applyCompletion(
  search: string,
  { kind, from, to }: Completion,
  chosen: string,
): { readonly text: string; readonly cursor: number } {
  const after = search.slice(to)
  const inserted = kind === 'field' ? `${formatField(chosen)}:` : `${formatValue(chosen)}${/^[\s)]/.test(after) ? '' : ' '}`
  return { text: `${search.slice(0, from)}${inserted}${after}`, cursor: from + inserted.length }
}

/** Whether values of the field can be offered. */
export const hasValues = (catalog: FieldCatalog, field: string): boolean => isCountable(kindOfField(catalog, field))
