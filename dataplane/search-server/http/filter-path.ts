/** `filter_path`: keeps of a response only what the client names, e.g. `items.*.status,-items.*.error.stack`. */

interface Node {
  readonly children: Map<string, Node>
  /** Everything below is meant. */
  isWhole: boolean
}

/** Where several paths stand at once; remembers where each member leads. */
class State {
  readonly isWhole: boolean
  readonly isDead: boolean
  readonly #nodes: readonly Node[]
  readonly #next = new Map<string, State>()

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes
    this.isWhole = nodes.some(node => node.isWhole)
    this.isDead = nodes.length === 0
  }

  next(key: string): State {
    const known = this.#next.get(key)
    if (known !== undefined) return known
    const nodes = step(this.#nodes, key)
    const state = nodes.length === 0 ? DEAD : new State(nodes)
    if (this.#next.size < MAX_REMEMBERED) this.#next.set(key, state)
    return state
  }
}

/** Members of one place that are remembered; documents may have any number of them. */
const MAX_REMEMBERED = 1000

export interface FilterPath {
  readonly includes: State | undefined
  readonly excludes: State | undefined
}

const newNode = (): Node => ({ children: new Map(), isWhole: false })

function addPath(root: Node, path: string): void {
  let node = root
  for (const name of path.split('.')) {
    const next = node.children.get(name) ?? newNode()
    node.children.set(name, next)
    node = next
  }
  node.isWhole = true
}

/** Undefined when nothing is to be filtered. */
export function parseFilterPath(text: string | null): FilterPath | undefined {
  const paths = (text ?? '')
    .split(',')
    .map(path => path.trim())
    .filter(path => path !== '')
    .slice(0, 1000)
  if (paths.length === 0) return undefined
  const includes = newNode()
  const excludes = newNode()
  for (const path of paths) {
    if (path.startsWith('-')) addPath(excludes, path.slice(1))
    else addPath(includes, path)
  }
  return {
    includes: includes.children.size > 0 ? new State([includes]) : undefined,
    excludes: excludes.children.size > 0 ? new State([excludes]) : undefined,
  }
}

/** The nodes that a member of the value leads to. */
function step(nodes: readonly Node[], key: string): Node[] {
  const next: Node[] = []
  for (const node of nodes) {
    for (const [name, child] of node.children) {
      if (name === '**') {
        // Zero or more levels: stay here, and try what follows at once.
        next.push({ children: new Map([['**', child]]), isWhole: child.isWhole }, ...step([child], key))
      } else if (name === key || (name.includes('*') && fits(name, key))) next.push(child)
    }
  }
  return next
}

function fits(pattern: string, key: string): boolean {
  if (pattern === '*') return true
  const parts = pattern.split('*')
  if (!key.startsWith(parts[0]!) || !key.endsWith(parts.at(-1)!)) return false
  let at = parts[0]!.length
  for (const part of parts.slice(1, -1)) {
    const found = key.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= key.length - parts.at(-1)!.length
}

const DEAD = new State([])
const NOTHING = Symbol('nothing')

function include(value: unknown, state: State): unknown {
  if (state.isWhole) return value
  if (state.isDead || typeof value !== 'object' || value === null) return NOTHING
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      const result = include(item, state)
      if (result !== NOTHING) items.push(result)
    }
    return items.length > 0 ? items : NOTHING
  }
  let kept: Record<string, unknown> | undefined
  for (const [key, member] of Object.entries(value)) {
    const result = include(member, state.next(key))
    if (result !== NOTHING) kept = withMember(kept ?? {}, key, result)
  }
  return kept ?? NOTHING
}

function exclude(value: unknown, state: State): unknown {
  if (state.isDead || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => exclude(item, state))
  let kept: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    const next = state.next(key)
    if (!next.isWhole) kept = withMember(kept, key, exclude(member, next))
  }
  return kept
}

/** A member named `__proto__` is data like any other. */
function withMember(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
  else object[key] = value
  return object
}

export function applyFilterPath(value: unknown, filter: FilterPath): unknown {
  const included = filter.includes === undefined ? value : include(value, filter.includes)
  if (included === NOTHING) return {}
  return filter.excludes === undefined ? included : exclude(included, filter.excludes)
}
