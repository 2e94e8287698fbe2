import { isRecent } from '../limits/is-recent.ts'
import type { Clock } from '../ports/clock.ts'

const REMEMBERED_MS = 1_000
const ANSWER_WITHIN_MS = 2_000

/** `connected` or `disconnected`, or what `trouble` of one that answers; asked anew at most once a second and answered within two. */
export function createConnectionState<T>(
  probe: () => Promise<T>,
  clock: Clock,
  trouble: (answer: T) => string | undefined = () => undefined,
): () => Promise<string> {
  let asked: { readonly atMs: number; readonly state: Promise<string> } | undefined
  return () => {
    if (asked === undefined || !isRecent(asked.atMs, REMEMBERED_MS, clock.nowMs()))
      asked = { atMs: clock.nowMs(), state: ask(probe, clock, trouble) }
    return asked.state
  }
}

async function ask<T>(probe: () => Promise<T>, clock: Clock, trouble: (answer: T) => string | undefined): Promise<string> {
  const answered = new AbortController()
  const answer = probe().then(
    seen => trouble(seen) ?? 'connected',
    () => 'disconnected',
  )
  try {
    return await Promise.race([answer, clock.sleep(ANSWER_WITHIN_MS, answered.signal).then(() => 'disconnected')])
  } finally {
    answered.abort()
  }
}
