/** The status of a `TicketingRoute`. */
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRouteStatus } from '../api/status.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { type Finding, toCondition } from './finding.ts'
import type { RoutesRead } from './gathered.ts'
import { routeReference } from './references.ts'
import { resolveReference } from './resolve-reference.ts'
import { findConflict, isSelected } from './routes.ts'

export interface RouteStatusInput {
  readonly route: TicketingRoute
  /** All of the namespace. */
  readonly pipelines: readonly LogPipeline[]
  readonly read: RoutesRead
  /** Counts of the ticketing agents, where they could be asked. */
  readonly dispatches?: Pick<TicketingRouteStatus, 'dispatched' | 'failed' | 'lastDispatchTime'>
  /** RFC 3339. */
  readonly now: string
}

/** Of every route: a route that is Ready promises incidents where it leads, and this version has nothing that sends them. */
const NOT_DISPATCHING: Finding = {
  type: 'Dispatching',
  status: 'False',
  reason: 'NotImplemented',
  message: 'this version sends no incidents: the route is checked, and shown by the ticketing API, no more',
}

/** Always a whole status, also when nothing uses the route. */
export function routeStatus({ route, pipelines, read, dispatches, now }: RouteStatusInput): TicketingRouteStatus {
  const selecting = pipelines.filter(pipeline => isSelected(pipeline, route))
  const generation = route.metadata.generation ?? 0
  const times = { generation, now, previous: route.status?.conditions ?? [] }
  const accepted = checkConflict(route, selecting, read)
  const credentials = checkCredentials(route, read)
  const ready = aggregate(route, selecting.length, [accepted, credentials])
  return {
    observedGeneration: generation,
    conditions: [ready, accepted, credentials, NOT_DISPATCHING].map(finding => toCondition(finding, times)),
    pipelines: selecting.map(({ metadata }) => metadata.name).sort(),
    ...dispatches,
  }
}

function checkConflict(route: TicketingRoute, pipelines: readonly LogPipeline[], read: RoutesRead): Finding {
  for (const pipeline of pipelines) {
    const conflict = findConflict(pipeline, route, read.routes)
    if (conflict === undefined) continue
    const message = `spec.settings, spec.credentials: expected as in the older TicketingRoute ${conflict.metadata.name}, which LogPipeline ${pipeline.metadata.name} uses for ${route.spec.platform}, too`
    return { type: 'Accepted', status: 'False', reason: 'Conflict', message, effect: 'stalled' }
  }
  return { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'contradicts no other route' }
}

function checkCredentials({ spec }: TicketingRoute, read: RoutesRead): Finding {
  const { problem, values } = resolveReference(routeReference(spec), read)
  const type = 'CredentialsReady'
  if (problem === undefined) return { type, status: 'True', reason: 'Found', message: `all fields of ${spec.platform} are there` }
  const { reason, message } = problem
  return { type, status: 'False', reason, message, ...(values === undefined && { effect: 'stalled' }) }
}

function aggregate({ spec }: TicketingRoute, pipelines: number, findings: readonly Finding[]): Finding {
  const type = 'Ready'
  if (!spec.enabled) return { type, status: 'True', reason: 'Disabled', message: 'spec.enabled is false: no incidents are sent' }
  if (pipelines === 0) return { type, status: 'True', reason: 'NotSelected', message: 'no LogPipeline of this namespace selects the route' }
  const cause = findings.find(({ effect }) => effect !== undefined)
  if (cause !== undefined) return { ...cause, type, status: 'False' }
  return {
    type,
    status: 'True',
    reason: 'Ready',
    message: `selected by ${pipelines} ${pipelines === 1 ? 'pipeline' : 'pipelines'}; nothing is sent yet`,
  }
}
