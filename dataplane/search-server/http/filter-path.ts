/** `filter_path`: keeps of a response only what the client names, e.g. `items.*.status,-items.*.error.stack`. */

interface Node {
  readonly children: Map<string, Node>
  /** Everything below is meant. */
  isWhole: boolean
}

export interface FilterPath {
  readonly includes: Node | undefined
  readonly excludes: Node | undefined
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
  return { includes: includes.children.size > 0 ? includes : undefined, excludes: excludes.children.size > 0 ? excludes : undefined }
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

const NOTHING = Symbol('nothing')

function include(value: unknown, nodes: readonly Node[]): unknown {
  if (nodes.some(node => node.isWhole)) return value
  if (nodes.length === 0 || typeof value !== 'object' || value === null) return NOTHING
  if (Array.isArray(value)) {
    const items = value.map(item => include(item, nodes)).filter(item => item !== NOTHING)
    return items.length > 0 ? items : NOTHING
  }
  const kept: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const result = include(member, step(nodes, key))
    if (result !== NOTHING) kept.push([key, result])
  }
  return kept.length > 0 ? Object.fromEntries(kept) : NOTHING
}

function exclude(value: unknown, nodes: readonly Node[]): unknown {
  if (nodes.length === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => exclude(item, nodes))
  const kept: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const next = step(nodes, key)
    if (!next.some(node => node.isWhole)) kept.push([key, exclude(member, next)])
  }
  return Object.fromEntries(kept)
}

export function applyFilterPath(value: unknown, filter: FilterPath): unknown {
  const included = filter.includes === undefined ? value : include(value, [filter.includes])
  if (included === NOTHING) return {}
  return filter.excludes === undefined ? included : exclude(included, [filter.excludes])
}
