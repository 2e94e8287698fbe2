/** The ticketing agent's API: incidents, state changes, audit, configuration, answers of platforms. */
import { z } from 'zod'
import { TICKETING_COUNTERS } from '../../contract/counters.ts'
import { incidentsIndex } from '../../contract/indices.ts'
import type { IncidentAction } from '../../domain/incidents/incident-status.ts'
import type { EscalationPlan } from '../../domain/tickets/escalation.ts'
import type { FieldRules } from '../../domain/tickets/platform-field.ts'
import { createControlApp } from '../../http/control-app.ts'
import { type Route, route } from '../../http/route.ts'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import { createExplainer, type Explainer } from '../../pipeline/explain-incident/explainer.ts'
import { readAuditTrail } from '../../pipeline/sinks/incidents/audit-trail.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeclaredTicketingSource } from '../../ports/declared-ticketing.ts'
import type { LanguageModel } from '../../ports/language-model.ts'
import type { ModelProbe } from '../../ports/model-probe.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import type { TicketingConfigSource } from '../../ports/ticketing-config.ts'
import { type Running, startTogether } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { analyseRoutes } from './analyse-routes.ts'
import { type ChangeDeps, changeIncident } from './change-incident.ts'
import { configRoutes } from './config/config-routes.ts'
import { type ConnectionTestDeps, connectionRoutes } from './config/connection-routes.ts'
import { createSecretCipher, type SecretCipher } from './config/secret-cipher.ts'
import { createTicketingConfig } from './config/ticketing-config.ts'
import { readIncident } from './incident-finder.ts'
import { incidentRoutes } from './incident-routes.ts'
import { createOverlappingCalls } from './overlapping-calls.ts'
import { statsRoutes } from './stats-routes.ts'
import { startTicketService, type TicketServiceDeps } from './ticket-service.ts'
import { type WebhookDeps, webhookRoutes } from './webhooks/webhook-routes.ts'

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
  /** Default: without a key. */
  readonly cipher?: SecretCipher
  /** Default: https to any host. */
  readonly fieldRules?: FieldRules
  /** Default: that of `tickets`. */
  readonly testPlatform?: ConnectionTestDeps['testPlatform']
  /** Default: no model can be reached. */
  readonly models?: ModelProbe
  /** The way to models; `models` wins. */
  readonly languageModel?: LanguageModel
  /** Tokens that each tenant may use. Default: none. */
  readonly tokensPerHour?: number
  /** A change that was made on a platform. Default: it is made to the incident, and no other target is told. */
  readonly applyChange?: WebhookDeps['applyChange']
}

/** The tools that tell platforms of incidents. */
export type TicketDeps = Pick<TicketServiceDeps, 'platforms' | 'publicUrl' | 'explain' | 'limits' | 'findCause' | 'agentName' | 'isSole'> &
  Partial<Pick<TicketServiceDeps, 'config'>>

const NOTHING_DECLARED: Required<TicketingDeps>['declared'] = { current: () => undefined, problems: () => [] }
const NO_ADAPTER = 'this version cannot reach it'
const NO_MODELS: ModelProbe = {
  test: async () => ({ ok: false, message: NO_ADAPTER }),
  status: async () => ({ available: false, error: NO_ADAPTER }),
}

/** Leaves the store open when it stops. */
export function startTicketing(deps: TicketingDeps): Promise<HttpServer & Running> {
  const { store, clock, log, host, port, declared = NOTHING_DECLARED, tickets } = deps
  const { cipher = createSecretCipher([]), fieldRules = { allowsPlainHttp: false }, languageModel, tokensPerHour = 0 } = deps
  return startTogether(async keep => {
    const metrics = createMetrics()
    metrics.processMetrics()
    const count = metrics.counters(TICKETING_COUNTERS)
    const onChanged = (action: IncidentAction, changed: number) => count(action, changed)
    const config = createTicketingConfig({ store, clock, declared, cipher })
    const explainer = languageModel && createExplainer({ model: languageModel, store, clock, log, metrics, tokensPerHour })
    const { models = explainer ?? NO_MODELS } = deps
    const explain = explainer === undefined ? {} : explainWith(explainer, tickets?.config ?? config)
    const service = tickets && keep(startTicketService({ config, ...explain, ...tickets, store, clock, log, metrics, onChanged }))
    const changes: ChangeDeps = service?.changes ?? {
      store,
      clock,
      log,
      planEscalation: async () => NO_ESCALATION,
      calls: createOverlappingCalls(),
    }
    const { applyChange = service?.applyChange ?? changeHere(changes), testPlatform = platformTest(tickets) } = deps
    const onMended = service?.onMended ?? (() => undefined)
    const routes = [
      ...incidentRoutes(changes, onChanged),
      ...auditRoutes(store),
      ...configRoutes({ store, clock, log, declared, cipher, config, fieldRules, onMended }),
      // A test says by its answer which address may not be spoken to (Spec: POST /api/v1/test-connection).
      ...connectionRoutes({
        store,
        clock,
        cipher,
        config,
        fieldRules: { allowsPlainHttp: fieldRules.allowsPlainHttp },
        testPlatform,
        models,
        onMended,
      }),
      ...webhookRoutes({ store, clock, config, applyChange }),
      ...analyseRoutes({ store, clock, log }),
      ...statsRoutes({ store, clock }),
      ...(service?.routes ?? []),
    ]
    // Problems of the declared layer are told, but the agent works on: with the layer that could be used before.
    const health = () => ({ status: 'ok', ...(declared.problems().length === 0 ? {} : { declaredConfig: 'error' }) })
    const app = createControlApp({ routes, log, metrics, health })
    const server = keep(await startHttpServer(app, { host, port, setting: 'TICKETING_PORT' }))
    return { host: server.host, port: server.port }
  })
}

function explainWith(explainer: Explainer, config: TicketingConfigSource): Required<Pick<TicketServiceDeps, 'explain' | 'isModelAway'>> {
  return {
    explain: async incident => (await explainer.explain({ incident, config: await config.load(incident.tenantId) }))?.rootCause,
    async isModelAway(tenant) {
      const llm = await config.load(tenant).then(
        each => each.llm,
        () => undefined,
      )
      return llm !== undefined && llm.provider !== 'none' && !(await explainer.status(tenant, llm)).available
    },
  }
}

const NO_ESCALATION: EscalationPlan = { targets: [], fresh: [], severity: 'critical' }

function platformTest(tickets: TicketDeps | undefined): ConnectionTestDeps['testPlatform'] {
  if (tickets === undefined) return async () => ({ ok: false, message: NO_ADAPTER })
  return (target, signal, secrets) => tickets.platforms[target.platform].test(target, signal, secrets)
}

function changeHere(deps: ChangeDeps): WebhookDeps['applyChange'] {
  return ({ tenant, incidentId, action, ...note }) =>
    changeIncident(deps, { id: incidentId, action, note }, async () => incidentsIndex(tenant))
}

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
