/** The status of a `TicketingRoute`. */
import type { TargetId } from '../../../dataplane/contract/target-id.ts'
import { firstOf } from '../../../dataplane/text/listed.ts'
import type { LogPipeline } from '../../api/log-pipeline.ts'
import type { TicketingRouteStatus } from '../../api/status.ts'
import { conditionOf } from '../../api/status.ts'
import type { TicketingRoute } from '../../api/ticketing-route.ts'
import { type Finding, toCondition } from '../finding.ts'
import type { RoutesRead } from '../gathered.ts'
import { type AgentCounts, countDispatches } from './dispatch-counts.ts'
import { resolveRoute } from './route-credentials.ts'
import { MAX_ROUTE_BYTES, routesWithRoom } from './route-room.ts'
import { isSelected } from './route-selector.ts'
import { checkSettings } from './route-settings.ts'
import { assignTargets, MAX_TARGETS } from './route-targets.ts'

export interface RouteStatusInput {
  readonly route: TicketingRoute
  /** All of the namespace. */
  readonly pipelines: readonly LogPipeline[]
  readonly read: RoutesRead
  /** The last answers of a pipeline's ticketing agents. */
  readonly agentsOf: (pipeline: string) => readonly AgentCounts[]
  /** Whether a pod of the namespace is there. */
  readonly isThere: (pod: string) => boolean
  /** RFC 3339. */
  readonly now: string
}

/** Always a whole status, also when nothing uses the route. */
export function routeStatus({ route, pipelines, read, agentsOf, isThere, now }: RouteStatusInput): TicketingRouteStatus {
  const selecting = pipelines.filter(pipeline => isSelected(pipeline, route))
  const names = selecting.map(({ metadata }) => metadata.name)
  const target = assignTargets(read.routes).get(route.metadata.name)
  const agents = route.spec.enabled ? names.flatMap(agentsOf) : []
  const counted = countDispatches({ before: route.status, target, agents, isThere })
  const generation = route.metadata.generation ?? 0
  const times = { generation, now, previous: route.status?.conditions ?? [] }
  const accepted = notOfTheirForm(route) ?? checkTarget(route, target) ?? checkRoom(route, selecting, read) ?? acceptedAs(target)
  const credentials = checkCredentials(route, read)
  const ready = notUsed(route, pipelines, names.length) ?? aggregate(names.length, target, [accepted, credentials])
  const dispatching = checkDispatching({ route, ready, target, agents, dispatched: counted.dispatched })
  return {
    observedGeneration: generation,
    conditions: [ready, accepted, credentials, dispatching].map(finding => toCondition(finding, times)),
    pipelines: names.sort(),
    ...(target === undefined ? {} : { target }),
    ...counted,
  }
}

const ACCEPTED = { type: 'Accepted', status: 'True', reason: 'Accepted' } as const

function acceptedAs(target: TargetId | undefined): Finding {
  return {
    ...ACCEPTED,
    message: target === undefined ? 'gets a platform id once it is enabled' : `the platform id of the route is ${target}`,
  }
}

function notOfTheirForm(route: TicketingRoute): Finding | undefined {
  const problem = checkSettings(route)
  return problem && { ...ACCEPTED, status: 'False', ...problem }
}

function checkTarget({ spec }: TicketingRoute, target: TargetId | undefined): Finding | undefined {
  if (target !== undefined || !spec.enabled) return undefined
  const message = `expected at most ${MAX_TARGETS} different combinations of platform, settings and credentials in a namespace, of which older TicketingRoutes have all`
  return { ...ACCEPTED, status: 'False', reason: 'TooManyTargets', message, effect: 'stalled' }
}

function checkRoom(route: TicketingRoute, selecting: readonly LogPipeline[], { routes }: RoutesRead): Finding | undefined {
  if (!route.spec.enabled) return undefined
  const full = selecting.filter(pipeline => !routesWithRoom(pipeline, routes).has(route.metadata.name))
  if (full.length === 0) return undefined
  const names = full.map(({ metadata }) => metadata.name).sort()
  const message = `expected at most ${MAX_ROUTE_BYTES} bytes of TicketingRoutes for a pipeline, of which older ones leave too few; ${names.join(', ')} sends nothing by this route`
  return { ...ACCEPTED, status: 'False', reason: 'TooManyRoutes', message, effect: 'stalled' }
}

function checkCredentials(route: TicketingRoute, read: RoutesRead): Finding {
  const { problem, values } = resolveRoute(route, read)
  const type = 'CredentialsReady'
  if (problem === undefined) return { type, status: 'True', reason: 'Found', message: `all fields of ${route.spec.platform} are there` }
  const { reason, message } = problem
  return { type, status: 'False', reason, message, ...(values === undefined && { effect: 'stalled' }) }
}

/** A route that waits for nobody: as it should be, for all that can be known. */
function notUsed({ spec }: TicketingRoute, pipelines: readonly LogPipeline[], selecting: number): Finding | undefined {
  const asItShouldBe = { type: 'Ready', status: 'True' } as const
  if (!spec.enabled) return { ...asItShouldBe, reason: 'Disabled', message: 'spec.enabled is false: no incidents are sent' }
  if (selecting > 0) return undefined
  const names = pipelines.map(({ metadata }) => metadata.name).sort()
  const why = names.length === 0 ? 'there is none' : `expected labels as in spec.ticketing.routeSelector of ${firstOf(names, MAX_NAMED)}`
  return { ...asItShouldBe, reason: 'NotSelected', message: `no LogPipeline of this namespace selects the route: ${why}` }
}

const MAX_NAMED = 3

function aggregate(pipelines: number, target: TargetId | undefined, findings: readonly Finding[]): Finding {
  const type = 'Ready'
  const cause = findings.find(({ effect }) => effect !== undefined)
  if (cause !== undefined) return { ...cause, type, status: 'False' }
  const message = `selected by ${pipelines} ${pipelines === 1 ? 'pipeline' : 'pipelines'}; incidents go to ${target}`
  return { type, status: 'True', reason: 'Ready', message }
}

interface DispatchingInput {
  readonly route: TicketingRoute
  readonly ready: Finding
  readonly target: TargetId | undefined
  readonly agents: readonly AgentCounts[]
  readonly dispatched: number
}

/** Reasons that agents have given. They count until agents give another one. */
const SAID: ReadonlySet<string> = new Set(['Sent', 'Failing', 'NothingToSend'])

/** Whether what is to be sent arrives. */
function checkDispatching({ route, ready, target, agents, dispatched }: DispatchingInput): Finding {
  const type = 'Dispatching'
  if (ready.reason !== 'Ready') return { type, status: 'False', reason: ready.reason, message: ready.message }
  const before = conditionOf(route, type)
  if (agents.length === 0) {
    if (before !== undefined && SAID.has(before.reason)) return before
    return { type, status: 'Unknown', reason: 'NotAsked', message: 'no ticketing agent has told yet of what it sends' }
  }
  const counts = agents.flatMap(agent => agent.targets.get(target ?? '') ?? [])
  const lastMs = Math.max(0, ...counts.map(({ lastDispatchMs = 0 }) => lastDispatchMs))
  const [failure] = counts
    .filter(({ lastFailureMs = 0 }) => lastFailureMs > lastMs)
    .sort((a, b) => (b.lastFailureMs ?? 0) - (a.lastFailureMs ?? 0))
  if (failure !== undefined) {
    const why = failure.lastError ?? 'GET /api/v1/dispatches of the ticketing agent says why'
    return { type, status: 'False', reason: 'Failing', message: `the last attempt to tell ${target} failed: ${why}` }
  }
  if (dispatched > 0) return { type, status: 'True', reason: 'Sent', message: `${target} took what it was told last` }
  return { type, status: 'Unknown', reason: 'NothingToSend', message: 'there was no incident to send yet' }
}
