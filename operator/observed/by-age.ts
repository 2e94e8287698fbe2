import type { KubernetesObject } from '../../dataplane/kube/object.ts'

/** By time of creation, of equally old objects by name; 0 for one and the same. */
export function byAge({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): number {
  return compare(a.creationTimestamp, b.creationTimestamp) || compare(a.namespace, b.namespace) || compare(a.name, b.name)
}

const compare = (a = '', b = '') => (a < b ? -1 : Number(a > b))
