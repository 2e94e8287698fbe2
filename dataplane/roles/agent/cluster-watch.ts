/** Watches the kinds of other operators that the cluster has, in one namespace and of one tenant. */
import { TENANT_LABEL } from '../../contract/tenant-id.ts'
import type { ClusterAccess } from '../../kube/cluster-access.ts'
import { createHttpKubeClient } from '../../kube/http-client.ts'
import { createObjectCache } from '../../kube/informers/object-cache.ts'
import type { ObjectChange } from '../../kube/informers/object-store.ts'
import { createServedKinds } from '../../kube/informers/served-kinds.ts'
import { keepFields } from '../../kube/informers/slim-object.ts'
import type { KubernetesObject } from '../../kube/object.ts'
import { createRateLimit } from '../../kube/rate-limit.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Observation } from './source.ts'

interface WatchedKind {
  readonly group: string
  /** Versions that the agent understands, the best first. */
  readonly versions: readonly string[]
  /** The fields of an object that are kept. */
  readonly fields: readonly string[]
}

/** The fields that `FlinkResource` has, and no more: arguments and configuration of a job, of which the status has a copy, may hold passwords. */
const FLINK_FIELDS = [
  'spec.job.state',
  'spec.deploymentName',
  'status.lifecycleState',
  'status.jobManagerDeploymentStatus',
  'status.error',
  'status.jobStatus.state',
  'status.jobStatus.startTime',
  'status.taskManager.replicas',
]

const KINDS = {
  ExternalSecret: { group: 'external-secrets.io', versions: ['v1', 'v1beta1'], fields: ['status.conditions', 'status.refreshTime'] },
  FlinkDeployment: { group: 'flink.apache.org', versions: ['v1', 'v1beta1'], fields: FLINK_FIELDS },
  FlinkSessionJob: { group: 'flink.apache.org', versions: ['v1', 'v1beta1'], fields: FLINK_FIELDS },
} as const satisfies Readonly<Record<string, WatchedKind>>

export type WatchedKindName = keyof typeof KINDS

/** One kind at this moment. */
export interface KindView {
  readonly state: Observation<unknown>['state']
  /** Whether the objects are all there are: the kind was listed to the end, or the cluster does not have it. */
  readonly isComplete: boolean
  readonly objects: readonly KubernetesObject[]
  /** How old that is; 0 as long as the watch goes on. */
  readonly ageMs: number
}

export interface ClusterWatch {
  start(): void
  stop(): Promise<void>
  view(kind: WatchedKindName): KindView
  /** Called after each change of an object, in order. */
  onChange(listener: (kind: WatchedKindName, change: ObjectChange) => void): void
}

export interface ClusterWatchConfig {
  readonly access: ClusterAccess
  readonly namespace: string
  readonly tenant: string
}

export interface ClusterWatchDeps {
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
}

const RATE = { perSecond: 5, burst: 20 }

export function createClusterWatch({ access, namespace, tenant }: ClusterWatchConfig, deps: ClusterWatchDeps): ClusterWatch {
  const { clock } = deps
  const client = createHttpKubeClient(access, { clock, rateLimit: createRateLimit(RATE, clock), userAgent: 'logpipeline-agent' })
  const cache = createObjectCache({ kinds: [], namespaces: [namespace] }, { client, ...deps })
  const selection = { labelSelector: `${TENANT_LABEL}=${tenant}` }
  const kinds = Object.entries(KINDS).map(([kind, { group, versions, fields }]) => {
    return { kind, group, versions, selection, slim: keepFields(fields) }
  })
  const served = createServedKinds(kinds, { client, clock, log: deps.log, cache })

  const viewOf = (resource: Resource): KindView => {
    const stopped = cache.failures().find(failure => failure.resource === resource)
    // Removed since the cluster was last asked for its kinds.
    if (stopped?.failure.status === 404) return ABSENT
    const isComplete = served.current().includes(resource)
    const objects = cache.list(resource)
    if (stopped !== undefined) return { state: 'unreachable', isComplete, objects, ageMs: clock.nowMs() - stopped.sinceMs }
    return { state: isComplete ? 'current' : 'unknown', isComplete, objects, ageMs: 0 }
  }

  return {
    start: () => void served.start(),
    async stop() {
      await Promise.all([served.stop(), cache.stop()])
      await client.close()
    },
    view(name) {
      const seen = served.seen()
      if (seen === undefined) return { ...NOTHING, state: served.failure() === undefined ? 'unknown' : 'unreachable', isComplete: false }
      const resource = seen.find(({ kind }) => kind === name)
      return resource === undefined || !cache.has(resource) ? ABSENT : viewOf(resource)
    },
    onChange(listener) {
      cache.onChange(({ kind }, change) => listener(kind as WatchedKindName, change))
    },
  }
}

const NOTHING = { objects: [], ageMs: 0 }
const ABSENT: KindView = { ...NOTHING, state: 'current', isComplete: true }
