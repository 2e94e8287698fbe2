/** A token bucket: so many requests at once, so many a second after that. */
import { type Clock, monotonicMs } from '../ports/clock.ts'

export interface RateLimitConfig {
  readonly perSecond: number
  readonly burst: number
}

export interface RateLimit {
  /** Resolves when it is this caller's turn, in the order of the calls; at once when `signal` aborts. */
  take(signal?: AbortSignal): Promise<void>
  /** Whether a caller would have its turn at once. */
  hasRoom(): boolean
}

export function createRateLimit({ perSecond, burst }: RateLimitConfig, clock: Clock): RateLimit {
  let tokens = burst
  let countedMs = monotonicMs(clock)

  const refill = () => {
    const nowMs = monotonicMs(clock)
    tokens = Math.min(burst, tokens + ((nowMs - countedMs) * perSecond) / 1000)
    countedMs = nowMs
  }

  return {
    hasRoom() {
      refill()
      return tokens >= 1
    },
    async take(signal) {
      refill()
      tokens -= 1
      // A rounding error of the sum above is no reason to wait another millisecond.
      const dueMs = monotonicMs(clock) + Math.ceil((Math.max(0, -tokens) * 1000) / perSecond - 1e-6)
      for (let waitMs = dueMs - monotonicMs(clock); waitMs > 0; waitMs = dueMs - monotonicMs(clock)) {
        if (signal?.aborted) {
          tokens += 1
          return
        }
        await clock.sleep(waitMs, signal)
      }
    },
  }
}
