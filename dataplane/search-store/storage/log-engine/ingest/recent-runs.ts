/** Runs of bytes that begin alike, found by some of the bytes that tell them from each other: a few loads say which of them may stand at a place. */
import type { ByteRun } from './byte-run.ts'

const SLOT_BITS = 7
const SLOTS = 1 << SLOT_BITS
/** Bytes that are looked at in each of two places. */
const WINDOW = 12
/** The second place is moved so often at most. */
const MAX_MOVES = 4
/** How far in front of the first byte that differs the second place begins: values of other lengths have that byte elsewhere. */
const LEAD = 4

/** Memory of the slots, bytes, about. */
export const RECENT_BYTES = 12 * SLOTS

export class RecentRuns<T extends { readonly run: ByteRun }> {
  readonly #items: (T | undefined)[] = new Array(SLOTS).fill(undefined)
  readonly #hashes = new Int32Array(SLOTS)
  readonly #first: number
  #second: number
  #moves = 0

  /** The runs differ from so many bytes on. */
  constructor(first: number) {
    this.#first = first
    this.#second = first + WINDOW
  }

  /** The only one of the runs that may stand at `at` of a view, in front of `end`. */
  at(view: DataView, at: number, end: number): T | undefined {
    if (at + this.#second + WINDOW > end) return undefined
    return this.#items[slotOf(hashAt(view, at + this.#first, at + this.#second))]
  }

  /** Takes in a run that stands there. */
  note(item: T, view: DataView, at: number, end: number): void {
    if (at + this.#second + WINDOW > end) return
    const hash = hashAt(view, at + this.#first, at + this.#second)
    const slot = slotOf(hash)
    const before = this.#items[slot]
    if (before !== undefined && before !== item && this.#hashes[slot] === hash && this.#moves < MAX_MOVES) {
      this.#moves++
      this.#second = Math.max(this.#first + WINDOW, firstDifference(before.run.bytes, item.run.bytes) - LEAD)
      this.#items.fill(undefined)
      return
    }
    this.#items[slot] = item
    this.#hashes[slot] = hash
  }
}

/** Bytes that differ may change the high bits of a hash alone: its low bits follow from these. */
const slotOf = (hash: number): number => Math.imul(hash ^ (hash >>> 16), 0x7feb352d) >>> (32 - SLOT_BITS)

function hashAt(view: DataView, first: number, second: number): number {
  return (
    Math.imul(view.getInt32(first, true), 0x9e3779b1) ^
    Math.imul(view.getInt32(first + 4, true), 0x85ebca6b) ^
    Math.imul(view.getInt32(first + 8, true), 0xc2b2ae35) ^
    Math.imul(view.getInt32(second, true), 0x27d4eb2f) ^
    Math.imul(view.getInt32(second + 4, true), 0x165667b1) ^
    Math.imul(view.getInt32(second + 8, true), 0x7feb352d)
  )
}

function firstDifference(a: Uint8Array, b: Uint8Array): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}
