/**
 * The window mechanism that all signals share: sums in slots of half a minute of event time. What is judged are the last slots that are closed, what
 * they are compared with are those before (Decisions 5).
 */

export const SLOT_MS = 30_000
/** Slots kept: the open one, those judged, and 14.5 minutes before them. A power of two. */
export const SLOTS = 32
/** Closed slots that are judged together: a minute. */
export const JUDGED_SLOTS = 2
/** Slots with records that the time before must have: ten minutes. */
export const MIN_BASELINE_SLOTS = 20

/** Series that there is memory for at first; it doubles as they come. */
const FIRST_SERIES = 4

export function slotOf(timeMs: number): number {
  return Math.floor(timeMs / SLOT_MS)
}

/** Sums per slot of several series: a ring of `SLOTS` numbers for each. */
export class SlotTable {
  #sums = new Float32Array(FIRST_SERIES * SLOTS)
  #series = 0

  get bytes(): number {
    return this.#sums.byteLength
  }

  get series(): number {
    return this.#series
  }

  /** The number of a new series. */
  addSeries(): number {
    if ((this.#series + 1) * SLOTS > this.#sums.length) {
      const sums = new Float32Array(this.#sums.length * 2)
      sums.set(this.#sums)
      this.#sums = sums
    }
    return this.#series++
  }

  add(series: number, slot: number, amount: number): void {
    this.#sums[series * SLOTS + (slot & (SLOTS - 1))]! += amount
  }

  at(series: number, slot: number): number {
    return this.#sums[series * SLOTS + (slot & (SLOTS - 1))]!
  }

  /** The sum of a series from a slot up to another, which is not counted. */
  sum(series: number, from: number, to: number): number {
    let sum = 0
    for (let slot = from; slot < to; slot++) sum += this.at(series, slot)
    return sum
  }

  /** Empties the slots after `last` up to `slot`, which stand for another time now. */
  open(last: number, slot: number): void {
    if (slot - last >= SLOTS) this.#sums.fill(0)
    else
      for (let opened = last + 1; opened <= slot; opened++)
        for (let at = opened & (SLOTS - 1); at < this.#sums.length; at += SLOTS) this.#sums[at] = 0
  }
}

/** The parts of a table as seen when `open` is its newest slot, which still fills. */
export const judgedFrom = (open: number) => open - JUDGED_SLOTS
export const baselineFrom = (open: number) => open - SLOTS + 1
