/** Reads everything that counts for one pipeline or route from the cache, as one value. */

import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { keyOf, type Resource } from '../../dataplane/kube/resource.ts'
import { COMPONENTS, type Component, componentName } from '../api/components.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import type { OptionalKindName } from '../api/used-kinds.ts'
import { encryptionKeyName } from '../observed/encryption-key.ts'
import type { Autoscaler, DisruptionBudget, ExternalSecret, KafkaTopic, Pod, StrimziKafka, Workload } from '../observed/foreign-kinds.ts'
import type { Gathered, RoutesRead } from '../observed/gathered.ts'
import { externalNames, type Reference, wantedSecrets } from '../observed/references.ts'
import { findSharers, topicsKeys } from '../observed/shared-topics.ts'
import { appliedMs } from '../reconcile/field-ownership.ts'
import { isOfPredecessor } from '../reconcile/plan.ts'
import { BUDGETS, FOREIGN_INDEX, INSTANCE_INDEX, LOG_PIPELINES, PODS, SECRETS, SERVICES, TICKETING_ROUTES, TOPICS_INDEX } from './kinds.ts'
import type { ReadSecrets, SecretContents } from './secret-contents.ts'

export interface ClusterView {
  readonly cache: Pick<ObjectCache, 'get' | 'list' | 'byIndex' | 'ownedBy' | 'hasListed'>
  /** The optional kinds that the cluster has. */
  readonly served: () => readonly Resource[]
}

/** The pause before another look at what lies in a namespace that has not been listed whole. */
export const LISTING_MS = 2000

/** Routes and Secrets, as they were read at one time. `failure`: of a Secret that could not be asked for; it should be tried again. */
export type Referred = RoutesRead & ReadSecrets

/** The routes of the owner's namespace, and the Secrets that the owner's references lead to. */
export async function gatherReferred(
  view: ClusterView,
  secrets: SecretContents,
  { kind, metadata }: KubernetesObject,
  referencesOf: (routes: readonly TicketingRoute[]) => readonly Reference[],
): Promise<Referred> {
  const { namespace } = metadata
  const routes = (view.cache.list(TICKETING_ROUTES, namespace) as readonly TicketingRoute[]).filter(
    ({ problems }) => problems === undefined,
  )
  const references = referencesOf(routes)
  const externalSecrets = gatherExternalSecrets(view, namespace, references)
  const read = await secrets.read(`${kind} ${keyOf(metadata)}`, namespace, wantedSecrets(references, externalSecrets))
  return { routes, externalSecrets, servedApis: servedApis(view), ...read }
}

/** `restore`: gives a pipeline the topic prefix that its status has lost. */
export function gatherPipeline(
  view: ClusterView,
  seen: LogPipeline,
  referred: Referred,
  problems: Gathered['problems'],
  restore: (pipeline: LogPipeline) => LogPipeline,
): Gathered {
  const pipeline = restore(seen)
  const { cache } = view
  const owned = cache.ownedBy(pipeline.metadata.uid ?? '')
  const ofKind = (kinds: readonly string[]) => owned.flatMap(({ object }) => (kinds.includes(object.kind) ? [object] : []))
  const kafka = findKafka(view, pipeline)
  const workloads = byComponent(pipeline, ofKind(['Deployment', 'StatefulSet']) as readonly Workload[])
  const changedMs = workloads.standalone && appliedMs(workloads.standalone)
  return {
    ...referred,
    // Kinds come and go while objects are applied.
    servedApis: servedApis(view),
    pipeline,
    ...(kafka !== undefined && { kafka }),
    sharers: gatherSharers(view, pipeline, restore),
    hasEncryptionKey: hasEncryptionKey(view, pipeline),
    topics: ofKind(['KafkaTopic']) as readonly KafkaTopic[],
    workloads,
    ...(changedMs !== undefined && { appliedMs: changedMs }),
    autoscalers: byComponent(pipeline, ofKind(['HorizontalPodAutoscaler', 'ScaledObject']) as readonly Autoscaler[]),
    budgets: ofKind(['PodDisruptionBudget']) as readonly DisruptionBudget[],
    otherBudgets: cache.byIndex(BUDGETS, FOREIGN_INDEX, pipeline.metadata.namespace ?? '') as readonly DisruptionBudget[],
    pods: cache.byIndex(PODS, INSTANCE_INDEX, keyOf(pipeline.metadata)) as readonly Pod[],
    problems,
  }
}

/** The ExternalSecrets that something refers to, by name. */
export function gatherExternalSecrets(
  view: ClusterView,
  namespace: string | undefined,
  references: readonly Reference[],
): Gathered['externalSecrets'] {
  const resource = findServed(view, 'ExternalSecret.external-secrets.io')
  if (resource === undefined) return {}
  const found = externalNames(references).flatMap(name => (view.cache.get(resource, namespace, name) as ExternalSecret | undefined) ?? [])
  return Object.fromEntries(found.map(object => [object.metadata.name, object]))
}

function hasEncryptionKey({ cache }: ClusterView, pipeline: LogPipeline): boolean {
  const { namespace, name } = pipeline.metadata
  const secret = cache.get(SECRETS, namespace, encryptionKeyName(name))
  return secret !== undefined && !isOfPredecessor(secret, pipeline)
}

function findKafka(view: ClusterView, { spec, metadata }: LogPipeline): StrimziKafka | undefined {
  const cluster = spec.bus?.strimzi?.cluster
  const resource = findServed(view, 'Kafka.kafka.strimzi.io')
  if (cluster === undefined || resource === undefined) return undefined
  return view.cache.get(resource, metadata.namespace, cluster) as StrimziKafka | undefined
}

function gatherSharers(
  { cache }: ClusterView,
  pipeline: LogPipeline,
  restore: (pipeline: LogPipeline) => LogPipeline,
): Gathered['sharers'] {
  // One whose status has lost its prefix is found under none.
  const keys = new Set([...topicsKeys(pipeline), ...topicsKeys(pipeline, '')])
  const others = new Set([...keys].flatMap(key => cache.byIndex(LOG_PIPELINES, TOPICS_INDEX, key) as readonly LogPipeline[]))
  return findSharers(pipeline, [...others].map(restore), (namespace, name) => cache.get(SERVICES, namespace, name) !== undefined)
}

function servedApis({ served }: ClusterView): Gathered['servedApis'] {
  return Object.fromEntries(served().map(({ kind, group, version }) => [`${kind}.${group}`, version]))
}

function findServed({ served }: ClusterView, name: OptionalKindName): Resource | undefined {
  return served().find(({ kind, group }) => `${kind}.${group}` === name)
}

/** Objects by the names of their components, which nobody can change; anybody can set labels, and a copy has them all. */
function byComponent<T extends KubernetesObject>(
  { metadata }: LogPipeline,
  objects: readonly T[],
): Readonly<Partial<Record<Component, T>>> {
  const byName = new Map(objects.map(object => [object.metadata.name, object]))
  const found = (Object.keys(COMPONENTS) as Component[]).map(component => [component, byName.get(componentName(metadata, component))])
  return Object.fromEntries(found.filter(([, object]) => object !== undefined))
}
