import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.ts'

/** The machine's clock. */
export const systemClock: Clock = {
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(ignoreAbort)
  },
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error
}
