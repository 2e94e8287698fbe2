/** The open work of a service: one visit for each span of a trace, in bounded memory. */
import { MAX_STATEMENTS } from './statements.ts'

/** Visits under way that are remembered; a power of two. A further one takes the place of another. */
const PLACES = 256
/** A visit that is silent for longer is over. */
const MAX_PAUSE_MS = 30_000
const WORDS = MAX_STATEMENTS / 32

/** A hash table with one place for each hash: a later visit takes the place of an earlier one. */
export class OpenVisits {
  readonly #hashes = new Int32Array(PLACES)
  readonly #lastMs = new Float64Array(PLACES)
  readonly #slots = new Int32Array(PLACES)
  readonly #types = new Uint8Array(PLACES)
  readonly #last = new Uint8Array(PLACES)
  readonly #seen = new Int32Array(PLACES * WORDS)
  #at = 0

  /** Goes to a visit: false when it begins here. `hash` is not 0. */
  find(hash: number, timeMs: number): boolean {
    this.#at = (hash ^ (hash >>> 11)) & (PLACES - 1)
    return this.#hashes[this.#at] === hash && Math.abs(timeMs - this.#lastMs[this.#at]!) <= MAX_PAUSE_MS
  }

  /** The visit just gone to begins with this statement. */
  begin(hash: number, timeMs: number, slot: number, statement: number): void {
    const at = this.#at
    this.#hashes[at] = hash
    this.#slots[at] = slot
    this.#types[at] = statement
    this.#seen.fill(0, at * WORDS, (at + 1) * WORDS)
    this.see(statement)
    this.goOn(timeMs, statement)
  }

  /** The slot that the visit began in. */
  get slot(): number {
    return this.#slots[this.#at]!
  }

  /** Its first statement: visits of one type do the same. */
  get type(): number {
    return this.#types[this.#at]!
  }

  /** Its latest statement, and when that came. */
  get last(): number {
    return this.#last[this.#at]!
  }

  get lastMs(): number {
    return this.#lastMs[this.#at]!
  }

  goOn(timeMs: number, statement: number): void {
    this.#lastMs[this.#at] = timeMs
    this.#last[this.#at] = statement
  }

  /** True the first time that the visit comes to this statement. */
  see(statement: number): boolean {
    const word = this.#at * WORDS + (statement >>> 5)
    const bit = 1 << (statement & 31)
    if ((this.#seen[word]! & bit) !== 0) return false
    this.#seen[word]! |= bit
    return true
  }

  static readonly bytes = PLACES * (4 + 8 + 4 + 1 + 1 + 4 * WORDS)
}
