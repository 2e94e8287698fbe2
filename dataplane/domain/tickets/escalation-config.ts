import { SEVERITIES, type Severity } from '../../contract/platforms.ts'
import { parseLookback } from '../incidents/anomaly-config.ts'

/** The ticketing configuration's section `escalation` (Decisions 6): after which duration an open incident is escalated by itself; null: never. */
export type EscalationConfig = Readonly<Record<Severity, string | null>>

export const DEFAULT_ESCALATION: EscalationConfig = { critical: null, high: null, medium: null, low: null }

/** Undefined when the text is no duration within the bounds of `lookbackWindow`. */
export const parseEscalation = parseLookback

/** ms. */
export function escalationTimes(config: EscalationConfig): Readonly<Record<Severity, number | null>> {
  const timeOf = (severity: Severity) => parseEscalation(config[severity] ?? '') ?? null
  return Object.fromEntries(SEVERITIES.map(severity => [severity, timeOf(severity)])) as Record<Severity, number | null>
}
