/** Remembers the ids seen last, in bounded memory. */

const SMALLEST_TABLE = 1_024

/**
 * The most recent ids, at least `capacity` of them and at most twice as many: two generations, the older dropped when the younger is full.
 * Keeps 64-bit fingerprints in flat memory rather than the ids, which the garbage collector would have to look after.
 */
export class RecentIds {
  readonly #capacity: number
  #young = new Fingerprints()
  #old = new Fingerprints()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  has(id: string): boolean {
    takeFingerprint(id)
    return this.#young.has() || this.#old.has()
  }

  /** False when the id was there already. */
  add(id: string): boolean {
    takeFingerprint(id)
    return this.#addTaken()
  }

  /** The same of an id that stands in bytes, all of them ASCII. */
  addBytes(bytes: Uint8Array, start: number, end: number): boolean {
    takeFingerprintOf(bytes, start, end)
    return this.#addTaken()
  }

  #addTaken(): boolean {
    if (this.#old.has() || !this.#young.add()) return false
    if (this.#young.size >= this.#capacity) {
      const dropped = this.#old
      this.#old = this.#young
      // The next ones will be as many: its table need not grow again.
      dropped.clear()
      this.#young = dropped
    }
    return true
  }

  delete(id: string): void {
    takeFingerprint(id)
    this.#young.delete()
    this.#old.delete()
  }
}

/** The fingerprint that the next call of a table is about: two words, neither 0, so that no pair has to be made for each id. */
let low = 0
let high = 0

function takeFingerprint(id: string): void {
  let a = FIRST_SEED
  let b = SECOND_SEED
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i)
    a = Math.imul(a ^ code, FIRST_FACTOR)
    b = Math.imul(b ^ code, SECOND_FACTOR)
    b ^= b >>> 15
  }
  finish(a, b)
}

/** The same of ASCII in bytes. */
function takeFingerprintOf(bytes: Uint8Array, start: number, end: number): void {
  let a = FIRST_SEED
  let b = SECOND_SEED
  for (let i = start; i < end; i++) {
    const code = bytes[i]!
    a = Math.imul(a ^ code, FIRST_FACTOR)
    b = Math.imul(b ^ code, SECOND_FACTOR)
    b ^= b >>> 15
  }
  finish(a, b)
}

const FIRST_SEED = 0x811c9dc5
const SECOND_SEED = 0x9747b28c
const FIRST_FACTOR = 0x01000193
const SECOND_FACTOR = 0x5bd1e995

function finish(a: number, b: number): void {
  const mixed = Math.imul(a ^ (a >>> 16), 0x85ebca6b)
  low = (mixed ^ (mixed >>> 13)) | 0 || 1
  high = b | 0 || 1
}

/** An open-addressing set of fingerprints, never more than half full. */
class Fingerprints {
  /** Pairs of words; `low` 0 is an empty slot, `high` 0 a deleted one. */
  #slots = new Int32Array(2 * SMALLEST_TABLE)
  #mask = SMALLEST_TABLE - 1
  /** Slots in use, deleted ones among them. */
  size = 0

  has(): boolean {
    return this.#slots[2 * this.#slot() + 1] === high
  }

  /** False when the fingerprint was there already. */
  add(): boolean {
    if (2 * (this.size + 1) > this.#mask) this.#grow()
    const slots = this.#slots
    const slot = this.#slot()
    if (slots[2 * slot + 1] === high) return false
    slots[2 * slot] = low
    slots[2 * slot + 1] = high
    this.size++
    return true
  }

  clear(): void {
    this.#slots.fill(0)
    this.size = 0
  }

  delete(): void {
    const slot = this.#slot()
    if (this.#slots[2 * slot + 1] === high) this.#slots[2 * slot + 1] = 0
  }

  /** Where the fingerprint is, or the empty slot where its search ends. */
  #slot(): number {
    const slots = this.#slots
    let slot = low & this.#mask
    while (slots[2 * slot] !== 0 && !(slots[2 * slot] === low && slots[2 * slot + 1] === high)) slot = (slot + 1) & this.#mask
    return slot
  }

  #put(first: number, second: number): void {
    const slots = this.#slots
    let slot = first & this.#mask
    while (slots[2 * slot] !== 0) slot = (slot + 1) & this.#mask
    slots[2 * slot] = first
    slots[2 * slot + 1] = second
    this.size++
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Int32Array(2 * before.length)
    this.#mask = before.length - 1
    this.size = 0
    for (let i = 0; i < before.length; i += 2) if (before[i] !== 0 && before[i + 1] !== 0) this.#put(before[i]!, before[i + 1]!)
  }
}
