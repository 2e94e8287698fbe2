/** Makes index events of a document in a single pass over its bytes. */
import { isUtf8 } from 'node:buffer'
import {
  asciiStringEnd,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isDigit,
  MINUS,
  OPEN_LIST,
  OPEN_OBJECT,
  plainStringEnd,
  QUOTE,
  skipSpace,
  stringEnd,
} from '../../../../json/bytes.ts'
import { type ScannedNumber, scanNumber } from '../../../../json/numbers.ts'
import { analyze } from '../../../analysis/standard-analyzer.ts'
import type { FieldNode } from '../../../mapping/field-tree.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { isReadParsed } from '../../../mapping/parse-document.ts'
import type { Leaf } from '../../../mapping/values.ts'
import { MESSAGE_MEMBER } from '../format/message-column.ts'
import type { MessageShapes } from '../format/message-shapes.ts'
import { type ByteRun, byteRun } from './byte-run.ts'
import { hashJsonString, type KeywordState, type TokenizerState, tokenizeJsonString } from './byte-tokenizer.ts'
import type { DocumentEvents } from './document-events.ts'
import type { FieldSlot, FieldSlots, KeywordCoder } from './field-slots.ts'
import { scanTimestamp } from './scan-timestamp.ts'

/** The part of the value behind a key that the index wants. */
type EdgeKind = 'text' | 'keyword' | 'number' | 'date' | 'boolean' | 'none' | 'object' | 'flat'

/** One key of one object, remembered with its field and with the key that followed last. */
interface Edge {
  /** The key's bytes with the closing quote. */
  readonly key: ByteRun
  readonly kind: EdgeKind
  readonly slot: FieldSlot | undefined
  readonly object: ObjectContext | undefined
  next: Edge | undefined
  /** The follower before `next`. */
  other: Edge | undefined
  /** The document in which the key was last seen. A document with the same key twice is left to `JSON.parse`. */
  seenIn: number
}

interface ObjectContext {
  readonly node: FieldNode
  /** Path below a flat_object; undefined elsewhere. */
  readonly flatPath: string | undefined
  readonly edges: Map<string, Edge>
  /** Stands before the first key. */
  readonly start: Edge
}

/** Documents with keys beyond these go the parsed way. */
const MAX_EDGES = 8192
const MAX_FAST_DEPTH = 32
/** Work on the texts of one document, counted in bytes of ASCII: as much as one field of the largest document takes. */
const MAX_TEXT_WORK = 2 * 1024 * 1024
/** Work on a byte of a text that is not simple ASCII, and on each such text beside its bytes. */
const PARSED_BYTE_WORK = 16
const PARSED_TEXT_WORK = 256

/**
 * The single pass: finds each leaf, knows its field by comparing the key with the one that followed last time, and hashes values
 * straight from the bytes. Gives up (false) on anything out of the ordinary; what it wrote by then is to be dropped.
 */
export class FastWalk {
  readonly #mapping: MutableMapping
  readonly #slots: FieldSlots
  readonly #coder: KeywordCoder
  readonly #events: DocumentEvents
  readonly #indexParsed: (slot: FieldSlot, value: Leaf) => void
  readonly #tokens: TokenizerState = { position: 0, out: 0, shapeLo: 0, shapeHi: 0 }
  readonly #keyword: KeywordState = { position: 0, hasNonAscii: false }
  readonly #number: ScannedNumber = { position: 0, value: 0, isWhole: true }
  #root: ObjectContext
  #edgeCount = 0
  #document = 0
  #textWork = 0
  #bytes: Uint8Array = new Uint8Array(0)
  /** Over all of the memory that `bytes` is a part of, where it starts at `offset`. */
  #view: DataView = new DataView(new ArrayBuffer(0))
  #offset = 0
  /** The same bytes as a Buffer, made when first needed. */
  #buffer: Buffer | undefined

  constructor(
    mapping: MutableMapping,
    slots: FieldSlots,
    coder: KeywordCoder,
    events: DocumentEvents,
    indexParsed: (slot: FieldSlot, value: Leaf) => void,
  ) {
    this.#mapping = mapping
    this.#slots = slots
    this.#coder = coder
    this.#events = events
    this.#indexParsed = indexParsed
    this.#root = createContext(mapping.root, undefined)
  }

  /** Drops all that was remembered of the mapping. */
  forget(): void {
    this.#root = createContext(this.#mapping.root, undefined)
    this.#edgeCount = 0
  }

  /** Whether the last walk gave up for a document whose texts take long. */
  get isHeavy(): boolean {
    return this.#textWork > MAX_TEXT_WORK
  }

  walk(source: Uint8Array): boolean {
    this.#textWork = 0
    this.#bytes = source
    this.#offset = source.byteOffset
    if (this.#view.buffer !== source.buffer) this.#view = new DataView(source.buffer)
    this.#buffer = undefined
    this.#document++
    let i = skipSpace(source, 0)
    if (source[i] !== OPEN_OBJECT) return false
    i = this.#object(this.#root, i + 1, 1)
    return i >= 0 && skipSpace(source, i) === source.length
  }

  #text(start: number, end: number): string {
    const bytes = this.#bytes
    this.#buffer ??= bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return this.#buffer.toString('utf8', start, end)
  }

  /** Walks an object; the position behind the closing brace, or −1. */
  #object(context: ObjectContext, at: number, depth: number): number {
    if (depth > MAX_FAST_DEPTH) return -1
    const bytes = this.#bytes
    let i = bytes[at]! > 0x20 ? at : skipSpace(bytes, at)
    if (bytes[i] === CLOSE_OBJECT) return i + 1
    let before = context.start
    for (;;) {
      if (bytes[i] !== QUOTE) return -1
      i++
      let edge = before.next
      if (edge === undefined || !this.#isAt(edge.key, i)) {
        edge = this.#otherEdge(context, before, i)
        if (edge === undefined) return -1
      }
      i += edge.key.length
      if (bytes[i] !== COLON) {
        i = skipSpace(bytes, i)
        if (bytes[i] !== COLON) return -1
      }
      i++
      if (!(bytes[i]! > 0x20)) i = skipSpace(bytes, i)
      if (edge.seenIn === this.#document) return -1
      edge.seenIn = this.#document
      i = this.#value(edge, i, depth)
      if (i < 0) return -1
      if (!(bytes[i]! > 0x20)) i = skipSpace(bytes, i)
      if (bytes[i] === CLOSE_OBJECT) return i + 1
      if (bytes[i] !== COMMA) return -1
      i++
      if (!(bytes[i]! > 0x20)) i = skipSpace(bytes, i)
      before = edge
    }
  }

  #isAt(run: ByteRun, at: number): boolean {
    return run.isAt(this.#view, this.#offset + at, this.#offset + this.#bytes.length)
  }

  #otherEdge(context: ObjectContext, before: Edge, at: number): Edge | undefined {
    const { other } = before
    if (other !== undefined && this.#isAt(other.key, at)) {
      before.other = before.next
      before.next = other
      return other
    }
    const end = plainStringEnd(this.#bytes, at - 1)
    if (end < 0) return undefined
    const keyBytes = this.#bytes.subarray(at, end)
    if (!isUtf8(keyBytes)) return undefined
    const key = this.#text(at, end - 1)
    const edge = context.edges.get(key) ?? this.#createEdge(context, key, keyBytes)
    if (edge === undefined && context.node.children.get(key)?.mapping.type === 'alias') return undefined
    if (edge === undefined) return unknownEdge(keyBytes)
    before.other = before.next
    before.next = edge
    return edge
  }

  /** Only for fields that the mapping has: new ones come in through the parsed way. */
  #createEdge(context: ObjectContext, key: string, keyBytes: Uint8Array): Edge | undefined {
    const edge =
      context.flatPath === undefined
        ? this.#mappedEdge(context, key, keyBytes)
        : this.#flatEdge(`${context.flatPath}.${key}`, context.node, keyBytes)
    if (edge === undefined || this.#edgeCount >= MAX_EDGES) return undefined
    this.#edgeCount++
    context.edges.set(key, edge)
    return edge
  }

  #mappedEdge(context: ObjectContext, key: string, keyBytes: Uint8Array): Edge | undefined {
    let node: FieldNode | undefined = context.node
    for (const name of key.split('.')) {
      node = node.children.get(name)
      if (node === undefined) return undefined
      if (node.mapping.type === 'flat_object')
        return this.#flatEdge(context.node.path === '' ? key : `${context.node.path}.${key}`, node, keyBytes)
    }
    const { type, index } = node.mapping
    if (type === 'alias') return undefined
    if (type === 'object') return index === false ? undefined : createEdge(keyBytes, 'object', undefined, createContext(node, undefined))
    const slot = this.#slots.of(node.path, node.mapping)
    // A number that is not indexed is still checked.
    if (slot.kind === 'none' && type !== 'keyword' && type !== 'text') return undefined
    if (isReadParsed(node.mapping)) return undefined
    return createEdge(keyBytes, (type === 'date' || type === 'boolean') && slot.kind !== 'none' ? type : slot.kind, slot, undefined)
  }

  #flatEdge(path: string, node: FieldNode, keyBytes: Uint8Array): Edge {
    const slot = path === node.path ? undefined : this.#slots.of(path, { type: 'keyword' })
    return createEdge(keyBytes, 'flat', slot, createContext(node, path))
  }

  /** Walks a value; the position behind the value, or −1. */
  #value(edge: Edge, at: number, depth: number): number {
    const c = this.#bytes[at]!
    if (c === QUOTE) return edge.slot === undefined ? -1 : this.#string(edge.kind, edge.slot, at + 1)
    if (c === MINUS || isDigit(c)) return edge.slot === undefined ? -1 : this.#numeric(edge.kind, edge.slot, at)
    switch (c) {
      case 0x74: // true
        return this.#literal(at, 'true') ? this.#boolean(edge, at + 4, true) : -1
      case 0x66: // false
        return this.#literal(at, 'false') ? this.#boolean(edge, at + 5, false) : -1
      case 0x6e: // null
        return this.#literal(at, 'null') ? at + 4 : -1
      case OPEN_OBJECT:
        return edge.object === undefined ? -1 : this.#object(edge.object, at + 1, depth + 1)
      case OPEN_LIST:
        return depth > MAX_FAST_DEPTH ? -1 : this.#array(edge, at + 1, depth + 1)
      default:
        return -1
    }
  }

  #array(edge: Edge, at: number, depth: number): number {
    const bytes = this.#bytes
    let i = skipSpace(bytes, at)
    if (bytes[i] === CLOSE_LIST) return i + 1
    for (;;) {
      i = this.#value(edge, i, depth)
      if (i < 0) return -1
      i = skipSpace(bytes, i)
      if (bytes[i] === CLOSE_LIST) return i + 1
      if (bytes[i] !== COMMA) return -1
      i = skipSpace(bytes, i + 1)
    }
  }

  #literal(at: number, text: string): boolean {
    for (let k = 1; k < text.length; k++) if (this.#bytes[at + k] !== text.charCodeAt(k)) return false
    return true
  }

  #string(kind: EdgeKind, slot: FieldSlot, at: number): number {
    let end: number
    if (kind === 'text') end = this.#textString(slot, at)
    else if (kind === 'keyword' || kind === 'flat') end = this.#keywordString(slot, at)
    else if (kind === 'date') end = this.#date(slot, at)
    else if (kind === 'none') end = this.#skipString(at)
    else end = this.#parsedString(slot, at)
    if (end < 0) return -1
    for (let k = 0; k < slot.also.length; k++) {
      this.#events.reserveTerms((end - at) / 2 + 2)
      if (this.#string(slot.also[k]!.kind, slot.also[k]!, at) < 0) return -1
    }
    return end
  }

  #textString(slot: FieldSlot, at: number): number {
    const events = this.#events
    const tokens = this.#tokens
    tokens.out = events.termEnd
    if (this.#coder.pairs !== undefined) tokens.pairs = this.#coder.pairs
    const shapes = slot.path === MESSAGE_MEMBER ? this.#coder.shapes : undefined
    tokens.starts = shapes?.starts
    tokenizeJsonString(this.#bytes, at, this.#bytes.length, slot, events.terms, tokens)
    let end = tokens.position
    if (end < 0) end = this.#parsedString(slot, at)
    else {
      events.termEnd = tokens.out
      this.#textWork += end - at
      if (this.isHeavy) return -1
      if (shapes !== undefined) this.#noteShape(shapes, at, end)
    }
    if (end >= 0 && slot.path === MESSAGE_MEMBER) events.noteMessage(at, end - 1)
    return end
  }

  /** Notes the shape of the message that was tokenized last. */
  #noteShape(shapes: MessageShapes, at: number, end: number): void {
    const { shapeLo, shapeHi } = this.#tokens
    let code = shapes.find(shapeLo, shapeHi)
    if (code < 0) code = shapes.hasRoom(end - at) ? shapes.add(shapeLo, shapeHi, analyze(JSON.parse(this.#text(at - 1, end)) as string)) : 0
    this.#events.noteShape(code)
  }

  #keywordString(slot: FieldSlot, at: number): number {
    const events = this.#events
    const { terms, termEnd } = events
    const state = this.#keyword
    const bytes = this.#bytes
    hashJsonString(bytes, at, bytes.length, slot, terms, termEnd, state)
    const end = state.position
    if (end < 0) return this.#parsedString(slot, at)
    const length = end - 1 - at
    if (length > slot.ignoreAbove || length > slot.maxBytes || state.hasNonAscii) {
      if (!state.hasNonAscii) return length > slot.ignoreAbove ? end : -1
      if (length > slot.ignoreAbove || length > slot.maxBytes || !isUtf8(bytes.subarray(at, end))) return this.#parsedString(slot, at)
    }
    this.#addKeyword(slot, terms[termEnd]!, terms[termEnd + 1]!, at, end - 1)
    return end
  }

  /** The term's hash stands at the end of the events' terms. The hash stays there when the field has no code for the term. */
  #addKeyword(slot: FieldSlot, lo: number, hi: number, start: number, end: number): void {
    const events = this.#events
    const code = this.#coder.code(slot, lo, hi, this.#bytes, start, end)
    if (code < 0) events.termEnd += 2
    else {
      events.codes[events.codeEnd] = slot.number
      events.codes[events.codeEnd + 1] = code
      events.codeEnd += 2
    }
  }

  #date(slot: FieldSlot, at: number): number {
    const end = plainStringEnd(this.#bytes, at - 1)
    if (end < 0) return -1
    const ms = scanTimestamp(this.#bytes, at, end - 1)
    if (Number.isNaN(ms)) return this.#parsedString(slot, at)
    this.#addNumber(slot, ms)
    return end
  }

  #skipString(at: number): number {
    const end = asciiStringEnd(this.#bytes, at - 1)
    if (end >= 0) return end
    return this.#jsonString(at) === undefined ? -1 : stringEnd(this.#bytes, at - 1)
  }

  /** Reads one string the exact way. −1 also where the field refuses the string: the parsed way then says why. */
  #parsedString(slot: FieldSlot, at: number): number {
    const text = this.#jsonString(at)
    if (text === undefined) return -1
    this.#textWork += PARSED_BYTE_WORK * text.length + PARSED_TEXT_WORK
    if (this.isHeavy) return -1
    try {
      this.#indexParsed(slot, text)
    } catch {
      // −1 leads to the parsed way, which meets the same error again and reports it.
      return -1
    }
    return stringEnd(this.#bytes, at - 1)
  }

  #jsonString(at: number): string | undefined {
    const end = stringEnd(this.#bytes, at - 1)
    if (end < 0) return undefined
    if (!isUtf8(this.#bytes.subarray(at - 1, end))) return undefined
    try {
      return JSON.parse(this.#text(at - 1, end)) as string
    } catch {
      // Not valid JSON: the parsed way says so.
      return undefined
    }
  }

  #numeric(kind: EdgeKind, slot: FieldSlot, at: number): number {
    const scanned = this.#number
    scanNumber(this.#bytes, at, scanned)
    const end = scanned.position
    if (end < 0 || kind === 'none') return end
    const value = Number.isNaN(scanned.value) ? Number(this.#text(at, end)) : scanned.value
    if (kind === 'number' && slot.also.length === 0 && this.#fits(slot, value, scanned.isWhole)) {
      this.#addNumber(slot, slot.mapping.type === 'float' ? Math.fround(value) : value)
      return end
    }
    return this.#leaf(slot, value) ? end : -1
  }

  /** Numbers that need no coercion. */
  #fits(slot: FieldSlot, value: number, isWhole: boolean): boolean {
    const { type } = slot.mapping
    if (type === 'double') return Number.isFinite(value)
    if (type === 'float') return Math.abs(value) < 3.4e38
    if (!isWhole) return false
    if (type === 'integer') return value >= -0x8000_0000 && value <= 0x7fff_ffff
    return type === 'long' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
  }

  #boolean(edge: Edge, end: number, value: boolean): number {
    const { slot, kind } = edge
    if (slot === undefined) return -1
    if (kind === 'none') return end
    if (kind === 'boolean' && slot.also.length === 0) {
      this.#addNumber(slot, value ? 1 : 0)
      return end
    }
    return this.#leaf(slot, value) ? end : -1
  }

  #leaf(slot: FieldSlot, value: Leaf): boolean {
    try {
      this.#indexParsed(slot, value)
      for (const other of slot.also) this.#indexParsed(other, value)
    } catch {
      // The parsed way meets the same error again and reports it.
      return false
    }
    return true
  }

  #addNumber(slot: FieldSlot, value: number): void {
    const events = this.#events
    events.numberSlots[events.numberEnd] = slot.number
    events.numbers[events.numberEnd++] = value
  }
}

function createContext(node: FieldNode, flatPath: string | undefined): ObjectContext {
  return { node, flatPath, edges: new Map(), start: createEdge(new Uint8Array(0), 'none', undefined, undefined) }
}

/** Lets null and empty arrays pass, which make no field. The edge is not remembered, so that a field made later is seen. */
const unknownEdge = (key: Uint8Array) => createEdge(key, 'none', undefined, undefined)

function createEdge(key: Uint8Array, kind: EdgeKind, slot: FieldSlot | undefined, object: ObjectContext | undefined): Edge {
  return { key: byteRun(key), kind, slot, object, next: undefined, other: undefined, seenIn: -1 }
}
