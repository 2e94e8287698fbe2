/** The status of resources whose spec cannot be used (`readLogPipeline`, `readTicketingRoute`): nothing of theirs is changed. */
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { LogPipelineStatus, TicketingRouteStatus } from '../api/status.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { type Finding, toCondition } from './finding.ts'
import { keptTopicPrefix } from './topic-prefix.ts'

const REASON = 'InvalidSpec'

/** `now`: RFC 3339. */
export function invalidPipelineStatus(pipeline: LogPipeline, now: string): LogPipelineStatus {
  const { metadata, status, problems = [] } = pipeline
  const { generation = 0 } = metadata
  const message = problems.join('; ')
  const findings: readonly Finding[] = [
    { type: 'Ready', status: 'False', reason: REASON, message },
    { type: 'Reconciling', status: 'False', reason: 'Stalled', message: 'waits for somebody to act' },
    { type: 'Stalled', status: 'True', reason: REASON, message },
  ]
  const topicPrefix = keptTopicPrefix(pipeline)
  const { components = {}, endpoints = {}, inputsHash = '', selector = '', replicas = 0 } = status ?? {}
  return {
    observedGeneration: generation,
    conditions: findings.map(finding => toCondition(finding, { generation, now, previous: status?.conditions ?? [] })),
    ...{ components, endpoints, inputsHash, selector, replicas },
    ...(topicPrefix === undefined ? {} : { topicPrefix }),
  }
}

export function invalidRouteStatus({ metadata, status, problems = [] }: TicketingRoute, now: string): TicketingRouteStatus {
  const { generation = 0 } = metadata
  // The counts of dispatches stay, and so does the id under which the tickets are kept.
  const { target, dispatched, failed, lastDispatchTime, counted } = status ?? {}
  const kept = Object.fromEntries(
    Object.entries({ target, dispatched, failed, lastDispatchTime, counted }).filter(([, value]) => value !== undefined),
  )
  const message = problems.join('; ')
  const findings: readonly Finding[] = [
    { type: 'Ready', status: 'False', reason: REASON, message },
    { type: 'Accepted', status: 'False', reason: REASON, message },
    { type: 'CredentialsReady', status: 'Unknown', reason: REASON, message },
    { type: 'Dispatching', status: 'False', reason: REASON, message },
  ]
  return {
    observedGeneration: generation,
    conditions: findings.map(finding => toCondition(finding, { generation, now, previous: status?.conditions ?? [] })),
    pipelines: [],
    ...kept,
  }
}
