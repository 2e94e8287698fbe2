/** Takes over documents that another thread has walked. */
import { NOWHERE } from '../../../../json/bytes.ts'
import type { IndexMapping } from '../../../mapping/field-types.ts'
import type { WalkedDocuments } from '../../walked-documents.ts'
import type { DocumentEvents } from '../ingest/document-events.ts'
import type { FieldSlot, FieldSlots } from '../ingest/field-slots.ts'
import type { TailIndex } from '../tail/tail-index.ts'
import { DOCUMENT_ROW, NO_MESSAGE, NOT_WALKED, VALUE_ROW, type WalkedWords, walkedWords } from './walked-words.ts'

/** Where the documents go. */
export interface WalkedTarget {
  readonly instance: number
  readonly mapping: IndexMapping & { readonly revision: number }
  readonly slots: FieldSlots
  readonly index: TailIndex
  readonly events: DocumentEvents
}

/** Walked documents as the index of a tail numbers their fields and values. Good for one commit. */
export class WalkedShare {
  readonly #words: WalkedWords
  readonly #revision: number
  readonly #target: WalkedTarget
  /** By slot of the form. */
  readonly #slots: Int32Array
  /** By value of the form: its code; −1: its term stands for it. */
  readonly #codes: Int32Array
  /** None of them is −1. */
  readonly #haveCodes: boolean
  /** By shape of the form. */
  readonly #shapes: Uint16Array

  private constructor(target: WalkedTarget, walked: WalkedDocuments, slots: readonly FieldSlot[]) {
    const words = walkedWords(walked)
    const { index } = target
    this.#target = target
    this.#words = words
    this.#revision = walked.revision
    this.#slots = Int32Array.from(slots, ({ number }) => number)
    this.#codes = codesOf(index, walked, words.values, slots)
    this.#haveCodes = !this.#codes.includes(-1)
    this.#shapes = new Uint16Array(walked.shapes.length + 1)
    for (const [at, { lo, hi, text }] of walked.shapes.entries()) {
      const code = index.shapes.find(lo, hi)
      this.#shapes[at + 1] = code >= 0 ? code : index.shapes.addText(lo, hi, text)
    }
    if (walked.starts !== undefined) index.shapes.starts.addAll(walked.starts)
    index.pairs.addChanges(words.pairs)
  }

  /** Undefined where the documents were walked by another mapping than that of the index. */
  static open(target: WalkedTarget, walked: WalkedDocuments): WalkedShare | undefined {
    if (walked.instance !== target.instance || walked.revision !== target.mapping.revision) return undefined
    const slots: FieldSlot[] = []
    for (const path of walked.paths) {
      const slot = target.slots.find(path) ?? newSlot(target, path)
      if (slot === undefined) return undefined
      slots.push(slot)
    }
    return new WalkedShare(target, walked, slots)
  }

  /** Whether all documents from `from` to `to` were walked by the mapping of the index, and each of their values has a code. */
  areWhole(from: number, to: number): boolean {
    if (!this.#haveCodes || this.#target.mapping.revision !== this.#revision) return false
    const { rows } = this.#words
    for (let k = from; k < to; k++) if (rows[DOCUMENT_ROW * k + 3] === NOT_WALKED) return false
    return true
  }

  /** Adds the events of these documents, which are whole. */
  addAll(from: number, to: number): void {
    if (from === to) return
    const { rows, terms } = this.#words
    const { events } = this.#target
    const startAt = (column: number) => (from === 0 ? 0 : rows[DOCUMENT_ROW * (from - 1) + column]!)
    const endAt = (column: number) => rows[DOCUMENT_ROW * (to - 1) + column]!
    const [termAt, codeAt, numberAt] = [startAt(0), startAt(1), startAt(2)]
    const [termTo, codeTo, numberTo] = [endAt(0), endAt(1), endAt(2)]
    events.reserveDocuments(to - from, { terms: termTo - termAt, codes: codeTo - codeAt, numbers: numberTo - numberAt })
    const { termEnd, codeEnd, numberEnd } = events
    for (let k = from; k < to; k++) {
      const row = DOCUMENT_ROW * k
      const at = 3 * events.count
      events.ends[at] = termEnd + rows[row]! - termAt
      events.ends[at + 1] = codeEnd + rows[row + 1]! - codeAt
      events.ends[at + 2] = numberEnd + rows[row + 2]! - numberAt
      events.shapes[events.count++] = this.#shapes[rows[row + 5]!]!
    }
    events.terms.set(terms.subarray(termAt, termTo), termEnd)
    this.#addCodes(codeAt, codeTo)
    this.#addNumbers(numberAt, numberTo)
    events.termEnd += termTo - termAt
  }

  #addCodes(from: number, to: number): void {
    const { codes } = this.#words
    const { events } = this.#target
    const own = events.codes
    let out = events.codeEnd
    for (let at = from; at < to; at += 2) {
      own[out++] = this.#slots[codes[at]!]!
      own[out++] = this.#codes[codes[at + 1]!]!
    }
    events.codeEnd = out
  }

  /** Where the message of document `k` stands, or `NOWHERE`. */
  messageStart(k: number): number {
    const start = this.#words.rows[DOCUMENT_ROW * k + 3]!
    return start === NO_MESSAGE ? NOWHERE : start
  }

  messageEnd(k: number): number {
    return this.#words.rows[DOCUMENT_ROW * k + 4]!
  }

  /** Adds the events of document `k`; false, with nothing added: the document has to be walked. It has so many bytes. */
  add(k: number, bytes: number): boolean {
    const { rows } = this.#words
    const row = DOCUMENT_ROW * k
    const messageStart = rows[row + 3]!
    const { events, mapping } = this.#target
    if (messageStart === NOT_WALKED || mapping.revision !== this.#revision) return false
    events.reserve(bytes)
    const isFirst = k === 0
    this.#addContent(isFirst ? 0 : rows[row - DOCUMENT_ROW]!, rows[row]!, isFirst ? 0 : rows[row - DOCUMENT_ROW + 1]!, rows[row + 1]!)
    this.#addNumbers(isFirst ? 0 : rows[row - DOCUMENT_ROW + 2]!, rows[row + 2]!)
    if (messageStart !== NO_MESSAGE) events.noteMessage(messageStart, rows[row + 4]!)
    const shape = this.#shapes[rows[row + 5]!]!
    if (shape > 0) events.noteShape(shape)
    events.endDocument()
    return true
  }

  /** Adds terms and codes that stand in these places. */
  #addContent(termsFrom: number, termsTo: number, codesFrom: number, codesTo: number): void {
    const { terms, codes, values } = this.#words
    const { events } = this.#target
    events.reserveTerms((termsTo - termsFrom + codesTo - codesFrom) / 2)
    let out = events.termEnd
    for (let at = termsFrom; at < termsTo; at++) events.terms[out++] = terms[at]!
    let codeOut = events.codeEnd
    for (let at = codesFrom; at < codesTo; at += 2) {
      const value = codes[at + 1]!
      const code = this.#codes[value]!
      if (code < 0) {
        events.terms[out++] = values[VALUE_ROW * value + 1]!
        events.terms[out++] = values[VALUE_ROW * value + 2]!
        continue
      }
      events.codes[codeOut++] = this.#slots[codes[at]!]!
      events.codes[codeOut++] = code
    }
    events.termEnd = out
    events.codeEnd = codeOut
  }

  #addNumbers(from: number, to: number): void {
    const { numbers, numberSlots } = this.#words
    const { events } = this.#target
    let out = events.numberEnd
    for (let at = from; at < to; at++) {
      events.numberSlots[out] = this.#slots[numberSlots[at]!]!
      events.numbers[out++] = numbers[at]!
    }
    events.numberEnd = out
  }
}

function newSlot({ mapping, slots }: WalkedTarget, path: string): FieldSlot | undefined {
  const field = mapping.field(path)
  return field === undefined || field.type === 'object' ? undefined : slots.of(path, field)
}

function codesOf(index: TailIndex, { valueBytes, lengths }: WalkedDocuments, values: Int32Array, slots: readonly FieldSlot[]): Int32Array {
  const codes = new Int32Array(lengths.values)
  for (let k = 0; k < codes.length; k++) {
    const at = VALUE_ROW * k
    codes[k] = index.code(slots[values[at]!]!, values[at + 1]!, values[at + 2]!, valueBytes, values[at + 3]!, values[at + 4]!)
  }
  return codes
}
