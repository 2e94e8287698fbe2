/** Findings that come at regular times, alike, are a habit of their service and no news: a job of each hour, the backup of each night (Decisions 5). */
import { areRegular } from '../../time/regular-times.ts'
import { SLOTS } from './slots.ts'

/** Bursts that lie nearer to each other are one: what was found is part of the time before by then. */
const APART = SLOTS
/** Bursts before that make a habit. */
const BURSTS_BEFORE = 3
/** Slots by which a burst may come early or late, and last longer. */
const JITTER = 2

/** Slots from the first to the last at which something was found without a long pause, and the most of it. */
export interface Burst {
  readonly from: number
  readonly to: number
  readonly size: number
}

/** The bursts in which one thing was found, in the order of time. */
export class Habit {
  static readonly bytes = 400
  #bursts: readonly Burst[] = []

  get bursts(): readonly Burst[] {
    return this.#bursts
  }

  /** Takes in bursts that were found by another process, or before a restart; those that are known change nothing. */
  merge(bursts: readonly Burst[]): void {
    for (const burst of bursts) this.#put(burst)
  }

  /**
   * Takes in a finding. True: it came at such times before, three times at least, as long, and no smaller than `isLike` allows. A finding of an earlier
   * time, as records that are read again bring it, is held against the bursts around it.
   */
  isUsual(slot: number, size: number, isLike: (size: number, largest: number) => boolean): boolean {
    const current = this.#put({ from: slot, to: slot, size })
    const others = this.#bursts.filter(burst => burst !== current)
    if (
      others.length < BURSTS_BEFORE ||
      !areRegular(
        this.#bursts.map(({ from }) => from),
        2 * JITTER,
      )
    )
      return false
    const longest = Math.max(...others.map(({ from, to }) => to - from))
    const largest = Math.max(...others.map(burst => burst.size))
    return slot - current.from <= longest + JITTER && isLike(current.size, largest)
  }

  /** The burst that it has become part of. */
  #put(burst: Burst): Burst {
    const isNear = ({ from, to }: Burst) => burst.from - to < APART && from - burst.to < APART
    const joined = this.#bursts.filter(isNear).reduce(join, burst)
    const others = this.#bursts.filter(each => !isNear(each))
    this.#bursts = [...others, joined].toSorted((a, b) => a.from - b.from).slice(-BURSTS_BEFORE - 1)
    return joined
  }
}

function join(a: Burst, b: Burst): Burst {
  return { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to), size: Math.max(a.size, b.size) }
}
