/** Bytes of an answer that a client takes in one go, as far as its pace is concerned. */
const MIN_READ_BYTES = 1024 * 1024

/** How fast a client takes its answer. */
export class ReadingPace {
  readonly #nowMs: () => number
  #taken = 0
  #sinceMs: number

  /** `nowMs`: of a clock that nobody sets. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#sinceMs = nowMs()
  }

  took(bytes: number): void {
    this.#taken += bytes
    if (this.#taken < MIN_READ_BYTES) return
    this.#taken = 0
    this.#sinceMs = this.#nowMs()
  }

  /** For how long the client has not taken so many bytes, or the rest. */
  waitMs(): number {
    return this.#nowMs() - this.#sinceMs
  }
}
