/** Walks through a parsed document and shows each leaf with its field. */

import { isDeeperThan, MAX_DOCUMENT_DEPTH, MAX_PARSED_DEPTH } from '../../json/depth.ts'
import { isJsonObject } from '../../json/is-json-object.ts'
import { hasMoreNamesThan } from '../../json/mark-count.ts'
import { parseWritten, WrittenNumber } from '../json/exact-numbers.ts'
import { DocumentRejected } from './document-rejected.ts'
import type { DynamicKind } from './dynamic-templates.ts'
import { childPath, type FieldNode } from './field-tree.ts'
import type { FieldMapping } from './field-types.ts'
import { checkAddress, isNumberType, type Leaf, numberOf } from './values.ts'

/** Sees every indexed leaf of a document, in its order; multi-fields are the visitor's business (`mapping.fields`). */
export type LeafVisitor = (path: string, mapping: FieldMapping, value: Leaf) => void

/** The kind of JSON value that asks for a field; `string` comes with its text. */
export type ValueKind = Exclude<DynamicKind, 'date'>

/** The mapping, as a walk through a document asks it. */
export interface FieldResolver {
  readonly root: FieldNode
  /**
   * The node a (possibly dotted) key of `parent` means for a value of this kind, made where new. Undefined: the value is kept
   * but not indexed. Throws DocumentRejected on a conflict. New nodes belong to the running `transaction`.
   */
  resolve(parent: FieldNode, key: string, kind: ValueKind, text?: string): FieldNode | undefined
}

/** Larger documents are refused: a document is parsed and indexed in one piece, which nothing else on the thread can interrupt. */
export const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024

/** Names of a document, of all its objects together: each is looked up in the mapping, in the same piece of work. A record of the bus has at most 37,000: an attribute takes 25 bytes there. */
const MAX_DOCUMENT_NAMES = 40_000
/** Length of the shortest member, `"":0,`. */
const MIN_MEMBER_BYTES = 5

/** Throws DocumentRejected for a document that is too large, or has too many names. */
export function checkDocumentSize(source: Uint8Array): void {
  const { length } = source
  if (length > MAX_DOCUMENT_BYTES)
    throw new DocumentRejected(`failed to parse: a document may have at most ${MAX_DOCUMENT_BYTES} bytes, found ${length}`)
  if (length > MAX_DOCUMENT_NAMES * MIN_MEMBER_BYTES && hasMoreNamesThan(source, MAX_DOCUMENT_NAMES))
    throw new DocumentRejected(
      `failed to parse: a document may have at most ${MAX_DOCUMENT_NAMES} names, those of its inner objects included`,
    )
}

/** Holds a document against the mapping by way of `JSON.parse`; the exact reference for the byte walker of the log engine. */
export function visitDocument(mapping: FieldResolver, source: Uint8Array, visitor: LeafVisitor = () => {}): void {
  visitObject({ mapping, visitor, isLenient: false }, mapping.root, parseObject(source), 1)
}

/** The same for a document that is stored already: what the mapping of today refuses of it is passed over. */
export function visitStoredDocument(mapping: FieldResolver, source: Uint8Array, visitor: LeafVisitor): void {
  visitObject({ mapping, visitor, isLenient: true }, mapping.root, parseObject(source), 1)
}

interface Visit {
  readonly mapping: FieldResolver
  readonly visitor: LeafVisitor
  /** Values that are refused are passed over. */
  readonly isLenient: boolean
}

function parseObject(source: Uint8Array): Record<string, unknown> {
  const document = parseDocumentText(source, parseWritten)
  if (!isJsonObject(document)) throw new DocumentRejected('failed to parse: document must be a JSON object')
  return document as Record<string, unknown>
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function parseJson(source: Uint8Array): unknown {
  return parseDocumentText(source, JSON.parse)
}

/** Gives `parse` a text of bounded size and depth. Throws DocumentRejected where `parse` refuses it. */
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

function visitValue(visit: Visit, parent: FieldNode, key: string, given: unknown, depth: number): void {
  if (given === null) {
    const named = parent.children.get(key)
    if (named?.mapping.type === 'alias') throw writtenAlias(named)
    return
  }
  const { mapping, visitor } = visit
  if (depth > MAX_DOCUMENT_DEPTH)
    throw new DocumentRejected(`failed to parse: nested deeper than ${MAX_DOCUMENT_DEPTH} levels at [${key.slice(0, 200)}]`)
  if (Array.isArray(given)) {
    for (const each of given) visitMember(visit, parent, key, each, depth + 1)
    return
  }
  const node = mapping.resolve(parent, key, kindOf(given as Leaf | object), typeof given === 'string' ? given : undefined)
  if (node === undefined) return
  if (node.mapping.type === 'flat_object') visitFlat(childPath(parent, key), node, given, visitor, depth)
  else if (isObject(given)) visitObject(visit, node, given, depth + 1)
  else {
    const value = given as Leaf
    const { type } = node.mapping
    // Throws for a value that the field cannot hold.
    if (isNumberType(type) || type === 'boolean' || type === 'date') numberOf(node.path, node.mapping, value)
    else if (holdsAddresses(node.mapping)) checkAddress(node.path, value)
    visitor(node.path, node.mapping, value)
  }
}

/** Nothing is written to an alias, null neither. */
export const writtenAlias = ({ path }: FieldNode): DocumentRejected =>
  new DocumentRejected(`failed to parse: Cannot write to a field alias [${path}].`)

/** Whether the values of the field, or of one of its multi-fields, have to be IP addresses. */
const holdsAddresses = ({ address, fields }: FieldMapping): boolean =>
  address === true || (fields !== undefined && Object.values(fields).some(holdsAddresses))

/** Whether values of the field, or of one of its multi-fields, are more than their bytes say. */
export const isReadParsed = (mapping: FieldMapping): boolean => holdsAddresses(mapping) || isOtherDate(mapping) || hasNormalizer(mapping)

const hasNormalizer = ({ normalizer, fields }: FieldMapping): boolean =>
  normalizer !== undefined || (fields !== undefined && Object.values(fields).some(hasNormalizer))

const isOtherDate = ({ format, nanos, fields }: FieldMapping): boolean =>
  format !== undefined || nanos === true || (fields !== undefined && Object.values(fields).some(isOtherDate))

const FLAT_LEAF: FieldMapping = { type: 'keyword' }

/** Leaves below a flat_object are keywords under their full path. */
function visitFlat(path: string, node: FieldNode, value: unknown, visitor: LeafVisitor, depth: number): void {
  if (value === null) return
  if (depth > MAX_DOCUMENT_DEPTH)
    throw new DocumentRejected(`failed to parse: nested deeper than ${MAX_DOCUMENT_DEPTH} levels at [${path.slice(0, 200)}]`)
  if (Array.isArray(value)) for (const each of value) visitFlat(path, node, each, visitor, depth + 1)
  else if (isObject(value)) for (const [key, each] of Object.entries(value)) visitFlat(`${path}.${key}`, node, each, visitor, depth + 1)
  else if (path === node.path)
    throw new DocumentRejected(`failed to parse field [${path}] of type [flat_object]: expected an object, got ${typeof value}`)
  else visitor(path, FLAT_LEAF, value as Leaf)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !(value instanceof WrittenNumber)

function kindOf(value: Leaf | object): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'number':
      return Number.isInteger(value) ? 'long' : 'double'
    default:
      return value instanceof WrittenNumber ? (value.isWhole ? 'long' : 'double') : 'object'
  }
}
