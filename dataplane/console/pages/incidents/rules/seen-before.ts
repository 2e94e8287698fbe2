/** Earlier incidents of the same kind, with the notes that people left: the way to what helped the last time. */
import type { AuditEntry } from '../../../../domain/incidents/audit-entry.ts'
import { inReadingOrder } from '../../../../domain/incidents/evidence-order.ts'
import type { Incident } from '../../../../domain/incidents/incident-fields.ts'
import { readDetails } from './timeline.ts'

/** Incidents of the service that are read, the newest before this one. */
export const READ_BEFORE = 100
const SHOWN = 3

type Alike = Pick<Incident, 'id' | 'tenantId' | 'createdAt' | 'evidence'>

export interface SeenBefore<T> {
  /** How many are alike among those that were read. */
  readonly count: number
  /** The newest of them. */
  readonly latest: readonly T[]
}

/** Those among `others` that were opened before `incident` and are of the pattern that it is mainly of, or the other way round: many share what a service always says. */
export function findSeenBefore<T extends Alike>(incident: Alike, others: readonly T[]): SeenBefore<T> {
  const alike = others
    .filter(({ id, tenantId }) => id !== incident.id && tenantId === incident.tenantId)
    .filter(({ createdAt }) => Date.parse(createdAt) <= Date.parse(incident.createdAt))
    .filter(({ evidence }) => holdsMainOf(evidence, incident.evidence) || holdsMainOf(incident.evidence, evidence))
    .sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
  return { count: alike.length, latest: alike.slice(0, SHOWN) }
}

function holdsMainOf(evidence: Alike['evidence'], other: Alike['evidence']): boolean {
  const [main] = inReadingOrder(other)
  return main !== undefined && evidence.some(({ patternId }) => patternId === main.patternId)
}

export interface LastNote {
  readonly actor?: string
  readonly note: string
}

/** The last note of a person: that of the resolution where there is one, else of any step. */
export function lastNote(audit: readonly AuditEntry[]): LastNote | undefined {
  const notes = audit
    .filter(({ action }) => action !== 'created' && action !== 'dispatch_failed')
    .toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .flatMap(({ action, details }) => {
      const { actor, note } = readDetails(action, details)
      return note === undefined ? [] : [{ action, told: { ...(actor !== undefined && { actor }), note } }]
    })
  return (notes.find(({ action }) => action === 'resolved') ?? notes[0])?.told
}
