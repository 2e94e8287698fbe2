/** Cuts objects down to the fields that stay in memory: those that show whether the object is as it was applied, and those that are read. */
import { OPERATOR_NAME } from '../../contract/operator-name.ts'
import type { FieldsV1, KubernetesObject, ManagedFieldsEntry, ObjectMeta } from '../object.ts'

export type Slim = (object: KubernetesObject) => KubernetesObject

type Fields = Readonly<Record<string, unknown>>

const REPLICAS: FieldsV1 = { 'f:spec': { 'f:replicas': {} } }
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Keeps the metadata that matters and the named fields, such as `spec.replicas` or `status`. Of an object that we did not apply and that has not our label,
 * `stubForeign` leaves its name and owner, unless the API server says nothing of who did; `stubMetadata` leaves these of the metadata of any object.
 * `keepTimes` keeps when we applied.
 */
export function keepFields(paths: readonly string[], { stubForeign = false, stubMetadata = false, keepTimes = false } = {}): Slim {
  const parts = paths.map(path => path.split('.'))
  return object => {
    const { apiVersion, kind, metadata } = object
    const entries = metadata.managedFields?.flatMap(entry => slimEntry(entry, keepTimes))
    if (stubForeign && entries !== undefined && !entries.some(({ manager }) => manager === OPERATOR_NAME) && !hasOurLabel(metadata))
      return { apiVersion, kind, metadata: stubOf(metadata) }
    const kept: Record<string, unknown> = {}
    for (const path of parts) copy(object, kept, path)
    return { ...kept, apiVersion, kind, metadata: stubMetadata ? stubOf(metadata) : slimMetadata(metadata, entries) }
  }
}

/** A backup brings back our objects as those of another manager. */
function hasOurLabel({ labels }: ObjectMeta): boolean {
  return labels?.['app.kubernetes.io/managed-by'] === OPERATOR_NAME
}

function slimMetadata(
  { annotations, managedFields: _all, ...rest }: ObjectMeta,
  managedFields: readonly ManagedFieldsEntry[] | undefined,
): ObjectMeta {
  const { [LAST_APPLIED]: _lastApplied, ...kept } = annotations ?? {}
  return { ...rest, ...(annotations !== undefined && { annotations: kept }), ...(managedFields !== undefined && { managedFields }) }
}

function stubOf({ name, namespace, uid, resourceVersion, ownerReferences, deletionTimestamp }: ObjectMeta): ObjectMeta {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(ownerReferences !== undefined && { ownerReferences }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  }
}

/** The fields that we applied. Of other managers only whether they own the number of replicas. */
function slimEntry(
  { manager, operation, subresource, fieldsV1, time }: ManagedFieldsEntry,
  keepsTimes: boolean,
): readonly ManagedFieldsEntry[] {
  const isOurs = manager === OPERATOR_NAME && operation === 'Apply' && subresource === undefined
  const ownsReplicas = fieldsV1?.['f:spec']?.['f:replicas'] !== undefined
  if (fieldsV1 === undefined || (!isOurs && !ownsReplicas)) return []
  const entry = {
    fieldsV1: isOurs ? share(fieldsV1) : REPLICAS,
    ...(manager !== undefined && { manager }),
    ...(operation && { operation }),
    ...(isOurs && keepsTimes && time !== undefined && { time }),
  }
  return [subresource === undefined ? entry : { ...entry, subresource }]
}

/** The only part of our fields that differs from owner to owner; without it the key stands for any item. */
const OWNER_KEY = /"k:\{\\"uid\\":\\"[^"\\]*\\"\}"/g

/** Objects of the same kind for many owners have the same fields: one tree serves them all. */
const shared = new Map<string, FieldsV1>()
const MAX_SHARED = 5000

function share(fields: FieldsV1): FieldsV1 {
  const text = JSON.stringify(fields).replace(OWNER_KEY, '"k:{}"')
  const known = shared.get(text)
  if (known !== undefined) return known
  if (shared.size >= MAX_SHARED) shared.clear()
  const tree = JSON.parse(text) as FieldsV1
  shared.set(text, tree)
  return tree
}

function copy(from: Fields, to: Record<string, unknown>, [name, ...rest]: readonly string[]): void {
  const value = name === undefined ? undefined : from[name]
  if (name === undefined || value === undefined || value === null) return
  if (rest.length === 0) to[name] = value
  else {
    const inner = (to[name] ?? {}) as Record<string, unknown>
    to[name] = inner
    copy(value as Fields, inner, rest)
  }
}
