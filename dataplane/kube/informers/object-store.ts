/** The objects of one kind as the API server has them, as far as we have heard; found by name and by index. */
import type { KubernetesObject } from '../object.ts'
import { keyOf } from '../resource.ts'

export interface ObjectChange {
  readonly before?: KubernetesObject
  readonly after?: KubernetesObject
}

/** By name of the index: under which values an object is found. */
export type Indexes = Readonly<Record<string, (object: KubernetesObject) => readonly string[]>>

export type ChangeListener = (change: ObjectChange) => void

const NOTHING: ReadonlySet<string> = new Set()

/** Versions are compared, so that what we wrote ourselves is not undone by an older word from the watch. */
export class ObjectStore {
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #found: Map<string, Map<string, Set<string>>>
  readonly #indexes: Indexes
  readonly #listeners: ChangeListener[] = []
  /** Undefined: no list is on its way. */
  #putSinceList: Set<string> | undefined

  constructor(indexes: Indexes = {}) {
    this.#indexes = indexes
    this.#found = new Map(Object.keys(indexes).map(name => [name, new Map()]))
  }

  get size(): number {
    return this.#objects.size
  }

  /** Called after each change, in order. */
  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener)
  }

  /** `key`: `namespace/name`, or the name of what has no namespace. */
  get(key: string): KubernetesObject | undefined {
    return this.#objects.get(key)
  }

  list(): readonly KubernetesObject[] {
    return [...this.#objects.values()]
  }

  /** Throws when there is no such index. */
  byIndex(index: string, value: string): readonly KubernetesObject[] {
    const values = this.#found.get(index)
    if (values === undefined) throw new Error(`the store has no index ${index}`)
    return [...(values.get(value) ?? NOTHING)].map(key => this.#objects.get(key)!)
  }

  /** Ignored when a newer version is known already. */
  put(object: KubernetesObject): void {
    const key = keyOf(object.metadata)
    const before = this.#objects.get(key)
    if (before !== undefined && !isNewer(object.metadata.resourceVersion, before.metadata.resourceVersion)) return
    this.#putSinceList?.add(key)
    this.#set(key, before, object)
  }

  #set(key: string, before: KubernetesObject | undefined, object: KubernetesObject): void {
    if (before !== undefined) this.#forget(key, before)
    this.#objects.set(key, object)
    for (const [name, values] of this.#found) for (const value of this.#indexes[name]!(object)) addTo(values, value, key)
    this.#tell(before === undefined ? { after: object } : { before, after: object })
  }

  /** With a `uid` only that object, not one that came after it under the same name. */
  remove(key: string, uid?: string): void {
    const before = this.#objects.get(key)
    if (before === undefined || (uid !== undefined && before.metadata.uid !== uid)) return
    this.#forget(key, before)
    this.#objects.delete(key)
    this.#tell({ before })
  }

  /** Called before a list is asked for: objects that are put from now on may be newer than the list. */
  beginList(): void {
    this.#putSinceList = new Set()
  }

  /**
   * Everything there is at `resourceVersion`, as listed since `beginList`. Versions that are known from before do not count: they are higher
   * than those of the list where etcd was set back.
   */
  replace(objects: readonly KubernetesObject[], resourceVersion: string): void {
    const isKept = ({ metadata }: KubernetesObject, than: string | undefined) =>
      this.#putSinceList?.has(keyOf(metadata)) === true && isNewer(metadata.resourceVersion, than)
    const present = new Set(objects.map(({ metadata }) => keyOf(metadata)))
    for (const [key, object] of [...this.#objects]) if (!present.has(key) && !isKept(object, resourceVersion)) this.remove(key)
    for (const object of objects) {
      const key = keyOf(object.metadata)
      const before = this.#objects.get(key)
      if (before === undefined || !(isSameVersion(object, before) || isKept(before, object.metadata.resourceVersion)))
        this.#set(key, before, object)
    }
    this.#putSinceList = undefined
  }

  /** The kind is gone, and all its objects with it. */
  clear(): void {
    for (const key of [...this.#objects.keys()]) this.remove(key)
  }

  #forget(key: string, object: KubernetesObject): void {
    for (const [name, values] of this.#found)
      for (const value of this.#indexes[name]!(object)) {
        const keys = values.get(value)
        keys?.delete(key)
        if (keys?.size === 0) values.delete(value)
      }
  }

  #tell(change: ObjectChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

function addTo(values: Map<string, Set<string>>, value: string, key: string): void {
  const keys = values.get(value)
  if (keys === undefined) values.set(value, new Set([key]))
  else keys.add(key)
}

function isSameVersion({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): boolean {
  return a.resourceVersion !== undefined && a.resourceVersion === b.resourceVersion && a.uid === b.uid
}

/** Versions are decimal numbers of any length. Another text counts as newer, since its order is unknown. */
export function isNewer(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined || !/^\d+$/.test(version) || !/^\d+$/.test(than)) return true
  return version.length === than.length ? version > than : version.length > than.length
}
