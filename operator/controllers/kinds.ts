/** How each kind that the operator uses is watched, and which fields of it stay in memory. */

import { OPERATOR_NAME } from '../../dataplane/contract/operator-name.ts'
import type { CachedKind } from '../../dataplane/kube/informers/object-cache.ts'
import type { OptionalKind } from '../../dataplane/kube/informers/served-kinds.ts'
import { keepFields, type Slim } from '../../dataplane/kube/informers/slim-object.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { apiVersionOf, keyOf, type Resource } from '../../dataplane/kube/resource.ts'
import { LOG_PIPELINE_KIND, type LogPipeline } from '../api/log-pipeline.ts'
import { API_GROUP, API_VERSION } from '../api/names.ts'
import { readLogPipeline, readTicketingRoute } from '../api/read-object.ts'
import { TICKETING_ROUTE_KIND } from '../api/ticketing-route.ts'
import { USED_KINDS } from '../api/used-kinds.ts'
import type { DisruptionBudget } from '../observed/foreign-kinds.ts'
import { readAutoscaler, readExternalSecret, readKafka, readKafkaTopic } from '../observed/read-foreign.ts'
import { topicsKeys } from '../observed/shared-topics.ts'
import { SYNC_FAILED } from '../observed/workloads/disruption-budgets.ts'

type UsedKind = (typeof USED_KINDS)[number]
type Watching = Omit<CachedKind, 'resource'>

export const LOG_PIPELINES: Resource = ownKind(LOG_PIPELINE_KIND, 'logpipelines')
export const TICKETING_ROUTES: Resource = ownKind(TICKETING_ROUTE_KIND, 'ticketingroutes')
export const PODS = usedKind('Pod')
export const SECRETS = usedKind('Secret')
export const SERVICES = usedKind('Service')
export const BUDGETS = usedKind('PodDisruptionBudget')

/** Index of pipelines: `topicsKeys`. */
export const TOPICS_INDEX = 'topics'
/** Index of PodDisruptionBudgets that are not the operator's: their namespace. */
export const FOREIGN_INDEX = 'foreign'
/** Index of pods: `namespace/name` of their pipeline. */
export const INSTANCE_INDEX = 'instance'

const WORKLOAD: Watching = {
  slim: withImagesOnly(
    keepFields(['spec.replicas', 'spec.paused', 'spec.template.spec.containers', 'status'], { stubForeign: true, keepTimes: true }),
  ),
}

/** Numbers in its status change all the time; its conditions tell whether it scales. */
const AUTOSCALER: Watching = { slim: reading(readAutoscaler, keepFields(['status.conditions'], { stubForeign: true })) }

/** The default: the operator only has to know that an object exists and is as it was applied. */
const METADATA_ONLY: Watching = { selection: { metadataOnly: true }, slim: keepFields([], { stubForeign: true }) }

const WATCHING: Readonly<Partial<Record<UsedKind['kind'], Watching>>> = {
  Deployment: WORKLOAD,
  StatefulSet: WORKLOAD,
  HorizontalPodAutoscaler: AUTOSCALER,
  ScaledObject: AUTOSCALER,
  // Metadata alone: most Secrets do not concern the operator, and Helm's own are many. The content of a referenced Secret is asked for.
  Secret: { ...METADATA_ONLY, selection: { ...METADATA_ONLY.selection, fieldSelector: 'type!=helm.sh/release.v1' } },
  PodDisruptionBudget: {
    slim: slimBudget,
    indexes: { [FOREIGN_INDEX]: object => (isOurs(object) ? [] : [object.metadata.namespace ?? '']) },
  },
  Pod: {
    selection: { labelSelector: `app.kubernetes.io/managed-by=${OPERATOR_NAME}` },
    slim: keepFields([
      'spec.schedulerName',
      'status.phase',
      'status.reason',
      'status.message',
      'status.podIP',
      'status.conditions',
      'status.containerStatuses',
      'status.initContainerStatuses',
    ]),
    indexes: { [INSTANCE_INDEX]: pipelineOfPod },
  },
  ExternalSecret: {
    slim: reading(readExternalSecret, keepFields(['spec.target.name', 'status.conditions', 'status.binding'], { stubMetadata: true })),
  },
  Kafka: { slim: reading(readKafka, keepFields(['status.conditions', 'status.listeners'], { stubMetadata: true })) },
  KafkaTopic: { slim: reading(readKafkaTopic, keepFields(['spec.topicName', 'status'], { stubForeign: true })) },
}

const KEEP_OWN = keepFields(['spec', 'status'])

/** Kinds that every cluster has, once the operator is installed. */
export const CACHED_KINDS: readonly CachedKind[] = [
  {
    resource: LOG_PIPELINES,
    slim: object => readLogPipeline(KEEP_OWN(object)),
    isWhole: true,
    indexes: { [TOPICS_INDEX]: object => topicsKeys(object as LogPipeline) },
  },
  { resource: TICKETING_ROUTES, slim: object => readTicketingRoute(KEEP_OWN(object)), isWhole: true },
  ...USED_KINDS.filter(kind => !('isOptional' in kind)).map(kind => ({ resource: resourceOfKind(kind), ...watchingOf(kind) })),
]

/** Kinds of other operators. */
export const OPTIONAL_KINDS: readonly OptionalKind[] = USED_KINDS.filter(kind => 'isOptional' in kind).map(used => {
  const { group, kind, versions } = used
  return { group, kind, versions, ...watchingOf(used) }
})

/** Undefined when the cluster lacks the kind or the operator does not watch it. */
export function resourceOf({ apiVersion, kind }: KubernetesObject, served: readonly Resource[]): Resource | undefined {
  const isIt = (resource: Resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion
  return CACHED_KINDS.find(({ resource }) => isIt(resource))?.resource ?? served.find(isIt)
}

function watchingOf({ kind }: UsedKind): Watching {
  return WATCHING[kind] ?? METADATA_ONLY
}

function resourceOfKind({ group, kind, plural, versions }: UsedKind): Resource {
  return { group, version: versions[0], kind, plural, namespaced: true }
}

function usedKind(name: UsedKind['kind']): Resource {
  return resourceOfKind(USED_KINDS.find(({ kind }) => kind === name)!)
}

function ownKind(kind: string, plural: string): Resource {
  return { group: API_GROUP, version: API_VERSION, kind, plural, namespaced: true }
}

function pipelineOfPod({ metadata: { namespace, labels } }: KubernetesObject): readonly string[] {
  const name = labels?.['app.kubernetes.io/instance']
  return name === undefined ? [] : [keyOf(namespace === undefined ? { name } : { namespace, name })]
}

/** Whether the operator made an object. */
export function isOurs({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.['app.kubernetes.io/managed-by'] === OPERATOR_NAME
}

const KEEP_BUDGET = keepFields(['status.conditions'], { stubForeign: true })

/** One of ours with its trouble alone, as the number of pods that may go changes with each of them; others with what they select. */
function slimBudget(object: KubernetesObject): KubernetesObject {
  const kept = KEEP_BUDGET(object) as DisruptionBudget
  const { selector } = (object as DisruptionBudget).spec ?? {}
  if (!isOurs(kept)) return { ...kept, ...(selector && { spec: { selector } }) }
  return { ...kept, status: { conditions: kept.status?.conditions?.filter(({ reason }) => reason === SYNC_FAILED) ?? [] } }
}

function reading(read: Slim, slim: Slim): Slim {
  return object => read(slim(object))
}

interface WithContainers {
  readonly template?: { readonly spec?: { readonly containers?: readonly { readonly name: string; readonly image: string }[] } }
}

/** Keeps the images of the containers, which the status tells. */
function withImagesOnly(slim: Slim): Slim {
  return object => {
    const kept = slim(object)
    const spec = kept['spec'] as WithContainers | undefined
    const containers = spec?.template?.spec?.containers
    if (containers === undefined) return kept
    return { ...kept, spec: { ...spec, template: { spec: { containers: containers.map(({ name, image }) => ({ name, image })) } } } }
  }
}
