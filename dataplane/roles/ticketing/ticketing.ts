/** The ticketing agent's incident half: list, state changes, audit, configuration. */
import { z } from 'zod'
import { TICKETING_COUNTERS } from '../../contract/counters.ts'
import type { IncidentAction } from '../../domain/incidents/incident-status.ts'
import type { EscalationPlan } from '../../domain/tickets/escalation.ts'
import { createControlApp } from '../../http/control-app.ts'
import { type Route, route } from '../../http/route.ts'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import { type Running, startTogether } from '../../lifecycle/running.ts'
import { readAuditTrail } from '../../pipeline/sinks/audit-trail.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeclaredTicketingSource } from '../../ports/declared-ticketing.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { analyseRoutes } from './analyse-routes.ts'
import type { ChangeDeps } from './change-incident.ts'
import { configRoutes } from './config-routes.ts'
import { readIncident } from './incident-finder.ts'
import { incidentRoutes } from './incident-routes.ts'
import { statsRoutes } from './stats-routes.ts'
import { startTicketService, type TicketServiceDeps } from './ticket-service.ts'

export interface TicketingDeps {
  readonly store: SearchStore
  readonly clock: Clock
  readonly log: Log
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** Default: no platform is told of incidents. */
  readonly tickets?: TicketDeps
  /** Default: nothing is declared. */
  readonly declared?: Pick<DeclaredTicketingSource, 'current' | 'problems'>
}

/** What it takes to tell platforms of incidents. */
export type TicketDeps = Pick<TicketServiceDeps, 'platforms' | 'config' | 'publicUrl' | 'explain' | 'limits' | 'findCause'>

const NOTHING_DECLARED: Required<TicketingDeps>['declared'] = { current: () => undefined, problems: () => [] }

/** Leaves the store open when it stops. */
export function startTicketing(deps: TicketingDeps): Promise<HttpServer & Running> {
  const { store, clock, log, host, port, declared = NOTHING_DECLARED, tickets } = deps
  return startTogether(async keep => {
    const metrics = createMetrics()
    metrics.processMetrics()
    const count = metrics.counters(TICKETING_COUNTERS)
    const onChanged = (action: IncidentAction, changed: number) => count(action, changed)
    const service = tickets && keep(startTicketService({ ...tickets, store, clock, log, metrics, onChanged }))
    const changes: ChangeDeps = service?.changes ?? { store, clock, log, planEscalation: async () => NO_ESCALATION }
    const routes = [
      ...incidentRoutes(changes, onChanged),
      ...auditRoutes(store),
      ...configRoutes({ store, clock, declared }),
      ...analyseRoutes({ store, clock }),
      ...statsRoutes({ store, clock }),
      ...(service?.routes ?? []),
    ]
    // What cannot be used is told, but the agent works: with what could be used before.
    const health = () => ({ status: 'ok', ...(declared.problems().length === 0 ? {} : { declaredConfig: 'error' }) })
    const app = createControlApp({ routes, log, metrics, health })
    const server = keep(await startHttpServer(app, { host, port, setting: 'TICKETING_PORT' }))
    return { host: server.host, port: server.port }
  })
}

const NO_ESCALATION: EscalationPlan = { targets: [], fresh: [], severity: 'critical' }

/** `GET /api/v1/audit?incident_id=` (Spec: Ticketing). */

function auditRoutes(store: SearchStore): readonly Route[] {
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
