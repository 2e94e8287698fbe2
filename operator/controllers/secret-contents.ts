/** The content of Secrets that something refers to: asked for one by one, kept as long as it is referred to, asked for again once it changed. */
import type { ApiFailure } from '../../dataplane/kube/api-failure.ts'
import type { KubeClient } from '../../dataplane/kube/kube-client.ts'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { keyOf } from '../../dataplane/kube/resource.ts'
import { inputsHash } from '../desired/inputs-hash.ts'
import type { Problem } from '../observed/finding.ts'
import type { Secret } from '../observed/foreign-kinds.ts'
import type { SecretsRead } from '../observed/gathered.ts'
import { ALL_KEYS, type WantedSecrets } from '../observed/references.ts'
import { SECRETS } from './kinds.ts'

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

/** A longer value is kept as its digest. Values that are copied are shorter (`MAX_FIELD_BYTES`). */
export const MAX_KEPT_CHARACTERS = 22 * 1024
/** Keys without a reference whose names are kept, for messages. */
const MAX_OTHER_KEYS = 9
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

interface Owner {
  readonly namespace: string | undefined
  readonly wanted: WantedSecrets
}

export function createSecretContents({ client, metadataOf }: SecretContentsDeps): SecretContents {
  const known = new Map<string, Known>()
  const owners = new Map<string, Owner>()
  /** By Secret, the owners that refer to it. */
  const ownersOf = new Map<string, Set<string>>()
  const asking = new Map<string, Promise<ApiFailure | undefined>>()

  const release = (owner: string): void => {
    const { namespace, wanted } = owners.get(owner) ?? NOTHING
    owners.delete(owner)
    for (const name of wanted.keys()) {
      const key = nameOf(namespace, name)
      const left = ownersOf.get(key)
      left?.delete(owner)
      if (left?.size === 0) ownersOf.delete(key)
    }
  }

  const keep = (owner: string, namespace: string | undefined, wanted: WantedSecrets): void => {
    const before = owners.get(owner) ?? NOTHING
    release(owner)
    owners.set(owner, { namespace, wanted })
    for (const name of wanted.keys()) {
      const key = nameOf(namespace, name)
      ownersOf.set(key, (ownersOf.get(key) ?? new Set()).add(owner))
    }
    drop(before)
  }

  const drop = ({ namespace, wanted }: Owner): void => {
    for (const name of wanted.keys()) {
      const key = nameOf(namespace, name)
      if (!ownersOf.has(key)) known.delete(key)
    }
  }

  const wantedKeys = (key: string, name: string): ReadonlySet<string> =>
    new Set([...(ownersOf.get(key) ?? [])].flatMap(owner => [...(owners.get(owner)?.wanted.get(name) ?? [])]))

  const ask = async (key: string, { metadata }: KubernetesObject): Promise<ApiFailure | undefined> => {
    const { namespace, name } = metadata
    const keys = wantedKeys(key, name)
    const answer = await client.get(SECRETS, namespace === undefined ? { name } : { namespace, name })
    if (!answer.ok && answer.failure.status !== 404) return answer.failure
    const secret = answer.ok ? slim(answer.value, keys) : undefined
    const versions = [versionOf(metadata), ...(secret === undefined ? [] : [versionOf(secret.metadata)])]
    if (ownersOf.has(key)) known.set(key, { secret, versions, keys })
    return undefined
  }

  /** Owners that share a Secret share one request. */
  const askOnce = (key: string, seen: KubernetesObject): Promise<ApiFailure | undefined> => {
    const under = asking.get(key) ?? ask(key, seen).finally(() => asking.delete(key))
    asking.set(key, under)
    return under
  }

  const readOne = async (namespace: string | undefined, name: string, keys: ReadonlySet<string>) => {
    const key = nameOf(namespace, name)
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
      keep(owner, namespace, wanted)
      const secrets = new Map<string, Secret>()
      const unread = new Map<string, Problem>()
      let first: ApiFailure | undefined
      for (const [name, keys] of wanted) {
        const { secret, failure } = await readOne(namespace, name, keys)
        if (secret !== undefined) secrets.set(name, secret)
        if (failure === undefined) continue
        first ??= failure
        const isForbidden = failure.status === 403
        const message = describe(failure)
        // While the API server is in trouble the known content goes on being used. A missing right is told even then.
        if (secret === undefined || isForbidden)
          unread.set(
            name,
            isForbidden ? { reason: 'Forbidden', message, effect: 'stalled' } : { reason: 'SecretNotRead', message, effect: 'progressing' },
          )
      }
      return { secrets: toRecord(secrets), unreadSecrets: toRecord(unread), ...(first !== undefined && { failure: first }) }
    },
    forget(owner) {
      const before = owners.get(owner) ?? NOTHING
      release(owner)
      drop(before)
    },
    get size() {
      return known.size
    },
  }
}

const NOTHING: Owner = { namespace: undefined, wanted: new Map() }

const hasAll = (set: ReadonlySet<string>, wanted: ReadonlySet<string>) => [...wanted].every(key => set.has(key))

function nameOf(namespace: string | undefined, name: string): string {
  return keyOf(namespace === undefined ? { name } : { namespace, name })
}

function versionOf({ uid = '', resourceVersion = '' }: KubernetesObject['metadata']): string {
  return `${uid} ${resourceVersion}`
}

function describe({ message, advice }: ApiFailure): string {
  return advice === undefined ? message : `${message}; ${advice}`
}

const toRecord = <T>(entries: ReadonlyMap<string, T>): Readonly<Record<string, T>> => Object.fromEntries(entries)

/** The Secret without the values that no reference wants. */
function slim({ apiVersion, kind, metadata, ['data']: data }: KubernetesObject, keys: ReadonlySet<string>): Secret {
  const { name, namespace, uid, resourceVersion } = metadata
  const entries: [string, string][] = []
  const long: [string, number][] = []
  let others = 0
  for (const [key, value] of Object.entries((data ?? {}) as NonNullable<Secret['data']>)) {
    if (!keys.has(key) && !keys.has(ALL_KEYS)) {
      if (others++ < MAX_OTHER_KEYS) entries.push([key, ''])
    } else if (isLong(value)) {
      entries.push([key, standIn(value)])
      long.push([key, Buffer.byteLength(value, 'base64')])
    } else entries.push([key, value])
  }
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    data: Object.fromEntries(entries),
    ...(long.length > 0 && { longValues: Object.fromEntries(long) }),
  }
}

const isLong = (base64: string) => base64.length > MAX_KEPT_CHARACTERS

/** Stands for a long value: it differs when the content does, and looks like PEM when the content is PEM. */
function standIn(base64: string): string {
  const marker = Buffer.from(base64, 'base64').includes('-----BEGIN ') ? '-----BEGIN ' : ''
  return btoa(`${marker}sha256 ${inputsHash(base64)}`)
}
