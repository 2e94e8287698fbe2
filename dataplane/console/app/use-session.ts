import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { SESSION_QUERY } from '../api/session-query.ts'
import { useClockOffset } from '../components/time/use-clock-offset.ts'

/** Computers are set right, and sessions end, while the console is open. */
const POLL_MS = 300_000

/** The user who is logged in. Where the server's clock turns out to be another than this computer's, all that is shown is read again by it. */
export function useSession() {
  const client = useQueryClient()
  const { data } = useQuery({
    ...SESSION_QUERY,
    // A function: what is shown is not old for want of this answer.
    refetchInterval: () => POLL_MS,
  })
  const offsetMs = useClockOffset()
  const before = useRef(offsetMs)
  useEffect(() => {
    if (offsetMs === before.current) return
    before.current = offsetMs
    void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  }, [offsetMs, client])
  return data
}
