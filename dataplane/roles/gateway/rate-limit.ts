import { type Rate, TokenBucket } from '../../limits/token-bucket.ts'

/** Keys whose requests are counted. */
const MAX_COUNTED_KEYS = 10_000

/** Holds each key to so many requests a second. */
export interface RateLimit {
  /** Seconds after which the key may ask again; 0: now. */
  take(keyId: string, nowMs: number): number
  /** One that was taken was not used. */
  giveBack(keyId: string): void
}

export const NO_LIMIT: RateLimit = { take: () => 0, giveBack: () => undefined }

/** Twice as many at once as in a second. */
export function createRateLimit(perSecond: number): RateLimit {
  const rate: Rate = { perSecond, burst: 2 * perSecond }
  const buckets = new Map<string, TokenBucket>()
  return {
    take(keyId, nowMs) {
      const bucket = buckets.get(keyId) ?? new TokenBucket(rate, nowMs)
      // The one that asked longest ago is forgotten first.
      buckets.delete(keyId)
      buckets.set(keyId, bucket)
      if (buckets.size > MAX_COUNTED_KEYS) buckets.delete(buckets.keys().next().value!)
      return bucket.take(nowMs) ? 0 : Math.ceil(1 / perSecond)
    },
    giveBack: keyId => buckets.get(keyId)?.giveBack(),
  }
}
