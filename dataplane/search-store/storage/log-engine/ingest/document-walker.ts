/** Makes index events of documents. */
import { normalized } from '../../../analysis/normalizers.ts'
import { analyze, tokens } from '../../../analysis/standard-analyzer.ts'
import { DocumentRejected } from '../../../mapping/document-rejected.ts'
import type { FieldNode } from '../../../mapping/field-tree.ts'
import type { FieldMapping } from '../../../mapping/field-types.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { visitDocument, visitStoredDocument } from '../../../mapping/parse-document.ts'
import { keywordText, type Leaf, numberOf } from '../../../mapping/values.ts'
import type { Turns } from '../../../turns.ts'
import { MESSAGE_MEMBER } from '../format/block/message-column.ts'
import { addWordHi, addWordLo, NUMBERED_HI, NUMBERED_LO } from '../format/block/message-shapes.ts'
import { bringsPairs } from '../format/segment-index/word-pairs.ts'
import { hashTerm } from '../format/term-hash.ts'
import { DocumentEvents } from './document-events.ts'
import { FastWalk } from './fast-walk.ts'
import type { FieldSlot, FieldSlots, KeywordCoder } from './field-slots.ts'

/** Documents that are not of the usual shape are worked out at once up to so many bytes. */
const MAX_PARSED_AT_ONCE = 32 * 1024
/** Terms of one document, all fields and multi-fields together: each takes eight bytes until it is committed. */
const MAX_DOCUMENT_TERMS = 4 * 1024 * 1024
/** Terms between two looks at the time. */
const TERMS_A_LOOK = 256

/**
 * Makes index events of documents: the usual shape in a single pass over the bytes, everything else (new fields, escapes in names,
 * duplicate keys, refusals) by way of `JSON.parse`. Both give the same events.
 */
export class DocumentWalker {
  readonly events = new DocumentEvents()
  readonly #mapping: MutableMapping
  readonly #slots: FieldSlots
  readonly #fast: FastWalk
  readonly #coder: KeywordCoder
  readonly #hash = new Int32Array(2)
  #revision: number

  constructor(mapping: MutableMapping, slots: FieldSlots, coder: KeywordCoder) {
    this.#mapping = mapping
    this.#slots = slots
    this.#coder = coder
    this.#revision = mapping.revision
    this.#fast = new FastWalk(mapping, slots, coder, this.events, (slot, value) => this.#index(slot, value))
  }

  /**
   * Adds one document's events; throws DocumentRejected, leaving the events as they were (fields it added are the caller's to take back, and to
   * `forget`). False, with nothing added, for a document that would hold the thread for long: `addInTurns` is for it. The document stands in `memory`
   * from `start` to `end`.
   */
  add(memory: Uint8Array, start = 0, end = memory.length): boolean {
    this.#begin(end - start)
    if (!this.#fast.walk(memory, start, end)) {
      const source = memory.subarray(start, end)
      if (this.#takesLong(source)) {
        this.events.resetDocument()
        return false
      }
      this.#addParsed(source, visitDocument)
    }
    this.events.endDocument()
    return true
  }

  /**
   * Adds a document that is read in a single pass; false, with nothing added, for any other. Nothing of it is refused, and no field is new. Errors are
   * those of the coder, the events then being as they were.
   */
  addPlain(memory: Uint8Array, start: number, end: number): boolean {
    this.#begin(end - start)
    let isWalked = false
    try {
      isWalked = this.#fast.walk(memory, start, end)
    } finally {
      if (!isWalked) this.events.resetDocument()
    }
    if (isWalked) this.events.endDocument()
    return isWalked
  }

  /** Adds a document that brings nothing. */
  addNothing(): void {
    this.#begin(0)
    this.events.endDocument()
  }

  /** The same as `add` while others run. */
  async addInTurns(source: Uint8Array, turns: Turns): Promise<void> {
    this.#begin(source.length)
    try {
      await this.#addLeaves(source, visitDocument, turns, false)
    } catch (error) {
      this.events.resetDocument()
      throw error
    }
    this.events.endDocument()
  }

  /** The same as `addStored` while others run. */
  async addStoredInTurns(source: Uint8Array, turns: Turns): Promise<void> {
    this.#begin(source.length)
    if (!this.#walkStored(source)) {
      this.events.resetDocument()
      if (this.#takesLong(source)) await this.#addLeaves(source, visitStoredDocument, turns, true)
      else this.#addParsed(source, visitStoredDocument)
    }
    this.events.endDocument()
  }

  /** After the fast walk has given up. */
  #takesLong({ length }: Uint8Array): boolean {
    return this.#fast.isHeavy || length > MAX_PARSED_AT_ONCE
  }

  async #addLeaves(source: Uint8Array, visit: typeof visitStoredDocument, turns: Turns, isLenient: boolean): Promise<void> {
    const leaves: (readonly [slot: FieldSlot, value: Leaf])[] = []
    visit(this.#mapping, source, (path, mapping, value) => leaves.push([this.#slots.of(path, mapping), value]))
    for (const [slot, value] of leaves) {
      if (turns.isDue()) await turns.next()
      try {
        await this.#addLeaf([slot, ...slot.also], value, turns)
      } catch (error) {
        if (!(isLenient && error instanceof DocumentRejected)) throw error
      }
    }
  }

  async #addLeaf(slots: readonly FieldSlot[], value: Leaf, turns: Turns): Promise<void> {
    for (const slot of slots) if (slot.kind !== 'text') this.#index(slot, value)
    const texts = slots.filter(({ kind }) => kind === 'text')
    if (texts.length > 0) await this.#addTexts(texts, keywordText(value), turns)
  }

  async #addTexts(slots: readonly FieldSlot[], text: string, turns: Turns): Promise<void> {
    let count = 0
    let before = ''
    for (const { term } of tokens(text)) {
      if (++count % TERMS_A_LOOK === 0 && turns.isDue()) await turns.next()
      for (const slot of slots) {
        this.#addTerm(slot, term)
        this.#addPair(slot, before, term)
      }
      before = term
    }
  }

  /** Adds a document that was taken before: what the mapping refuses of it since is left out. */
  addStored(source: Uint8Array): void {
    this.#begin(source.length)
    if (!this.#walkStored(source)) this.#addParsed(source, visitStoredDocument)
    this.events.endDocument()
  }

  /** Fields that the last document added and that were taken back with its refusal; all others stay as they are known. */
  forget(fields: readonly FieldNode[]): void {
    // The fast walk knows none of them: it meets a field first in the document after the one that added it.
    for (const { path, mapping } of fields) this.#slots.forget(path, mapping)
  }

  /** Drops what was derived from a mapping that is another now. */
  refresh(): void {
    if (this.#revision === this.#mapping.revision) return
    this.#slots.invalidate()
    this.#fast.forget()
    this.#revision = this.#mapping.revision
  }

  #begin(bytes: number): void {
    this.refresh()
    this.events.reserve(bytes)
  }

  /** False: to be parsed. */
  #walkStored(source: Uint8Array): boolean {
    try {
      return this.#fast.walk(source)
    } catch (error) {
      if (error instanceof DocumentRejected) return false
      throw error
    }
  }

  #addParsed(source: Uint8Array, visit: typeof visitStoredDocument): void {
    this.events.resetDocument()
    try {
      visit(this.#mapping, source, (path, mapping, value) => this.#visit(path, mapping, value))
    } catch (error) {
      this.events.resetDocument()
      throw error
    }
  }

  #visit(path: string, mapping: FieldMapping, value: Leaf): void {
    const slot = this.#slots.of(path, mapping)
    this.#index(slot, value)
    for (const other of slot.also) this.#index(other, value)
  }

  /** Indexes one value under one slot, multi-fields not included. */
  #index(slot: FieldSlot, value: Leaf): void {
    if (slot.kind === 'text') this.#addText(slot, keywordText(value))
    else if (slot.kind === 'keyword') this.#addKeyword(slot, keywordText(value))
    else if (slot.kind === 'number') {
      const number = numberOf(slot.path, slot.mapping, value)
      if (number !== undefined) this.#addNumber(slot, number)
    }
  }

  #addText(slot: FieldSlot, text: string): void {
    let before = ''
    const words = analyze(text)
    const shapes = slot.path === MESSAGE_MEMBER ? this.#coder.shapes : undefined
    let shapeLo = 0
    let shapeHi = 0
    for (const term of words) {
      this.#addTerm(slot, term)
      this.#addPair(slot, before, term)
      before = term
      if (shapes === undefined) continue
      const { terms, termEnd } = this.events
      const isLetters = bringsPairs(term)
      shapeLo = addWordLo(shapeLo, isLetters ? terms[termEnd - 2]! : NUMBERED_LO)
      shapeHi = addWordHi(shapeHi, isLetters ? terms[termEnd - 1]! : NUMBERED_HI)
      if (!isLetters) shapes.starts.add(term.charCodeAt(0), term.charCodeAt(1) || 0, term.charCodeAt(2) || 0)
    }
    if (shapes === undefined) return
    const known = shapes.find(shapeLo, shapeHi)
    this.events.noteShape(known >= 0 ? known : shapes.add(shapeLo, shapeHi, words))
  }

  /** Adds the pair of the last added term and the term in front, `before`; '' for none. */
  #addPair(slot: FieldSlot, before: string, term: string): void {
    const { pairs } = this.#coder
    if (pairs === undefined || before === '' || !bringsPairs(before) || !bringsPairs(term)) return
    const { terms, termEnd } = this.events
    hashTerm(slot, before, this.#hash, 0)
    pairs.add(this.#hash[0]!, this.#hash[1]!, terms[termEnd - 2]!, terms[termEnd - 1]!)
  }

  #addTerm(slot: FieldSlot, term: string): void {
    const { events } = this
    if (events.newTerms >= MAX_DOCUMENT_TERMS)
      throw new DocumentRejected(
        `Document contains more than ${MAX_DOCUMENT_TERMS} words, its multi-fields counted: field="${slot.path.slice(0, 200)}"`,
        'illegal_argument_exception',
      )
    events.reserveTerms(1)
    hashTerm(slot, term, events.terms, events.termEnd)
    events.termEnd += 2
  }

  #addKeyword(slot: FieldSlot, given: string): void {
    if (given.length > slot.ignoreAbove) return
    const text = normalized(given, slot.mapping.normalizer)
    const bytes = Buffer.from(text)
    if (bytes.length > slot.maxBytes)
      throw new DocumentRejected(
        `Document contains at least one immense term in field="${slot.path.slice(0, 200)}" (whose UTF8 encoding is longer than ${slot.maxBytes})`,
        'illegal_argument_exception',
      )
    hashTerm(slot, text, this.#hash, 0)
    const { events } = this
    const code = this.#coder.code(slot, this.#hash[0]!, this.#hash[1]!, bytes, 0, bytes.length)
    if (code < 0) {
      events.terms.set(this.#hash, events.termEnd)
      events.termEnd += 2
    } else {
      events.codes[events.codeEnd++] = slot.number
      events.codes[events.codeEnd++] = code
    }
  }

  #addNumber(slot: FieldSlot, value: number): void {
    const { events } = this
    events.numberSlots[events.numberEnd] = slot.number
    events.numbers[events.numberEnd++] = value
  }
}
