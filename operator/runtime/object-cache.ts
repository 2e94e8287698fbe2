/** All that the operator watches: one store and one reflector for each kind, and for each namespace where it is limited to some. */
import type { Clock } from '../../dataplane/ports/clock.ts'
import type { Log } from '../../dataplane/telemetry/log.ts'
import type { ApiFailure } from '../kube/api-failure.ts'
import type { KubeClient, Selection } from '../kube/kube-client.ts'
import type { KubernetesObject } from '../kube/object.ts'
import { keyOf, qualifiedName, type Resource } from '../kube/resource.ts'
import { type Indexes, type ObjectChange, ObjectStore } from './object-store.ts'
import { Reflector } from './reflector.ts'
import type { Slim } from './slim-object.ts'

export interface CachedKind {
  readonly resource: Resource
  readonly selection?: Omit<Selection, 'namespace'>
  readonly slim?: Slim
  /** It may be missing from the cluster. */
  readonly optional?: boolean
}

export interface CacheConfig {
  readonly kinds: readonly CachedKind[]
  /** Empty: all. */
  readonly namespaces: readonly string[]
}

export interface CacheDeps {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
  readonly onRestart?: (resource: Resource, reason: string) => void
}

export interface ObjectCache {
  start(): void
  stop(): Promise<void>
  /** Everything has been listed once. */
  readonly synced: Promise<void>
  readonly hasSynced: boolean
  get(resource: Resource, namespace: string | undefined, name: string): KubernetesObject | undefined
  /** Of one namespace, or of all that are watched. */
  list(resource: Resource, namespace?: string): readonly KubernetesObject[]
  /** Of every kind. */
  ownedBy(uid: string): readonly { readonly resource: Resource; readonly object: KubernetesObject }[]
  /** What we wrote is known at once, before the watch tells of it. */
  noteApplied(resource: Resource, object: KubernetesObject): void
  noteDeleted(resource: Resource, object: KubernetesObject): void
  /** Whether the API server knows the kind, as far as we have heard. */
  isServed(resource: Resource): boolean
  /** What keeps us from watching, by kind. */
  failures(): readonly { readonly resource: Resource; readonly failure: ApiFailure }[]
  onChange(listener: (resource: Resource, change: ObjectChange) => void): void
  /** Called when an optional kind appears or goes away. */
  onServed(listener: (resource: Resource) => void): void
}

interface Watched {
  readonly kind: CachedKind
  /** Undefined: all. */
  readonly namespace: string | undefined
  readonly store: ObjectStore
  readonly reflector: Reflector
}

const INDEXES: Indexes = {
  owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
  namespace: ({ metadata }) => [metadata.namespace ?? ''],
}

export function createObjectCache({ kinds, namespaces }: CacheConfig, deps: CacheDeps): ObjectCache {
  const servedListeners: ((resource: Resource) => void)[] = []
  const watched = kinds.flatMap(kind => {
    const scopes = kind.resource.namespaced && namespaces.length > 0 ? namespaces : [undefined]
    return scopes.map(namespace => watch(kind, namespace, deps, servedListeners))
  })
  const byName = Map.groupBy(watched, ({ kind }) => qualifiedName(kind.resource))
  const of = (resource: Resource): readonly Watched[] => byName.get(qualifiedName(resource)) ?? unknownKind(resource)
  const place = (resource: Resource, namespace: string | undefined): Watched | undefined =>
    of(resource).find(place => place.namespace === undefined || place.namespace === namespace)

  return {
    start() {
      for (const { reflector } of watched) reflector.start()
    },
    async stop() {
      await Promise.all(watched.map(({ reflector }) => reflector.stop()))
    },
    synced: Promise.all(watched.map(({ reflector }) => reflector.synced)).then(() => {}),
    get hasSynced() {
      return watched.every(({ reflector }) => reflector.hasSynced)
    },
    get: (resource, namespace, name) =>
      place(resource, namespace)?.store.get(keyOf(namespace === undefined ? { name } : { namespace, name })),
    list: (resource, namespace) =>
      of(resource).flatMap(({ store }) => (namespace === undefined ? store.list() : store.byIndex('namespace', namespace))),
    ownedBy: uid => watched.flatMap(({ kind, store }) => store.byIndex('owner', uid).map(object => ({ resource: kind.resource, object }))),
    noteApplied(resource, object) {
      const found = place(resource, object.metadata.namespace)
      found?.store.put(found.kind.slim === undefined ? object : found.kind.slim(object))
    },
    noteDeleted: (resource, { metadata }) => place(resource, metadata.namespace)?.store.remove(keyOf(metadata), metadata.uid),
    isServed: resource => of(resource).every(({ reflector }) => reflector.hasSynced && reflector.state !== 'absent'),
    failures: () =>
      watched.flatMap(({ kind, reflector }) =>
        reflector.failure === undefined ? [] : [{ resource: kind.resource, failure: reflector.failure }],
      ),
    onChange(listener) {
      for (const { kind, store } of watched) store.onChange(change => listener(kind.resource, change))
    },
    onServed: listener => void servedListeners.push(listener),
  }
}

function watch(
  kind: CachedKind,
  namespace: string | undefined,
  deps: CacheDeps,
  served: readonly ((resource: Resource) => void)[],
): Watched {
  const { resource, selection, slim, optional } = kind
  const store = new ObjectStore(INDEXES)
  let wasServed: boolean | undefined
  const config = {
    resource,
    selection: { ...selection, ...(namespace !== undefined && { namespace }) },
    ...(slim !== undefined && { slim }),
    ...(optional !== undefined && { optional }),
  }
  const reflector = new Reflector(config, store, {
    ...deps,
    onRestart: reason => deps.onRestart?.(resource, reason),
    onState(state) {
      const isServed = state !== 'absent'
      if ((state !== 'absent' && state !== 'watching') || wasServed === isServed) return
      wasServed = isServed
      for (const listener of served) listener(resource)
    },
  })
  return { kind, namespace, store, reflector }
}

function unknownKind(resource: Resource): never {
  throw new Error(`the cache does not hold ${qualifiedName(resource)}`)
}
