/** All that is watched: one store and one reflector for each kind, and for each namespace where it is limited to some. */
import type { Log } from '../../telemetry/log.ts'
import type { ApiFailure } from '../api-failure.ts'
import type { Selection } from '../kube-client.ts'
import type { KubernetesObject } from '../object.ts'
import { keyOf, qualifiedName, type Resource } from '../resource.ts'
import { type Indexes, type ObjectChange, ObjectStore } from './object-store.ts'
import { Reflector, type ReflectorDeps } from './reflector.ts'
import type { Slim } from './slim-object.ts'

export interface CachedKind {
  readonly resource: Resource
  readonly selection?: Omit<Selection, 'namespace'>
  readonly slim?: Slim
  /** As of `ReflectorConfig`. */
  readonly isWhole?: boolean
  /** Beside those of every kind: `owner` (uid) and `namespace`. */
  readonly indexes?: Indexes
}

export interface CacheConfig {
  /** Kinds that every cluster has to have; others come with `add`. */
  readonly kinds: readonly CachedKind[]
  /** Empty: all. */
  readonly namespaces: readonly string[]
}

export interface CacheDeps extends Omit<ReflectorDeps, 'onRestart'> {
  readonly onRestart?: (resource: Resource, reason: string) => void
}

export interface ObjectCache {
  start(): void
  stop(): Promise<void>
  /** Watches one more kind; resolves when it has been listed once, apart from namespaces that refuse to be listed. `start` must have been called. */
  add(kind: CachedKind): Promise<void>
  /** Watches a kind no more and forgets its objects. */
  remove(resource: Resource): Promise<void>
  /** The kinds that `start` began with have been listed once, or the namespace refuses that (403): one that was deleted, say, must not hold up the others. */
  readonly synced: Promise<void>
  /** All kinds have been listed once everywhere. */
  readonly hasSynced: boolean
  /** All kinds have been listed once in the namespace. */
  hasListed(namespace: string | undefined): boolean
  get(resource: Resource, namespace: string | undefined, name: string): KubernetesObject | undefined
  /** Objects of one namespace, or of all that are watched. */
  list(resource: Resource, namespace?: string): readonly KubernetesObject[]
  byIndex(resource: Resource, index: string, value: string): readonly KubernetesObject[]
  /** Objects of every kind. */
  ownedBy(uid: string): readonly { readonly resource: Resource; readonly object: KubernetesObject }[]
  /** Takes in an object that we wrote, before the watch tells of it. */
  noteApplied(resource: Resource, object: KubernetesObject): void
  noteDeleted(resource: Resource, object: KubernetesObject): void
  /** Whether the kind is watched. */
  has(resource: Resource): boolean
  /** Failures that keep us from watching, by kind and, where namespaces are given, by namespace. */
  failures(): readonly WatchFailure[]
  onChange(listener: (resource: Resource, change: ObjectChange) => void): void
}

export interface WatchFailure {
  readonly resource: Resource
  readonly failure: ApiFailure
  /** Ms since the epoch. */
  readonly sinceMs: number
}

interface Watched {
  readonly kind: CachedKind
  /** Undefined: all. */
  readonly namespace: string | undefined
  readonly store: ObjectStore
  readonly reflector: Reflector
}

const NEVER = new Promise<never>(() => {})

const INDEXES: Indexes = {
  owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
  namespace: ({ metadata }) => [metadata.namespace ?? ''],
}

export function createObjectCache({ kinds, namespaces }: CacheConfig, deps: CacheDeps): ObjectCache {
  const listeners: ((resource: Resource, change: ObjectChange) => void)[] = []
  const byName = new Map<string, readonly Watched[]>()

  const watch = (kind: CachedKind): readonly Watched[] => {
    const { resource } = kind
    const scopes = resource.namespaced && namespaces.length > 0 ? namespaces : [undefined]
    const places = scopes.map(namespace => createPlace(kind, namespace, deps))
    for (const { store } of places)
      store.onChange(change => {
        for (const listener of listeners) tellSafely(() => listener(resource, change), resource, deps.log)
      })
    byName.set(qualifiedName(resource), places)
    return places
  }
  const all = (): readonly Watched[] => [...byName.values()].flat()
  const of = (resource: Resource): readonly Watched[] => byName.get(qualifiedName(resource)) ?? unknownKind(resource)
  const place = (resource: Resource, namespace: string | undefined): Watched | undefined =>
    of(resource).find(place => place.namespace === undefined || place.namespace === namespace)
  const initial = kinds.flatMap(watch)
  const ofNamespace = (namespace: string | undefined) =>
    initial.filter(place => place.namespace === undefined || place.namespace === namespace)
  /** Where the whole cluster is watched nothing can be done without a right. */
  const refused = (namespace: string | undefined): Promise<void> =>
    namespace === undefined ? NEVER : Promise.race([NEVER, ...ofNamespace(namespace).map(({ reflector }) => reflector.refused)])
  const listed = (places: readonly Watched[]): Promise<unknown> =>
    Promise.all(places.map(({ namespace, reflector }) => Promise.race([reflector.synced, refused(namespace)])))

  return {
    start() {
      for (const { reflector } of initial) reflector.start()
    },
    async stop() {
      await Promise.all(all().map(({ reflector }) => reflector.stop()))
    },
    async add(kind) {
      const added = watch(kind)
      for (const { reflector } of added) reflector.start()
      await listed(added)
    },
    async remove(resource) {
      const removed = of(resource)
      await Promise.all(removed.map(({ reflector }) => reflector.stop()))
      for (const { store } of removed) store.clear()
      byName.delete(qualifiedName(resource))
    },
    synced: listed(initial).then(() => {}),
    get hasSynced() {
      return initial.every(({ reflector }) => reflector.hasSynced)
    },
    hasListed: namespace => ofNamespace(namespace).every(({ reflector }) => reflector.hasSynced),
    get: (resource, namespace, name) =>
      place(resource, namespace)?.store.get(keyOf(namespace === undefined ? { name } : { namespace, name })),
    list: (resource, namespace) =>
      of(resource).flatMap(({ store }) => (namespace === undefined ? store.list() : store.byIndex('namespace', namespace))),
    byIndex: (resource, index, value) => of(resource).flatMap(({ store }) => store.byIndex(index, value)),
    ownedBy: uid => all().flatMap(({ kind, store }) => store.byIndex('owner', uid).map(object => ({ resource: kind.resource, object }))),
    noteApplied(resource, object) {
      const found = place(resource, object.metadata.namespace)
      found?.store.put(found.kind.slim === undefined ? object : found.kind.slim(object))
    },
    noteDeleted: (resource, { metadata }) => place(resource, metadata.namespace)?.store.remove(keyOf(metadata), metadata.uid),
    has: resource => byName.has(qualifiedName(resource)),
    failures: () =>
      all().flatMap(({ kind: { resource }, reflector: { failure, failingSinceMs: sinceMs } }) =>
        failure === undefined || sinceMs === undefined ? [] : [{ resource, failure, sinceMs }],
      ),
    onChange: listener => void listeners.push(listener),
  }
}

/** One listener's mistake stops neither the watch nor the other listeners. */
function tellSafely(tell: () => void, resource: Resource, log: Log): void {
  try {
    tell()
  } catch (error) {
    log.error({ resource: qualifiedName(resource), error }, 'a change could not be followed')
  }
}

function createPlace(kind: CachedKind, namespace: string | undefined, deps: CacheDeps): Watched {
  const { resource, selection, slim, isWhole } = kind
  const store = new ObjectStore({ ...INDEXES, ...kind.indexes })
  const config = {
    resource,
    selection: { ...selection, ...(namespace !== undefined && { namespace }) },
    ...(slim !== undefined && { slim }),
    ...(isWhole !== undefined && { isWhole }),
  }
  const reflector = new Reflector(config, store, { ...deps, onRestart: reason => deps.onRestart?.(resource, reason) })
  return { kind, namespace, store, reflector }
}

function unknownKind(resource: Resource): never {
  throw new Error(`the cache does not hold ${qualifiedName(resource)}`)
}
