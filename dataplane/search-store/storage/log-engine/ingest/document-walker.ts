/** Makes index events of documents. */
import { analyze } from '../../../analysis/standard-analyzer.ts'
import { DocumentRejected } from '../../../mapping/document-rejected.ts'
import type { FieldNode } from '../../../mapping/field-tree.ts'
import type { FieldMapping } from '../../../mapping/field-types.ts'
import type { MutableMapping } from '../../../mapping/mapping.ts'
import { visitDocument, visitStoredDocument } from '../../../mapping/parse-document.ts'
import { keywordText, type Leaf, numberOf } from '../../../mapping/values.ts'
import { hashTerm } from '../format/term-hash.ts'
import { DocumentEvents } from './document-events.ts'
import { FastWalk } from './fast-walk.ts'
import type { FieldSlot, FieldSlots, KeywordCoder } from './field-slots.ts'

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

  /** Adds one document's events; throws DocumentRejected, leaving the events as they were (fields it added are the caller's to take back, and to `forget`). */
  add(source: Uint8Array): void {
    this.#add(source, false)
  }

  /** Adds a document that was taken before: what the mapping refuses of it since is left out. */
  addStored(source: Uint8Array): void {
    this.#add(source, true)
  }

  /** Fields that the last document added and that were taken back with its refusal; all others stay as they are known. */
  forget(fields: readonly FieldNode[]): void {
    // The fast walk knows none of them: it meets a field first in the document after the one that added it.
    for (const { path, mapping } of fields) this.#slots.forget(path, mapping)
  }

  #add(source: Uint8Array, isStored: boolean): void {
    if (this.#revision !== this.#mapping.revision) {
      this.#slots.invalidate()
      this.#fast.forget()
      this.#revision = this.#mapping.revision
    }
    this.events.reserve(source.length)
    if (!this.#walkFast(source, isStored)) this.#addParsed(source, isStored)
    this.events.endDocument()
  }

  /** False: to be parsed. */
  #walkFast(source: Uint8Array, isStored: boolean): boolean {
    try {
      return this.#fast.walk(source)
    } catch (error) {
      if (isStored && error instanceof DocumentRejected) return false
      throw error
    }
  }

  #addParsed(source: Uint8Array, isStored: boolean): void {
    this.events.resetDocument()
    const visit = isStored ? visitStoredDocument : visitDocument
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
    if (slot.kind === 'text') for (const term of analyze(keywordText(value))) this.#addTerm(slot, term)
    else if (slot.kind === 'keyword') this.#addKeyword(slot, keywordText(value))
    else if (slot.kind === 'number') {
      const number = numberOf(slot.path, slot.mapping.type, value)
      if (number !== undefined) this.#addNumber(slot, number)
    }
  }

  #addTerm(slot: FieldSlot, term: string): void {
    const { events } = this
    hashTerm(slot, term, events.terms, events.termEnd)
    events.termEnd += 2
  }

  #addKeyword(slot: FieldSlot, text: string): void {
    if (text.length > slot.ignoreAbove) return
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
