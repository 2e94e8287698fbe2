/** Reads everything that counts for one pipeline or route from the cache, as one value. */

import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { keyOf, type Resource } from '../../dataplane/kube/resource.ts'
import type { Component } from '../api/components.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import type { OptionalKind } from '../api/used-kinds.ts'
import type { ExternalSecret, KafkaTopic, Pod, Secret, StrimziKafka, Workload } from '../observed/foreign-kinds.ts'
import type { ApplyProblem, Gathered } from '../observed/gathered.ts'
import { pipelineReferences, type Reference, referencedSecrets, routeReference } from '../observed/references.ts'
import { findSharers, topicsKeys } from '../observed/shared-topics.ts'
import { INSTANCE_INDEX, LOG_PIPELINES, PODS, SECRETS, SERVICES, TICKETING_ROUTES, TOPICS_INDEX } from './kinds.ts'

export interface ClusterView {
  readonly cache: Pick<ObjectCache, 'get' | 'list' | 'byIndex' | 'ownedBy'>
  /** The optional kinds that the cluster has. */
  readonly served: () => readonly Resource[]
}

export function gatherPipeline(view: ClusterView, pipeline: LogPipeline, problems: readonly ApplyProblem[]): Gathered {
  const { cache } = view
  const { namespace, uid = '' } = pipeline.metadata
  const routes = cache.list(TICKETING_ROUTES, namespace) as readonly TicketingRoute[]
  const references = [...pipelineReferences(pipeline.spec), ...routes.map(({ spec }) => routeReference(spec))]
  const owned = cache.ownedBy(uid)
  const ofKind = (kinds: readonly string[]) => owned.flatMap(({ object }) => (kinds.includes(object.kind) ? [object] : []))
  const kafka = findKafka(view, pipeline)
  return {
    pipeline,
    routes,
    ...gatherSecrets(view, namespace, references),
    ...(kafka !== undefined && { kafka }),
    sharers: gatherSharers(view, pipeline),
    topics: ofKind(['KafkaTopic']) as readonly KafkaTopic[],
    workloads: byComponent(ofKind(['Deployment', 'StatefulSet']) as readonly Workload[]),
    pods: cache.byIndex(PODS, INSTANCE_INDEX, keyOf(pipeline.metadata)) as readonly Pod[],
    servedApis: servedApis(view),
    problems,
  }
}

/** What the status of a route is made from. */
export function gatherRoute(view: ClusterView, { metadata: { namespace } }: TicketingRoute) {
  const routes = view.cache.list(TICKETING_ROUTES, namespace) as readonly TicketingRoute[]
  const references = routes.map(({ spec }) => routeReference(spec))
  return { routes, ...gatherSecrets(view, namespace, references), servedApis: servedApis(view) }
}

/** The Secrets and ExternalSecrets that something refers to, by name. */
export function gatherSecrets(view: ClusterView, namespace: string | undefined, references: readonly Reference[]) {
  const externalKind = findServed(view, 'ExternalSecret.external-secrets.io')
  const find = <T extends KubernetesObject>(resource: Resource | undefined, names: readonly string[]) => {
    const found = resource === undefined ? [] : names.map(name => view.cache.get(resource, namespace, name) as T | undefined)
    return Object.fromEntries(found.flatMap(object => (object === undefined ? [] : [[object.metadata.name, object]])))
  }
  const externalSecrets = find<ExternalSecret>(externalKind, referencedSecrets(references, {}).externalSecrets)
  return { externalSecrets, secrets: find<Secret>(SECRETS, referencedSecrets(references, externalSecrets).secrets) }
}

function findKafka(view: ClusterView, { spec, metadata }: LogPipeline): StrimziKafka | undefined {
  const cluster = spec.bus?.strimzi?.cluster
  const resource = findServed(view, 'Kafka.kafka.strimzi.io')
  if (cluster === undefined || resource === undefined) return undefined
  return view.cache.get(resource, metadata.namespace, cluster) as StrimziKafka | undefined
}

function gatherSharers({ cache }: ClusterView, pipeline: LogPipeline): Gathered['sharers'] {
  const others = new Set(topicsKeys(pipeline).flatMap(key => cache.byIndex(LOG_PIPELINES, TOPICS_INDEX, key) as readonly LogPipeline[]))
  return findSharers(pipeline, [...others], (namespace, name) => cache.get(SERVICES, namespace, name) !== undefined)
}

function servedApis({ served }: ClusterView): Gathered['servedApis'] {
  return Object.fromEntries(served().map(({ kind, group, version }) => [`${kind}.${group}`, version]))
}

function findServed({ served }: ClusterView, name: OptionalKind): Resource | undefined {
  return served().find(({ kind, group }) => `${kind}.${group}` === name)
}

function byComponent(workloads: readonly Workload[]): Gathered['workloads'] {
  return Object.fromEntries(
    workloads.map(workload => [workload.metadata.labels?.['app.kubernetes.io/component'] as Component | undefined, workload] as const),
  )
}
