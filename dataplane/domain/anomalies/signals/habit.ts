/** Findings that come at regular times, alike, are a habit of their service and no news: a job of each hour, the backup of each night (Decisions 5). */
import { areRegular } from '../../time/regular-times.ts'
import { SLOTS } from './slots.ts'

/** Bursts that lie nearer to each other are one: what was found is part of the time before by then. */
const APART = SLOTS
/** Bursts before that make a habit. */
const BURSTS_BEFORE = 3
/** Slots by which a burst may come early or late, and last longer. */
const JITTER = 2
interface Burst {
  readonly from: number
  to: number
  size: number
}

/** The bursts in which one thing was found. */
export class Habit {
  static readonly bytes = 300
  #bursts: Burst[] = []

  /** Takes in a finding. True: it came at such times before, three times at least, as long, and no smaller than `isLike` allows. */
  isUsual(slot: number, size: number, isLike: (size: number, largest: number) => boolean): boolean {
    const current = this.#take(slot, size)
    const before = this.#bursts.slice(0, -1)
    if (
      before.length < BURSTS_BEFORE ||
      !areRegular(
        this.#bursts.map(({ from }) => from),
        2 * JITTER,
      )
    )
      return false
    const longest = Math.max(...before.map(({ from, to }) => to - from))
    const largest = Math.max(...before.map(burst => burst.size))
    return slot - current.from <= longest + JITTER && isLike(current.size, largest)
  }

  #take(slot: number, size: number): Burst {
    const last = this.#bursts.at(-1)
    if (last !== undefined && slot - last.to < APART) {
      last.to = Math.max(last.to, slot)
      last.size = Math.max(last.size, size)
      return last
    }
    const burst = { from: slot, to: slot, size }
    this.#bursts = [...this.#bursts.slice(-BURSTS_BEFORE), burst]
    return burst
  }
}
