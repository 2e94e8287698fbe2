/** Writes the status of one kind of resource, and tells the rest of the operator that it did. */
import type { ApiAnswer } from '../../dataplane/kube/api-failure.ts'
import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import type { Condition } from '../api/status.ts'
import { writeStatus } from '../reconcile/write-status.ts'
import type { ToldStatuses } from './told-statuses.ts'
import type { TellTransitions } from './transition-events.ts'

export interface StatusDeps {
  readonly cache: Pick<ObjectCache, 'get' | 'noteApplied'>
  readonly client: KubeClient
  readonly tell: TellTransitions
  readonly told: Pick<ToldStatuses, 'note'>
  readonly onStatusWrite?: (kind: string) => void
}

interface Status {
  readonly conditions?: readonly Condition[] | undefined
}

/** Resolves to the object as it is then, or to undefined when it had the status already. */
export async function tellStatus<T extends KubernetesObject & { readonly status?: Status }>(
  { client, cache, tell, told, onStatusWrite }: StatusDeps,
  resource: Resource,
  object: T,
  status: Status,
): Promise<ApiAnswer<KubernetesObject | undefined>> {
  told.note(object, status)
  const written = await writeStatus(client, resource, object, status)
  if (!written.ok || written.value === undefined) return written
  // As the API server keeps it.
  told.note(object, written.value['status'] ?? status)
  onStatusWrite?.(resource.kind)
  tell(object, object.status?.conditions ?? [], status.conditions ?? [])
  cache.noteApplied(resource, written.value)
  return written
}

/** As `metav1.Time`: RFC 3339 in UTC, whole seconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
