/** Keeps part of the disk free of the bus. */
import { isRecent } from '../../../../limits/is-recent.ts'
import { BusError } from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { LogFiles } from '../log/log-files.ts'

const CHECK_MS = 1000
/** The largest share of a file system that is kept in reserve. */
const MAX_SHARE = 1 / 4

export interface DiskReserveDeps {
  readonly files: LogFiles
  readonly clock: Clock
  readonly directory: string
  /** Bytes of the disk that stay free; a quarter of the disk where that is less. */
  readonly minFreeBytes: number
  /** Deletes so much, or all that may go; returns the bytes that it deleted. */
  readonly freeDisk: (bytes: number) => Promise<number>
}

/** Room that the bus leaves on the disk, so that the search store can index its records. */
export class DiskReserve {
  readonly #deps: DiskReserveDeps
  #seenMs = Number.NEGATIVE_INFINITY
  #freeBytes = 0
  #sizeBytes = 0
  #turn: Promise<void> = Promise.resolve()

  constructor(deps: DiskReserveDeps) {
    this.#deps = deps
  }

  /** Throws a `BusError` while less than this share of the reserve is free, and cannot be freed. Room that was seen or made counts for a second. */
  ensure(share: number): Promise<void> {
    // One after the other: what one caller frees is there for the next.
    const turn = this.#turn.then(() => this.#ensure(share))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #ensure(share: number): Promise<void> {
    const { files, clock, directory, freeDisk } = this.#deps
    const nowMs = clock.nowMs()
    if (isRecent(this.#seenMs, CHECK_MS, nowMs) && this.#missing(share) <= 0) return
    const { freeBytes, sizeBytes } = await files.space(directory)
    this.#freeBytes = freeBytes
    this.#sizeBytes = sizeBytes
    this.#seenMs = nowMs
    const missing = this.#missing(share)
    if (missing <= 0) return
    // The file system may count it as free only once readers have closed the files.
    this.#freeBytes += await freeDisk(missing)
    if (this.#missing(share) > 0)
      throw new BusError('full', `${directory} has ${freeBytes} bytes free, the bus keeps ${freeBytes + missing} in reserve`)
  }

  /** Bytes that are free too few. */
  #missing(share: number): number {
    const reserve = Math.floor(Math.min(this.#deps.minFreeBytes, this.#sizeBytes * MAX_SHARE) * share)
    return reserve - this.#freeBytes
  }
}
