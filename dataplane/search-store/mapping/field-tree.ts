/** The fields of an index as a tree of names. */
import { textOf } from '../json/text-of.ts'
import { DocumentRejected } from './document-rejected.ts'
import type { FieldMapping } from './field-types.ts'

/** One name in the tree of fields: an object, a leaf, or a multi-field of a leaf. */
export interface FieldNode {
  /** Full dotted path; '' for the root. */
  readonly path: string
  readonly parent: FieldNode | undefined
  mapping: FieldMapping
  children: ReadonlyMap<string, FieldNode>
  /** OpenSearch's JSON of the field, kept for `GET _mapping`. */
  json: Readonly<Record<string, unknown>>
}

/** `index.mapping.depth.limit`. */
export const MAX_FIELD_DEPTH = 20

export function createNode(path: string, parent: FieldNode | undefined, mapping: FieldMapping, json: Record<string, unknown>): FieldNode {
  return { path, parent, mapping, children: NO_CHILDREN, json }
}

/** The children of most nodes. An empty map for each node would take more memory than the rest of the node. */
const NO_CHILDREN: ReadonlyMap<string, FieldNode> = new Map()

export function addChild(parent: FieldNode, name: string, node: FieldNode): void {
  if (parent.children === NO_CHILDREN) parent.children = new Map()
  ;(parent.children as Map<string, FieldNode>).set(name, node)
}

/** A node without children gets the map that nobody changes: copies of the node have the same map. */
export function removeChild(parent: FieldNode, name: string): void {
  ;(parent.children as Map<string, FieldNode>).delete(name)
  if (parent.children.size === 0) parent.children = NO_CHILDREN
}

export function createRoot(): FieldNode {
  return createNode('', undefined, { type: 'object' }, {})
}

export const childPath = (parent: FieldNode, name: string) => (parent.path === '' ? name : `${parent.path}.${name}`)

/** The names of a dotted key; refuses keys whose dots leave a name empty. */
export function splitKey(key: string): readonly string[] {
  if (key === '' || key.trim() === '') throw new DocumentRejected('field name cannot be an empty string', 'illegal_argument_exception')
  const names = key.split('.')
  if (/^\.+$/.test(key)) throw new DocumentRejected('field name cannot contain only the character [.]', 'illegal_argument_exception')
  if (names.some(name => name.trim() === ''))
    throw new DocumentRejected(`object field starting or ending with a [.] makes object resolution ambiguous: [${key.slice(0, 200)}]`)
  return names
}

export function* walkNodes(node: FieldNode): Generator<FieldNode, void, undefined> {
  for (const child of node.children.values()) {
    yield child
    yield* walkNodes(child)
  }
}

/** How many fields a node adds to the total: itself and its multi-fields, not what stands below. */
export const weightOf = (mapping: FieldMapping): number => 1 + Object.keys(mapping.fields ?? {}).length

/** As `GET _mapping` shows it. */
export function propertiesJson(node: FieldNode): Record<string, unknown> {
  const entries = [...node.children].map(([name, child]) => [name, nodeJson(child)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function nodeJson(node: FieldNode): Record<string, unknown> {
  if (node.mapping.type !== 'object') return node.json
  const own: Record<string, unknown> = { ...node.json }
  if (own['dynamic'] !== undefined) own['dynamic'] = textOf(own['dynamic'])
  if (node.children.size > 0 && own['type'] === 'object') delete own['type']
  return node.children.size === 0 ? { type: 'object', ...own } : { ...own, properties: propertiesJson(node) }
}
