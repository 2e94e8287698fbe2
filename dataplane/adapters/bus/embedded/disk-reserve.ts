import { BusError } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LogFiles } from './log-files.ts'

const CHECK_MS = 1000
/** The largest share of a file system that is kept in reserve. */
const MAX_SHARE = 1 / 4

export interface DiskReserveDeps {
  readonly files: LogFiles
  readonly clock: Clock
  readonly directory: string
  /** So much of the disk stays free, or a quarter of the disk where that is less. */
  readonly minFreeBytes: number
  /** The part of it that this topic keeps, above 0 and at most 1. */
  readonly share: number
}

/** Room that a topic leaves on the disk, so that the search store can index the records of the bus. */
export class DiskReserve {
  readonly #deps: DiskReserveDeps
  #checkedMs = Number.NEGATIVE_INFINITY
  #hasRoom = false

  constructor(deps: DiskReserveDeps) {
    this.#deps = deps
  }

  /** Throws a `BusError` while less is free. Room that was seen counts for a second. */
  async ensure(): Promise<void> {
    const { files, clock, directory, minFreeBytes, share } = this.#deps
    const nowMs = clock.nowMs()
    if (this.#hasRoom && nowMs - this.#checkedMs < CHECK_MS) return
    const { freeBytes, sizeBytes } = await files.space(directory)
    const reserve = Math.floor(Math.min(minFreeBytes, sizeBytes * MAX_SHARE) * share)
    this.#hasRoom = freeBytes >= reserve
    this.#checkedMs = nowMs
    if (!this.#hasRoom) throw new BusError('full', `${directory} has ${freeBytes} bytes free, the bus keeps ${reserve} in reserve`)
  }
}
