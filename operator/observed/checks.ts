/** The checks of a pipeline, each pure: causes before their effects, so that the first that is not well tells why the whole is not. */
import { TOPICS } from '../../dataplane/contract/topics.ts'
import { firstOf } from '../../dataplane/text/listed.ts'
import { type Door, isOffered } from '../api/components.ts'
import type { LogPipelineSpec } from '../api/log-pipeline.ts'
import { conditionOf } from '../api/status.ts'
import { checkEncryptionKey } from './encryption-key.ts'
import { effectOfRefusal, type Finding } from './finding.ts'
import { isServed } from './gathered.ts'
import type { PipelineView } from './pipeline-view.ts'
import { checkAutoscaling } from './workloads/autoscaling.ts'
import { checkComponents } from './workloads/component-checks.ts'
import { checkDisruptionBudgets } from './workloads/disruption-budgets.ts'

export type Check = (view: PipelineView) => readonly Finding[]

export const CHECKS: readonly Check[] = [
  checkSecrets,
  checkEncryptionKey,
  checkBus,
  checkTopics,
  checkSearch,
  checkObjects,
  checkAutoscaling,
  checkDisruptionBudgets,
  checkMonitoring,
  checkGateway,
  checkDashboard,
  checkComponents,
]

function checkSecrets({ references }: PipelineView): readonly Finding[] {
  const type = 'SecretsSynced'
  const troubled = references.filter(({ problem }) => problem !== undefined)
  if (troubled.length === 0) {
    const message = references.length === 0 ? 'no Secrets are referred to' : `${references.length} references to Secrets resolved`
    return [{ type, status: 'True', reason: 'Synced', message }]
  }
  const missing = troubled.filter(({ values }) => values === undefined)
  const [first] = [...missing.filter(({ problem }) => problem!.effect === 'stalled'), ...missing, ...troubled]
  const { reason, effect } = first!.problem!
  const message = troubled.map(({ problem }) => problem!.message).join('; ')
  const finding = { type, status: 'False', reason, message } as const
  // A Secret that is there is used, though its last synchronisation failed.
  if (missing.length === 0) return [finding]
  return [{ ...finding, ...(effect && { effect }) }]
}

function checkBus(view: PipelineView): readonly Finding[] {
  const type = 'BusReady'
  const { bus, gathered } = view
  if (bus === undefined) return [embedded(view, type, 'the bus')]
  const { problem } = bus
  if (problem !== undefined) return [{ type, status: 'False', ...problem }]
  const topics = topicsNotReady(view)
  if (topics.length > 0) return [{ type, status: 'False', reason: 'TopicNotReady', message: topics.join('; '), effect: 'progressing' }]
  return [connection(view, type, 'the bus', bus.connection?.brokers, gathered.bridgeHealth?.bus)]
}

/** The topics that the operator makes through Strimzi and that are not ready. */
function topicsNotReady({ spec: { bus }, topicPrefix, gathered, isPaused }: PipelineView): readonly string[] {
  if (bus?.strimzi === undefined || bus.topics !== 'Managed' || isPaused) return []
  return Object.values(TOPICS).flatMap(({ name }) => {
    const full = `${topicPrefix}${name}`
    const topic = gathered.topics.find(({ spec }) => spec?.topicName === full)
    if (topic === undefined) return [`topic ${full}: there is no KafkaTopic yet`]
    const ready = conditionOf(topic, 'Ready')
    const isCurrent = (topic.status?.observedGeneration ?? 0) >= (topic.metadata.generation ?? 0)
    if (ready?.status === 'True' && isCurrent) return []
    return [`topic ${full}: ${ready?.status === 'True' ? 'change not seen yet' : (ready?.message ?? ready?.reason ?? 'no status yet')}`]
  })
}

/** Pipelines that one message names. */
const MAX_NAMED = 5

/** The younger pipeline is stalled and has to move; the older one runs on. */
function checkTopics({ bus, topicPrefix, gathered: { sharers } }: PipelineView): readonly Finding[] {
  if (bus === undefined) return []
  const type = 'TopicsExclusive'
  if (sharers.length === 0) return [{ type, status: 'True', reason: 'Exclusive', message: 'no other pipeline uses the topics' }]
  const isOlder = sharers.some(sharer => sharer.isOlder)
  const alike = sharers.filter(sharer => sharer.isOlder === isOlder)
  const names = alike.map(({ namespace, name }) => `${namespace}/${name}`)
  const [noun, verb] = alike.length === 1 ? ['LogPipeline', 'uses'] : ['LogPipelines', 'use']
  const message = `spec.bus.topicPrefix: expected topics that no other pipeline uses, seen ${topicPrefix}${TOPICS.raw.name} and others that the ${isOlder ? 'older' : 'younger'} ${noun} ${firstOf(names, MAX_NAMED)} ${verb} on the same Kafka: each takes records of the other`
  return [{ type, status: 'False', reason: 'SharedTopics', message, ...(isOlder ? { effect: 'stalled' } : {}) }]
}

function checkSearch(view: PipelineView): readonly Finding[] {
  const type = 'SearchReady'
  const endpoint = view.spec.search?.endpoint
  if (endpoint === undefined) return [embedded(view, type, 'the search store')]
  return [connection(view, type, 'the search store', endpoint, view.gathered.bridgeHealth?.search)]
}

/** Within standalone. */
function embedded({ states }: PipelineView, type: string, what: string): Finding {
  return states.standalone?.isAvailable
    ? { type, status: 'True', reason: 'Embedded', message: `${what} is part of the pod` }
    : { type, status: 'Unknown', reason: 'NotRunning', message: `${what} is part of the pod, which does not run` }
}

/** A connection as the bridge sees it (in mode AllInOne: the pod), else as the component sees it that could be asked. */
function connection(
  { states, gathered }: PipelineView,
  type: string,
  what: string,
  where: string | undefined,
  seen: string | undefined,
): Finding {
  const bridge = states.bridge ?? states.standalone
  if (seen === 'connected' || (seen === undefined && bridge?.isAvailable))
    return { type, status: 'True', reason: 'Connected', message: `the bridge is connected to ${what}` }
  if (seen === undefined)
    return { type, status: 'Unknown', reason: 'NotChecked', message: `whether ${what} can be reached is known once the bridge runs` }
  // It says what is amiss with one that it reaches.
  const trouble = seen.startsWith('connected, ') ? `is ${seen} (${what} at ${where})` : `cannot reach ${what} at ${where}`
  const message = `the ${gathered.bridgeHealth?.component} ${trouble}`
  return { type, status: 'False', reason: 'Disconnected', message, effect: 'progressing' }
}

function checkObjects({ gathered: { problems } }: PipelineView): readonly Finding[] {
  const type = 'ObjectsApplied'
  const [first] = problems
  if (first === undefined) return [{ type, status: 'True', reason: 'Applied', message: 'all objects are as they should be' }]
  const message = problems
    .map(({ object: { kind, name }, message }) => (message.includes(name) ? message : `${kind} ${name}: ${message}`))
    .join('; ')
  const cause = problems.find(({ reason }) => reason !== 'ChangedByOthers')
  // It serves, and is put back.
  if (cause === undefined) return [{ type, status: 'False', reason: first.reason, message }]
  return [{ type, status: 'False', reason: cause.reason, message, effect: effectOfRefusal(cause) }]
}

/** Only where a ServiceMonitor is asked for, or what is asked for cannot be made. Nothing of the pipeline suffers from it: alerts do. */
function checkMonitoring({ spec: { monitoring = {}, networkPolicy }, gathered }: PipelineView): readonly Finding[] {
  const type = 'MonitoringReady'
  const missing = MONITORING.filter(([field, kind]) => monitoring[field] === true && !isServed(gathered, `${kind}.monitoring.coreos.com`))
  if (missing.length > 0) {
    const message = missing
      .map(([field, kind]) => `spec.monitoring.${field}: expected the Prometheus operator, found no ${kind} API in this cluster`)
      .join('; ')
    return [{ type, status: 'False', reason: 'PrometheusOperatorNotInstalled', message }]
  }
  if (monitoring.serviceMonitor !== true) return []
  const isOpen = networkPolicy?.enabled === false || (networkPolicy?.allowFrom ?? []).length > 0
  if (isOpen) return [{ type, status: 'True', reason: 'ScrapesAllowed', message: 'Prometheus may reach the metrics' }]
  const message =
    'spec.networkPolicy.allowFrom: expected the namespace of Prometheus, seen none: NetworkPolicies shut it out, and its alerts fire'
  return [{ type, status: 'False', reason: 'PrometheusShutOut', message }]
}

const MONITORING = [
  ['serviceMonitor', 'ServiceMonitor'],
  ['rules', 'PrometheusRule'],
] as const

/** Only where it has an Ingress. The dashboard asks for no key: NetworkPolicies shut out whom nothing names. */
function checkDashboard({ spec }: PipelineView): readonly Finding[] {
  const { dashboard, networkPolicy } = spec
  if (dashboard?.ingress === undefined) return []
  if (!isOffered(spec, 'dashboard')) return ingressOfNobody(spec, 'dashboard')
  const type = REACHABLE.dashboard
  const isOpen = networkPolicy?.enabled === false || [...(dashboard.allowFrom ?? []), ...(networkPolicy?.allowFrom ?? [])].length > 0
  if (isOpen) return [{ type, status: 'True', reason: 'IngressAllowed', message: 'the Ingress controller may reach the dashboard' }]
  const message =
    'spec.dashboard.allowFrom: expected the namespace of the Ingress controller, seen none: NetworkPolicies shut it out of the dashboard'
  return [{ type, status: 'False', reason: 'IngressShutOut', message }]
}

/** Only where its Ingress is asked for in vain. */
function checkGateway({ spec }: PipelineView): readonly Finding[] {
  return spec.gateway?.ingress === undefined || isOffered(spec, 'gateway') ? [] : ingressOfNobody(spec, 'gateway')
}

const REACHABLE: Readonly<Record<Door, string>> = { gateway: 'GatewayReachable', dashboard: 'DashboardReachable' }

/** An Ingress of a part that is not there, told unless `enabled: false` keeps it for later. */
function ingressOfNobody(spec: LogPipelineSpec, door: Door): readonly Finding[] {
  if (spec[door]?.enabled !== undefined) return []
  const message = `spec.${door}.enabled: expected true beside spec.${door}.ingress, seen none: in mode Distributed there is no ${door} without it, and no Ingress`
  return [{ type: REACHABLE[door], status: 'False', reason: 'NotEnabled', message }]
}
