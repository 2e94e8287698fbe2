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
import { WrittenNumber } from '../../../json/exact-numbers.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import type { Leaf } from '../../../mapping/values.ts'
import { MESSAGE_MEMBER } from '../format/block/message-column.ts'
import type { MessageShapes } from '../format/block/message-shapes.ts'
import type { ByteRun } from './byte-run.ts'
import { hashJsonString, type KeywordState, type TokenizerState, tokenizeJsonString } from './byte-tokenizer.ts'
import { createContext, type Edge, type EdgeKind, edgeOf, type KnownMember, type ObjectContext, unknownEdge } from './document-edges.ts'
import type { DocumentEvents } from './document-events.ts'
import type { FieldSlot, FieldSlots, KeywordCoder } from './field-slots.ts'
import { KnownMembers } from './known-members.ts'
import { scanTimestamp } from './scan-timestamp.ts'

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
  readonly #known: KnownMembers
  #coderRevision: number | undefined
  #root: ObjectContext
  #edgeCount = 0
  #document = 0
  #textWork = 0
  #bytes: Uint8Array = new Uint8Array(0)
  /** Where the document stands in `bytes`. */
  #start = 0
  #end = 0
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
    this.#known = new KnownMembers(events)
    this.#coderRevision = coder.revision
    this.#root = createContext(mapping.root, undefined)
  }

  /** Drops all that was remembered of the mapping. */
  forget(): void {
    this.#known.forget()
    this.#root = createContext(this.#mapping.root, undefined)
    this.#edgeCount = 0
  }

  /** Whether the last walk gave up for a document whose texts take long. */
  get isHeavy(): boolean {
    return this.#textWork > MAX_TEXT_WORK
  }

  /** The document stands in `memory` from `start` to `end`; beyond it other documents may stand. */
  walk(memory: Uint8Array, start = 0, end = memory.length): boolean {
    this.#textWork = 0
    if (this.#bytes !== memory) this.#take(memory)
    this.#start = start
    this.#end = end
    this.#document++
    this.#forgetCodes()
    let i = skipSpace(memory, start, end)
    if (memory[i] !== OPEN_OBJECT) return false
    i = this.#object(this.#root, i + 1, 1)
    return i >= 0 && i <= end && skipSpace(memory, i, end) === end
  }

  #take(memory: Uint8Array): void {
    this.#bytes = memory
    this.#offset = memory.byteOffset
    if (this.#view.buffer !== memory.buffer) this.#view = new DataView(memory.buffer)
    this.#buffer = undefined
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
    let member: KnownMember | undefined
    for (;;) {
      if (bytes[i] !== QUOTE) return -1
      i++
      const known = this.#knownMember(before, member, i)
      if (known !== undefined) {
        const { edge } = known
        if (edge.seenIn === this.#document) return -1
        edge.seenIn = this.#document
        edge.hits++
        this.#known.add(known)
        i += known.run.length
        if (known.isLast) return i
        if (!(bytes[i]! > 0x20)) i = skipSpace(bytes, i)
        before = edge
        member = known
        continue
      }
      const start = i
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
      const { termEnd, codeEnd, numberEnd } = this.#events
      const { era } = this.#known
      // Objects of other fields may hold texts, which bring more than events.
      const isNoted = !edge.isVaried && bytes[i] !== OPEN_LIST && (bytes[i] !== OPEN_OBJECT || edge.kind === 'flat')
      i = this.#value(edge, i, depth)
      if (i < 0) return -1
      if (!(bytes[i]! > 0x20)) i = skipSpace(bytes, i)
      const isLast = bytes[i] === CLOSE_OBJECT
      if (!isLast && bytes[i] !== COMMA) return -1
      i++
      // Codes that the value brought may be no more of use where a field has none from within the value on.
      const noted = isNoted && era === this.#known.era ? this.#known.note(edge, start, i, bytes, termEnd, codeEnd, numberEnd) : undefined
      if (noted !== undefined) edge.recent?.note(noted, this.#view, this.#offset + start, this.#offset + this.#end)
      if (member !== undefined) member.next = noted
      member = noted
      if (isLast) return i
      if (!(bytes[i]! > 0x20)) i = skipSpace(bytes, i)
      before = edge
    }
  }

  /** The member at `at`, when it is known from the one in front, or by the key. */
  #knownMember(before: Edge, member: KnownMember | undefined, at: number): KnownMember | undefined {
    const expected = member?.next
    if (expected !== undefined && expected.era === this.#known.era && this.#isAt(expected.run, at)) return expected
    const found = before.next?.recent?.at(this.#view, this.#offset + at, this.#offset + this.#end)
    if (found === undefined || found === expected || !this.#isAt(found.run, at)) return undefined
    if (member !== undefined) member.next = found
    return found
  }

  #isAt(run: ByteRun, at: number): boolean {
    return run.isAt(this.#view, this.#offset + at, this.#offset + this.#end)
  }

  #otherEdge(context: ObjectContext, before: Edge, at: number): Edge | undefined {
    const { other } = before
    if (other !== undefined && this.#isAt(other.key, at)) {
      before.other = before.next
      before.next = other
      return other
    }
    const end = plainStringEnd(this.#bytes, at - 1, this.#end)
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
    const edge = edgeOf(this.#slots, context, key, keyBytes)
    if (edge === undefined || this.#edgeCount >= MAX_EDGES) return undefined
    this.#edgeCount++
    context.edges.set(key, edge)
    return edge
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
    tokenizeJsonString(this.#bytes, at, this.#end, slot, events.terms, tokens)
    let end = tokens.position
    if (end < 0) end = this.#parsedString(slot, at)
    else {
      events.termEnd = tokens.out
      this.#textWork += end - at
      if (this.isHeavy) return -1
      if (shapes !== undefined) this.#noteShape(shapes, at, end)
    }
    if (end >= 0 && slot.path === MESSAGE_MEMBER) events.noteMessage(at - this.#start, end - 1 - this.#start)
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
    hashJsonString(bytes, at, this.#end, slot, terms, termEnd, state)
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
    if (code < 0) {
      events.termEnd += 2
      this.#forgetCodes()
    } else {
      events.codes[events.codeEnd] = slot.number
      events.codes[events.codeEnd + 1] = code
      events.codeEnd += 2
    }
  }

  /** Known members bring codes: they are forgotten when a field has no codes from now on. */
  #forgetCodes(): void {
    if (this.#coder.revision === this.#coderRevision) return
    this.#coderRevision = this.#coder.revision
    this.#known.forget()
  }

  #date(slot: FieldSlot, at: number): number {
    const end = plainStringEnd(this.#bytes, at - 1, this.#end)
    if (end < 0) return -1
    const ms = scanTimestamp(this.#bytes, at, end - 1)
    if (Number.isNaN(ms)) return this.#parsedString(slot, at)
    this.#addNumber(slot, ms)
    return end
  }

  #skipString(at: number): number {
    const end = asciiStringEnd(this.#bytes, at - 1, this.#end)
    if (end >= 0) return end
    return this.#jsonString(at) === undefined ? -1 : stringEnd(this.#bytes, at - 1, this.#end)
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
    return stringEnd(this.#bytes, at - 1, this.#end)
  }

  #jsonString(at: number): string | undefined {
    const end = stringEnd(this.#bytes, at - 1, this.#end)
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
    const text = kind === 'number' && slot.also.length === 0 ? undefined : this.#text(at, end)
    return this.#leaf(slot, text === undefined || String(value) === text ? value : new WrittenNumber(text)) ? end : -1
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
