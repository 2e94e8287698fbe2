/** Times in which incidents of some services tell nobody (Decisions 6). */
import type { Severity } from '../../contract/platforms.ts'
import type { Incident } from '../incidents/incident-fields.ts'
import { matchesService } from './service-glob.ts'

export interface Silence {
  readonly id: string
  /** With `*` for any characters and `?` for one. */
  readonly services: readonly string[]
  /** Absent: all. */
  readonly severities?: readonly Severity[]
  /** ISO-8601; `to` is the first time that is loud again. */
  readonly from: string
  readonly to: string
  readonly reason: string
  readonly createdAt: string
}

/** Id in `service-config` of a tenant's silences. */
export function silencesId(tenant: string): string {
  return `ticketing:silences:${tenant}`
}

/** Silences that are over for so long are forgotten with the next change. */
const KEPT_MS = 7 * 86_400_000

export function isForgotten({ to }: Silence, nowMs: number): boolean {
  return Date.parse(to) + KEPT_MS <= nowMs
}

/** The silence that holds an incident back now; of several the one that lasts longest. It is the incident's own service that counts. */
export function findSilence(
  silences: readonly Silence[],
  { service, severity }: Pick<Incident, 'service' | 'severity'>,
  nowMs: number,
): Silence | undefined {
  return silences
    .filter(({ services, severities, from, to }) => {
      if (nowMs < Date.parse(from) || nowMs >= Date.parse(to)) return false
      return (severities === undefined || severities.includes(severity)) && matchesService(services, service)
    })
    .sort((a, b) => Date.parse(b.to) - Date.parse(a.to))[0]
}
