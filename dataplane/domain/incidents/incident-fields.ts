/** The incident as it is stored and shown (Spec: Incident; Decisions 6). */

import type { Severity } from '../../contract/platforms.ts'
import type { RootCause } from '../root-cause/root-cause.ts'
import type { IncidentStatus } from './incident-status.ts'

export interface Evidence {
  readonly patternId: string
  readonly pattern: string
  readonly count: number
  /** Highest rule score seen with this pattern. */
  readonly score: number
  /** Samples, at most 5. */
  readonly logIds: readonly string[]
  readonly traceIds: readonly string[]
}

export interface Incident {
  readonly id: string
  readonly tenantId: string
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly service: string
  /** The group's highest rule score. */
  readonly anomalyScore: number
  readonly anomalyCount: number
  /** The first 500. */
  readonly affectedServices: readonly string[]
  /** How many more are affected; absent: none. */
  readonly furtherServices?: number
  readonly traceId?: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly firstSeen: string
  readonly lastSeen: string
  readonly platforms: readonly string[]
  readonly evidence: readonly Evidence[]
  readonly acknowledgedAt?: string
  readonly resolvedAt?: string
  readonly escalatedAt?: string
  readonly escalatedTo?: readonly string[]
  readonly reopenedAt?: string
  /** All of it is nothing new for the service; false when that is not known, and for good once it no longer holds. Absent in incidents of older versions. */
  readonly recurring?: boolean
  readonly rootCause?: RootCause
  /** By target id. */
  readonly dispatches?: Readonly<Record<string, IncidentDispatch>>
}

/** Steps of an incident that callers see beside its fields. */
export interface IncidentSteps {
  /** When its cause was looked for last. */
  readonly analysedAt?: string
  /** When the agent last noticed that it had grown: in severity, or in services. */
  readonly grewAt?: string
  /** Why nobody was told of it, such as `jira is switched off`, or that it was over before. Absent where it has platforms, or was not taken up yet. */
  readonly untold?: string
}

/** How the newest dispatch to a target stands. */
export interface IncidentDispatch {
  readonly status: 'pending' | 'sent' | 'failed' | 'suppressed'
  readonly externalId?: string
  readonly url?: string
  readonly attempts: number
  readonly lastError?: string
}
