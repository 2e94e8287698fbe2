import type { Clock } from '../../ports/clock.ts'

/** The bridge's threads, as far as the start waits for them. */
export interface StartingThreads {
  /** Resolves once all of them run. */
  readonly running: Promise<void>
  notRunning(): readonly string[]
}

/** Waits until all threads run, at most so long; resolves to those that do not run by then. */
export async function stillStarting(threads: StartingThreads, clock: Clock, waitMs: number): Promise<readonly string[]> {
  const waited = new AbortController()
  await Promise.race([threads.running, clock.sleep(waitMs, waited.signal)])
  waited.abort()
  return threads.notRunning()
}
