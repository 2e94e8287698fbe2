/** The keys of the documents of an index, each with its field and with the key that followed last. */
import type { FieldNode } from '../../../mapping/field-tree.ts'
import { isReadParsed } from '../../../mapping/parse-document.ts'
import { type ByteRun, byteRun } from './byte-run.ts'
import type { FieldSlot, FieldSlots } from './field-slots.ts'
import type { RecentRuns } from './recent-runs.ts'

/** The part of the value behind a key that the index wants. */
export type EdgeKind = 'text' | 'keyword' | 'number' | 'date' | 'boolean' | 'none' | 'object' | 'flat'

/** One key of one object, remembered with its field and with the key that followed last. */
export class Edge {
  /** The key's bytes with the closing quote. */
  readonly key: ByteRun
  readonly kind: EdgeKind
  readonly slot: FieldSlot | undefined
  readonly object: ObjectContext | undefined
  next: Edge | undefined = undefined
  /** The follower before `next`. */
  other: Edge | undefined = undefined
  /** The document in which the key was last seen. A document with the same key twice is left to `JSON.parse`. */
  seenIn = -1
  /** Remembered values of the key, found by their bytes. */
  recent: RecentRuns<KnownMember> | undefined = undefined
  /** Remembered values of the key, by a number that mostly tells them from each other. */
  members: Map<number, KnownMember> | undefined = undefined
  /** How often a remembered value came again. */
  hits = 0
  /** Whether values are not remembered. */
  isVaried: boolean

  constructor(key: Uint8Array, kind: EdgeKind, slot: FieldSlot | undefined, object: ObjectContext | undefined) {
    this.key = byteRun(key)
    this.kind = kind
    this.slot = slot
    this.object = object
    this.isVaried = slot === undefined ? kind !== 'flat' : kind === 'date' || isText(slot) || slot.also.some(isText)
  }
}

/** Texts bring more than events: their words are neighbours. */
const isText = ({ kind }: FieldSlot) => kind === 'text'

/** A key with one value, and all that the value brings to the index. */
export interface KnownMember {
  readonly edge: Edge
  /** The bytes from behind the key's opening quote to the comma or brace behind the value. */
  readonly run: ByteRun
  /** The brace: the object ends. */
  readonly isLast: boolean
  /** `[slot, code]` pairs. */
  readonly codes: readonly number[]
  /** `[lo, hi]` pairs. */
  readonly terms: readonly number[]
  readonly numberSlots: readonly number[]
  readonly numbers: readonly number[]
  /** The members that are known were forgotten so many times before. */
  readonly era: number
  /** The member that followed last. */
  next: KnownMember | undefined
}

export interface ObjectContext {
  readonly node: FieldNode
  /** Path below a flat_object; undefined elsewhere. */
  readonly flatPath: string | undefined
  readonly edges: Map<string, Edge>
  /** Stands before the first key. */
  readonly start: Edge
}

export function createContext(node: FieldNode, flatPath: string | undefined): ObjectContext {
  return { node, flatPath, edges: new Map(), start: new Edge(new Uint8Array(0), 'none', undefined, undefined) }
}

/** Lets null and empty arrays pass, which make no field. The edge is not remembered, so that a field made later is seen. */
export const unknownEdge = (key: Uint8Array) => new Edge(key, 'none', undefined, undefined)

/** The edge of a key, its bytes with the closing quote; undefined for a field that the mapping lacks, and for one that is read parsed. */
export function edgeOf(slots: FieldSlots, context: ObjectContext, key: string, keyBytes: Uint8Array): Edge | undefined {
  return context.flatPath === undefined
    ? mappedEdge(slots, context, key, keyBytes)
    : flatEdge(slots, `${context.flatPath}.${key}`, context.node, keyBytes)
}

function mappedEdge(slots: FieldSlots, context: ObjectContext, key: string, keyBytes: Uint8Array): Edge | undefined {
  let node: FieldNode | undefined = context.node
  for (const name of key.split('.')) {
    node = node.children.get(name)
    if (node === undefined) return undefined
    if (node.mapping.type === 'flat_object')
      return flatEdge(slots, context.node.path === '' ? key : `${context.node.path}.${key}`, node, keyBytes)
  }
  const { type, index } = node.mapping
  if (type === 'alias') return undefined
  if (type === 'object') return index === false ? undefined : new Edge(keyBytes, 'object', undefined, createContext(node, undefined))
  const slot = slots.of(node.path, node.mapping)
  // A number that is not indexed is still checked.
  if (slot.kind === 'none' && type !== 'keyword' && type !== 'text') return undefined
  if (isReadParsed(node.mapping)) return undefined
  return new Edge(keyBytes, (type === 'date' || type === 'boolean') && slot.kind !== 'none' ? type : slot.kind, slot, undefined)
}

function flatEdge(slots: FieldSlots, path: string, node: FieldNode, keyBytes: Uint8Array): Edge {
  const slot = path === node.path ? undefined : slots.of(path, { type: 'keyword' })
  return new Edge(keyBytes, 'flat', slot, createContext(node, path))
}
