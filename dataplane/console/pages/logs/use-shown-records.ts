import { useMemo } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import type { UrlValues } from '../../url-state/fields.ts'
import { windowOfTail } from './live/live-buffer.ts'
import { useLive } from './live/use-live.ts'
import type { LOGS_STATE } from './logs-state.ts'
import type { Scope } from './requests/scope.ts'
import { useHistogram, useRecords } from './use-logs.ts'

export type ShownRecords = ReturnType<typeof useShownRecords>

/** The records that the page has on it, by the way in which it looks at them. */
export function useShownRecords({ mode, order }: Pick<UrlValues<typeof LOGS_STATE>, 'mode' | 'order'>, scope: Scope | undefined) {
  const found = useRecords(mode === 'records' ? scope : undefined, order)
  const histogram = useHistogram(mode === 'records' ? scope : undefined)
  const live = useLive(mode === 'live' ? scope?.query : undefined)
  const tail = live.buffer.records
  // A live tail is at a time of its own: that of its records.
  const shownScope = useMemo(
    () => (scope === undefined || mode !== 'live' ? scope : { ...scope, window: windowOfTail(tail, serverNow()) }),
    [scope, mode, tail],
  )
  return { found, histogram, live, records: mode === 'live' ? tail : found.records, scope: shownScope, total: histogram.data?.total }
}
