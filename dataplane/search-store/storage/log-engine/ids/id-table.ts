/** The hash table from document id to place. */
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import type { Turns } from '../../../turns.ts'

const MAX_LOAD = 0.75
const GROWTH = 1.6
const INITIAL_CAPACITY = 256
/** Words between two looks at the time. */
const WORDS_A_LOOK = 2_048

/**
 * From document id to place (a number below 2³² − 1), for one index: open addressing over pairs of words, the high half of the
 * id's hash and the place + 1. A hit is only a candidate, whose stored id the caller compares. Slots keep the order of the hashes,
 * so growing is one sweep. Changes can be taken back until the next `begin`.
 */
export class IdTable {
  #capacity = INITIAL_CAPACITY
  #words = new Uint32Array(2 * INITIAL_CAPACITY)
  #size = 0
  /** Only so that the loads of `touch` have a use. */
  #touched = 0
  /** `[slot, hash, place + 1]` as they were before each change. */
  #undo = new Uint32Array(0)
  #undoEnd = 0

  get sizeBytes(): number {
    return this.#words.byteLength + (this.#touched & 0)
  }

  /** Number of its ids. */
  get size(): number {
    return this.#size
  }

  /** Starts a run of at most `count` changes; entries that `isWanted` denies may be dropped. */
  begin(count: number, isWanted: (place: number) => boolean): void {
    this.#undoEnd = 0
    if (this.#undo.length < 3 * count) this.#undo = new Uint32Array(3 * count)
    if (this.#size + count <= this.#capacity * MAX_LOAD) return
    this.#drop(isWanted)
    const wanted = this.#size + count
    const isRoomy = wanted * GROWTH <= this.#capacity * MAX_LOAD
    this.#rebuild(isRoomy ? this.#capacity : Math.ceil(Math.max(this.#capacity * GROWTH, wanted / MAX_LOAD + 1)))
  }

  /** Drops all ids but those whose place is wanted. Not within a run of changes; others may look up ids meanwhile. */
  async keep(isWanted: (place: number) => boolean, turns: Turns): Promise<void> {
    this.#undoEnd = 0
    const old = this.#words
    const words = new Uint32Array(old.length)
    let size = 0
    for (let from = 0; from < old.length; from += 2) {
      if (from % WORDS_A_LOOK === 0 && turns.isDue()) await turns.next()
      const stored = old[from + 1]!
      if (stored === 0 || !isWanted(stored - 1)) continue
      const slot = this.#freeSlot(words, old[from]!)
      words[2 * slot] = old[from]!
      words[2 * slot + 1] = stored
      size++
    }
    this.#words = words
    this.#size = size
    releaseBytes(old)
  }

  /** The chosen ids in the order of their hashes: two words each, hash and place. Not within a run of changes; others may look up ids meanwhile. */
  async inOrder(isChosen: (place: number) => boolean, turns: Turns): Promise<Uint32Array> {
    const words = this.#words
    const sorted = new Uint32Array(2 * this.#size)
    let end = 0
    const insert = (key: number, place: number) => {
      let at = end
      for (; at > 0 && sorted[at - 2]! > key; at -= 2) {
        sorted[at] = sorted[at - 2]!
        sorted[at + 1] = sorted[at - 1]!
      }
      sorted[at] = key
      sorted[at + 1] = place
      end += 2
    }
    /** Slots of the last hashes, which found no room at the end. */
    const wrapped: number[] = []
    for (let slot = 0; slot < this.#capacity; slot++) {
      if ((2 * slot) % WORDS_A_LOOK === 0 && turns.isDue()) await turns.next()
      const stored = words[2 * slot + 1]!
      if (stored === 0 || !isChosen(stored - 1)) continue
      const key = words[2 * slot]!
      if (this.#home(key) > slot) wrapped.push(slot)
      else insert(key, stored - 1)
    }
    for (const slot of wrapped) insert(words[2 * slot]!, words[2 * slot + 1]! - 1)
    return sorted.subarray(0, end)
  }

  rollback(): void {
    for (let k = this.#undoEnd - 3; k >= 0; k -= 3) {
      const slot = this.#undo[k]!
      this.#words[2 * slot] = this.#undo[k + 1]!
      if (this.#undo[k + 2] === 0) this.#size--
      this.#words[2 * slot + 1] = this.#undo[k + 2]!
    }
    this.#undoEnd = 0
  }

  /** The place of the first candidate that `isIt` confirms; −1 without one. */
  find(hash: number, isIt: (place: number) => boolean): number {
    const slot = this.#slotOf(hash >>> 0, isIt)
    return slot < 0 ? -1 : this.#words[2 * slot + 1]! - 1
  }

  /** Whether there is a candidate. */
  has(hash: number): boolean {
    const key = hash >>> 0
    const words = this.#words
    for (let slot = this.#home(key); words[2 * slot + 1] !== 0; slot = slot + 1 === this.#capacity ? 0 : slot + 1)
      if (words[2 * slot] === key) return true
    return false
  }

  /** Points the id at a new place, instead of at `old` when that is not −1. */
  set(hash: number, place: number, old: number): void {
    const key = hash >>> 0
    let slot = old < 0 ? -1 : this.#slotOf(key, each => each === old)
    if (slot < 0) {
      slot = this.#freeSlot(this.#words, key)
      this.#size++
    }
    const undo = this.#undo
    undo[this.#undoEnd++] = slot
    undo[this.#undoEnd++] = this.#words[2 * slot]!
    undo[this.#undoEnd++] = this.#words[2 * slot + 1]!
    this.#words[2 * slot] = key
    this.#words[2 * slot + 1] = place + 1
  }

  /** Loads the slots of ids that come next. The loads do not wait for each other, as those of `load` would. */
  touch(hashes: Int32Array): void {
    const words = this.#words
    let sum = 0
    for (let k = 0; k < hashes.length; k++) sum |= words[2 * this.#home(hashes[k]! >>> 0)]!
    this.#touched = sum
  }

  /** Adds an id that is not there, within the count that `begin` was told, not to be taken back. */
  load(hash: number, place: number): void {
    const key = hash >>> 0
    const slot = this.#freeSlot(this.#words, key)
    this.#words[2 * slot] = key
    this.#words[2 * slot + 1] = place + 1
    this.#size++
  }

  #slotOf(key: number, isIt: (place: number) => boolean): number {
    const words = this.#words
    let slot = this.#home(key)
    for (;;) {
      const stored = words[2 * slot + 1]!
      if (stored === 0) return -1
      if (words[2 * slot] === key && isIt(stored - 1)) return slot
      slot = slot + 1 === this.#capacity ? 0 : slot + 1
    }
  }

  #freeSlot(words: Uint32Array, key: number): number {
    let slot = this.#home(key)
    while (words[2 * slot + 1] !== 0) slot = slot + 1 === this.#capacity ? 0 : slot + 1
    return slot
  }

  #home(key: number): number {
    return Math.floor((key / 4_294_967_296) * this.#capacity)
  }

  /** Empties the slots of ids that nobody wants. Others are found again once the table is rebuilt. */
  #drop(isWanted: (place: number) => boolean): void {
    const words = this.#words
    for (let at = 1; at < words.length; at += 2) {
      if (words[at] === 0 || isWanted(words[at]! - 1)) continue
      words[at] = 0
      this.#size--
    }
  }

  #rebuild(capacity: number): void {
    const old = this.#words
    this.#capacity = capacity
    this.#words = new Uint32Array(2 * this.#capacity)
    for (let from = 0; from < old.length; from += 2) {
      const stored = old[from + 1]!
      if (stored === 0) continue
      const slot = this.#freeSlot(this.#words, old[from]!)
      this.#words[2 * slot] = old[from]!
      this.#words[2 * slot + 1] = stored
    }
    releaseBytes(old)
  }
}
