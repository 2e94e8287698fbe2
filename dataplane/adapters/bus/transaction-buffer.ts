/** The records of a transaction until its commit, which writes them in one go: an open transaction holds up no reader. */
import { BusError, type BusRecord } from '../../ports/bus.ts'

/** The partitions of a member of a group, as it had them when offsets of them were added to a transaction. */
export interface OffsetClaim {
  /** Throws when the member lost one of them since, even if it has it again. */
  check(): void
  /** The offsets are committed. */
  settle(): void
}

/** Memory for records on their way; `reserve` throws when it is used up. */
export interface RecordMemory {
  reserve(bytes: number): void
  release(bytes: number): void
}

export class TransactionBuffer {
  /** By topic. */
  readonly records = new Map<string, BusRecord[]>()
  readonly #memory: RecordMemory
  #reservedBytes = 0
  #isFinished = false

  constructor(memory: RecordMemory) {
    this.#memory = memory
  }

  /** Throws after the end. */
  checkOpen(): void {
    if (this.#isFinished) throw new BusError('closed', 'the transaction is finished')
  }

  /** Records that take so many bytes. */
  add(topic: string, records: readonly BusRecord[], bytes: number): void {
    this.#memory.reserve(bytes)
    this.#reservedBytes += bytes
    const known = this.records.get(topic)
    if (known === undefined) this.records.set(topic, [...records])
    else known.push(...records)
  }

  /** Its memory is free once `write` is done, or failed. */
  async commit(write: () => Promise<void>): Promise<void> {
    this.checkOpen()
    this.#isFinished = true
    try {
      await write()
    } finally {
      this.#release()
    }
  }

  abort(): void {
    this.checkOpen()
    this.#isFinished = true
    this.#release()
  }

  #release(): void {
    this.#memory.release(this.#reservedBytes)
    this.#reservedBytes = 0
  }
}
