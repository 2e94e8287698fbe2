/** Buffers that were given back and wait to be lent again. Those that nobody needed for a while go back to the system. */
import { releaseBytes } from './release-bytes.ts'

/** Time between two looks at what lies unused, ms. */
export const IDLE_MS = 5_000

/** All lists of this thread. */
const lists = new Set<WeakRef<FreeBuffers>>()

/** Releases the buffers that nobody needed since the call before; to be called every `IDLE_MS` in each thread. */
export function releaseIdleBuffers(): void {
  for (const reference of lists) {
    const list = reference.deref()
    if (list === undefined) lists.delete(reference)
    else list.releaseIdle()
  }
}

export class FreeBuffers {
  /** The buffer used last is the last one. */
  readonly #buffers: Buffer[] = []
  readonly #maxBuffers: number
  /** Fewest buffers that waited at once since the last look: so many were not needed. */
  #fewest = 0

  /** The oldest beyond `maxBuffers` is released. */
  constructor(maxBuffers: number) {
    this.#maxBuffers = maxBuffers
    lists.add(new WeakRef(this))
  }

  /** A buffer of so many bytes or more, if there is one. */
  take(minBytes: number): Buffer | undefined {
    const at = this.#buffers.findLastIndex(({ length }) => length >= minBytes)
    if (at < 0) return undefined
    const [buffer] = this.#buffers.splice(at, 1)
    this.#fewest = Math.min(this.#fewest, this.#buffers.length)
    return buffer
  }

  /** `buffer` is all of its memory, and nobody reads it any more. */
  giveBack(buffer: Buffer): void {
    this.#buffers.push(buffer)
    if (this.#buffers.length > this.#maxBuffers) releaseBytes(this.#buffers.shift()!)
  }

  releaseIdle(): void {
    for (const buffer of this.#buffers.splice(0, this.#fewest)) releaseBytes(buffer)
    this.#fewest = this.#buffers.length
  }
}
