/** The times of many documents, roughly: a document of another time is none of them. */

const SLICES = 4096

/** As it is stored. */
export interface StoredTimes {
  readonly fromMs: number
  readonly stepMs: number
  /** A bit for each slice, in base64. */
  readonly slices: string
}

/** Times in ms, rounded to the slices of a span: 4,096 of them, whole milliseconds each. */
export class DocumentTimes {
  readonly #fromMs: number
  readonly #stepMs: number
  readonly #slices: Uint8Array

  private constructor(fromMs: number, stepMs: number, slices: Uint8Array) {
    this.#fromMs = fromMs
    this.#stepMs = stepMs
    this.#slices = slices
  }

  /** None yet; all that are added lie between the two. */
  static between(minMs: number, maxMs: number): DocumentTimes {
    const fromMs = Math.floor(minMs)
    return new DocumentTimes(fromMs, Math.max(1, Math.ceil((maxMs - fromMs + 1) / SLICES)), new Uint8Array(SLICES / 8))
  }

  static ofAll(timesMs: Float64Array): DocumentTimes {
    let minMs = Number.POSITIVE_INFINITY
    let maxMs = Number.NEGATIVE_INFINITY
    for (const ms of timesMs) {
      if (ms < minMs) minMs = ms
      if (ms > maxMs) maxMs = ms
    }
    const times = DocumentTimes.between(minMs, maxMs)
    for (const ms of timesMs) times.add(ms)
    return times
  }

  static of({ fromMs, stepMs, slices }: StoredTimes): DocumentTimes {
    return new DocumentTimes(fromMs, stepMs, Buffer.from(slices, 'base64'))
  }

  /** All times of the given. */
  static union(all: readonly DocumentTimes[]): DocumentTimes {
    const union = DocumentTimes.between(Math.min(...all.map(({ minMs }) => minMs)), Math.max(...all.map(({ maxMs }) => maxMs)))
    for (const times of all) times.#addTo(union)
    return union
  }

  get minMs(): number {
    return this.#fromMs
  }

  get maxMs(): number {
    return this.#fromMs + SLICES * this.#stepMs - 1
  }

  add(ms: number): void {
    const slice = this.#sliceOf(ms)
    this.#slices[slice >>> 3]! |= 1 << (slice & 7)
  }

  mayHold(ms: number): boolean {
    const slice = this.#sliceOf(ms)
    return slice >= 0 && slice < SLICES && (this.#slices[slice >>> 3]! & (1 << (slice & 7))) !== 0
  }

  #sliceOf(ms: number): number {
    return Math.floor((ms - this.#fromMs) / this.#stepMs)
  }

  /** Slices there are no shorter than these: the two ends of one lie in all that it touches. */
  #addTo(union: DocumentTimes): void {
    for (let slice = 0; slice < SLICES; slice++) {
      if ((this.#slices[slice >>> 3]! & (1 << (slice & 7))) === 0) continue
      const fromMs = this.#fromMs + slice * this.#stepMs
      union.add(fromMs)
      union.add(fromMs + this.#stepMs - 1)
    }
  }

  toStored(): StoredTimes {
    return { fromMs: this.#fromMs, stepMs: this.#stepMs, slices: Buffer.from(this.#slices).toString('base64') }
  }
}
