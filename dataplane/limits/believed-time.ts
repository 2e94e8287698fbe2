/** The time by which retention deletes: no single clock that is far ahead takes what is young to all others. */

/** As `ports/clock.ts` has it. */
interface TwoClocks {
  nowMs(): number
  monotonicMs?(): number
}

const DAY_MS = 86_400_000
/** Clocks differ by less where they are kept right. */
export const TOLERATED_MS = 3_600_000
/** A time that nothing but clocks speaks for is believed after so long, in which somebody may set them right. */
export const HELD_MS = DAY_MS
/** Days of logs further apart say nothing for one another: the later ones may be of a clock that was ahead. */
const NEIGHBOURS_MS = 7 * DAY_MS

export interface BelievedTime {
  readonly nowMs: number
  /** How far ahead of it the clocks are which are not believed yet; 0 when they are. */
  readonly heldMs: number
  /** How far this machine's clock is ahead of the store's, where it says its time; negative: behind. */
  readonly aheadOfStoreMs: number | undefined
}

/** Times that others tell. */
export interface TimesTold {
  readonly storeMs: number | undefined
  readonly days: readonly KeptDay[]
}

/** A day that something is kept of. */
export interface KeptDay {
  readonly startMs: number
  /** When its part of the store was made, where the store says so. */
  readonly madeMs?: number | undefined
}

/**
 * The earlier one of this machine's clock and the store's, unless that time has jumped: it went on by more than the time that has passed, or is, at the
 * start, more than a day ahead of the newest day that is kept, while no day long past was made by then. A time that jumped is held back for a day, and goes
 * on evenly from where it was.
 */
export function createBelievedTime(clock: TwoClocks): (told: TimesTold) => BelievedTime {
  let known: Moment | undefined
  let doubted: Moment | undefined
  return ({ storeMs, days }) => {
    const ownMs = clock.nowMs()
    const passedMs = clock.monotonicMs?.() ?? ownMs
    const toldMs = Math.min(ownMs, storeMs ?? ownMs)
    const aheadOfStoreMs = storeMs === undefined ? undefined : ownMs - storeMs
    const expectedMs = known === undefined ? spokenFor(days, toldMs) : after(known, passedMs)
    const heldMs = toldMs - expectedMs
    if (heldMs > TOLERATED_MS) {
      // Another step of the clock: a time of its own to wait for.
      if (doubted === undefined || Math.abs(toldMs - after(doubted, passedMs)) > TOLERATED_MS) doubted = { ms: toldMs, passedMs }
      if (passedMs - doubted.passedMs < HELD_MS) {
        known ??= { ms: expectedMs, passedMs }
        return { nowMs: expectedMs, heldMs, aheadOfStoreMs }
      }
    }
    doubted = undefined
    known = { ms: toldMs, passedMs }
    return { nowMs: toldMs, heldMs: 0, aheadOfStoreMs }
  }
}

interface Moment {
  readonly ms: number
  /** On the clock that goes on evenly. */
  readonly passedMs: number
}

const after = ({ ms, passedMs: thenMs }: Moment, passedMs: number) => ms + passedMs - thenMs

/**
 * A day after the newest day ends that has others near it, or after a day long past was made: what is old came by then. `toldMs` when nothing is kept.
 */
function spokenFor(days: readonly KeptDay[], toldMs: number): number {
  const starts = days.map(({ startMs }) => startMs).sort((a, b) => b - a)
  const newest = starts.find((day, i) => day <= toldMs && (starts[i + 1] === undefined || day - starts[i + 1]! <= NEIGHBOURS_MS))
  if (newest === undefined) return toldMs
  const madeLate = days.flatMap(({ startMs, madeMs = 0 }) => (madeMs > startMs + 2 * DAY_MS && madeMs <= toldMs ? madeMs : []))
  return Math.min(toldMs, Math.max(newest + 2 * DAY_MS, ...madeLate.map(ms => ms + DAY_MS)))
}
