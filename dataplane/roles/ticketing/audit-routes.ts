/** `GET /api/v1/audit?incident_id=` (Spec: Ticketing). */
import { z } from 'zod'
import { type Route, route } from '../../http/route.ts'
import { readAuditTrail } from '../../pipeline/sinks/audit-trail.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { readIncident } from './incident-finder.ts'

export function auditRoutes(store: SearchStore): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/audit',
      query: z.strictObject({ incident_id: z.string().min(1) }),
      async handle({ query: { incident_id }, tenant }) {
        const { source } = await readIncident(store, incident_id, tenant)
        const entries = await readAuditTrail(store, source)
        return { body: { incident_id, entries: entries.map(({ action, timestamp, details }) => ({ action, timestamp, details })) } }
      },
    }),
  ]
}
