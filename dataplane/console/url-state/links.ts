/** Links between pages: each carries the time range and the tenant along. */
import { useCallback } from 'react'
import { TENANT_PARAMETER } from './tenant.ts'
import { RANGE_PARAMETERS } from './time-range.ts'
import { useSearch } from './use-search.ts'

const CARRIED = [...RANGE_PARAMETERS, TENANT_PARAMETER]

/** `path` with `parameters` and what is carried along from `search`; a parameter that is given as undefined is not carried. */
export function linkTo(search: string, path: string, parameters: Readonly<Record<string, string | undefined>> = {}): string {
  const current = new URLSearchParams(search)
  const next = new URLSearchParams()
  for (const name of CARRIED) {
    const value = current.get(name)
    if (value !== null && !(name in parameters)) next.set(name, value)
  }
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) next.set(name, value)
  const written = next.toString()
  return written === '' ? path : `${path}?${written}`
}

/** `link('/logs', { q: 'level:ERROR' })`. */
export function useLink(): (path: string, parameters?: Readonly<Record<string, string | undefined>>) => string {
  const search = useSearch()
  return useCallback((path, parameters) => linkTo(search, path, parameters), [search])
}
