/** The content of Secrets that something refers to: asked for one by one, kept as long as it is referred to, asked for again once it changed. */
import type { ApiFailure } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Problem } from '../observed/finding.ts'
import type { Secret } from '../observed/foreign-kinds.ts'
import type { SecretsRead } from '../observed/gathered.ts'
import type { WantedSecrets } from '../observed/references.ts'
import { keptSecret } from './kept-secret.ts'
import { SECRETS } from './kinds.ts'
import { createSecretReferences, secretKey } from './secret-references.ts'

export interface SecretContentsDeps {
  readonly client: Pick<KubeClient, 'get'>
  /** Metadata of a Secret, from the watch. */
  readonly metadataOf: (namespace: string | undefined, name: string) => KubernetesObject | undefined
}

/** `failure`: of a Secret that could not be asked for; it should be tried again. */
export interface ReadSecrets extends Required<Pick<SecretsRead, 'secrets' | 'unreadSecrets'>> {
  readonly failure?: ApiFailure
}

export interface SecretContents {
  /** Replaces the owner's earlier references and resolves to their Secrets. A Secret that has not changed is not asked for again. Never rejects. */
  read(owner: string, namespace: string | undefined, wanted: WantedSecrets): Promise<ReadSecrets>
  /** Drops the references of an owner that is gone, and the Secrets that no other owner refers to. */
  forget(owner: string): void
  /** How many Secrets are known. */
  readonly size: number
}

/** The watch may tell of a newer version while the answer is on its way. */
const MAX_TRIES = 3

interface Known {
  /** Undefined: it was gone when it was asked for. */
  readonly secret: Secret | undefined
  /** Versions of the metadata for which the content was asked, and of the content that came. */
  readonly versions: readonly string[]
  /** The keys whose values are kept. */
  readonly keys: ReadonlySet<string>
}

export function createSecretContents({ client, metadataOf }: SecretContentsDeps): SecretContents {
  const known = new Map<string, Known>()
  const references = createSecretReferences()
  const asking = new Map<string, Promise<ApiFailure | undefined>>()

  const drop = (keys: readonly string[]): void => {
    for (const key of keys) known.delete(key)
  }

  const ask = async (key: string, { metadata }: KubernetesObject): Promise<ApiFailure | undefined> => {
    const { namespace, name } = metadata
    const keys = references.wantedKeys(key, name)
    const answer = await client.get(SECRETS, namespace === undefined ? { name } : { namespace, name })
    if (!answer.ok && answer.failure.status !== 404) return answer.failure
    const secret = answer.ok ? keptSecret(answer.value, keys) : undefined
    const versions = [versionOf(metadata), ...(secret === undefined ? [] : [versionOf(secret.metadata)])]
    if (references.isWanted(key)) known.set(key, { secret, versions, keys })
    return undefined
  }

  /** Owners that share a Secret share one request. */
  const askOnce = (key: string, seen: KubernetesObject): Promise<ApiFailure | undefined> => {
    const under = asking.get(key) ?? ask(key, seen).finally(() => asking.delete(key))
    asking.set(key, under)
    return under
  }

  const readOne = async (namespace: string | undefined, name: string, keys: ReadonlySet<string>) => {
    const key = secretKey(namespace, name)
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const seen = metadataOf(namespace, name)
      if (seen === undefined) {
        known.delete(key)
        return {}
      }
      const found = known.get(key)
      if (found?.versions.includes(versionOf(seen.metadata)) && hasAll(found.keys, keys)) return { secret: found.secret }
      const failure = await askOnce(key, seen)
      if (failure !== undefined) return { secret: found !== undefined && hasAll(found.keys, keys) ? found.secret : undefined, failure }
    }
    return { secret: known.get(key)?.secret }
  }

  return {
    async read(owner, namespace, wanted) {
      drop(references.replace(owner, namespace, wanted))
      const secrets = new Map<string, Secret>()
      const unread = new Map<string, Problem>()
      let first: ApiFailure | undefined
      for (const [name, keys] of wanted) {
        const { secret, failure } = await readOne(namespace, name, keys)
        if (secret !== undefined) secrets.set(name, secret)
        if (failure === undefined) continue
        first ??= failure
        // While the API server is in trouble the known content goes on being used. A missing right is told even then.
        if (secret === undefined || isForbidden(failure)) unread.set(name, problemOf(failure))
      }
      return { secrets: toRecord(secrets), unreadSecrets: toRecord(unread), ...(first !== undefined && { failure: first }) }
    },
    forget(owner) {
      drop(references.remove(owner))
    },
    get size() {
      return known.size
    },
  }
}

const hasAll = (set: ReadonlySet<string>, wanted: ReadonlySet<string>) => [...wanted].every(key => set.has(key))

function versionOf({ uid = '', resourceVersion = '' }: KubernetesObject['metadata']): string {
  return `${uid} ${resourceVersion}`
}

const isForbidden = ({ status }: ApiFailure) => status === 403

function problemOf(failure: ApiFailure): Problem {
  const message = failure.advice === undefined ? failure.message : `${failure.message}; ${failure.advice}`
  if (isForbidden(failure)) return { reason: 'Forbidden', message, effect: 'stalled' }
  return { reason: 'SecretNotRead', message, effect: 'progressing' }
}

const toRecord = <T>(entries: ReadonlyMap<string, T>): Readonly<Record<string, T>> => Object.fromEntries(entries)
