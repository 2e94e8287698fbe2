/** Looks for the incident that the fault makes, and says what is found. */
import type { Clock } from '../../ports/clock.ts'
import type { Incidents, SeenIncident } from './incidents.ts'

const PAUSE_MS = 2_000
/** A console that does not answer so often in a row is gone. */
const MAX_FAILURES = 5

export interface Lookout {
  /** Looks, not more often than every two seconds. Tells of each incident once, when its cause is there, and how long after the fault. */
  look(faultMs: number | undefined): Promise<void>
  /** An incident with a cause. */
  hasFound(): boolean
}

export interface LookoutDeps {
  readonly clock: Clock
  readonly tell: (text: string) => void
  readonly signal: AbortSignal
}

export async function createLookout(incidents: Incidents, { clock, tell, signal }: LookoutDeps): Promise<Lookout> {
  /** The state in which each was told of, or was there before. */
  const known = new Map<string, string>()
  for (const incident of await incidents.list(signal)) if (incident.status !== 'resolved') known.set(incident.id, incident.updatedAt)
  const before = known.size
  const open = before === 1 ? '1 incident of the shop is' : `${before} incidents of the shop are`
  if (before > 0) tell(`${open} open from before: what breaks again joins. Resolve first what is to be seen anew.`)
  const told = new Set<string>()
  let nextMs = 0
  let failures = 0

  const listPatiently = async (): Promise<readonly SeenIncident[]> => {
    try {
      const listed = await incidents.list(signal)
      failures = 0
      return listed
    } catch (error) {
      if (!signal.aborted && ++failures >= MAX_FAILURES) throw error
      return []
    }
  }

  return {
    hasFound: () => told.size > 0,
    async look(faultMs) {
      if (clock.nowMs() < nextMs) return
      nextMs = clock.nowMs() + PAUSE_MS
      for (const incident of (await listPatiently()).toReversed()) {
        const { id, title, severity, rootCause, updatedAt, status } = incident
        if (told.has(id) || rootCause === undefined || status === 'resolved' || known.get(id) === updatedAt) continue
        told.add(id)
        const after = faultMs === undefined ? '' : ` after ${Math.round((clock.nowMs() - faultMs) / 1_000)} s`
        tell(`\nThere is an incident${after}: ${title} (${severity})\n  ${rootCause.summary}\n  Open ${incidents.addressOf(incident)}`)
      }
    },
  }
}
