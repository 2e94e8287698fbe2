import type { KubernetesObject } from '../../dataplane/kube/object.ts'

/** By time of creation, of equally old objects by name; 0 for one and the same. */
export function byAge({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): number {
  const [first, second] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`]
  if (first === second) return 0
  return `${a.creationTimestamp ?? ''} ${first}` < `${b.creationTimestamp ?? ''} ${second}` ? -1 : 1
}
