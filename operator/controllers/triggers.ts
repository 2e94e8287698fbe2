/** Which pipelines and routes a change concerns. */

import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { ObjectChange } from '../../dataplane/kube/informers/object-store.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { keyOf, type Resource } from '../../dataplane/kube/resource.ts'
import { LOG_PIPELINE_KIND, type LogPipeline } from '../api/log-pipeline.ts'
import { API_GROUP_VERSION } from '../api/names.ts'
import type { TicketingRoute } from '../api/ticketing-route.ts'
import { encryptionKeyName } from '../observed/encryption-key.ts'
import { externalNames, pipelineReferences, type Reference, routeReferences, wantedSecrets } from '../observed/references.ts'
import { topicsKeys } from '../observed/shared-topics.ts'
import type { WorkQueue } from '../runtime/work-queue.ts'
import { type ClusterView, gatherExternalSecrets } from './gather.ts'
import { BUDGETS, isOurs, LOG_PIPELINES, PODS, SECRETS, TICKETING_ROUTES, TOPICS_INDEX } from './kinds.ts'
import type { ToldStatuses } from './told-statuses.ts'

export interface TriggerDeps {
  readonly view: ClusterView
  readonly cache: Pick<ObjectCache, 'onChange' | 'list' | 'byIndex'>
  readonly pipelines: Pick<WorkQueue, 'add' | 'addAfter'>
  readonly routes: Pick<WorkQueue, 'add' | 'addAfter'>
  readonly told: Pick<ToldStatuses, 'isTold' | 'forget'>
  /** Changes do not count before the controllers start: they then look at every object. */
  readonly isActive: () => boolean
}

/** While a pipeline rolls out many of its objects change. Changes within this time share one reconcile. */
const GATHER_MS = 1000

export function connectTriggers({ view, cache, pipelines, routes, told, isActive }: TriggerDeps): void {
  const namespacePipelines = (namespace: string | undefined) => cache.list(LOG_PIPELINES, namespace) as readonly LogPipeline[]
  const namespaceRoutes = (namespace: string | undefined) => cache.list(TICKETING_ROUTES, namespace) as readonly TicketingRoute[]

  const onPipeline = (object: KubernetesObject, change: ObjectChange): void => {
    pipelines.add(keyOf(object.metadata))
    for (const other of sharersTouched(change)) if (other !== object) pipelines.addAfter(keyOf(other.metadata), GATHER_MS)
    for (const route of namespaceRoutes(object.metadata.namespace)) routes.addAfter(keyOf(route.metadata), GATHER_MS)
  }

  /** Pipelines that began or ceased to share topics with the changed one. */
  const sharersTouched = ({ before, after }: ObjectChange): ReadonlySet<KubernetesObject> => {
    const keysOf = (object: KubernetesObject | undefined) => (object === undefined ? [] : topicsKeys(object as LogPipeline))
    const [were, are] = [keysOf(before), keysOf(after)]
    const isGoing = before?.metadata.deletionTimestamp !== after?.metadata.deletionTimestamp
    const touched = [...were, ...are].filter(key => isGoing || !were.includes(key) || !are.includes(key))
    return new Set(touched.flatMap(key => cache.byIndex(LOG_PIPELINES, TOPICS_INDEX, key)))
  }

  const onRoute = ({ metadata: { namespace } }: KubernetesObject): void => {
    // A route may contradict any other of its namespace.
    for (const route of namespaceRoutes(namespace)) routes.addAfter(keyOf(route.metadata), GATHER_MS)
    for (const pipeline of namespacePipelines(namespace)) pipelines.addAfter(keyOf(pipeline.metadata), GATHER_MS)
  }

  /** A Secret, an ExternalSecret or a Kafka, which pipelines refer to by name. */
  const onReferenced = ({ kind, metadata: { name, namespace } }: KubernetesObject): void => {
    const names = (references: readonly Reference[]): boolean =>
      kind === SECRETS.kind
        ? wantedSecrets(references, gatherExternalSecrets(view, namespace, references)).has(name)
        : externalNames(references).includes(name)
    const ofRoutes = namespaceRoutes(namespace).filter(({ spec }) => names(routeReferences(spec)))
    for (const route of ofRoutes) routes.addAfter(keyOf(route.metadata), GATHER_MS)
    for (const { spec, metadata } of namespacePipelines(namespace)) {
      // One that a user makes in place of a lost one names no owner.
      const isKey = kind === SECRETS.kind && name === encryptionKeyName(metadata.name)
      if (ofRoutes.length > 0 || isKey || spec.bus?.strimzi?.cluster === name || names(pipelineReferences(spec)))
        pipelines.addAfter(keyOf(metadata), GATHER_MS)
    }
  }

  const onOwned = (object: KubernetesObject): void => {
    for (const { apiVersion, kind, name } of object.metadata.ownerReferences ?? [])
      if (kind === LOG_PIPELINE_KIND && apiVersion === API_GROUP_VERSION) pipelines.addAfter(keyOf({ ...object.metadata, name }), GATHER_MS)
  }

  const onPod = ({ metadata }: KubernetesObject): void => {
    const name = metadata.labels?.['app.kubernetes.io/instance']
    if (name !== undefined) pipelines.addAfter(keyOf({ ...metadata, name }), GATHER_MS)
  }

  /** One that is not the operator's may select pods of any pipeline of its namespace. */
  const onBudget = (object: KubernetesObject): void => {
    onOwned(object)
    if (isOurs(object)) return
    for (const { metadata } of namespacePipelines(object.metadata.namespace)) pipelines.addAfter(keyOf(metadata), GATHER_MS)
  }

  const react: Readonly<Record<string, (object: KubernetesObject, change: ObjectChange) => void>> = {
    [LOG_PIPELINES.kind]: onPipeline,
    [TICKETING_ROUTES.kind]: onRoute,
    [PODS.kind]: onPod,
    [BUDGETS.kind]: onBudget,
    [SECRETS.kind]: object => {
      onReferenced(object)
      onOwned(object)
    },
    ExternalSecret: onReferenced,
    Kafka: onReferenced,
  }

  /** Somebody wrote another status: it is looked at again, and nothing else. */
  const onStatus = ({ kind, metadata }: KubernetesObject): void =>
    (kind === LOG_PIPELINES.kind ? pipelines : routes).addAfter(keyOf(metadata), GATHER_MS)

  cache.onChange((resource, change) => {
    const object = change.after ?? change.before
    if (object === undefined) return
    const isOwn = resource === LOG_PIPELINES || resource === TICKETING_ROUTES
    if (isOwn && change.after === undefined) told.forget(object)
    if (!isActive()) return
    if (matters(resource, change)) (react[resource.kind] ?? onOwned)(object, change)
    else if (isOwn && hasOtherStatus(change) && !told.isTold(object)) onStatus(object)
  })
}

function hasOtherStatus({ before, after }: ObjectChange): boolean {
  return JSON.stringify(before?.['status']) !== JSON.stringify(after?.['status'])
}

/** Whether a change concerns others, too. A status does not, nor does a field that the operator does not read, such as the status of an autoscaler. */
function matters({ kind }: Resource, { before, after }: ObjectChange): boolean {
  if (before === undefined || after === undefined) return true
  // Only the version of a Secret tells that its content may have changed.
  if (kind === SECRETS.kind) return before.metadata.resourceVersion !== after.metadata.resourceVersion
  if (kind !== LOG_PIPELINES.kind && kind !== TICKETING_ROUTES.kind) return withoutVersion(before) !== withoutVersion(after)
  // Another target of a route is another platform of its pipelines.
  if (targetOf(before) !== targetOf(after)) return true
  const { uid, generation, deletionTimestamp } = after.metadata
  const was = before.metadata
  const isSame = uid === was.uid && generation === was.generation && deletionTimestamp === was.deletionTimestamp
  // The spec of a generation may differ, too, where the CRD was updated: a watch that began before leaves out fields.
  const read = ({ metadata, spec }: KubernetesObject & { readonly spec?: unknown }) => [metadata.labels, metadata.annotations, spec]
  return !isSame || JSON.stringify(read(after)) !== JSON.stringify(read(before))
}

const targetOf = (object: KubernetesObject) => (object['status'] as TicketingRoute['status'])?.target

/** As JSON. The cache keeps only the fields that the operator reads. */
function withoutVersion({ metadata: { resourceVersion: _, ...metadata }, ...rest }: KubernetesObject): string {
  return JSON.stringify([metadata, rest])
}
