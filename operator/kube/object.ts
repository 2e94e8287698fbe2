/** Objects of the Kubernetes API as plain JSON, as they go over the wire. */

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** One field manager's claim on fields of an object; `fieldsV1` is a tree of `f:<name>` keys. */
export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly subresource?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
  readonly resourceVersion?: string
  readonly generation?: number
  readonly uid?: string
  /** RFC 3339, in UTC. */
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
}

/** Whatever else the kind has (`spec`, `data`, `status` …) is read through a narrower type. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** Where an object is, without what it says. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export function referenceTo({ apiVersion, kind, metadata: { name, namespace } }: KubernetesObject): ObjectReference {
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
}
