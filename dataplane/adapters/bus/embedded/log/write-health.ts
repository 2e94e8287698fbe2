import type { BusError } from '../../../../ports/bus.ts'
import type { BusLog } from '../../bus-log.ts'

/** A write that failed. */
export interface FailedWrite {
  readonly failure: BusError
  readonly bytes: number
}

/** Whether a topic can be written. Logs when writing begins to fail, and why, and when writing works again; not every write. */
export class WriteHealth {
  readonly #topic: string
  readonly #log: BusLog
  #failing: FailedWrite | undefined

  constructor(topic: string, log: BusLog) {
    this.#topic = topic
    this.#log = log
  }

  /** The last write; undefined: it did not fail. */
  get failing(): FailedWrite | undefined {
    return this.#failing
  }

  noteFailure(failure: BusError, bytes: number): void {
    if (failure.reason !== this.#failing?.failure.reason)
      this.#log.error({ topic: this.#topic, reason: failure.reason, error: failure }, 'the bus cannot be written')
    this.#failing = { failure, bytes }
  }

  noteWritten(): void {
    if (this.#failing !== undefined) this.#log.info({ topic: this.#topic }, 'the bus can be written again')
    this.#failing = undefined
  }
}
