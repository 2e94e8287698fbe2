import { isJsonObject } from '../../dataplane/json/is-json-object.ts'
import type { ApiAnswer } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import { canonicalJson } from './canonical-json.ts'

/** Whether the object has this status already; the order of members and conditions does not count, nor does a map without any. */
export function hasStatus(object: KubernetesObject, status: object): boolean {
  return comparable((object['status'] ?? {}) as object) === comparable(status)
}

/** Conditions are a map by their type: an API server may keep a new one elsewhere than it was applied. */
function comparable(status: { readonly conditions?: unknown }): string {
  const { conditions } = status
  const inOrder = Array.isArray(conditions) ? { conditions: conditions.toSorted((a, b) => `${a?.type}`.localeCompare(`${b?.type}`)) } : {}
  return canonicalJson(withoutEmptyMaps({ ...status, ...inOrder }))
}

/**
 * The API server makes null of a map that is applied empty and had members of ours, and refuses the whole status for it (seen with 1.34.4, 2026-11-30):
 * a pipeline all of whose workloads are gone would stay Ready. A map that is left out goes as it should.
 */
function withoutEmptyMaps(status: object): Readonly<Record<string, unknown>> {
  const isEmptyMap = (value: unknown) => isJsonObject(value) && Object.keys(value).length === 0
  return Object.fromEntries(Object.entries(status).filter(([, value]) => !isEmptyMap(value)))
}

/** A field of a status that the CRD lacks, as the API server names it when it refuses an apply: one at a time. */
const UNDECLARED = /[.]status[.](\w+): field not declared in schema/

/**
 * Writes the status where it differs from what the object has; the object as it is then, or undefined when there was nothing to write. Fields that the CRD
 * does not know, being of an older release, are left out: the API server refuses them, and with them all others.
 */
export async function writeStatus(
  client: KubeClient,
  resource: Resource,
  object: KubernetesObject,
  status: object,
): Promise<ApiAnswer<KubernetesObject | undefined>> {
  if (hasStatus(object, status)) return { ok: true, value: undefined }
  const { apiVersion, kind, metadata } = object
  const { name, namespace, uid } = metadata
  const target = { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) }
  const write = async (known: Readonly<Record<string, unknown>>): Promise<ApiAnswer<KubernetesObject>> => {
    const answer = await client.applyStatus(resource, { apiVersion, kind, metadata: target, status: known })
    const [, undeclared = ''] = answer.ok ? [] : (UNDECLARED.exec(answer.failure.message) ?? [])
    if (!Object.hasOwn(known, undeclared)) return answer
    return write(Object.fromEntries(Object.entries(known).filter(([field]) => field !== undeclared)))
  }
  return write(withoutEmptyMaps(status))
}
