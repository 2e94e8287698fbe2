/**
 * Keys that need work: each at most once in the queue and never twice at work, with a back-off of its own for each that fails.
 * Keys that are under way go before new ones, so that the first of many pipelines are done early. Keys whose requests hang time and
 * again wait in a line apart, for workers of their own: an object that hangs never costs another its turn.
 */

import { type BackOffConfig, backOffMs } from '../../dataplane/limits/back-off.ts'
import { type Clock, monotonicMs } from '../../dataplane/ports/clock.ts'

/** From the first failure to the longest wait. */
const KEY_BACK_OFF: BackOffConfig = { firstMs: 1000, maxMs: 120_000 }

/** Sees what the queue does, for metrics. */
export interface QueueObserver {
  added?(): void
  /** A key was taken after it waited so long. */
  taken?(waitedMs: number): void
  /** The work at a key ended after so long. */
  ended?(workedMs: number): void
  retried?(): void
}

export interface WorkQueueDeps {
  readonly clock: Clock
  readonly random: () => number
  readonly observer?: QueueObserver
}

/** `settled`: until something changes; `again`: after a time; `failed`: after the key's back-off, and not before `afterMs`; `isHang`: a request of it hung. `isUnderWay`: more is to come soon, and goes before others. */
export type WorkOutcome =
  | { readonly kind: 'settled'; readonly isUnderWay?: boolean }
  | { readonly kind: 'again'; readonly afterMs: number; readonly isUnderWay?: boolean }
  | { readonly kind: 'failed'; readonly afterMs?: number; readonly isHang?: boolean }

/** Every fourth key that is taken is a new one, if there is any, so that new keys never wait for ever. */
const OTHERS_TURN = 4

/** The line of all keys, or that of keys which hang. */
export type LineName = 'all' | 'hanging'

/** Work that fails sooner holds up nobody. */
export const HANG_MS = 5000
/** Once may be the API server's restart. */
const HANGS_IN_A_ROW = 2

export class WorkQueue {
  readonly #deps: WorkQueueDeps
  /** Keys under way and all others, each in the order of arrival and with the time of arrival. */
  readonly #waitingFirst = new Map<string, number>()
  readonly #waiting = new Map<string, number>()
  readonly #waitingHanging = new Map<string, number>()
  readonly #underWay = new Set<string>()
  /** At work, since when. */
  readonly #working = new Map<string, number>()
  /** Asked for again while at work. */
  readonly #again = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly cancel: AbortController }>()
  /** How often in a row the work at a key hung and failed. */
  readonly #hangs = new Map<string, number>()
  readonly #takers: Readonly<Record<LineName, ((key: string | undefined) => void)[]>> = { all: [], hanging: [] }
  #stopped = false
  #taken = 0

  constructor(deps: WorkQueueDeps) {
    this.#deps = deps
  }

  /** Keys that wait for a worker now. */
  get depth(): number {
    return this.#waiting.size + this.#waitingFirst.size + this.#waitingHanging.size
  }

  /** For each key at work, for how long. */
  workedMs(): readonly number[] {
    const nowMs = monotonicMs(this.#deps.clock)
    return [...this.#working.values()].map(startMs => nowMs - startMs)
  }

  /** How often the key failed in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** Now; a delay that the key had is over. */
  add(key: string): void {
    if (this.#stopped) return
    this.#cancelDelay(key)
    if (this.#working.has(key)) this.#again.add(key)
    else if (!this.#isWaiting(key)) this.#arrive(key)
  }

  #arrive(key: string): void {
    this.#deps.observer?.added?.()
    const nowMs = monotonicMs(this.#deps.clock)
    const line = this.#lineOf(key)
    const taker = this.#takers[line].shift()
    if (taker !== undefined) taker(this.#begin(key, nowMs))
    else if (line === 'hanging') this.#waitingHanging.set(key, nowMs)
    else (this.#underWay.has(key) ? this.#waitingFirst : this.#waiting).set(key, nowMs)
  }

  #lineOf(key: string): LineName {
    return (this.#hangs.get(key) ?? 0) >= HANGS_IN_A_ROW ? 'hanging' : 'all'
  }

  /** After a time, unless it is due or asked for sooner. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) {
      this.add(key)
      return
    }
    const dueMs = monotonicMs(this.#deps.clock) + ms
    const known = this.#delayed.get(key)
    if (this.#stopped || this.#isWaiting(key) || (known !== undefined && known.dueMs <= dueMs)) return
    this.#cancelDelay(key)
    const cancel = new AbortController()
    this.#delayed.set(key, { dueMs, cancel })
    void this.#deps.clock.sleep(ms, cancel.signal).then(() => {
      if (!cancel.signal.aborted) this.add(key)
    })
  }

  /** The next key of the line, which then is at work until `done`; undefined once the queue has stopped. */
  take(of: LineName = 'all'): Promise<string | undefined> {
    if (this.#stopped) return Promise.resolve(undefined)
    const line = of === 'hanging' ? this.#waitingHanging : this.#nextLine()
    const next = line.entries().next()
    if (next.done === true) return new Promise(resolve => this.#takers[of].push(resolve))
    const [key, sinceMs] = next.value
    line.delete(key)
    return Promise.resolve(this.#begin(key, sinceMs))
  }

  #nextLine(): Map<string, number> {
    if (this.#waitingFirst.size === 0) return this.#waiting
    return this.#waiting.size > 0 && this.#taken % OTHERS_TURN === OTHERS_TURN - 1 ? this.#waiting : this.#waitingFirst
  }

  #isWaiting(key: string): boolean {
    return this.#waiting.has(key) || this.#waitingFirst.has(key) || this.#waitingHanging.has(key)
  }

  /** The work at a key ended. A key that was added meanwhile comes again at once, with any outcome. */
  done(key: string, outcome: WorkOutcome): void {
    const startMs = this.#working.get(key)
    if (startMs === undefined) throw new Error(`work queue: ${key} is not at work`)
    this.#working.delete(key)
    const workedMs = monotonicMs(this.#deps.clock) - startMs
    this.#deps.observer?.ended?.(workedMs)
    if (outcome.kind === 'failed' && outcome.isHang === true && workedMs >= HANG_MS) this.#hangs.set(key, (this.#hangs.get(key) ?? 0) + 1)
    else this.#hangs.delete(key)
    const failures = outcome.kind === 'failed' ? this.failures(key) + 1 : 0
    if (failures === 0) this.#failures.delete(key)
    else this.#failures.set(key, failures)
    if (outcome.kind !== 'failed' && outcome.isUnderWay === true) this.#underWay.add(key)
    else this.#underWay.delete(key)
    if (outcome.kind === 'failed') this.#deps.observer?.retried?.()
    if (this.#again.delete(key)) this.add(key)
    else if (outcome.kind === 'again') this.addAfter(key, outcome.afterMs)
    else if (outcome.kind === 'failed')
      this.addAfter(key, Math.max(backOffMs(KEY_BACK_OFF, failures, this.#deps.random), Math.min(outcome.afterMs ?? 0, KEY_BACK_OFF.maxMs)))
  }

  /** `take` resolves to undefined from now on. Work that has begun still ends with `done`. */
  stop(): void {
    this.#stopped = true
    for (const { cancel } of this.#delayed.values()) cancel.abort()
    this.#delayed.clear()
    this.#waiting.clear()
    this.#waitingFirst.clear()
    this.#waitingHanging.clear()
    for (const takers of Object.values(this.#takers)) for (const taker of takers.splice(0)) taker(undefined)
  }

  #begin(key: string, sinceMs: number): string {
    const nowMs = monotonicMs(this.#deps.clock)
    this.#taken += 1
    this.#working.set(key, nowMs)
    this.#deps.observer?.taken?.(nowMs - sinceMs)
    return key
  }

  #cancelDelay(key: string): void {
    this.#delayed.get(key)?.cancel.abort()
    this.#delayed.delete(key)
  }
}
