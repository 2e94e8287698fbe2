/** Tells ticket platforms of incidents: the agent's loops, the endpoints beside them, and changes that come from platforms. */
import { incidentsIndex } from '../../contract/indices.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { IncidentAction } from '../../domain/incidents/incident-status.ts'
import type { StoredIncident } from '../../domain/incidents/stored-incident.ts'
import { planEscalation } from '../../domain/tickets/escalation.ts'
import { routeIncident } from '../../domain/tickets/routing.ts'
import type { Route } from '../../http/route.ts'
import { createHastening } from '../../pipeline/tickets/dispatch/hasten-rows.ts'
import { createSilenceStore } from '../../pipeline/tickets/silence-store.ts'
import { startTicketAgent, type TicketAgent, type TicketAgentDeps } from '../../pipeline/tickets/ticket-agent.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { type ChangeDeps, type ChangeOutcome, changeIncident } from './change-incident.ts'
import { createDispatchMetrics } from './dispatch-metrics.ts'
import { dispatchRoutes } from './dispatch-routes.ts'
import { createOverlappingCalls } from './overlapping-calls.ts'
import { silenceRoutes } from './silence-routes.ts'

export interface TicketServiceDeps
  extends Pick<
    TicketAgentDeps,
    | 'store'
    | 'clock'
    | 'log'
    | 'platforms'
    | 'config'
    | 'publicUrl'
    | 'explain'
    | 'isModelAway'
    | 'limits'
    | 'findCause'
    | 'agentName'
    | 'isSole'
  > {
  readonly metrics: Metrics
  /** Called after each state change that was not asked for through an endpoint. */
  readonly onChanged: (action: IncidentAction, count: number) => void
}

/** A state change that a platform, or the agent itself, asks for. */
export interface ExternalChange {
  readonly tenant: string
  readonly incidentId: string
  readonly action: IncidentAction
  readonly actor?: string
  readonly note?: string
  /** Where it comes from: this target is not told back. */
  readonly fromTarget?: TargetId
}

export interface TicketService {
  readonly routes: readonly Route[]
  /** How incidents are changed so that targets are told. */
  readonly changes: ChangeDeps
  /** Somebody mended targets of a tenant, or found them working: what waits for them is tried. */
  onMended(tenant: string, targets: readonly TargetId[]): void
  /** As the endpoints do it; `refused` where it is illegal. Rejects with the search store's errors. */
  applyChange(change: ExternalChange): Promise<ChangeOutcome>
  stop(): Promise<void>
}

export function startTicketService(deps: TicketServiceDeps): TicketService {
  const { store, clock, log, config, metrics, onChanged } = deps
  const silences = createSilenceStore({ store, clock })
  const changes: ChangeDeps = {
    store,
    clock,
    log,
    planEscalation: async incident => {
      const rules = await config.load(incident.tenantId)
      return planEscalation(rules, incident, notifiedBy(incident, rules))
    },
    calls: createOverlappingCalls(),
    onChanged: () => agent.nudge(),
  }
  const applyChange = async ({ tenant, incidentId, action, ...note }: ExternalChange): Promise<ChangeOutcome> => {
    const outcome = await changeIncident(changes, { id: incidentId, action, note }, async () => incidentsIndex(tenant))
    if (outcome.kind === 'changed') onChanged(action, 1)
    return outcome
  }
  const escalate = async (tenant: string, incidentId: string, note: string) => {
    // Refused: somebody took care of it, or another replica escalated it.
    await applyChange({ tenant, incidentId, action: 'escalate', actor: 'auto', note })
  }
  const counting = createDispatchMetrics(metrics, () => agent.oldestPendingSeconds())
  const agent: TicketAgent = startTicketAgent({ ...deps, ...counting, silences, escalate })
  const hastening = createHastening({ store, clock, log, config, onRows: agent.nudge })
  return {
    onMended: hastening.hasten,
    routes: [
      ...dispatchRoutes({ store, clock, onRows: agent.nudge, restsUntil: agent.restsUntil }),
      ...silenceRoutes(silences, agent.nudge),
    ],
    changes,
    applyChange,
    async stop() {
      await Promise.all([hastening.stop(), agent.stop()])
    },
  }
}

/** An incident that the agent has not taken up yet has no targets: those count that it will be routed to. */
function notifiedBy(incident: StoredIncident, rules: Parameters<typeof routeIncident>[0]): readonly TargetId[] {
  const platforms = incident.platforms as readonly TargetId[]
  if (incident.ticketing?.takenAt !== undefined) return platforms
  return [...platforms, ...routeIncident(rules, incident)]
}
