import type { Clock } from '../../ports/clock.ts'

export interface RateLimit {
  /** Resolves when `records` may be sent, or at once when `signal` aborts. */
  take(records: number, signal: AbortSignal): Promise<void>
}

/** Spaces requests so that no more than `recordsPerSecond` are sent over any stretch; a late start is not made up for by a burst. */
export function createRateLimit(recordsPerSecond: number, clock: Clock): RateLimit {
  let nextMs = Number.NEGATIVE_INFINITY
  return {
    async take(records, signal) {
      if (recordsPerSecond === Number.POSITIVE_INFINITY) return
      const nowMs = clock.nowMs()
      const atMs = Math.max(nowMs, nextMs)
      nextMs = atMs + (records * 1000) / recordsPerSecond
      if (atMs > nowMs) await clock.sleep(atMs - nowMs, signal)
    },
  }
}
