/** The storage of an API server: objects with resourceVersions and managed fields, and the history that watches read. */
import { randomUUID } from 'node:crypto'
import type { KubernetesObject, ManagedFieldsEntry } from '../object.ts'
import { type FieldSet, fieldsOf, isSame, type Json, type JsonObject, merge, toFieldsV1, valueAt, without } from './field-set.ts'

export interface StoredEvent {
  readonly version: number
  readonly collection: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: KubernetesObject
  /** The object before; missing for `ADDED`. */
  readonly before?: KubernetesObject
}

/** Rejects a request, as a `Status` would. */
export class StorageError extends Error {
  readonly code: number
  readonly reason: string
  constructor(code: number, reason: string, message: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

export type Part = 'main' | 'status'

interface Owner {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly part: Part
  readonly paths: FieldSet
}

interface Stored {
  readonly object: KubernetesObject
  readonly owners: readonly Owner[]
}

export class FakeStorage {
  #version = 100
  #oldest = 0
  #uids = 0
  #events: StoredEvent[] = []
  readonly #objects = new Map<string, Map<string, Stored>>()
  readonly #listeners = new Set<(event: StoredEvent) => void>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get version(): number {
    return this.#version
  }

  onEvent(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Forgets the history: who asks for an older version gets 410. */
  compact(): void {
    this.#version += 1
    this.#oldest = this.#version
    this.#events = []
  }

  /** Sets everything back to how it is now, versions too, as a restore of etcd does: no watch is told. */
  backUp(): () => void {
    const version = this.#version
    const objects = [...this.#objects].map(([collection, stored]) => [collection, new Map(stored)] as const)
    return () => {
      this.#version = version
      this.#oldest = version
      this.#events = []
      for (const [collection] of this.#objects) this.#objects.set(collection, new Map())
      for (const [collection, stored] of objects) this.#objects.set(collection, new Map(stored))
    }
  }

  /** Undefined: the version is too old. */
  eventsAfter(version: number): readonly StoredEvent[] | undefined {
    return version < this.#oldest ? undefined : this.#events.filter(event => event.version > version)
  }

  list(collection: string): readonly KubernetesObject[] {
    return [...this.#of(collection)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { object }]) => object)
  }

  get(collection: string, key: string): KubernetesObject {
    return this.#stored(collection, key).object
  }

  create(collection: string, key: string, object: KubernetesObject, manager: string): KubernetesObject {
    if (this.#of(collection).has(key)) throw new StorageError(409, 'AlreadyExists', `${collection} ${key} already exists`)
    const { status: _ignored, ...main } = object
    return this.#save(collection, key, undefined, main as KubernetesObject, [
      ownerOf(manager, 'Update', 'main', fieldsOf(main as JsonObject)),
    ])
  }

  /** Replaces the object, or its status; what another manager had and this changes is taken from it. */
  update(collection: string, key: string, object: KubernetesObject, manager: string, part: Part = 'main'): KubernetesObject {
    const stored = this.#stored(collection, key)
    const { resourceVersion, uid } = object.metadata
    if (resourceVersion !== undefined && resourceVersion !== stored.object.metadata.resourceVersion)
      throw new StorageError(409, 'Conflict', `the object has been modified; please apply your changes to the latest version`)
    if (uid !== undefined && uid !== stored.object.metadata.uid) throw uidConflict(uid)
    const next = part === 'status' ? { ...stored.object, status: object['status'] } : { ...object, status: stored.object['status'] }
    const changed = changedPaths(stored.object, next as unknown as KubernetesObject)
    const others = stored.owners.map(owner => ({ ...owner, paths: difference(owner.paths, changed) }))
    const mine = others.find(owner => owner.manager === manager && owner.operation === 'Update' && owner.part === part)
    const present = [...changed].filter(path => valueAt(next as unknown as JsonObject, path) !== undefined)
    const owners = [
      ...others.filter(owner => owner !== mine),
      ownerOf(manager, 'Update', part, new Set([...(mine?.paths ?? []), ...present])),
    ]
    return this.#save(collection, key, stored, next as unknown as KubernetesObject, owners)
  }

  /** A JSON merge patch by somebody, at once. */
  patch(collection: string, key: string, patch: JsonObject, manager: string, part: Part = 'main'): KubernetesObject {
    return this.update(
      collection,
      key,
      mergePatch(this.get(collection, key) as JsonObject, patch) as unknown as KubernetesObject,
      manager,
      part,
    )
  }

  apply(collection: string, key: string, patch: KubernetesObject, { manager, force, part = 'main' }: ApplyBy): KubernetesObject {
    const stored = this.#of(collection).get(key)
    const { uid } = patch.metadata
    if (uid !== undefined && uid !== stored?.object.metadata.uid) throw uidConflict(uid)
    if (stored === undefined && part === 'status') throw notFound(collection, key)
    const applied = (part === 'status' ? { metadata: {}, status: patch['status'] } : { ...patch, status: undefined }) as JsonObject
    const wanted = JSON.parse(JSON.stringify(applied)) as JsonObject
    const paths = fieldsOf(wanted)
    const mine = stored?.owners.find(owner => owner.manager === manager && owner.operation === 'Apply' && owner.part === part)
    const others = (stored?.owners ?? []).filter(owner => owner !== mine)
    const taken = conflicts(stored?.object as JsonObject | undefined, wanted, paths, others)
    if (taken.length > 0 && !force)
      throw new StorageError(409, 'Conflict', `Apply failed with ${taken.length} conflicts: ${taken.join('; ')}`)
    let base = (stored?.object ?? {}) as JsonObject
    const lost = new Set([...paths].filter(path => stored !== undefined && !isSame(valueAt(base, path), valueAt(wanted, path))))
    const owners = [...others.map(owner => ({ ...owner, paths: difference(owner.paths, lost) })), ownerOf(manager, 'Apply', part, paths)]
    for (const path of mine?.paths ?? []) if (!paths.has(path) && !others.some(owner => owner.paths.has(path))) base = without(base, path)
    const { metadata, ...rest } = wanted as unknown as KubernetesObject
    const { resourceVersion: _rv, uid: _uid, ...meta } = metadata
    const next = merge(base, { ...rest, metadata: meta } as unknown as Json) as unknown as KubernetesObject
    return this.#save(collection, key, stored, next, owners)
  }

  delete(collection: string, key: string, preconditions: { readonly uid?: string; readonly resourceVersion?: string } = {}): void {
    const { object } = this.#stored(collection, key)
    const { uid, resourceVersion } = preconditions
    if (uid !== undefined && uid !== object.metadata.uid) throw uidConflict(uid)
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      throw new StorageError(409, 'Conflict', `Precondition failed: ResourceVersion in precondition: ${resourceVersion}`)
    this.#of(collection).delete(key)
    this.#emit({ collection, type: 'DELETED', before: object, object: withVersion(object, ++this.#version) })
  }

  #save(collection: string, key: string, stored: Stored | undefined, next: KubernetesObject, owners: readonly Owner[]): KubernetesObject {
    const kept = owners.filter(owner => owner.paths.size > 0)
    const before = stored?.object
    if (before !== undefined && isSame(contentOf(before), contentOf(next)) && isSame(ownersJson(stored!.owners), ownersJson(kept)))
      return before
    const { generation = 0, uid, creationTimestamp } = before?.metadata ?? {}
    const specChanged = before === undefined || !isSame(specOf(before), specOf(next))
    const object: KubernetesObject = withVersion(
      {
        ...next,
        metadata: {
          ...next.metadata,
          uid: uid ?? `uid-${++this.#uids}-${randomUUID().slice(0, 4)}`,
          creationTimestamp: creationTimestamp ?? new Date(this.#nowMs()).toISOString().replace(/\.\d+/, ''),
          generation: specChanged ? generation + 1 : generation,
          managedFields: kept.map(owner => this.#entryOf(owner, next.apiVersion, specChanged ? undefined : before)),
        },
      },
      ++this.#version,
    )
    this.#of(collection).set(key, { object, owners: kept })
    this.#emit({ collection, type: before === undefined ? 'ADDED' : 'MODIFIED', object, ...(before !== undefined && { before }) })
    return object
  }

  /** `before`: the object in which the entry of a manager has its time, as long as it has the same fields. */
  #entryOf({ manager, operation, part, paths }: Owner, apiVersion: string, before: KubernetesObject | undefined): ManagedFieldsEntry {
    const fieldsV1 = toFieldsV1(paths)
    const known = before?.metadata.managedFields?.find(
      entry => entry.manager === manager && entry.operation === operation && JSON.stringify(entry.fieldsV1) === JSON.stringify(fieldsV1),
    )
    const time = known?.time ?? new Date(this.#nowMs()).toISOString().replace(/\.\d+/, '')
    const entry = { manager, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 } as const
    return part === 'status' ? { ...entry, subresource: 'status' } : entry
  }

  #emit(event: Omit<StoredEvent, 'version'>): void {
    const complete = { ...event, version: this.#version }
    this.#events.push(complete)
    for (const listener of this.#listeners) listener(complete)
  }

  #of(collection: string): Map<string, Stored> {
    const found = this.#objects.get(collection)
    if (found !== undefined) return found
    const created = new Map<string, Stored>()
    this.#objects.set(collection, created)
    return created
  }

  #stored(collection: string, key: string): Stored {
    const stored = this.#of(collection).get(key)
    if (stored === undefined) throw notFound(collection, key)
    return stored
  }
}

export interface ApplyBy {
  readonly manager: string
  readonly force: boolean
  readonly part?: Part
}

function notFound(collection: string, key: string): StorageError {
  return new StorageError(404, 'NotFound', `${collection} ${JSON.stringify(key)} not found`)
}

function uidConflict(uid: string): StorageError {
  return new StorageError(409, 'Conflict', `Precondition failed: UID in precondition: ${uid}`)
}

function ownerOf(manager: string, operation: 'Apply' | 'Update', part: Part, paths: FieldSet): Owner {
  return { manager, operation, part, paths }
}

function withVersion(object: KubernetesObject, version: number): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
}

function difference(paths: FieldSet, removed: FieldSet): FieldSet {
  return new Set([...paths].filter(path => !removed.has(path)))
}

/** Paths whose values differ. An item of a list differs only by being there or not; its fields have paths of their own. */
function changedPaths(before: KubernetesObject, after: KubernetesObject): FieldSet {
  const [a, b] = [before as JsonObject, after as JsonObject]
  const differs = (path: string) => {
    const [was, is] = [valueAt(a, path), valueAt(b, path)]
    return path.endsWith('.') ? (was === undefined) !== (is === undefined) : !isSame(was, is)
  }
  return new Set([...fieldsOf(a), ...fieldsOf(b)].filter(differs))
}

function conflicts(live: JsonObject | undefined, wanted: JsonObject, paths: FieldSet, others: readonly Owner[]): readonly string[] {
  if (live === undefined) return []
  const differing = [...paths].filter(path => !path.endsWith('.') && !isSame(valueAt(live, path), valueAt(wanted, path)))
  return others.flatMap(owner =>
    differing.filter(path => owner.paths.has(path)).map(path => `"${owner.manager}" owns ${path.split('\u0001').join('')}`),
  )
}

/** RFC 7386. */
function mergePatch(value: Json | undefined, patch: Json): Json {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch
  const result: Record<string, Json> = { ...(typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}) } as Record<
    string,
    Json
  >
  for (const [key, inner] of Object.entries(patch)) {
    if (inner === null) delete result[key]
    else result[key] = mergePatch(result[key], inner)
  }
  return result
}

function contentOf({ metadata, ...rest }: KubernetesObject): Json {
  const { labels, annotations, ownerReferences, finalizers, deletionTimestamp } = metadata
  return JSON.parse(JSON.stringify({ ...rest, labels, annotations, ownerReferences, finalizers, deletionTimestamp })) as Json
}

function specOf({ metadata: _metadata, status: _status, ...rest }: KubernetesObject): Json {
  return JSON.parse(JSON.stringify(rest)) as Json
}

function ownersJson(owners: readonly Owner[]): Json {
  return owners.map(({ manager, operation, part, paths }) => `${manager} ${operation} ${part} ${[...paths].sort().join()}`).sort()
}
