/** Objects of a real API server, by kind and name, as a test reads and writes them. */

import { collectionPath, objectPath, type Resource } from '../../dataplane/kube/resource.ts'
import { ApiRefusal, type ApiRequest } from '../../dataplane/testing/cluster/api-request.ts'
import type { ClusterObject } from '../../dataplane/testing/cluster/kubectl.ts'
import { until } from '../../dataplane/testing/cluster/kubectl.ts'
import { CACHED_KINDS, OPTIONAL_KINDS } from '../controllers/kinds.ts'
import { EVENTS } from '../runtime/event-recorder.ts'
import { LEASES } from '../runtime/lease.ts'

export interface ClusterObjects {
  /** `undefined` when it is not there. */
  get(kind: string, name: string): Promise<ClusterObject | undefined>
  list(kind: string, labelSelector?: string): Promise<readonly ClusterObject[]>
  /** Server-side apply as `manager`, by force; the object as it is then. */
  apply(object: object, manager?: string): Promise<ClusterObject>
  /** JSON merge patch, as somebody who updates. */
  patch(kind: string, name: string, patch: object, subresource?: string): Promise<ClusterObject>
  remove(kind: string, name: string): Promise<void>
  /** Waits until the object is as `holds` says. */
  until(what: string, kind: string, name: string, holds: (object: ClusterObject) => boolean, limitMs?: number): Promise<ClusterObject>
  /** Waits until a condition has this reason (or this status, if it is one). */
  condition(kind: string, name: string, type: string, reason: string, limitMs?: number): Promise<ClusterObject>
}

const builtIn = (group: string, version: string, kind: string, plural: string, namespaced = true): Resource => ({
  ...{ group, version, kind, plural, namespaced },
})

const RESOURCES: readonly Resource[] = [
  ...CACHED_KINDS.map(({ resource }) => resource),
  ...OPTIONAL_KINDS.map(({ group, kind, versions }) => builtIn(group, versions[0]!, kind, `${kind.toLowerCase()}s`)),
  EVENTS,
  LEASES,
  builtIn('', 'v1', 'Namespace', 'namespaces', false),
  builtIn('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  builtIn('', 'v1', 'ResourceQuota', 'resourcequotas'),
  builtIn('apps', 'v1', 'ReplicaSet', 'replicasets'),
  builtIn('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions', false),
  builtIn('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles', false),
  builtIn('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'clusterrolebindings', false),
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].map(kind =>
    builtIn('admissionregistration.k8s.io', 'v1', kind, kind.toLowerCase().replace(/y$/, 'ie').concat('s'), false),
  ),
]

export function createClusterObjects(ask: ApiRequest, namespace: string): ClusterObjects {
  const self: ClusterObjects = {
    async get(kind, name) {
      try {
        return await ask('GET', objectPath(resourceOf(kind), { namespace, name }))
      } catch (error) {
        if (error instanceof ApiRefusal && error.status === 404) return undefined
        throw error
      }
    },
    async list(kind, labelSelector = '') {
      const resource = resourceOf(kind)
      const { items } = await ask('GET', `${collectionPath(resource, namespace)}?labelSelector=${encodeURIComponent(labelSelector)}`)
      // Items of a list do not say what they are.
      return items.map((item: object) => ({ ...item, kind }))
    },
    apply(object, manager = 'tester') {
      const { kind, metadata } = object as ClusterObject
      const path = objectPath(resourceOf(kind), { namespace, name: metadata.name })
      return ask('PATCH', `${path}?fieldManager=${manager}&force=true`, object, 'application/apply-patch+yaml')
    },
    patch: (kind, name, patch, subresource) =>
      ask(
        'PATCH',
        `${objectPath(resourceOf(kind), { namespace, name }, subresource)}?fieldManager=somebody`,
        patch,
        'application/merge-patch+json',
      ),
    async remove(kind, name) {
      await ask('DELETE', objectPath(resourceOf(kind), { namespace, name }), { propagationPolicy: 'Background' }).catch(error => {
        if (!(error instanceof ApiRefusal && error.status === 404)) throw error
      })
    },
    async until(what, kind, name, holds, limitMs) {
      let last: ClusterObject
      try {
        return await until(
          what,
          async () => {
            last = await self.get(kind, name)
            return last !== undefined && holds(last) ? last : undefined
          },
          limitMs,
        )
      } catch (error) {
        throw new Error(`${(error as Error).message}; ${kind} ${name} is\n${describe(last)}`, { cause: error })
      }
    },
    condition: (kind, name, type, wanted, limitMs) =>
      self.until(
        `${kind} ${name}: ${type} is ${wanted}`,
        kind,
        name,
        object => {
          const condition = conditionOf(object, type)
          const isCurrent = condition?.observedGeneration === object.metadata.generation
          return isCurrent && (condition.reason === wanted || condition.status === wanted)
        },
        limitMs,
      ),
  }
  return self
}

const describe = (object: ClusterObject): string =>
  object?.status?.conditions
    ?.map(({ type, status, reason, message }: ClusterObject) => `${type} ${status} ${reason}: ${message}`)
    .join('\n') ?? JSON.stringify(object)

export const conditionOf = ({ status }: ClusterObject, type: string) =>
  status?.conditions?.find((condition: { readonly type: string }) => condition.type === type)

function resourceOf(kind: string): Resource {
  const found = RESOURCES.find(resource => resource.kind === kind)
  if (found === undefined) throw new Error(`${kind}: no kind that tests know`)
  return found
}
