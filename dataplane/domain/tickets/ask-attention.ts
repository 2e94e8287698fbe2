import type { Incident } from '../incidents/incident-fields.ts'

interface Noticed {
  readonly ticketing?: { readonly attentionAt?: string }
}

/** Has the ticketing agent look at an incident that changed in a way that may be told: severity, affected services, `recurring`. */
export function askAttention<T extends Incident & Noticed>(before: T, after: T, now: string): T {
  const isSame =
    before.severity === after.severity &&
    before.affectedServices.length === after.affectedServices.length &&
    before.recurring === after.recurring
  // One that the agent has not seen yet it looks at anyway.
  return isSame || after.ticketing === undefined ? after : { ...after, ticketing: { ...after.ticketing, attentionAt: now } }
}
