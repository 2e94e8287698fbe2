import type { KubernetesObject, ObjectMeta } from '../../dataplane/kube/object.ts'

interface TypedObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: object
}

/** An object of a kind that the compiler knows (`kubernetes-types`). */
export function typed<T extends TypedObject>(
  metadata: ObjectMeta,
  { apiVersion, kind, ...fields }: Omit<T, 'metadata' | 'apiVersion' | 'kind'> & Required<Pick<T, 'apiVersion' | 'kind'>>,
): KubernetesObject {
  return { apiVersion: apiVersion as string, kind: kind as string, metadata, ...fields }
}
