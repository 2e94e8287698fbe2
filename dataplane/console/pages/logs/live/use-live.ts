/** Polls the store each second while the tail runs. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { type MissingParts, missingParts } from '../../../api/missing-parts.ts'
import { searchLogs } from '../../../api/search.ts'
import { serverNow } from '../../../api/server-clock.ts'
import { readRecords } from '../records/log-record.ts'
import type { Query } from '../search/to-query.ts'
import { addLive, clearLive, EMPTY_LIVE, type LiveBuffer, liveRequest } from './live-buffer.ts'

/** Between an answer and the next request. */
export const POLL_MS = 1_000
/** After a failure. */
const RETRY_MS = 5_000

export interface Live {
  readonly buffer: LiveBuffer
  readonly isRunning: boolean
  readonly error: unknown
  /** Time of the last answer to this query, ms since the epoch; 0: there was none. */
  readonly answeredMs: number
  /** Parts of the store that the last answer lacks. */
  readonly missing: MissingParts | undefined
  setRunning(isRunning: boolean): void
  clear(): void
}

/** A tail of its own for each query: another query begins with an empty one. Hidden tabs do not poll. */
export function useLive(query: Query | undefined): Live {
  const [buffer, setBuffer] = useState(EMPTY_LIVE)
  const [isRunning, setRunning] = useState(true)
  const [error, setError] = useState<unknown>(null)
  const [answeredMs, setAnsweredMs] = useState(0)
  const [missing, setMissing] = useState<MissingParts>()
  const latest = useRef(buffer)
  const keep = useCallback((next: LiveBuffer) => {
    latest.current = next
    setBuffer(next)
  }, [])
  const clear = useCallback(() => keep(clearLive(latest.current, serverNow())), [keep])
  const key = JSON.stringify(query)

  // biome-ignore lint/correctness/useExhaustiveDependencies: equal queries are one
  useEffect(() => {
    keep(EMPTY_LIVE)
    setAnsweredMs(0)
  }, [key, keep])

  // biome-ignore lint/correctness/useExhaustiveDependencies: equal queries are one
  useEffect(() => {
    if (!isRunning || query === undefined) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const poll = async () => {
      let waitMs = POLL_MS
      if (!document.hidden)
        try {
          const asked = liveRequest({ query }, latest.current, serverNow())
          const answer = await searchLogs(asked.body, stop.signal)
          keep(addLive(latest.current, readRecords(answer), answer, asked))
          setError(null)
          setAnsweredMs(Date.now())
          setMissing(missingParts(answer))
        } catch (cause) {
          if (stop.signal.aborted) return
          setError(cause)
          waitMs = RETRY_MS
        }
      if (!stop.signal.aborted) timer = setTimeout(() => void poll(), waitMs)
    }
    void poll()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [key, isRunning, keep])
  return { buffer, isRunning, error, answeredMs, missing, setRunning, clear }
}
