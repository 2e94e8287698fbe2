/** Slows down tenants that bring more than their share while records wait to become searchable. */
import { type Clock, monotonicMs } from '../../../ports/clock.ts'

/** Records that take longer than this until they are searchable are a backlog, ms. */
const TARGET_DELAY_MS = 400
/** Tenants above the level are heavy. Cut down to it, all tenants together would bring so much less. */
const SHED_SHARE = 0.25
/** An acknowledgement waits no longer: senders give up after ten seconds. */
export const MAX_PACE_MS = 5_000
const LOOK_EVERY_MS = 100
/** Every so often all work counts a fifth less. */
const DECAY_EVERY_MS = 1_000
const DECAY = 0.8
/** Work that is forgotten. */
const LITTLE_WORK = 1_000
/** Tenants whose work is counted by itself. Further tenants count as one: a sender invents them. */
export const MAX_COUNTED_TENANTS = 1_000

export interface FairPaceDeps {
  readonly clock: Clock
  /** How long the records that become searchable now have been on their way, ms. */
  readonly delayMs: () => number
}

export interface PaceTurns {
  /** Resolves when the request may go on, or be acknowledged; undefined where it may at once, as it may when `isOver`. */
  next(): Promise<void> | undefined
}

/**
 * Tenants wait that bring more than their share, while there is a backlog and several tenants send. A tenant waits for its acknowledgements, and between
 * the parts of a large request: an OTLP sender has few requests under way, so it sends less. The share is a level. Cut down to it, all tenants together
 * bring a quarter less: where one tenant brings most it alone waits, where many bring as much as each other all of them wait, and a tenant that brings
 * little never does. A tenant that is alone waits for nobody.
 */
export class FairPace {
  readonly #deps: FairPaceDeps
  readonly #work = new Map<string, number>()
  /** Work of the tenants that are not counted by themselves. */
  #otherWork = 0
  #decayedMs: number
  #total = 0
  /** Above it a tenant is heavy; worked out anew every `LOOK_EVERY_MS`. */
  #level = 0
  #leveledMs = Number.NEGATIVE_INFINITY

  constructor(deps: FairPaceDeps) {
    this.#deps = deps
    this.#decayedMs = monotonicMs(deps.clock)
  }

  /** `work`: an estimate of the bytes that a tenant's records become. */
  note(tenant: string, work: number): void {
    this.#decay()
    this.#total += work
    const known = this.#work.get(tenant)
    if (known !== undefined || this.#work.size < MAX_COUNTED_TENANTS) this.#work.set(tenant, (known ?? 0) + work)
    else this.#otherWork += work
  }

  /** The turns of one request with records of these tenants, which are asked for where it may have to wait; all its waits together are bounded. */
  turnsOf(tenants: () => ReadonlySet<string>, isOver: () => boolean): PaceTurns {
    const { clock, delayMs } = this.#deps
    const isHeavy = () => [...tenants()].some(tenant => this.#isHeavy(tenant))
    let waited = 0
    const mustWait = () => waited < MAX_PACE_MS && delayMs() > TARGET_DELAY_MS && !isOver() && isHeavy()
    const wait = async () => {
      for (; mustWait(); waited += LOOK_EVERY_MS) await clock.sleep(LOOK_EVERY_MS)
    }
    return { next: () => (mustWait() ? wait() : undefined) }
  }

  #isHeavy(tenant: string): boolean {
    this.#decay()
    this.#findLevel()
    const work = this.#work.get(tenant) ?? this.#otherWork
    return work > this.#level && this.#total - work > LITTLE_WORK
  }

  #findLevel(): void {
    const nowMs = monotonicMs(this.#deps.clock)
    if (nowMs - this.#leveledMs < LOOK_EVERY_MS) return
    this.#leveledMs = nowMs
    const works = [...this.#work.values(), this.#otherWork].sort((a, b) => a - b)
    this.#level = levelOf(works, (1 - SHED_SHARE) * this.#total)
  }

  #decay(): void {
    const steps = Math.floor((monotonicMs(this.#deps.clock) - this.#decayedMs) / DECAY_EVERY_MS)
    if (steps <= 0) return
    this.#decayedMs += steps * DECAY_EVERY_MS
    const factor = DECAY ** steps
    this.#total *= factor
    this.#otherWork *= factor
    for (const [tenant, work] of this.#work) {
      if (work * factor < LITTLE_WORK) {
        this.#work.delete(tenant)
        this.#total -= work * factor
      } else this.#work.set(tenant, work * factor)
    }
  }
}

/** The most that each may bring so that all of them together bring `total`; `works` ascending. */
function levelOf(works: readonly number[], total: number): number {
  let left = total
  for (const [i, work] of works.entries()) {
    const share = left / (works.length - i)
    if (work > share) return share
    left -= work
  }
  return Number.POSITIVE_INFINITY
}
