/** The sections' sources within the cluster: external secrets, and the jobs of Flink (Decisions 10). */
import type { KubernetesObject } from '../../kube/object.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { ClusterWatch } from './cluster-watch.ts'
import { type FlinkMemory, type FlinkResource, hasJob, readFlinkState, rememberReading, stateOf, uptimeOf } from './flink-job.ts'
import type { SyncedSecret } from './sections.ts'
import type { Source } from './source.ts'
import type { StreamJob } from './stream-source.ts'
import { createWatchedSource } from './watched-source.ts'

export function createSecretsSource(cluster: ClusterWatch, clock: Clock): Source<readonly SyncedSecret[]> {
  return createWatchedSource({
    view: () => cluster.view('ExternalSecret'),
    read: objects => byName(objects).map(readExternalSecret),
    clock,
  })
}

const FLINK_KINDS = ['FlinkDeployment', 'FlinkSessionJob'] as const

/** One for each kind, so that one that cannot be read does not hide the other. To be called before the watch starts. */
export function createFlinkSources(cluster: ClusterWatch, clock: Clock): readonly Source<readonly StreamJob[]>[] {
  /** By kind and name. */
  const memories = new Map<string, FlinkMemory>()
  cluster.onChange((kind, { before, after }) => {
    if (kind === 'ExternalSecret') return
    if (after === undefined) memories.delete(keyOf(before!))
    else memories.set(keyOf(after), rememberReading(memories.get(keyOf(after)), readFlinkState(after), monotonicMs(clock)))
  })

  const toJob = (resource: FlinkResource): StreamJob => {
    const passedMs = monotonicMs(clock)
    const state = stateOf(memories.get(keyOf(resource)) ?? rememberReading(undefined, readFlinkState(resource), passedMs), passedMs)
    const uptimeMs = uptimeOf(resource, state, clock.nowMs())
    return { name: resource.metadata.name, state, taskManagers: countTaskManagers(resource), uptimeMs }
  }
  /** A session job works on those of its session cluster. */
  const countTaskManagers = ({ kind, spec, status }: FlinkResource): number => {
    if (kind === 'FlinkDeployment') return countOf(status?.taskManager?.replicas)
    const deployments: readonly FlinkResource[] = cluster.view('FlinkDeployment').objects
    return countOf(deployments.find(({ metadata }) => metadata.name === spec?.deploymentName)?.status?.taskManager?.replicas)
  }

  return FLINK_KINDS.map(kind =>
    createWatchedSource({ view: () => cluster.view(kind), read: objects => byName(objects).filter(hasJob).map(toJob), clock }),
  )
}

const countOf = (replicas: unknown) => (typeof replicas === 'number' && Number.isSafeInteger(replicas) && replicas >= 0 ? replicas : 0)

const keyOf = ({ kind, metadata: { name } }: KubernetesObject) => `${kind} ${name}`

function byName(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return objects.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** The part of an `ExternalSecret` that the agent reads; `v1` and `v1beta1` have it in common. Somebody else defines it, so it may hold anything. */
interface ExternalSecretResource extends KubernetesObject {
  readonly status?: { readonly conditions?: unknown; readonly refreshTime?: unknown } | null
}

const SYNCED_REASONS: readonly unknown[] = ['SecretSynced', 'SecretDeleted']

function readExternalSecret({ metadata, status }: ExternalSecretResource): SyncedSecret {
  const conditions: readonly unknown[] = Array.isArray(status?.conditions) ? status.conditions : []
  const isSynced = conditions
    .map(fieldsOf)
    .some(({ type, status: is, reason }) => type === 'Ready' && is === 'True' && SYNCED_REASONS.includes(reason))
  return { name: metadata.name, status: isSynced ? 'SecretSynced' : 'SecretSyncError', lastSyncTime: timeOf(status?.refreshTime) }
}

const fieldsOf = (value: unknown) => (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>

const timeOf = (value: unknown) => (typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : null)
