import { isRecent } from '../limits/is-recent.ts'
import type { Clock } from '../ports/clock.ts'

const REMEMBERED_MS = 1_000
const ANSWER_WITHIN_MS = 2_000

/** `connected` or `disconnected`, asked anew at most once a second and answered within two. */
export function createConnectionState(probe: () => Promise<unknown>, clock: Clock): () => Promise<string> {
  let asked: { readonly atMs: number; readonly state: Promise<string> } | undefined
  return () => {
    if (asked === undefined || !isRecent(asked.atMs, REMEMBERED_MS, clock.nowMs()))
      asked = { atMs: clock.nowMs(), state: ask(probe, clock) }
    return asked.state
  }
}

async function ask(probe: () => Promise<unknown>, clock: Clock): Promise<string> {
  const answered = new AbortController()
  const answer = probe().then(
    () => 'connected',
    () => 'disconnected',
  )
  try {
    return await Promise.race([answer, clock.sleep(ANSWER_WITHIN_MS, answered.signal).then(() => 'disconnected')])
  } finally {
    answered.abort()
  }
}
