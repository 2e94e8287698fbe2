import { releaseBytes } from '../../../memory/release-bytes.ts'

/** What a reader that commits nothing may have out; what is over is left to the garbage collector. */
const MAX_HELD_BYTES = 64 << 20

/** An unpacked batch: the values of its records are views of `bytes`, which nothing else uses. */
export interface UnpackedBatch {
  readonly lastOffset: number
  readonly bytes: Buffer
}

/**
 * The memory of one partition's unpacked batches, given back once their records are committed. Left to the garbage collector, megabytes
 * of it come together between two collections, and bring on the more of them.
 */
export class BatchMemory {
  /** In the order of their offsets. */
  #batches: UnpackedBatch[] = []
  #bytes = 0

  hold(batch: UnpackedBatch): void {
    this.#batches.push(batch)
    this.#bytes += batch.bytes.length
    while (this.#bytes > MAX_HELD_BYTES) this.#bytes -= this.#batches.shift()!.bytes.length
  }

  /** Records before `offset` are not used any more. */
  commit(offset: number): void {
    let done = 0
    for (; done < this.#batches.length && this.#batches[done]!.lastOffset < offset; done++) {
      const { bytes } = this.#batches[done]!
      this.#bytes -= bytes.length
      releaseBytes(bytes)
    }
    if (done > 0) this.#batches.splice(0, done)
  }

  /** Some of it may be in use for longer than its records are this reader's. */
  forget(): void {
    this.#batches = []
    this.#bytes = 0
  }
}
