/** The search of the page, as its text and its time range ask for it. */
import { useCallback, useMemo, useState } from 'react'
import { serverNow } from '../../../api/server-clock.ts'
import { useClockOffset } from '../../../components/time/use-clock-offset.ts'
import { type TimeRange, type TimeWindow, windowOf } from '../../../url-state/time-range.ts'
import { markExpression } from '../records/mark-words.ts'
import type { Scope } from '../requests/scope.ts'
import { useFields } from '../use-logs.ts'
import { type FieldCatalog, KNOWN_FIELDS } from './field-catalog.ts'
import { hintsFor } from './hints.ts'
import { translateSearch, wordsToMark } from './to-query.ts'

export interface LogSearch {
  readonly window: TimeWindow
  readonly fields: FieldCatalog
  /** The same object for as long as the store is asked for the same. Undefined: the text cannot be read. */
  readonly scope: Scope | undefined
  /** Finds the words to mark in texts that were found. */
  readonly marks: RegExp | undefined
  /** Likely mistakes, for a search that finds nothing. */
  readonly hints: readonly string[]
  /** Moves the end of a relative range to now. */
  refresh(): void
}

export function useLogSearch(text: string, range: TimeRange): LogSearch {
  const [refreshes, setRefreshes] = useState(0)
  const refresh = useCallback(() => setRefreshes(count => count + 1), [])

  // Up to now: the now of the last search, of the last change of the range, or of the last press on Refresh.
  const offsetMs = useClockOffset()
  const rangeText = JSON.stringify(range)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new object of the same range is the same range
  const window = useMemo(() => windowOf(range, serverNow()), [rangeText, text, refreshes, offsetMs])

  const fields = useFields()
  const translated = useMemo(() => translateSearch(text, fields), [text, fields])
  const query = translated.ok ? translated.query : undefined
  const queryText = JSON.stringify(query)
  // biome-ignore lint/correctness/useExhaustiveDependencies: equal queries are one
  const scope = useMemo(() => (query === undefined ? undefined : { query, window }), [queryText, window])

  const marks = useMemo(() => (translated.ok ? markExpression(wordsToMark(translated.expression)) : undefined), [translated])
  // Until the store has told its fields, none is said to be missing.
  const hints = useMemo(
    () => (translated.ok && fields !== KNOWN_FIELDS ? hintsFor(translated.expression, fields) : NONE),
    [translated, fields],
  )
  return { window, fields, scope, marks, hints, refresh }
}

const NONE: readonly string[] = []
