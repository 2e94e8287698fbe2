/** The content of a ticket, before any platform's form of it. */
import type { Severity } from '../../contract/platforms.ts'
import type { IncidentStatus } from '../incidents/incident-status.ts'
import type { StateChange } from './outbox-row.ts'

export interface SampleLine {
  /** ISO-8601. */
  readonly timestamp: string
  readonly level: string
  readonly service: string
  /** As it was logged: escape it. At most 1,000 characters. */
  readonly message: string
  readonly logId: string
  readonly traceId?: string
}

export interface TicketEvidence {
  /** The masked message. */
  readonly pattern: string
  readonly count: number
  readonly samples: readonly SampleLine[]
}

export interface TicketCandidate {
  readonly service: string
  readonly score: number
  /** One sentence each, the strongest first. */
  readonly reasons: readonly string[]
}

/** Everything that came from logs is text of strangers: each platform escapes it. */
export interface TicketContent {
  readonly incidentId: string
  readonly tenantId: string
  /** `checkout: Connection refused to <*>`. */
  readonly title: string
  /** The event, in one sentence. */
  readonly sentence: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly service: string
  readonly affectedServices: readonly string[]
  readonly anomalyCount: number
  /** ISO-8601, event times of the first and last anomaly. */
  readonly firstSeen: string
  readonly lastSeen: string
  readonly recurring: boolean
  /** Absent while none was looked for. */
  readonly cause?: {
    readonly summary: string
    readonly mode: 'rules' | 'llm'
    readonly fallback: boolean
    readonly candidates: readonly TicketCandidate[]
  }
  /** The most frequent first. */
  readonly evidence: readonly TicketEvidence[]
  /** The next step, one imperative sentence. */
  readonly nextAction: string
  /** Absolute address of the incident in the console; absent without `PUBLIC_URL`. */
  readonly link?: string
  /** The actor of the state change that this event tells of, and the actor's words. */
  readonly change?: StateChange
  /** News since the last dispatch, one sentence each, for `update`; the text of a `comment`. */
  readonly news: readonly string[]
}
