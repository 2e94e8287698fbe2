import type { Answer } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import { canonicalJson } from './canonical-json.ts'

/** Whether the object has this status already; the order of members does not count. */
export function hasStatus(object: KubernetesObject, status: object): boolean {
  return canonicalJson(object['status']) === canonicalJson(status)
}

/** Writes the status where it differs from what the object has; the object as it is then, or undefined when there was nothing to write. */
export async function writeStatus(
  client: KubeClient,
  resource: Resource,
  object: KubernetesObject,
  status: object,
): Promise<Answer<KubernetesObject | undefined>> {
  if (hasStatus(object, status)) return { ok: true, value: undefined }
  const { apiVersion, kind, metadata } = object
  const { name, namespace, uid } = metadata
  const target = { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) }
  return client.applyStatus(resource, { apiVersion, kind, metadata: target, status })
}
