/**
 * Silence: services of one tenant on one partition of the bus are compared with each other, as their order is kept. Time is theirs, not a clock's: a
 * service is silent when others go on (Decisions 5).
 */
import { silenceShift } from './shift.ts'
import { type SignalFinding, SPEAKS, zOf } from './signal.ts'
import { baselineFrom, MIN_BASELINE_SLOTS, SlotTable } from './slots.ts'
import { describeSilence } from './wording.ts'

/** A silence of less than two minutes may be a pause between requests; one of more than four has been told, or is no news. */
const LEAST_SLOTS = 4
const MOST_SLOTS = 8
/** A silence of one minute is told at twice the limit, for a service that was heard in each of the twenty slots before. */
const EARLY_SLOTS = 2
const EARLY_Z = 2 * SPEAKS
/** One comparison each time that a slot closes. */
const COMPARISONS = 1
/** A service counts as silent only where at least this share of the other services goes on, with this share of its records. */
const MIN_GOING_ON = 0.5

/** When a service was heard, by the time of its company. */
export interface Listener {
  readonly heard: SlotTable
  /** The newest slot that `heard` is open for. */
  open: number
  /** The company's slot when it was heard last. */
  lastSlot: number
  /** Records without a trace: of a job that may as well have ended. */
  untraced: number
  traced: number
  isTold: boolean
}

const HEARD = 0

export function createListener(): Listener {
  const heard = new SlotTable()
  heard.addSeries()
  return { heard, open: 0, lastSlot: 0, untraced: 0, traced: 0, isTold: false }
}

/** Services of one tenant on one partition. */
export class Company<S extends Listener> {
  readonly key: string
  readonly members = new Set<S>()
  #slot = Number.NEGATIVE_INFINITY

  constructor(key: string) {
    this.key = key
  }

  /** Notes that a service was heard at a time. Those that are silent since two minutes, each told once. */
  hear(member: S, slot: number, isTraced: boolean): readonly { readonly member: S; readonly finding: SignalFinding }[] {
    const hasMoved = slot > this.#slot
    if (hasMoved) this.#slot = slot
    this.#keepUp(member)
    member.heard.add(HEARD, this.#slot, 1)
    member.lastSlot = this.#slot
    member.isTold = false
    if (isTraced) member.traced++
    else member.untraced++
    return hasMoved ? this.#findSilent() : NONE
  }

  #keepUp(member: Listener): void {
    if (member.open >= this.#slot) return
    member.heard.open(member.open, this.#slot)
    member.open = this.#slot
  }

  #findSilent(): readonly { readonly member: S; readonly finding: SignalFinding }[] {
    const found: { readonly member: S; readonly finding: SignalFinding }[] = []
    for (const member of this.members) {
      // The slots between the one it was heard in last and the one that is open: those are closed.
      const slots = this.#slot - member.lastSlot - 1
      if (member.isTold || slots < EARLY_SLOTS || slots > MOST_SLOTS || member.traced <= member.untraced) continue
      this.#keepUp(member)
      const isEarly = slots < LEAST_SLOTS
      if (isEarly && !wasAlwaysHeard(member, this.#slot, slots)) continue
      if (!hasBaseline(member, this.#slot, slots) || longestPause(member, this.#slot, slots) >= slots) continue
      const shift = silenceShift(member.heard, HEARD, this.#slot, slots, this.#shareGoingOn(member, slots))
      const z = zOf(-shift.strength, COMPARISONS)
      if (z < (isEarly ? EARLY_Z : SPEAKS)) continue
      member.isTold = true
      found.push({ member, finding: { signal: 'silence', z, text: describeSilence(slots, shift.before) } })
    }
    return found
  }

  /** The rate of others as a share of their rate before, at most 1; 0 where most of them do not go on. */
  #shareGoingOn(silent: S, slots: number): number {
    let [were, goOn, before, now] = [0, 0, 0, 0]
    const from = this.#slot - slots
    for (const member of this.members) {
      if (member === silent) continue
      this.#keepUp(member)
      if (!hasBaseline(member, this.#slot, slots)) continue
      were++
      const heard = member.heard.sum(HEARD, from, this.#slot)
      if (heard > 0) goOn++
      now += heard / slots
      before += member.heard.sum(HEARD, baselineFrom(this.#slot), from) / (from - baselineFrom(this.#slot))
    }
    return were > 0 && goOn >= MIN_GOING_ON * were && now >= MIN_GOING_ON * before ? Math.min(now / before, 1) : 0
  }
}

/** Heard in ten minutes of the time before the last `slots`. */
function hasBaseline({ heard }: Listener, open: number, slots: number): boolean {
  let count = 0
  for (let slot = baselineFrom(open); slot < open - slots; slot++) if (heard.at(HEARD, slot) > 0) count++
  return count >= MIN_BASELINE_SLOTS
}

/** Slots of the longest pause in the time before, from the first record on. */
function longestPause({ heard }: Listener, open: number, slots: number): number {
  let longest = 0
  let last = Number.NaN
  for (let slot = baselineFrom(open); slot < open - slots; slot++) {
    if (heard.at(HEARD, slot) === 0) continue
    if (slot - last - 1 > longest) longest = slot - last - 1
    last = slot
  }
  return longest
}

/** Heard in each of the twenty slots before the last `slots`. */
function wasAlwaysHeard({ heard }: Listener, open: number, slots: number): boolean {
  for (let slot = open - slots - MIN_BASELINE_SLOTS; slot < open - slots; slot++) if (heard.at(HEARD, slot) === 0) return false
  return true
}

const NONE: readonly never[] = []
