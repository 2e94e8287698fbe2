import type { RateLimit } from './stub-platform.ts'

export interface RateLimiter {
  /** 0 when the request may pass, else the milliseconds until the next may. */
  waitMs(caller: string): number
}

const MAX_CALLERS = 100

/** A bucket of tokens for each caller. */
export function createRateLimiter({ perSecond, burst }: RateLimit, nowMs: () => number): RateLimiter {
  const buckets = new Map<string, { tokens: number; atMs: number }>()
  return {
    waitMs(caller) {
      const now = nowMs()
      const { tokens, atMs } = buckets.get(caller) ?? { tokens: burst, atMs: now }
      const left = Math.min(burst, tokens + ((now - atMs) / 1_000) * perSecond)
      const passes = left >= 1
      buckets.set(caller, { tokens: passes ? left - 1 : left, atMs: now })
      if (buckets.size > MAX_CALLERS) buckets.delete(buckets.keys().next().value!)
      return passes ? 0 : Math.ceil(((1 - left) / perSecond) * 1_000)
    },
  }
}
