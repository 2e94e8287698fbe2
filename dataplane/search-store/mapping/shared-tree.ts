/** Trees of fields: indices with the same fields, as those of each day, share one tree until one of them gets another field. */
import { createHash } from 'node:crypto'
import { createRoot, type FieldNode, propertiesJson, walkNodes } from './field-tree.ts'

interface Shared {
  readonly key: string
  readonly root: FieldNode
  readonly total: number
  users: number
  paths: readonly string[] | undefined
}

/** Larger trees stay alone: looking for their like takes too long. */
const MAX_SHARED_FIELDS = 2000

/** By digest of their JSON. */
const shared = new Map<string, Shared>()
/** Fields of all trees of the process, those of a shared tree counted once. */
let fieldCount = 0

/** The fields of one mapping. To be changed only between `own` and `share`. */
export class SharedTree {
  #root = createRoot()
  #total = 0
  #shared: Shared | undefined
  #paths: readonly string[] | undefined

  static get fieldsOfAll(): number {
    return fieldCount
  }

  get root(): FieldNode {
    return this.#root
  }

  /** Fields, multi-fields included. */
  get total(): number {
    return this.#total
  }

  /** Paths of all leaves and their multi-fields. */
  get paths(): readonly string[] {
    const known = this.#shared === undefined ? this.#paths : this.#shared.paths
    if (known !== undefined) return known
    const paths = [...leafPaths(this.#root)]
    if (this.#shared === undefined) this.#paths = paths
    else this.#shared.paths = paths
    return paths
  }

  /** Makes it a tree of its own; true when its nodes are others now, in place of those that were shared. */
  own(): boolean {
    const before = this.#shared
    if (before === undefined) return false
    const wasAlone = before.users === 1
    this.#leave(before)
    this.#paths = undefined
    fieldCount += this.#total
    if (wasAlone) return false
    this.#root = copyOf(this.#root, undefined)
    return true
  }

  /** Shares it with those that have the same fields; true when its nodes are others now. */
  share(): boolean {
    if (this.#shared !== undefined || this.#total > MAX_SHARED_FIELDS) return false
    const key = createHash('sha256')
      .update(JSON.stringify(propertiesJson(this.#root)))
      .digest('base64')
    const same = shared.get(key)
    this.#shared = same ?? { key, root: this.#root, total: this.#total, users: 0, paths: undefined }
    this.#shared.users++
    shared.set(key, this.#shared)
    if (same === undefined) return false
    fieldCount -= this.#total
    this.#root = same.root
    this.#total = same.total
    return true
  }

  /** To be told of each field that comes or goes. */
  count(fields: number): void {
    this.#paths = undefined
    this.#total += fields
    fieldCount += fields
  }

  /** The node of this tree for one of a tree that it was shared with. */
  nodeOf(node: FieldNode): FieldNode {
    let top = node
    while (top.parent !== undefined) top = top.parent
    if (top === this.#root || node.path === '') return top === this.#root ? node : this.#root
    return node.path.split('.').reduce((at, name) => at.children.get(name)!, this.#root)
  }

  /** Its fields count no longer: it may be read on, and is not to change any more. */
  release(): void {
    if (this.#shared !== undefined) this.#leave(this.#shared)
    else fieldCount -= this.#total
  }

  #leave(before: Shared): void {
    this.#shared = undefined
    if (--before.users > 0) return
    shared.delete(before.key)
    fieldCount -= before.total
  }
}

function copyOf(node: FieldNode, parent: FieldNode | undefined): FieldNode {
  const copy = { ...node, parent }
  if (node.children.size > 0) copy.children = new Map(Array.from(node.children, ([name, child]) => [name, copyOf(child, copy)]))
  return copy
}

function* leafPaths(root: FieldNode): Generator<string, void, undefined> {
  for (const node of walkNodes(root)) {
    if (node.mapping.type === 'object') continue
    yield node.path
    for (const name of Object.keys(node.mapping.fields ?? {})) yield `${node.path}.${name}`
  }
}
