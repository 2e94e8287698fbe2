import type { Clock } from '../ports/clock.ts'

/**
 * Work that ends with its time: its signal aborts, and what does not heed that is left alone. `late` then gives the outcome, or throws it; its
 * argument says how long was waited.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  late: (message: string) => T,
): Promise<T> {
  const over = new AbortController()
  const done = new AbortController()
  const timeout = clock.sleep(ms, done.signal).then(() => {
    if (done.signal.aborted) return undefined as never
    over.abort()
    return late(`no answer within ${ms / 1_000} s`)
  })
  try {
    return await Promise.race([work(over.signal), timeout])
  } finally {
    done.abort()
    timeout.catch(() => {})
  }
}
