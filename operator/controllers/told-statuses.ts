import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { hashOf } from '../reconcile/canonical-json.ts'

/** The statuses that were written last: they tell a status of ours from one that somebody else wrote. */
export interface ToldStatuses {
  /** To be called before the status is written, since the watch may be faster than the answer. */
  note(object: KubernetesObject, status: object): void
  isTold(object: KubernetesObject): boolean
  forget(object: KubernetesObject): void
}

export function createToldStatuses(): ToldStatuses {
  /** By uid, the hash of the status. */
  const told = new Map<string, string>()
  return {
    note: ({ metadata: { uid = '' } }, status) => void told.set(uid, hashOf(status)),
    isTold: ({ metadata: { uid = '' }, ['status']: status }) => told.get(uid) === hashOf(status),
    forget: ({ metadata: { uid = '' } }) => void told.delete(uid),
  }
}
