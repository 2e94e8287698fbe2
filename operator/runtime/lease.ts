/** The words of a Lease (coordination.k8s.io) that tell who leads, as with client-go. */
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'

export const LEASES: Resource = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true }

/** How long others wait for a leader that is silent. */
export const LEASE_MS = 15_000

export interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

/** The Lease as seen last, and when it last changed: times within it are another machine's. */
export interface SeenLease {
  readonly lease: KubernetesObject
  readonly changedMs: number
}

export function specOf(lease: KubernetesObject): LeaseSpec {
  return (lease['spec'] ?? {}) as LeaseSpec
}

/** Whether another process leads by the Lease, and its time is not over. */
export function isHeldByOther({ lease, changedMs }: SeenLease, identity: string, nowMs: number): boolean {
  const { holderIdentity = '', leaseDurationSeconds = LEASE_MS / 1000 } = specOf(lease)
  return holderIdentity !== '' && holderIdentity !== identity && nowMs < changedMs + leaseDurationSeconds * 1000
}

/** The Lease in the hands of `identity`; `before`: as it was, undefined where there is none. */
export function heldBy(identity: string, before: LeaseSpec | undefined, nowMs: number): LeaseSpec {
  const now = microTime(nowMs)
  const isOurs = before?.holderIdentity === identity
  return {
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_MS / 1000,
    acquireTime: isOurs ? (before.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: before === undefined ? 0 : (before.leaseTransitions ?? 0) + (isOurs ? 0 : 1),
  }
}

/** The Lease in nobody's hands. */
export function givenBack({ acquireTime: _acquired, ...before }: LeaseSpec, nowMs: number): LeaseSpec {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(nowMs) }
}

/** `MicroTime`: the API server refuses milliseconds there. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}
