/** Says whom a key stands for, without asking the search store for each request. */
import { isKeyFormed } from '../domain/api-keys/api-key.ts'
import { keepBounded } from '../limits/keep-bounded.ts'
import { type Clock, monotonicMs } from '../ports/clock.ts'
import { SearchStoreUnavailable } from '../ports/search-store.ts'
import type { Log } from '../telemetry/log.ts'
import { type ApiKeyStore, hashKey, type KeyOwner, onRevoked } from './key-store.ts'
import { createKeyUses } from './key-uses.ts'

/** A key that was looked up this long ago is looked up again beside the request. */
const RENEW_MS = 300
/** … and before the request: a revoked key stops on every replica within this time. */
export const TRUST_MS = 900
/** While the search store is away, a key that was found valid within this time stays valid: without it logs would be lost. */
const GRACE_MS = 300_000
/** Keys that are remembered. */
const MAX_REMEMBERED = 10_000
/** Texts that look like a key and are none, as far as is known. */
const MAX_STRANGERS = 10_000
/** Look-ups of unknown keys at a time. */
const MAX_LOOKUPS = 256

export interface KeyCheck {
  /** Undefined for what is no valid key. Rejects with `SearchStoreUnavailable` when that cannot be known now. */
  check(header: string | readonly string[] | undefined): KeyOwner | undefined | Promise<KeyOwner | undefined>
  /** Writes the uses that are not written yet. */
  flush(): Promise<void>
  stop(): Promise<void>
}

interface Known {
  owner: KeyOwner | undefined
  /** The start of the look-up that this is known from, by monotonic time. */
  sinceMs: number
  lookup: Promise<void> | undefined
  isRevoked: boolean
}

export interface KeyCheckDeps {
  readonly keys: Pick<ApiKeyStore, 'find' | 'noteUses'>
  readonly clock: Clock
  readonly log: Log
}

export function createKeyCheck({ keys, clock, log }: KeyCheckDeps): KeyCheck {
  const known = new Map<string, Known>()
  /** Apart, so that keys that somebody makes up make nobody forget a key. */
  const strangers = new Map<string, Known>()
  const uses = createKeyUses({ keys, clock, log })
  let lookups = 0
  const forget = onRevoked(hash => {
    const entry = known.get(hash) ?? strangers.get(hash)
    if (entry !== undefined) entry.isRevoked = true
  })

  /** The one that was used longest ago is forgotten first. */
  const remember = (hash: string, entry: Known): void => {
    if (entry.owner === undefined) keepBounded(strangers, hash, entry, MAX_STRANGERS)
    else keepBounded(known, hash, entry, MAX_REMEMBERED)
  }
  const entryOf = (hash: string): Known => {
    const entry = known.get(hash) ??
      strangers.get(hash) ?? { owner: undefined, sinceMs: Number.NEGATIVE_INFINITY, lookup: undefined, isRevoked: false }
    remember(hash, entry)
    return entry
  }
  const lookUp = (hash: string, entry: Known): Promise<void> => {
    const look = async () => {
      const sinceMs = monotonicMs(clock)
      if (entry.owner === undefined && lookups >= MAX_LOOKUPS) throw new SearchStoreUnavailable('too many unknown keys at a time')
      lookups++
      try {
        const owner = await keys.find(hash)
        if ((owner === undefined) !== (entry.owner === undefined)) {
          known.delete(hash)
          strangers.delete(hash)
        }
        Object.assign(entry, { owner, sinceMs })
        remember(hash, entry)
      } finally {
        lookups--
        entry.lookup = undefined
      }
    }
    entry.lookup ??= look()
    return entry.lookup
  }
  const answer = (hash: string, { owner, isRevoked }: Known): KeyOwner | undefined => {
    if (owner === undefined || isRevoked) return undefined
    uses.note(hash)
    return owner
  }
  const lookUpFirst = async (hash: string, entry: Known): Promise<KeyOwner | undefined> => {
    try {
      await lookUp(hash, entry)
    } catch (error) {
      const isTrusted = entry.owner !== undefined && monotonicMs(clock) - entry.sinceMs < GRACE_MS
      if (!isTrusted || !(error instanceof SearchStoreUnavailable)) throw error
    }
    return answer(hash, entry)
  }

  return {
    check(header) {
      if (typeof header !== 'string' || !isKeyFormed(header)) return undefined
      const hash = hashKey(header)
      const entry = entryOf(hash)
      const age = monotonicMs(clock) - entry.sinceMs
      if (age >= TRUST_MS) return lookUpFirst(hash, entry)
      // A look-up that fails is made again by the request for which it is due.
      if (age >= RENEW_MS) lookUp(hash, entry).catch(() => undefined)
      return answer(hash, entry)
    },
    flush: uses.flush,
    stop() {
      forget()
      return uses.stop()
    },
  }
}
