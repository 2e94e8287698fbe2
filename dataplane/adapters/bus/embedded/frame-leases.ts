import type { FrameRecords } from './record-batch.ts'

/** Unpacked records that one reader may have out; what is over is left to the garbage collector. */
const MAX_LEASED_BYTES = 64 << 20

/** The frames of which one reader has handed out records that are not yet committed. */
export class FrameLeases {
  /** In the order of the log. */
  #frames: FrameRecords[] = []
  #bytes = 0
  /** By partition: no record before it is out. */
  readonly #committed: Float64Array

  constructor(partitions: number) {
    this.#committed = new Float64Array(partitions).fill(Number.POSITIVE_INFINITY)
  }

  add(frame: FrameRecords): void {
    frame.retain()
    this.#frames.push(frame)
    this.#bytes += frame.raw.length
    while (this.#bytes > MAX_LEASED_BYTES) this.#bytes -= this.#frames.shift()!.raw.length
  }

  /** `offset` of the partition is the next one to be read by the group: gives back the frames that are behind. */
  commit(partition: number, offset: number): void {
    this.#committed[partition] = offset
    let done = 0
    while (done < this.#frames.length && this.#isCommitted(this.#frames[done]!)) {
      this.#bytes -= this.#frames[done]!.raw.length
      this.#frames[done++]!.release()
    }
    if (done > 0) this.#frames.splice(0, done)
  }

  /** The partition is read from here on, or not at all: what is out is left to the garbage collector. */
  restart(partition: number, offset = Number.POSITIVE_INFINITY): void {
    this.#committed[partition] = offset
    this.#frames = []
    this.#bytes = 0
  }

  #isCommitted({ header }: FrameRecords): boolean {
    return header.sections.every(({ partition, baseOffset, count }) => baseOffset + count <= this.#committed[partition]!)
  }
}
