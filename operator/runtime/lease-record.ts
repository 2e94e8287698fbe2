/** The Lease in the cluster, as this process saw it last. */
import type { ApiAnswer, ApiFailure } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient, RequestOptions } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { ObjectName } from '../../dataplane/kube/resource.ts'
import type { Clock } from '../../dataplane/ports/clock.ts'
import { LEASES, type LeaseSpec, type SeenLease, specOf } from './lease.ts'

export interface LeaseRecord {
  /** Undefined where there is no Lease, or nothing is known of it. */
  readonly seen: SeenLease | undefined
  readonly spec: LeaseSpec | undefined
  /** Resolves to why the Lease could not be read; a Lease that is not there is a failure as well, and forgotten. */
  read(options: RequestOptions): Promise<ApiFailure | undefined>
  /** Makes the Lease, or replaces the one that was seen; resolves to why that did not work. */
  write(spec: LeaseSpec, options: RequestOptions): Promise<ApiFailure | undefined>
  forget(): void
}

export function createLeaseRecord({ namespace, name }: Required<ObjectName>, client: KubeClient, clock: Clock): LeaseRecord {
  let seen: SeenLease | undefined

  const take = (answer: ApiAnswer<KubernetesObject>): ApiFailure | undefined => {
    if (!answer.ok) return answer.failure
    const lease = answer.value
    if (seen?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion) seen = { lease, changedMs: clock.nowMs() }
    return undefined
  }

  return {
    get seen() {
      return seen
    },
    get spec() {
      return seen && specOf(seen.lease)
    },
    async read(options) {
      const failure = take(await client.get(LEASES, { namespace, name }, options))
      if (failure?.status === 404) seen = undefined
      return failure
    },
    async write(spec, options) {
      if (seen !== undefined) return take(await client.replace(LEASES, { ...seen.lease, spec }, options))
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec }
      return take(await client.create(LEASES, lease, options))
    },
    forget() {
      seen = undefined
    },
  }
}
