/** What an `ExternalSecret` of the External Secrets operator says of its synchronisation (Decisions 10). */
import type { KubernetesObject } from '../../kube/object.ts'
import type { ExternalSecret } from './sections.ts'

/** As far as the agent reads it; `v1` and `v1beta1` have this in common. */
export interface ExternalSecretResource extends KubernetesObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[] | null
    readonly refreshTime?: string | null
  }
}

const SYNCED_REASONS: readonly (string | undefined)[] = ['SecretSynced', 'SecretDeleted']

export function readExternalSecret({ metadata, status }: ExternalSecretResource): ExternalSecret {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const isSynced = ready?.status === 'True' && SYNCED_REASONS.includes(ready.reason)
  return { name: metadata.name, status: isSynced ? 'SecretSynced' : 'SecretSyncError', lastSyncTime: status?.refreshTime ?? null }
}
