/** Which optional kinds (custom resources of other operators) the cluster has: looked up again and again, as they come and go. */
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ApiFailure } from '../api-failure.ts'
import type { KubeClient } from '../kube-client.ts'
import { apiVersionOf, type Resource } from '../resource.ts'
import type { CachedKind, ObjectCache } from './object-cache.ts'

/** An optional kind in any of its versions, and how it is watched. */
export interface OptionalKind extends Omit<CachedKind, 'resource'> {
  readonly group: string
  readonly kind: string
  /** Versions that we understand, the best first. */
  readonly versions: readonly string[]
}

export interface ServedKindsDeps {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Log
  readonly cache: Pick<ObjectCache, 'add' | 'remove'>
  /** Called after kinds came or went. */
  readonly onChange?: () => void
}

export interface ServedKinds {
  /** Resolves after the first answered look, once the kinds found have been listed, or after 10 s. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Kinds that the cluster has and that have been listed. */
  current(): readonly Resource[]
  /** Kinds of the last answered look, listed or not; undefined before the first answer. */
  seen(): readonly Resource[] | undefined
  /** Why the last look was not answered. */
  failure(): ApiFailure | undefined
}

/** An unchanged answer costs next to nothing. */
const LOOK_MS = 10_000
const RETRY_MS = 2000
/** How long the first look waits for lists, which may be forbidden. */
const FIRST_LISTS_MS = 10_000

interface WatchedKind {
  readonly resource: Resource
  isListed: boolean
}

export function createServedKinds(kinds: readonly OptionalKind[], { client, clock, log, cache, onChange }: ServedKindsDeps): ServedKinds {
  const stopped = new AbortController()
  const { signal } = stopped
  const watched = new Map<OptionalKind, WatchedKind>()
  let running: Promise<void> | undefined
  const groups = [...new Set(kinds.map(({ group }) => group))]
  let hasSeen = false
  let failure: ApiFailure | undefined

  const begin = async (kind: OptionalKind, resource: Resource): Promise<void> => {
    const { group: _group, kind: _kind, versions: _versions, ...how } = kind
    const entry = { resource, isListed: false }
    watched.set(kind, entry)
    await cache.add({ ...how, resource })
    if (watched.get(kind) !== entry) return
    entry.isListed = true
    log.info({ kind: kind.kind, apiVersion: apiVersionOf(resource) }, 'an optional kind is there')
    onChange?.()
  }

  const end = async (kind: OptionalKind, { resource }: WatchedKind): Promise<void> => {
    watched.delete(kind)
    await cache.remove(resource)
    log.info({ kind: kind.kind, apiVersion: apiVersionOf(resource) }, 'an optional kind is gone')
    onChange?.()
  }

  /** The lists that it began; undefined: no answer. */
  const look = async (): Promise<readonly Promise<void>[] | undefined> => {
    const answer = await client.discover({ signal, groups })
    if (!answer.ok) {
      const { message, advice } = answer.failure
      if (!signal.aborted && failure?.message !== message) log.warn({ advice }, message)
      failure = answer.failure
      return undefined
    }
    failure = undefined
    const begun: Promise<void>[] = []
    for (const kind of kinds) {
      const found = bestOf(kind, answer.value)
      const known = watched.get(kind)
      if (known?.resource.version === found?.version) continue
      if (known !== undefined) await end(kind, known)
      if (found !== undefined && !signal.aborted) begun.push(begin(kind, found))
    }
    hasSeen = true
    return begun
  }

  const keepLooking = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal)
      if (!signal.aborted) await look()
    }
  }

  return {
    async start() {
      let begun = await look()
      while (begun === undefined && !signal.aborted) {
        await clock.sleep(RETRY_MS, signal)
        begun = await look()
      }
      const enough = new AbortController()
      await Promise.race([Promise.all(begun ?? []), clock.sleep(FIRST_LISTS_MS, enough.signal)])
      enough.abort()
      running = keepLooking()
    },
    async stop() {
      stopped.abort()
      await running
    },
    current: () => [...watched.values()].filter(({ isListed }) => isListed).map(({ resource }) => resource),
    seen: () => (hasSeen ? [...watched.values()].map(({ resource }) => resource) : undefined),
    failure: () => failure,
  }
}

function bestOf({ group, kind, versions }: OptionalKind, served: readonly Resource[]): Resource | undefined {
  const candidates = served.filter(resource => resource.group === group && resource.kind === kind && versions.includes(resource.version))
  return candidates.sort((a, b) => versions.indexOf(a.version) - versions.indexOf(b.version))[0]
}
