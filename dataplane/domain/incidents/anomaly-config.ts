import type { DeclaredTicketing } from '../../contract/declared-ticketing.ts'
import { parseDuration } from '../time/duration.ts'

/** Treatment of incidents that hold nothing new for their service (Decisions 6): `quiet`: they are stored and listed, and nobody is told. */
export const RECURRING_MODES = ['dispatch', 'quiet'] as const

/** The ticketing configuration's section `anomaly` (Spec: Ticketing runtime configuration). */
export interface AnomalyConfig {
  /** Rule score from which a single anomaly makes an incident, 0 to 1. */
  readonly minimumScore: number
  /** Duration string; how long after its last anomaly an incident takes in more. */
  readonly lookbackWindow: string
  readonly recurring: (typeof RECURRING_MODES)[number]
}

export const DEFAULT_ANOMALY_CONFIG: AnomalyConfig = { minimumScore: 0.85, lookbackWindow: '15m', recurring: 'dispatch' }

/** Anomalies of one service make a group within this much event time (Spec: Limits, incident grouping). */
export const GROUP_WINDOW_MS = 5 * 60_000

/** Shortest and longest `lookbackWindow`. */
const LOOKBACK_MS = { min: 1_000, max: 7 * 86_400_000 }
export const LOOKBACK_RULE = 'a duration from 1s to 7d, such as 15m or 1h30m'

/** Milliseconds; undefined when the text is no duration within the bounds. */
export function parseLookback(text: string): number | undefined {
  const ms = text.length > 32 ? undefined : parseDuration(text)
  return ms !== undefined && ms >= LOOKBACK_MS.min && ms <= LOOKBACK_MS.max ? ms : undefined
}

/** Id in `service-config` of what a tenant set. */
export function anomalyConfigId(tenant: string): string {
  return `ticketing:anomaly:${tenant}`
}

/** The document stored there. */
export interface StoredAnomalyConfig {
  readonly section: 'ticketing.anomaly'
  readonly tenantId: string
  /** Fields that it lacks are newer than the document. */
  readonly value: Partial<AnomalyConfig>
  readonly updatedAt: string
}

/** Values declared for all tenants win field by field. */
export function effectiveAnomalyConfig(
  stored: Partial<AnomalyConfig> | undefined,
  declared: DeclaredTicketing['anomaly'] = {},
): AnomalyConfig {
  const { minimumScore, lookbackWindow } = declared
  return {
    ...DEFAULT_ANOMALY_CONFIG,
    ...stored,
    ...(minimumScore === undefined ? {} : { minimumScore }),
    ...(lookbackWindow === undefined ? {} : { lookbackWindow }),
  }
}
