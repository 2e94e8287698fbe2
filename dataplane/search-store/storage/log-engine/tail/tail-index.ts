/** The content of a tail's documents, by terms and columns, while they are not sealed yet. */
import { Turns } from '../../../turns.ts'
import type { Column } from '../../index-storage.ts'
import { MessageShapes } from '../format/block/message-shapes.ts'
import { WordPairs } from '../format/segment-index/word-pairs.ts'
import { hashTerm } from '../format/term-hash.ts'
import type { IndexEvents } from '../ingest/document-events.ts'
import type { FieldSlot, KeywordCoder } from '../ingest/field-slots.ts'
import { union } from './posting-lists.ts'
import { KeywordTail, NumberTail } from './tail-columns.ts'
import { TermTable } from './term-table.ts'

/** Keyword fields without a column: an earlier tail met too many values in them, or there are too many fields. */
export type HighCardinality = Set<number>

/** Keyword fields beyond these have no column in a tail. */
const MAX_KEYWORD_COLUMNS = 2048
/** Words of terms (two each) between two looks at the time. */
const LOOK_EVERY = 16_384
/** Documents whose codes and numbers come in between two looks at the time. */
const DOCUMENTS_A_PIECE = 512

/** The index over the tail of one index, in memory: terms, dictionary codes, numbers. */
export class TailIndex implements KeywordCoder {
  readonly terms: TermTable
  readonly pairs = new WordPairs()
  readonly shapes = new MessageShapes()
  /** By slot number. */
  readonly keywords: (KeywordTail | undefined)[] = []
  readonly numbers: (NumberTail | undefined)[] = []
  readonly #high: HighCardinality
  #keywordCount = 0
  #revision = 0

  /** `expectedTerms` come in without the table growing. */
  constructor(high: HighCardinality, expectedTerms = 0) {
    this.terms = new TermTable(expectedTerms)
    this.#high = high
  }

  /** Number of columns that have some of their values only. */
  get revision(): number {
    return this.#revision
  }

  get sizeBytes(): number {
    let bytes = this.terms.sizeBytes + this.shapes.sizeBytes
    for (const column of this.keywords) bytes += column?.sizeBytes ?? 0
    for (const column of this.numbers) bytes += column?.sizeBytes ?? 0
    return bytes
  }

  /** Gives its memory back but for the columns that queries have. It is not to be used any more. */
  release(): void {
    this.terms.release()
    for (const column of this.keywords) column?.release()
    for (const column of this.numbers) column?.release()
  }

  /** Keyword fields whose values have no codes, or have none from now on. Once in an index, a field stays among them. */
  termSlots(): readonly number[] {
    const slots = [...this.#high]
    for (let slot = 0; slot < this.keywords.length; slot++)
      if (this.keywords[slot]?.isPartial === true && !this.#high.has(slot)) slots.push(slot)
    return slots
  }

  code(slot: FieldSlot, lo: number, hi: number, bytes: Uint8Array, start: number, end: number): number {
    let column = this.keywords[slot.number]
    if (column === undefined) {
      if (slot.mapping.type === 'flat_object' || slot.number < 0 || this.#high.has(slot.number)) return -1
      if (this.#keywordCount >= MAX_KEYWORD_COLUMNS) {
        this.#high.add(slot.number)
        return -1
      }
      column = this.keyword(slot.number)
    }
    if (column.isPartial) return -1
    const code = column.code(lo, hi, bytes, start, end)
    if (code < 0) this.#revision++
    return code
  }

  /** Takes over the events of a batch whose first document is `firstDoc`. */
  apply(events: IndexEvents, firstDoc: number): void {
    for (const _piece of this.applyInPieces(events, firstDoc));
  }

  /** The same while others run, who look at documents before `firstDoc` alone. */
  async applyInTurns(events: IndexEvents, firstDoc: number): Promise<void> {
    const turns = new Turns()
    for (const _piece of this.applyInPieces(events, firstDoc)) if (turns.isDue()) await turns.next()
  }

  /** The same, with a pause now and then. Others may run in it who look at documents before `firstDoc` alone. */
  *applyInPieces(events: IndexEvents, firstDoc: number): Generator<void, void, undefined> {
    yield* this.applyTerms(events, firstDoc)
    yield* this.applyValues(events, firstDoc)
  }

  /** The terms of the events, which may come later than the rest: in the order of documents all the same. */
  *applyTerms(events: Pick<IndexEvents, 'terms' | 'ends' | 'count'>, firstDoc: number): Generator<void, void, undefined> {
    let left = LOOK_EVERY
    for (let k = 0; k < events.count; k++) {
      const end = events.ends[3 * k]!
      for (let at = startOf(events, k, 0); at < end; at += LOOK_EVERY) {
        const until = Math.min(end, at + LOOK_EVERY)
        this.#addTerms(events, at, until, firstDoc + k)
        left -= until - at
        if (left > 0) continue
        left = LOOK_EVERY
        yield
      }
    }
  }

  /** The rest of the events: codes, numbers, and shapes where the tail will be sealed. */
  *applyValues(events: Omit<IndexEvents, 'terms'>, firstDoc: number): Generator<void, void, undefined> {
    for (let k = 0; k < events.count; k++) {
      this.#addValues(events, k, firstDoc + k)
      if (k % DOCUMENTS_A_PIECE === DOCUMENTS_A_PIECE - 1) yield
    }
  }

  #addTerms({ terms }: Pick<IndexEvents, 'terms'>, from: number, end: number, doc: number): void {
    const table = this.terms
    table.touch(terms, from, end)
    for (let term = from; term < end; term += 2) table.add(terms[term]!, terms[term + 1]!, doc)
  }

  #addValues(events: Omit<IndexEvents, 'terms'>, k: number, doc: number): void {
    const { ends, codes, numberSlots, numbers, shapes } = events
    for (let code = startOf(events, k, 1), end = ends[3 * k + 1]!; code < end; code += 2)
      this.keywords[codes[code]!]!.append(doc, codes[code + 1]!)
    for (let number = startOf(events, k, 2), end = ends[3 * k + 2]!; number < end; number++)
      this.#number(numberSlots[number]!).append(doc, numbers[number]!)
    if (shapes !== undefined) this.shapes.append(doc, shapes[k]!)
  }

  /** The column of a keyword field by its slot, made where there is none. */
  keyword(slot: number): KeywordTail {
    let column = this.keywords[slot]
    if (column === undefined) {
      this.#keywordCount++
      column = new KeywordTail()
      this.keywords[slot] = column
    }
    return column
  }

  #number(slot: number): NumberTail {
    let column = this.numbers[slot]
    if (column === undefined) {
      column = new NumberTail()
      this.numbers[slot] = column
    }
    return column
  }

  /** Documents below `size` that hold the term; undefined for fields without terms. */
  postings(slot: FieldSlot, term: string, size: number): Uint32Array | undefined {
    if (slot.kind !== 'text' && slot.kind !== 'keyword') return undefined
    const key = new Int32Array(2)
    hashTerm(slot, term, key, 0)
    const listed = below(this.terms.documents(key[0]!, key[1]!), size)
    const column = this.keywords[slot.number]
    return column === undefined ? listed : union(listed, column.documents(key[0]!, key[1]!, size))
  }

  /** Whether any document brought a value into the field's column. */
  has(slot: FieldSlot): boolean {
    return slot.kind === 'number' ? this.numbers[slot.number] !== undefined : this.keywords[slot.number] !== undefined
  }

  column(slot: FieldSlot, size: number): Column | undefined {
    if (slot.kind === 'number') return this.numbers[slot.number]?.column(size)
    return this.keywords[slot.number]?.column(size)
  }
}

/** Where the events of a kind begin that the k-th document brought: terms 0, codes 1, numbers 2. */
const startOf = ({ ends }: Pick<IndexEvents, 'ends'>, k: number, kind: number): number => (k === 0 ? 0 : ends[3 * (k - 1) + kind]!)

function below(docs: Uint32Array, size: number): Uint32Array {
  let end = docs.length
  while (end > 0 && docs[end - 1]! >= size) end--
  return end === docs.length ? docs : docs.subarray(0, end)
}
