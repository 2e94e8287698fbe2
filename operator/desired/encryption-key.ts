/** The Secret under whose key the ticketing agents of mode Distributed keep the secrets that callers configure. Standalone has a key of its own. */
import type { V1Secret } from '@kubernetes/client-node'
import type { SettingName } from '../../dataplane/contract/env.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { encryptionKeyName, isKeyMade, lostKey } from '../observed/encryption-key.ts'
import { metadataOf, type PipelineContext } from './pipeline-context.ts'
import type { RoleSettings } from './role-settings.ts'
import { typed } from './typed-object.ts'

const SETTING = 'ENCRYPTION_KEY' satisfies SettingName

/** A Secret that is made once, and then left as it is: what was encrypted with its key can be read with no other. */
export interface MadeOnce {
  readonly secret: KubernetesObject
  /** Gets 32 random bytes in base64. */
  readonly key: string
}

export function buildEncryptionKey(context: PipelineContext): readonly MadeOnce[] {
  if (!isKeyMade(context.spec) || lostKey(context.gathered) !== undefined) return []
  const metadata = metadataOf(context, encryptionKeyName(context.name), 'ticketing')
  return [{ secret: typed<V1Secret>(metadata, { apiVersion: 'v1', kind: 'Secret', type: 'Opaque' }), key: SETTING }]
}

/** The content is not read: a pod waits for the Secret, and the key in it does not change by itself. */
export function encryptionKeySettings(context: PipelineContext): RoleSettings {
  if (!isKeyMade(context.spec)) return {}
  return { [SETTING]: { kind: 'secret', name: encryptionKeyName(context.name), key: SETTING, content: 'made once' } }
}
