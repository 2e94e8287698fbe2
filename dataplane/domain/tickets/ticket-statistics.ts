/** How fast incidents were acknowledged and resolved, from the audit trail (Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import type { AuditEntry } from '../incidents/audit-entry.ts'
import type { Incident } from '../incidents/incident-fields.ts'

export interface TicketStatistics {
  readonly incidents: number
  readonly bySeverity: Readonly<Record<Severity, number>>
  /** The services with most incidents, those first. */
  readonly byService: Readonly<Record<string, number>>
  /** Means over the incidents that were acknowledged and that are resolved; null without any. */
  readonly mttaSeconds: number | null
  readonly mttrSeconds: number | null
}

/** Times from the creation of incidents to a change of theirs. */
export interface Durations {
  readonly count: number
  readonly totalMs: number
}

export interface Courses {
  addIncident(incident: Pick<Incident, 'id' | 'createdAt'>): void
  /** The oldest first. Entries of other incidents do not count. */
  addEntry(entry: Pick<AuditEntry, 'incident_id' | 'action' | 'timestamp'>): void
  result(): { readonly acknowledged: Durations; readonly resolved: Durations }
}

interface Course {
  readonly createdMs: number
  acknowledgedMs?: number
  resolvedMs: number | undefined
}

/** Incidents that were opened again: these tell their last changes alone, and the audit trail tells all. */
export function createCourses(): Courses {
  const courses = new Map<string, Course>()
  return {
    addIncident({ id, createdAt }) {
      if (!courses.has(id)) courses.set(id, { createdMs: Date.parse(createdAt), resolvedMs: undefined })
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
        acknowledged: durations(
          all.flatMap(({ createdMs, acknowledgedMs }) => (acknowledgedMs === undefined ? [] : [acknowledgedMs - createdMs])),
        ),
        resolved: durations(all.flatMap(({ createdMs, resolvedMs }) => (resolvedMs === undefined ? [] : [resolvedMs - createdMs]))),
      }
    },
  }
}

const durations = (ms: readonly number[]): Durations => ({
  count: ms.length,
  totalMs: ms.reduce((sum, each) => sum + Math.max(0, each), 0),
})

/** Seconds, to the millisecond; null without any. */
export function meanSeconds(all: readonly Durations[]): number | null {
  const count = all.reduce((sum, each) => sum + each.count, 0)
  const totalMs = all.reduce((sum, each) => sum + each.totalMs, 0)
  return count === 0 ? null : Math.round(totalMs / count) / 1_000
}
