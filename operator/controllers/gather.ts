/** Reads everything that counts for one pipeline or route from the cache, as one value. */

import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import { keyOf, type Resource } from '../../dataplane/kube/resource.ts'
import type { Component } from '../api/components.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import type { OptionalKind } from '../api/used-kinds.ts'
import type { ExternalSecret, KafkaTopic, Pod, StrimziKafka, Workload } from '../observed/foreign-kinds.ts'
import type { ApplyProblem, Gathered } from '../observed/gathered.ts'
import {
  pipelineReferences,
  type Reference,
  referencedSecrets,
  routeReference,
  type WantedSecrets,
  wantedSecrets,
} from '../observed/references.ts'
import { findSharers, topicsKeys } from '../observed/shared-topics.ts'
import { INSTANCE_INDEX, LOG_PIPELINES, PODS, SERVICES, TICKETING_ROUTES, TOPICS_INDEX } from './kinds.ts'
import type { ReadSecrets } from './secret-contents.ts'

export interface ClusterView {
  readonly cache: Pick<ObjectCache, 'get' | 'list' | 'byIndex' | 'ownedBy'>
  /** The optional kinds that the cluster has. */
  readonly served: () => readonly Resource[]
}

/** What names the Secrets of a pipeline or a route, and which they are. */
export interface SecretSources extends Pick<Gathered, 'routes' | 'externalSecrets'> {
  readonly wanted: WantedSecrets
}

export function sourcesOfPipeline(view: ClusterView, { spec, metadata: { namespace } }: LogPipeline): SecretSources {
  const routes = routesOf(view, namespace)
  return { routes, ...gatherWanted(view, namespace, [...pipelineReferences(spec), ...routes.map(route => routeReference(route.spec))]) }
}

export function sourcesOfRoute(view: ClusterView, { spec, metadata: { namespace } }: TicketingRoute): SecretSources {
  return { routes: routesOf(view, namespace), ...gatherWanted(view, namespace, [routeReference(spec)]) }
}

/** `sources` as they were when the Secrets were read. */
export function gatherPipeline(
  view: ClusterView,
  pipeline: LogPipeline,
  { routes, externalSecrets }: SecretSources,
  { secrets, unreadSecrets }: ReadSecrets,
  problems: readonly ApplyProblem[],
): Gathered {
  const { cache } = view
  const { uid = '' } = pipeline.metadata
  const owned = cache.ownedBy(uid)
  const ofKind = (kinds: readonly string[]) => owned.flatMap(({ object }) => (kinds.includes(object.kind) ? [object] : []))
  const kafka = findKafka(view, pipeline)
  return {
    pipeline,
    routes,
    secrets,
    unreadSecrets,
    externalSecrets,
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
export function gatherRoute(view: ClusterView, { routes, externalSecrets }: SecretSources, { secrets, unreadSecrets }: ReadSecrets) {
  return { routes, secrets, unreadSecrets, externalSecrets, servedApis: servedApis(view) }
}

function gatherWanted(view: ClusterView, namespace: string | undefined, references: readonly Reference[]) {
  const externalSecrets = gatherExternalSecrets(view, namespace, references)
  return { externalSecrets, wanted: wantedSecrets(references, externalSecrets) }
}

/** The ExternalSecrets that something refers to, by name. */
export function gatherExternalSecrets(
  view: ClusterView,
  namespace: string | undefined,
  references: readonly Reference[],
): Gathered['externalSecrets'] {
  const resource = findServed(view, 'ExternalSecret.external-secrets.io')
  if (resource === undefined) return {}
  const { externalSecrets: names } = referencedSecrets(references, {})
  const found = names.flatMap(name => (view.cache.get(resource, namespace, name) as ExternalSecret | undefined) ?? [])
  return Object.fromEntries(found.map(object => [object.metadata.name, object]))
}

/** Those whose spec can be used. */
function routesOf({ cache }: ClusterView, namespace: string | undefined): readonly TicketingRoute[] {
  return (cache.list(TICKETING_ROUTES, namespace) as readonly TicketingRoute[]).filter(({ problems }) => problems === undefined)
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
