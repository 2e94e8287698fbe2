/** Bytes that a reader may hold without a commit; records beyond are left to the garbage collector. */
const MAX_LEASED_BYTES = 64 << 20

/** Memory that records handed out are views of, and nothing else. */
export interface LeasedMemory {
  readonly bytes: number
  /** By partition of which it holds records: the offset after the last one. */
  readonly ends: readonly { readonly partition: number; readonly offset: number }[]
  /** Called once, when all its records are committed. */
  readonly giveBack: () => void
}

/**
 * The memory of records that one reader has handed out and that are not committed yet. It is given back with the commit: left to the garbage
 * collector, megabytes of it come together between two collections, and bring on the more of them.
 */
export class RecordLeases {
  /** In the order in which they were handed out. */
  #leases: LeasedMemory[] = []
  #bytes = 0
  /** By partition; infinite for those that are not read: no record of theirs is out. */
  readonly #committed: Float64Array
  readonly #handedOut: Float64Array
  /**
   * By partition, 1: records were handed out before the position was moved, or the partition was away, and not committed. When the commit
   * comes, it does not tell whether it is for them, or for those that were handed out again and are in use. So no memory is given back.
   */
  readonly #isAmbiguous: Uint8Array

  constructor(partitions: number) {
    this.#committed = new Float64Array(partitions).fill(Number.POSITIVE_INFINITY)
    this.#handedOut = new Float64Array(partitions).fill(Number.POSITIVE_INFINITY)
    this.#isAmbiguous = new Uint8Array(partitions)
  }

  /** Records of it are about to be handed out. */
  hold(memory: LeasedMemory): void {
    if (memory.ends.some(({ partition }) => this.#isAmbiguous[partition] === 1)) return
    this.#leases.push(memory)
    this.#bytes += memory.bytes
    while (this.#bytes > MAX_LEASED_BYTES) this.#bytes -= this.#leases.shift()!.bytes
  }

  /** Records before `offset` have been handed out. */
  noteHandedOut(partition: number, offset: number): void {
    this.#handedOut[partition] = offset
  }

  /** The offset after what was handed out. */
  handedOut(partition: number): number {
    return this.#handedOut[partition]!
  }

  /** Everything that was handed out is committed. */
  isSettled(partition: number): boolean {
    return this.#committed[partition]! >= this.#handedOut[partition]!
  }

  /** `offset` is the next one to be read by the group: gives back the memory that is behind. */
  commit(partition: number, offset: number): void {
    this.#committed[partition] = offset
    let done = 0
    while (done < this.#leases.length && this.#isCommitted(this.#leases[done]!)) {
      this.#bytes -= this.#leases[done]!.bytes
      this.#leases[done++]!.giveBack()
    }
    if (done > 0) this.#leases.splice(0, done)
  }

  /** The partition is read from here on, or not at all: what is out may be in use for longer, and is left to the garbage collector. */
  restart(partition: number, offset = Number.POSITIVE_INFINITY): void {
    if (!this.isSettled(partition)) this.#isAmbiguous[partition] = 1
    this.#committed[partition] = offset
    this.#handedOut[partition] = offset
    this.#leases = []
    this.#bytes = 0
  }

  #isCommitted({ ends }: LeasedMemory): boolean {
    return ends.every(({ partition, offset }) => offset <= this.#committed[partition]! && offset <= this.#handedOut[partition]!)
  }
}
