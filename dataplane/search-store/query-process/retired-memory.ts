/** Memory that has been replaced, and that only those may still read who began before: it goes back once all of them have ended. */
export interface Releasable {
  release(): void
}

/** One who reads, from `begin` to `end`. */
export type Reader = symbol

interface Retired {
  readonly memory: Releasable
  /** Readers that may still read it; not empty. */
  readonly readers: Set<Reader>
}

/** Left to the garbage collector such memory outlives several collections, which come by growth. */
export class RetiredMemory {
  readonly #readers = new Set<Reader>()
  #retired: readonly Retired[] = []

  begin(): Reader {
    const reader = Symbol()
    this.#readers.add(reader)
    return reader
  }

  /** Readers that begin from now on do not come upon it. */
  retire(memory: Releasable): void {
    if (this.#readers.size === 0) memory.release()
    else this.#retired = [...this.#retired, { memory, readers: new Set(this.#readers) }]
  }

  end(reader: Reader): void {
    this.#readers.delete(reader)
    for (const { memory, readers } of this.#retired) if (readers.delete(reader) && readers.size === 0) memory.release()
    this.#retired = this.#retired.filter(({ readers }) => readers.size > 0)
  }
}
