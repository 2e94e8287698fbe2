/** How fast incidents were acknowledged and resolved, from the audit trail (Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import type { AuditEntry } from '../incidents/audit-entry.ts'
import type { Incident } from '../incidents/incident-fields.ts'

export interface TicketStatistics {
  readonly incidents: number
  readonly bySeverity: Readonly<Record<Severity, number>>
  readonly byService: Readonly<Record<string, number>>
  /** Means over the incidents that were acknowledged and that are resolved; null without any. */
  readonly mttaSeconds: number | null
  readonly mttrSeconds: number | null
}

export interface StatisticsBuilder {
  addIncident(incident: Pick<Incident, 'id' | 'severity' | 'service' | 'createdAt'>): void
  /** The oldest first. Entries of other incidents do not count. */
  addEntry(entry: Pick<AuditEntry, 'incident_id' | 'action' | 'timestamp'>): void
  result(): TicketStatistics
}

interface Course {
  readonly createdMs: number
  acknowledgedMs?: number
  resolvedMs: number | undefined
}

export function createStatistics(): StatisticsBuilder {
  const courses = new Map<string, Course>()
  const bySeverity: Record<Severity, number> = { critical: 0, high: 0, medium: 0, low: 0 }
  const byService = new Map<string, number>()
  return {
    addIncident({ id, severity, service, createdAt }) {
      if (courses.has(id)) return
      courses.set(id, { createdMs: Date.parse(createdAt), resolvedMs: undefined })
      bySeverity[severity] = (bySeverity[severity] ?? 0) + 1
      byService.set(service, (byService.get(service) ?? 0) + 1)
    },
    addEntry({ incident_id, action, timestamp }) {
      const course = courses.get(incident_id)
      if (course === undefined) return
      // The first acknowledgement and the last resolution: what is reopened is not resolved.
      if (action === 'acknowledged') course.acknowledgedMs ??= Date.parse(timestamp)
      if (action === 'resolved') course.resolvedMs = Date.parse(timestamp)
      if (action === 'reopened') course.resolvedMs = undefined
    },
    result() {
      const all = [...courses.values()]
      return {
        incidents: courses.size,
        bySeverity,
        byService: Object.fromEntries([...byService].sort((a, b) => b[1] - a[1])),
        mttaSeconds: mean(
          all.flatMap(({ createdMs, acknowledgedMs }) => (acknowledgedMs === undefined ? [] : [acknowledgedMs - createdMs])),
        ),
        mttrSeconds: mean(all.flatMap(({ createdMs, resolvedMs }) => (resolvedMs === undefined ? [] : [resolvedMs - createdMs]))),
      }
    },
  }
}

/** Seconds, to the millisecond. */
function mean(ms: readonly number[]): number | null {
  if (ms.length === 0) return null
  return Math.round(ms.reduce((sum, each) => sum + Math.max(0, each), 0) / ms.length) / 1_000
}
