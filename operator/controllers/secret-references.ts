/** Which owners refer to which Secrets, and to which keys of them. */
import { keyOf } from '../../dataplane/kube/resource.ts'
import type { WantedSecrets } from '../observed/references.ts'

export interface SecretReferences {
  /** Replaces the owner's references; the keys of the Secrets that nobody refers to since. */
  replace(owner: string, namespace: string | undefined, wanted: WantedSecrets): readonly string[]
  /** Drops the owner's references; the keys of the Secrets that nobody refers to since. */
  remove(owner: string): readonly string[]
  isWanted(key: string): boolean
  /** The keys within the Secret that any owner wants. */
  wantedKeys(key: string, name: string): ReadonlySet<string>
}

interface Owner {
  readonly namespace: string | undefined
  readonly wanted: WantedSecrets
}

const NOTHING: Owner = { namespace: undefined, wanted: new Map() }

/** Names a Secret, in tables by Secret. */
export function secretKey(namespace: string | undefined, name: string): string {
  return keyOf(namespace === undefined ? { name } : { namespace, name })
}

export function createSecretReferences(): SecretReferences {
  const owners = new Map<string, Owner>()
  /** By Secret, the owners that refer to it. */
  const ownersOf = new Map<string, Set<string>>()

  const keysOf = ({ namespace, wanted }: Owner) => [...wanted.keys()].map(name => secretKey(namespace, name))

  /** Drops the references of the owner, and returns the keys that they named. */
  const release = (owner: string): readonly string[] => {
    const keys = keysOf(owners.get(owner) ?? NOTHING)
    owners.delete(owner)
    for (const key of keys) {
      const left = ownersOf.get(key)
      left?.delete(owner)
      if (left?.size === 0) ownersOf.delete(key)
    }
    return keys
  }

  const isWanted = (key: string) => ownersOf.has(key)
  const unwantedOf = (keys: readonly string[]) => keys.filter(key => !isWanted(key))

  return {
    replace(owner, namespace, wanted) {
      const before = release(owner)
      const next = { namespace, wanted }
      owners.set(owner, next)
      for (const key of keysOf(next)) ownersOf.set(key, (ownersOf.get(key) ?? new Set()).add(owner))
      return unwantedOf(before)
    },
    remove: owner => unwantedOf(release(owner)),
    isWanted,
    wantedKeys: (key, name) => new Set([...(ownersOf.get(key) ?? [])].flatMap(owner => [...(owners.get(owner)?.wanted.get(name) ?? [])])),
  }
}
