/** Shares the thread of the query process among queries. */
import type { QueryTurns } from '../query/budget/pace.ts'

/** A query that nobody waits for stands behind others that have used up to so much more time, ms, … */
const BACKGROUND_MS = 200
/** … and the time that it waits counts for it at this share. */
const BACKGROUND_SHARE = 0.25

/** Hears of the beginning and the end of turns. */
export interface TurnObserver {
  /** A query's turn begins; 0: nobody's. */
  began(query: number): void
  /** A turn was over after `ms`. */
  ended(turn: QueryTurn, ms: number): void
}

interface Waiting {
  readonly turn: QueryTurn
  readonly sinceMs: number
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** The query that has used least time gets the next turn, so that a short query never waits for long ones to end. */
export class TurnQueue {
  readonly #observer: TurnObserver
  readonly #nowMs: () => number
  #waiting: Waiting[] = []
  #isScheduled = false
  #running: { readonly turn: QueryTurn; readonly beganMs: number } | undefined

  constructor(observer: TurnObserver, nowMs: () => number = () => performance.now()) {
    this.#observer = observer
    this.#nowMs = nowMs
  }

  begin(query: number, isBackground = false): QueryTurn {
    return new QueryTurn(query, this, isBackground)
  }

  enter(turn: QueryTurn): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ turn, sinceMs: this.#nowMs(), resolve, reject })
      this.#schedule()
    })
  }

  leave(turn: QueryTurn, reason: unknown): void {
    for (const each of this.#waiting) if (each.turn === turn) each.reject(reason)
    this.#waiting = this.#waiting.filter(each => each.turn !== turn)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isScheduled = false
    const nowMs = this.#nowMs()
    this.#endTurn(nowMs)
    const next = this.#takeNext(nowMs)
    if (next === undefined) {
      this.#observer.began(0)
      return
    }
    this.#running = { turn: next.turn, beganMs: nowMs }
    this.#observer.began(next.turn.query)
    next.resolve()
    // Notices the end of the turn, also when no query waits.
    this.#schedule()
  }

  #endTurn(nowMs: number): void {
    if (this.#running === undefined) return
    const { turn, beganMs } = this.#running
    this.#running = undefined
    if (!turn.isForAll) turn.usedMs += nowMs - beganMs
    this.#observer.ended(turn, nowMs - beganMs)
  }

  /** Time spent waiting counts in favour of a query, so that none waits for ever. */
  #takeNext(nowMs: number): Waiting | undefined {
    let best: Waiting | undefined
    let bestKey = Number.POSITIVE_INFINITY
    for (const each of this.#waiting) {
      const waitedMs = nowMs - each.sinceMs
      const { usedMs, isBackground } = each.turn
      const key = isBackground ? usedMs - BACKGROUND_SHARE * waitedMs + BACKGROUND_MS : usedMs - waitedMs
      if (key >= bestKey) continue
      best = each
      bestKey = key
    }
    if (best !== undefined) this.#waiting.splice(this.#waiting.indexOf(best), 1)
    return best
  }
}

/** The turns of one query. */
export class QueryTurn implements QueryTurns {
  readonly query: number
  /** Nobody waits for it. */
  readonly isBackground: boolean
  usedMs = 0
  /** Set while it does work that others need, too, which does not count as time that it has used. */
  isForAll = false
  /** By how much memory grew in its turns, bytes. */
  grownBytes = 0
  readonly #queue: TurnQueue
  readonly #cancelled = new AbortController()

  constructor(query: number, queue: TurnQueue, isBackground: boolean) {
    this.query = query
    this.isBackground = isBackground
    this.#queue = queue
  }

  /** Aborts with the reason that `cancel` was given. */
  get signal(): AbortSignal {
    return this.#cancelled.signal
  }

  async next(): Promise<void> {
    this.signal.throwIfAborted()
    await this.#queue.enter(this)
  }

  cancel(reason: unknown): void {
    if (this.signal.aborted) return
    this.#cancelled.abort(reason)
    this.#queue.leave(this, reason)
  }
}
