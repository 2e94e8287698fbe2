import { isDeeperThan } from '../json/json-depth.ts'
import { DocumentRejected } from './document-rejected.ts'
import type { FieldNode } from './field-tree.ts'
import type { FieldMapping } from './field-types.ts'
import type { MutableMapping, ValueKind } from './mapping.ts'
import { isNumberType, type Leaf, numberOf } from './values.ts'

/** Sees every indexed leaf of a document, in its order; multi-fields are the visitor's business (`mapping.fields`). */
export type LeafVisitor = (path: string, mapping: FieldMapping, value: Leaf) => void

/** Deeper nesting of objects and arrays is refused. */
export const MAX_JSON_DEPTH = 200
/** Larger documents are refused: a document is parsed and indexed in one piece, which nothing else on the thread can interrupt. */
export const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024
/** Deeper JSON is not parsed at all: it would take far more memory than its text. */
const MAX_PARSED_DEPTH = 1000

/** Throws DocumentRejected for a document that is too large. */
export function checkDocumentSize({ length }: Uint8Array): void {
  if (length > MAX_DOCUMENT_BYTES)
    throw new DocumentRejected(`failed to parse: a document may have at most ${MAX_DOCUMENT_BYTES} bytes, found ${length}`)
}

/** Holds a document against the mapping by way of `JSON.parse`; the exact reference for the byte walker of the log engine. */
export function visitDocument(mapping: MutableMapping, source: Uint8Array, visitor: LeafVisitor = () => {}): void {
  visitObject({ mapping, visitor, isLenient: false }, mapping.root, parseObject(source), 1)
}

/** The same for a document that is stored already: what the mapping of today refuses of it is passed over. */
export function visitStoredDocument(mapping: MutableMapping, source: Uint8Array, visitor: LeafVisitor): void {
  visitObject({ mapping, visitor, isLenient: true }, mapping.root, parseObject(source), 1)
}

interface Visit {
  readonly mapping: MutableMapping
  readonly visitor: LeafVisitor
  /** Values that are refused are passed over. */
  readonly isLenient: boolean
}

function parseObject(source: Uint8Array): Record<string, unknown> {
  const document = parseJson(source)
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new DocumentRejected('failed to parse: document must be a JSON object')
  return document as Record<string, unknown>
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function parseJson(source: Uint8Array): unknown {
  return parseDocumentText(source, JSON.parse)
}

/** `parse` is given the text of JSON of bounded size and depth; what it refuses is rejected. */
export function parseDocumentText(source: Uint8Array, parse: (text: string) => unknown): unknown {
  if (isDeeperThan(source, MAX_PARSED_DEPTH)) throw new DocumentRejected(`failed to parse: nested deeper than ${MAX_PARSED_DEPTH} levels`)
  try {
    return parse(decoder.decode(source))
  } catch (cause) {
    throw new DocumentRejected(`failed to parse: ${cause instanceof Error ? cause.message : String(cause)}`, undefined, { cause })
  }
}

function visitObject(visit: Visit, node: FieldNode, object: Record<string, unknown>, depth: number): void {
  for (const [key, value] of Object.entries(object)) visitMember(visit, node, key, value, depth)
}

function visitMember(visit: Visit, parent: FieldNode, key: string, value: unknown, depth: number): void {
  try {
    visitValue(visit, parent, key, value, depth)
  } catch (error) {
    if (!(visit.isLenient && error instanceof DocumentRejected)) throw error
  }
}

function visitValue(visit: Visit, parent: FieldNode, key: string, value: unknown, depth: number): void {
  if (value === null) return
  const { mapping, visitor } = visit
  if (depth > MAX_JSON_DEPTH)
    throw new DocumentRejected(`failed to parse: nested deeper than ${MAX_JSON_DEPTH} levels at [${key.slice(0, 200)}]`)
  if (Array.isArray(value)) {
    for (const each of value) visitMember(visit, parent, key, each, depth + 1)
    return
  }
  const node = mapping.resolve(parent, key, kindOf(value as Leaf | object), typeof value === 'string' ? value : undefined)
  if (node === undefined) return
  if (node.mapping.type === 'flat_object') visitFlat(flatPath(parent, key), node, value, visitor, depth)
  else if (typeof value === 'object') visitObject(visit, node, value as Record<string, unknown>, depth + 1)
  else {
    checkLeaf(node, value as Leaf)
    visitor(node.path, node.mapping, value as Leaf)
  }
}

/** Refuses a value that the field cannot hold. */
export function checkLeaf(node: FieldNode, value: Leaf): void {
  const { type } = node.mapping
  if (isNumberType(type) || type === 'boolean' || type === 'date') numberOf(node.path, type, value)
}

const FLAT_LEAF: FieldMapping = { type: 'keyword' }

/** Leaves below a flat_object are keywords under their full path. */
function visitFlat(path: string, node: FieldNode, value: unknown, visitor: LeafVisitor, depth: number): void {
  if (value === null) return
  if (depth > MAX_JSON_DEPTH)
    throw new DocumentRejected(`failed to parse: nested deeper than ${MAX_JSON_DEPTH} levels at [${path.slice(0, 200)}]`)
  if (Array.isArray(value)) for (const each of value) visitFlat(path, node, each, visitor, depth + 1)
  else if (typeof value === 'object')
    for (const [key, each] of Object.entries(value)) visitFlat(`${path}.${key}`, node, each, visitor, depth + 1)
  else if (path === node.path)
    throw new DocumentRejected(`failed to parse field [${path}] of type [flat_object]: expected an object, got ${typeof value}`)
  else visitor(path, FLAT_LEAF, value as Leaf)
}

const flatPath = (parent: FieldNode, key: string) => (parent.path === '' ? key : `${parent.path}.${key}`)

function kindOf(value: Leaf | object): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'number':
      return Number.isInteger(value) ? 'long' : 'double'
    default:
      return 'object'
  }
}
