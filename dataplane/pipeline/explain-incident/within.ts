import type { Clock } from '../../ports/clock.ts'
import { ModelUnavailable } from '../../ports/language-model.ts'

/** Work that ends with its time: its signal aborts, and what does not heed that is left alone. Rejects with `ModelUnavailable` then. */
export async function within<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController()
  const done = new AbortController()
  const timeout = clock.sleep(ms, done.signal).then(() => {
    if (done.signal.aborted) return
    late.abort()
    throw new ModelUnavailable(`no answer within ${ms / 1_000} s`, { isPassing: true })
  })
  try {
    return await Promise.race([work(late.signal), timeout as Promise<never>])
  } finally {
    done.abort()
    timeout.catch(() => {})
  }
}
