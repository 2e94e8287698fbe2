/** State of a page that stands in its URL: links carry it, and back and forward walk through it. */
import { useCallback, useMemo } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { readFields, type UrlSchema, type UrlValues, writeFields } from './fields.ts'
import { useSearch } from './use-search.ts'

export interface UrlChange {
  /** No step back leads to the state before: for what changes while one types. */
  readonly replace?: boolean
}

export type SetUrlState<S extends UrlSchema> = (changes: Partial<UrlValues<S>>, how?: UrlChange) => void

/** `schema` is a constant of the module. Values that did not change keep their identity as long as the URL does. */
export function useUrlState<S extends UrlSchema>(schema: S): readonly [UrlValues<S>, SetUrlState<S>] {
  const search = useSearch()
  const values = useMemo(() => readFields(schema, search), [schema, search])
  const set = useCallback<SetUrlState<S>>(
    (changes, { replace = false } = {}) => {
      // The URL as it is now: two changes in one turn both hold.
      const { pathname, search: current, hash } = window.location
      const next = writeFields(schema, current, changes)
      if (next !== current) navigate(`${pathname}${next}${hash}`, { replace })
    },
    [schema],
  )
  return [values, set]
}
