import { randomBytes } from 'node:crypto'
import type { ObjectCache } from '../../dataplane/kube/informers/object-cache.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import { referenceTo } from '../../dataplane/kube/object.ts'
import type { MadeOnce } from '../desired/encryption-key.ts'
import type { ObjectProblem } from '../reconcile/reconcile-objects.ts'
import { SECRETS } from './kinds.ts'

export interface MakeOnceDeps {
  readonly client: Pick<KubeClient, 'create'>
  readonly cache: Pick<ObjectCache, 'get' | 'noteApplied'>
}

const KEY_BYTES = 32

/** Makes the Secrets that are not there. Created, not applied: one that is there already is not touched, even where the cache does not know of it yet. */
export async function makeOnce({ client, cache }: MakeOnceDeps, wanted: readonly MadeOnce[]): Promise<readonly ObjectProblem[]> {
  const problems: ObjectProblem[] = []
  for (const { secret, key } of wanted) {
    if (cache.get(SECRETS, secret.metadata.namespace, secret.metadata.name) !== undefined) continue
    // The value of the setting is base64, as is every value of a Secret.
    const value = Buffer.from(randomBytes(KEY_BYTES).toString('base64')).toString('base64')
    const answer = await client.create(SECRETS, { ...secret, data: { [key]: value } })
    if (answer.ok) cache.noteApplied(SECRETS, answer.value)
    else if (answer.failure.status !== 409) {
      const { failure } = answer
      problems.push({ object: referenceTo(secret), reason: 'ApplyFailed', message: failure.message, failure })
    }
  }
  return problems
}
