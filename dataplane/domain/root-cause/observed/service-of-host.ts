/** Which service a host name belongs to: `payments.shop.svc.cluster.local` is `payments`, `orders-db-0` one of `orders-db` (Decisions 6). */

/** The position in `services`; undefined for a host of none. Small letters. */
export type FindHost = (host: string) => number | undefined

/** Kubernetes makes names of these: no vowels. */
const SAFE = '[bcdfghjklmnpqrstvwxz2456789]'
/** The number of a replica of a StatefulSet; what a Deployment adds to its name for a ReplicaSet, and that, or a DaemonSet, for a pod. */
const REPLICA = new RegExp(`-(?:\\d+|${SAFE}{8,10}|(?:${SAFE}{8,10}-)?${SAFE}{5})$`)

export function createFindHost(services: readonly string[]): FindHost {
  const byName = new Map(services.map((name, service) => [name.toLowerCase(), service]))
  const find = (name: string) => byName.get(name) ?? byName.get(name.replace(REPLICA, ''))
  return host => {
    // The second label is the service, where the host is a pod behind a headless service.
    const [first = '', second] = host.split('.')
    // The kubelet writes `orders-7d9f5c4b8d-x2v4p_shop`, with the namespace.
    return byName.get(host) ?? find(first) ?? find(first.split('_')[0]!) ?? (second === undefined ? undefined : byName.get(second))
  }
}
