import type { PlatformName } from '../../../contract/platforms.ts'
import type { Rate } from '../../../limits/token-bucket.ts'

export interface TargetLimits extends Rate {
  /** Attempts under way at once. */
  readonly atOnce: number
}

/** Rates to one target, of all agents on one store together. Below the limits that platforms are known to have; they say 429 themselves where an account has less. */
export const TARGET_LIMITS: Readonly<Record<PlatformName, TargetLimits>> = {
  // Support once named 120 events a minute for an integration key: those at once and those of a minute together.
  pagerduty: { perSecond: 1.8, burst: 10, atOnce: 4 },
  jira: { perSecond: 5, burst: 10, atOnce: 3 },
  servicenow: { perSecond: 5, burst: 10, atOnce: 3 },
  opsgenie: { perSecond: 5, burst: 10, atOnce: 4 },
  // About one message a second for a webhook, with short bursts.
  slack: { perSecond: 1, burst: 4, atOnce: 1 },
  email: { perSecond: 5, burst: 20, atOnce: 3 },
}
