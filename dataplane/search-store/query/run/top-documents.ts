/** Keeps the first documents in sort order while segments are walked. */

import type { QueryMemory } from '../budget/query-memory.ts'
import type { Scalar } from '../parse/query.ts'
import type { SortSpec } from '../parse/sort-spec.ts'
import type { HitPlace } from './hit-place.ts'
import { readDocument, type SegmentUnit } from './segment-unit.ts'
import { compareSortValues, parseSortValue, type SortReader, type SortValue, sortReader } from './sort-values.ts'

export interface RankedDocument {
  readonly unit: SegmentUnit
  readonly doc: number
  readonly score: number
  /** Filled from the left, as far as comparisons needed them. */
  readonly values: SortValue[]
  readonly readers: readonly SortReader[]
  /** The parsed document, once it was needed. */
  parsed?: unknown
}

export interface TopDocumentsConfig {
  /** How many to keep. */
  readonly limit: number
  /** Empty: by score, best first. */
  readonly sort: readonly SortSpec[]
  readonly searchAfter?: readonly (Scalar | null)[]
  /** Hits up to here are left out. */
  readonly behind?: HitPlace | undefined
  readonly memory?: QueryMemory
}

/** Memory of a hit before it is shown, bytes, about. */
const DOCUMENT_BYTES = 400

const BY_SCORE: readonly SortSpec[] = [{ field: '_score', order: 'desc', missing: '_last', mode: 'max' }]

export class TopDocuments {
  readonly #limit: number
  readonly #sort: readonly SortSpec[]
  readonly #searchAfter: readonly (Scalar | null)[] | undefined
  readonly #behind: HitPlace | undefined
  readonly #memory: QueryMemory | undefined
  /** In order, as most come; from the first that does not on a heap whose root is the last in order. */
  readonly #kept: RankedDocument[] = []
  #isInOrder = true
  #unit: SegmentUnit | undefined
  #readers: readonly SortReader[] = []
  #after: readonly SortValue[] | undefined

  constructor(config: TopDocumentsConfig) {
    this.#limit = config.limit
    this.#sort = config.sort.length === 0 ? BY_SCORE : config.sort
    this.#searchAfter = config.searchAfter
    this.#behind = config.behind
    this.#memory = config.memory
  }

  get isFull(): boolean {
    return this.#kept.length >= this.#limit
  }

  /** Must be called before documents of the segment are offered. Throws 400 where its index cannot be sorted so. */
  enter(unit: SegmentUnit): void {
    if (this.#unit === unit) return
    this.#unit = unit
    this.#readers = this.#sort.map(spec => sortReader(spec, unit))
    this.#after = this.#searchAfter?.map((value, at) => parseSortValue(value, this.#sort[at]!, unit))
    this.#afterNumber = this.#readers[0]!.threshold(this.#after?.[0])
  }

  /** A quick look at the first sort value, where the current segment has it ready: false for documents that cannot be among the hits. */
  isPromising(doc: number): boolean {
    if (Number.isNaN(this.#lastNumber) && Number.isNaN(this.#afterNumber)) return true
    const values = this.#readers[0]!.column
    return values === undefined || this.mayHold(values[doc]!)
  }

  /** The first place in `docs` from `from` on, counted from the end where `isReversed`, whose document is promising; behind all where none is. */
  nextPromising(docs: Uint32Array, from: number, isReversed: boolean): number {
    if (Number.isNaN(this.#lastNumber) && Number.isNaN(this.#afterNumber)) return from
    const values = this.#readers[0]!.column
    if (values === undefined) return from
    // Half of the time of a search for the newest of many documents is spent here.
    const sign = this.#sort[0]!.order === 'desc' ? 1 : -1
    const least = sign * this.#lastNumber
    const greatest = sign * this.#afterNumber
    const end = docs.length
    for (let place = from; place < end; place++) {
      const value = sign * values[docs[isReversed ? end - 1 - place : place]!]!
      if (!(value < least || value > greatest)) return place
    }
    return end
  }

  /**
   * False when documents whose first sort values lie between these come after all that are kept, and there is no room for more, or before the
   * page. `isBehindAll` tells the same of segments whose documents are in order by their places.
   */
  mayHold(min: number, max = min): boolean {
    if (this.#sort[0]!.order === 'desc') return !(max < this.#lastNumber || min > this.#afterNumber)
    return !(min > this.#lastNumber || max < this.#afterNumber)
  }

  /** For quick comparisons: NaN, with which none holds, unless these are numbers. */
  #lastNumber = Number.NaN
  #afterNumber = Number.NaN

  /** First sort value of the last document kept; documents behind it need not be offered. Undefined while there is room. */
  get threshold(): SortValue {
    const last = this.isFull ? this.#last : undefined
    return last === undefined ? undefined : this.#value(last, 0)
  }

  /** Whether the document would be kept, were it to match. */
  rank(doc: number, score: number): RankedDocument | undefined {
    if (this.#limit === 0) return undefined
    const candidate: RankedDocument = { unit: this.#unit!, doc, score, values: [], readers: this.#readers }
    if (this.#after !== undefined && !this.#isBehind(candidate, this.#after)) return undefined
    if (this.#behind !== undefined && !this.#isBehindPlace(candidate, this.#behind)) return undefined
    return this.isFull && this.#compare(candidate, this.#last!) >= 0 ? undefined : candidate
  }

  keep(candidate: RankedDocument): void {
    // Sort values read for a comparison stay; the document itself can be read again.
    delete candidate.parsed
    if (!this.isFull) this.#memory?.charge(DOCUMENT_BYTES, 'fewer hits')
    if (this.isFull) this.#replaceRoot(candidate)
    else if (this.#isInOrder && (this.#last === undefined || this.#compare(this.#last, candidate) < 0)) this.#kept.push(candidate)
    else this.#push(candidate)
    const { threshold } = this
    this.#lastNumber = this.#readers[0]!.threshold(threshold)
  }

  /** In order. */
  ranked(): readonly RankedDocument[] {
    const sorted = [...this.#kept]
    if (!this.#isInOrder) sorted.sort((a, b) => this.#compare(a, b))
    for (const document of sorted) delete document.parsed
    return sorted
  }

  get #last(): RankedDocument | undefined {
    return this.#isInOrder ? this.#kept.at(-1) : this.#kept[0]
  }

  #heap(): RankedDocument[] {
    if (this.#isInOrder) this.#kept.reverse()
    this.#isInOrder = false
    return this.#kept
  }

  #value(document: RankedDocument, at: number): SortValue {
    return sortValues(document, at + 1, () => parsedOf(document))[at]
  }

  #compare(a: RankedDocument, b: RankedDocument): number {
    for (let at = 0; at < this.#sort.length; at++) {
      const order = compareSortValues(this.#value(a, at), this.#value(b, at), this.#sort[at]!)
      if (order !== 0) return order
    }
    return a.unit.ordinal - b.unit.ordinal || a.doc - b.doc
  }

  #isBehind(document: RankedDocument, after: readonly SortValue[]): boolean {
    for (const [at, spec] of this.#sort.entries()) {
      const order = compareSortValues(this.#value(document, at), after[at], spec)
      if (order !== 0) return order > 0
    }
    return false
  }

  #isBehindPlace(document: RankedDocument, { values, ordinal, doc }: HitPlace): boolean {
    for (const [at, spec] of this.#sort.entries()) {
      const order = compareSortValues(this.#value(document, at), values[at], spec)
      if (order !== 0) return order > 0
    }
    return (document.unit.ordinal - ordinal || document.doc - doc) > 0
  }

  #push(document: RankedDocument): void {
    const heap = this.#heap()
    let at = heap.push(document) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#compare(heap[parent]!, document) >= 0) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = document
  }

  #replaceRoot(document: RankedDocument): void {
    const heap = this.#heap()
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && this.#compare(heap[child + 1]!, heap[child]!) > 0) child++
      if (this.#compare(heap[child]!, document) <= 0) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = document
  }
}

/** The first `count` values that the document is sorted by; `read` gives what has the fields of those that no comparison needed. */
function sortValues(document: RankedDocument, count: number, read: () => unknown): readonly SortValue[] {
  const { values, readers, doc, score } = document
  while (values.length < count) values.push(readers[values.length]!.read(doc, score, read))
  return values
}

export function placeOf(document: RankedDocument): HitPlace {
  const values = sortValues(document, document.readers.length, () => parsedOf(document))
  return { values: [...values], ordinal: document.unit.ordinal, doc: document.doc }
}

/** A hit's `sort` array; `read` as in `sortValues`. */
export function shownSortValues(document: RankedDocument, read: () => unknown): readonly unknown[] {
  const values = sortValues(document, document.readers.length, read)
  return document.readers.map((reader, at) => reader.show(values[at]))
}

export function parsedOf(document: RankedDocument): unknown {
  document.parsed ??= readDocument(document.unit.segment, document.doc)
  return document.parsed
}
