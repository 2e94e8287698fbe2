import type { Clock } from '../../../ports/clock.ts'

/** Records that take longer than this until they are searchable are a backlog, ms. */
const TARGET_DELAY_MS = 400
/** Share of the work of all tenants from which on a tenant is one that the others wait for. */
const HEAVY_SHARE = 0.25
/** An acknowledgement waits no longer: senders give up after ten seconds. */
export const MAX_PACE_MS = 5_000
const LOOK_EVERY_MS = 100
/** Every so often all work counts a fifth less. */
const DECAY_EVERY_MS = 1_000
const DECAY = 0.8
/** Work that is forgotten. */
const LITTLE_WORK = 1_000
/** Tenants whose work is counted; the work of further ones counts together, as that of none. */
export const MAX_COUNTED_TENANTS = 1_000

export interface FairPaceDeps {
  readonly clock: Clock
  /** How long the records that become searchable now have been on their way, ms. */
  readonly delayMs: () => number
}

export interface Turns {
  /** Resolves when the request may go on, or be acknowledged; at once when `isOver`. */
  next(): Promise<void>
}

/**
 * While records wait longer than they should, and those of several tenants come, who brings most of the work waits: for
 * its acknowledgement, so that it sends less, as every OTLP sender has but a few requests under way; and between the parts of a large request.
 * A tenant that is alone waits for nobody.
 */
export class FairPace {
  readonly #deps: FairPaceDeps
  readonly #work = new Map<string, number>()
  #total = 0
  #decayedMs: number

  constructor(deps: FairPaceDeps) {
    this.#deps = deps
    this.#decayedMs = deps.clock.nowMs()
  }

  /** `work`: an estimate of the bytes that a tenant's records become. */
  note(tenant: string, work: number): void {
    this.#decay()
    this.#total += work
    const known = this.#work.get(tenant)
    if (known !== undefined || this.#work.size < MAX_COUNTED_TENANTS) this.#work.set(tenant, (known ?? 0) + work)
  }

  /** The turns of one request with records of these tenants; all its waits together are bounded. */
  turnsOf(tenants: ReadonlySet<string>, isOver: () => boolean): Turns {
    const { clock, delayMs } = this.#deps
    const isHeavy = () => [...tenants].some(tenant => this.#isHeavy(tenant))
    let waited = 0
    return {
      async next() {
        for (; waited < MAX_PACE_MS && delayMs() > TARGET_DELAY_MS && !isOver() && isHeavy(); waited += LOOK_EVERY_MS)
          await clock.sleep(LOOK_EVERY_MS)
      },
    }
  }

  #isHeavy(tenant: string): boolean {
    this.#decay()
    const work = this.#work.get(tenant) ?? 0
    return work > HEAVY_SHARE * this.#total && this.#total - work > LITTLE_WORK
  }

  #decay(): void {
    const steps = Math.floor((this.#deps.clock.nowMs() - this.#decayedMs) / DECAY_EVERY_MS)
    if (steps <= 0) return
    this.#decayedMs += steps * DECAY_EVERY_MS
    const factor = DECAY ** steps
    this.#total *= factor
    for (const [tenant, work] of this.#work) {
      if (work * factor < LITTLE_WORK) this.#work.delete(tenant)
      else this.#work.set(tenant, work * factor)
    }
  }
}
