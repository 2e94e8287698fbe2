/** Objects of the Kubernetes API as plain JSON, as they go over the wire. */

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** Which manager set which fields, and how. */
export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: FieldsV1
  readonly subresource?: string
}

/** A tree of field names: `f:<name>`, `k:<keys of a list item as JSON>`, `v:<value of a set>`, `.` for the item itself. */
export interface FieldsV1 {
  readonly [field: string]: FieldsV1
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly resourceVersion?: string
  readonly generation?: number
  readonly uid?: string
  /** RFC 3339, in UTC. */
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

/** Other fields of the kind (`spec`, `data`, `status` …) are read through a narrower type. */
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
