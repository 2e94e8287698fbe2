/** `filter_path`: keeps of a response only what the client names, e.g. `items.*.status,-items.*.error.stack`. */
import { illegalArgument } from '../../api-error.ts'
import { isRawNumber } from '../../json/exact-numbers.ts'

interface Node {
  readonly children: Map<string, Node>
  /** The node stands for `**`: any number of levels lead back to the node. */
  readonly isDeep: boolean
  /** Everything below is meant. */
  isWhole: boolean
}

/** The nodes that several paths have reached. Remembers where each member leads. */
class State {
  readonly isWhole: boolean
  readonly isDead: boolean
  readonly #nodes: ReadonlySet<Node>
  readonly #next = new Map<string, State>()

  /** `nodes`: the nodes that the last member led to. */
  constructor(nodes: ReadonlySet<Node>) {
    this.isWhole = [...nodes].some(node => node.isWhole)
    this.isDead = nodes.size === 0
    this.#nodes = withDeepNodes(nodes)
  }

  next(key: string): State {
    const known = this.#next.get(key)
    if (known !== undefined) return known
    const nodes = step(this.#nodes, key)
    const state = nodes.size === 0 ? DEAD : new State(nodes)
    if (this.#next.size < MAX_REMEMBERED) this.#next.set(key, state)
    return state
  }
}

/** Members of one place that are remembered; documents may have any number of them. */
const MAX_REMEMBERED = 1000

/** Members that all paths of one parameter name together; a member of an answer costs a look at each of them at most. */
const MAX_PATH_PARTS = 256

export interface FilterPath {
  readonly includes: State | undefined
  readonly excludes: State | undefined
}

const newNode = (name: string): Node => ({ children: new Map(), isDeep: name === '**', isWhole: false })

function addPath(root: Node, path: readonly string[]): void {
  let node = root
  for (const [at, name] of path.entries()) {
    // Two in a row mean what one means.
    if (name === '**' && path[at - 1] === '**') continue
    const next = node.children.get(name) ?? newNode(name)
    node.children.set(name, next)
    node = next
  }
  node.isWhole = true
}

/** Undefined when nothing is to be filtered. Throws 400 for more than `MAX_PATH_PARTS` parts. */
export function parseFilterPath(text: string | null): FilterPath | undefined {
  const paths = (text ?? '')
    .split(',')
    .map(path => path.trim())
    .filter(path => path !== '')
    .map(path => ({ isExcluded: path.startsWith('-'), parts: path.replace(/^-/, '').split('.') }))
  if (paths.length === 0) return undefined
  const count = paths.reduce((sum, { parts }) => sum + parts.length, 0)
  if (count > MAX_PATH_PARTS) throw illegalArgument(`[filter_path] may name at most ${MAX_PATH_PARTS} members, found ${count}`)
  const includes = newNode('')
  const excludes = newNode('')
  for (const { isExcluded, parts } of paths) addPath(isExcluded ? excludes : includes, parts)
  const stateOf = (root: Node) => (root.children.size > 0 ? new State(new Set([root])) : undefined)
  return { includes: stateOf(includes), excludes: stateOf(excludes) }
}

/** `**` also stands for no level: the name behind it may come at once. */
function withDeepNodes(nodes: ReadonlySet<Node>): ReadonlySet<Node> {
  const all = new Set(nodes)
  // A set also visits what is added on the way.
  for (const node of all) {
    const deep = node.children.get('**')
    if (deep !== undefined) all.add(deep)
  }
  return all
}

/** The nodes that a member of the value leads to. */
function step(nodes: ReadonlySet<Node>, key: string): ReadonlySet<Node> {
  const next = new Set<Node>()
  for (const node of nodes) {
    if (node.isDeep) next.add(node)
    const exact = node.children.get(key)
    if (exact !== undefined && !exact.isDeep) next.add(exact)
    for (const [name, child] of node.children) if (!child.isDeep && name.includes('*') && fits(name, key)) next.add(child)
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

const DEAD = new State(new Set())
const NOTHING = Symbol('nothing')

function include(value: unknown, state: State): unknown {
  if (state.isWhole) return value
  if (state.isDead || typeof value !== 'object' || value === null || isRawNumber(value)) return NOTHING
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      const result = include(item, state)
      if (result !== NOTHING) items.push(result)
    }
    return items.length > 0 ? items : NOTHING
  }
  const kept: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const result = include(member, state.next(key))
    if (result !== NOTHING) kept.push([key, result])
  }
  return kept.length > 0 ? Object.fromEntries(kept) : NOTHING
}

function exclude(value: unknown, state: State): unknown {
  if (state.isDead || typeof value !== 'object' || value === null || isRawNumber(value)) return value
  if (Array.isArray(value)) return value.map(item => exclude(item, state))
  const kept: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const next = state.next(key)
    if (!next.isWhole) kept.push([key, exclude(member, next)])
  }
  return Object.fromEntries(kept)
}

export function applyFilterPath(value: unknown, filter: FilterPath): unknown {
  const included = filter.includes === undefined ? value : include(value, filter.includes)
  if (included === NOTHING) return {}
  return filter.excludes === undefined ? included : exclude(included, filter.excludes)
}
