/** Codes of keyword values, and all else that documents bring beside terms and numbers, in a thread that walks documents for an index of another. */
import { MessageShapes } from '../format/block/message-shapes.ts'
import { WordPairs } from '../format/segment-index/word-pairs.ts'
import type { FieldSlot, KeywordCoder } from '../ingest/field-slots.ts'
import { ValueCodes } from './value-codes.ts'

/** Memory of all values, which are forgotten together, bytes. */
const MAX_VALUES_BYTES = 4 * 1024 * 1024

/** The document brings a value that only the index itself can say anything about. */
export class LeftToIndex extends Error {}

export class WalkerCoder implements KeywordCoder {
  readonly pairs = new WordPairs()
  shapes = new MessageShapes()
  /** By slot. */
  #columns: ValueCodes[] = []
  #termFields: ReadonlySet<string> = new Set()
  /** By slot: whether its values have no codes. */
  #areTerms: boolean[] = []
  #revision = 0

  get revision(): number {
    return this.#revision
  }

  /** Values of these fields have no codes. */
  setTermFields(paths: readonly string[]): void {
    this.#termFields = new Set(paths)
    this.#areTerms = []
    this.#revision++
  }

  /** Begins a form. */
  begin(): void {
    this.pairs.clear()
    if (this.shapes.isFull) this.shapes = new MessageShapes()
    else this.shapes.starts.clear()
    if (this.#columns.reduce((sum, column) => sum + (column?.sizeBytes ?? 0), 0) < MAX_VALUES_BYTES) return
    this.#columns = []
    this.#revision++
  }

  code(slot: FieldSlot, lo: number, hi: number, bytes: Uint8Array, start: number, end: number): number {
    const { number } = slot
    if (number < 0) throw new LeftToIndex()
    this.#areTerms[number] ??= slot.mapping.type === 'flat_object' || this.#termFields.has(slot.path)
    if (this.#areTerms[number]) return -1
    this.#columns[number] ??= new ValueCodes()
    const code = this.#columns[number].code(lo, hi, bytes, start, end)
    if (code < 0) throw new LeftToIndex()
    return code
  }

  column(slot: number): ValueCodes {
    return this.#columns[slot]!
  }
}
