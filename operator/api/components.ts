/** The components of a pipeline: which role each runs, and when it is wanted. */
import type { BridgeThread } from '../../dataplane/contract/bridge-threads.ts'
import type { RoleName } from '../../dataplane/contract/roles.ts'
import type { LogPipelineSpec } from './log-pipeline.ts'
import type { Autoscaling } from './workload.ts'

export interface ComponentDescription {
  readonly role: RoleName
  /** The condition that tells of it. */
  readonly condition: string
  readonly isWanted: (spec: LogPipelineSpec) => boolean
  /** Pods when the resource does not say. */
  readonly defaultReplicas: number
}

const isDistributed = ({ mode }: LogPipelineSpec) => mode === 'Distributed'
const isStreaming = (spec: LogPipelineSpec) => isDistributed(spec) && spec.stream?.enabled === true
const hasFeatures = (spec: LogPipelineSpec) => isDistributed(spec) && spec.features?.enabled === true

/** Components for people and senders outside: `enabled` of its field says whether it is there. Mode AllInOne has both in its pod. */
export type Door = 'gateway' | 'dashboard'

export function isOffered(spec: LogPipelineSpec, door: Door): boolean {
  const enabled = spec[door]?.enabled
  return isDistributed(spec) ? enabled === true : enabled !== false
}

const hasDoor = (door: Door) => (spec: LogPipelineSpec) => isDistributed(spec) && isOffered(spec, door)

/** The name is the value of the label `app.kubernetes.io/component`. */
export const COMPONENTS = {
  collector: { role: 'collector', condition: 'CollectorAvailable', isWanted: isDistributed, defaultReplicas: 2 },
  gateway: { role: 'gateway', condition: 'GatewayAvailable', isWanted: hasDoor('gateway'), defaultReplicas: 2 },
  bridge: { role: 'bridge', condition: 'BridgeAvailable', isWanted: isDistributed, defaultReplicas: 1 },
  'stream-etl': { role: 'stream etl', condition: 'StreamJobsRunning', isWanted: isStreaming, defaultReplicas: 1 },
  'stream-score': { role: 'stream score', condition: 'StreamJobsRunning', isWanted: isStreaming, defaultReplicas: 1 },
  ticketing: { role: 'ticketing', condition: 'TicketingAvailable', isWanted: isDistributed, defaultReplicas: 1 },
  agent: {
    role: 'agent',
    condition: 'AgentAvailable',
    isWanted: spec => isDistributed(spec) && spec.agent?.enabled !== false,
    defaultReplicas: 1,
  },
  dashboard: { role: 'dashboard', condition: 'DashboardAvailable', isWanted: hasDoor('dashboard'), defaultReplicas: 1 },
  features: { role: 'features', condition: 'FeaturesAvailable', isWanted: hasFeatures, defaultReplicas: 1 },
  scheduler: { role: 'scheduler', condition: 'SchedulerAvailable', isWanted: hasFeatures, defaultReplicas: 1 },
  standalone: { role: 'standalone', condition: 'StandaloneAvailable', isWanted: spec => spec.mode === 'AllInOne', defaultReplicas: 1 },
} as const satisfies Readonly<Record<string, ComponentDescription>>

export type Component = keyof typeof COMPONENTS

/**
 * Name of the workload, and of all else that the component has one of. The one pod of mode AllInOne is called like the pipeline: a StatefulSet's name may have
 * 52 characters only.
 */
export function componentName({ name }: { readonly name: string }, component: Component): string {
  return component === 'standalone' ? name : `${name}-${component}`
}

export function wantedComponents(spec: LogPipelineSpec): readonly Component[] {
  return (Object.keys(COMPONENTS) as Component[]).filter(component => COMPONENTS[component].isWanted(spec))
}

/** Pods that the resource asks for; undefined when it leaves that to the default. */
export function askedReplicas(spec: LogPipelineSpec, component: Component): number | undefined {
  return isStreamJob(component) ? spec.stream?.replicas : isSized(component) ? spec[component]?.replicas : undefined
}

export function autoscalingOf(spec: LogPipelineSpec, component: Component): Autoscaling | undefined {
  if (component === 'collector' || component === 'gateway' || component === 'bridge') return spec[component]?.autoscaling
  if (!isStreamJob(component)) return undefined
  // Scaling by waiting records is meant for the work, on stream jobs as on the bridge.
  const ofBridge = spec.bridge?.autoscaling?.keda && spec.stream?.replicas === undefined ? spec.bridge.autoscaling : undefined
  return spec.stream?.autoscaling ?? ofBridge
}

/** Pods that an autoscaler leaves at least; undefined where there is none. */
export function leastAutoscaled(spec: LogPipelineSpec, component: Component): number | undefined {
  const autoscaling = autoscalingOf(spec, component)
  return autoscaling && (autoscaling.minReplicas ?? Math.min(COMPONENTS[component].defaultReplicas, autoscaling.maxReplicas))
}

/** The one that does the work of a thread of the bridge. */
export function workerOf(spec: LogPipelineSpec, thread: BridgeThread): Component {
  if (!isStreaming(spec) || (thread !== 'etl' && thread !== 'anomaly')) return 'bridge'
  return thread === 'etl' ? 'stream-etl' : 'stream-score'
}

const isStreamJob = (component: Component) => component === 'stream-etl' || component === 'stream-score'

const SIZED = ['collector', 'gateway', 'bridge', 'ticketing', 'dashboard'] as const satisfies readonly Component[]
const isSized = (component: Component): component is (typeof SIZED)[number] => (SIZED as readonly Component[]).includes(component)
