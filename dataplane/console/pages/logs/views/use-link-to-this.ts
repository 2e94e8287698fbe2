import { useCallback, useRef } from 'react'
import type { TimeWindow } from '../../../url-state/time-range.ts'
import { shareLink } from './share-link.ts'

/** Makes the link to what is seen now. The function stays the same; the address of the page follows the open record a moment later. */
export function useLinkToThis(window_: TimeWindow, openId: string | undefined): () => string {
  const latest = useRef({ window: window_, openId })
  latest.current = { window: window_, openId }
  return useCallback(() => {
    const isLive = new URLSearchParams(window.location.search).get('mode') === 'live'
    return shareLink(window.location.href, latest.current.window, { record: latest.current.openId, ...(isLive && { mode: undefined }) })
  }, [])
}
