/** Waits that may last equally long, with one timer for all: a timer is set once in that time, not for each wait. */

export interface TimedWait {
  /** By `performance.now`. */
  readonly dueMs: number
  readonly onLate: () => void
}

export class TimedWaits {
  readonly #limitMs: number
  /** Waits under way, in the order of their beginning, so that the first is due first. */
  readonly #waits = new Set<TimedWait>()
  #timer: NodeJS.Timeout | undefined

  /** None may last longer than `limitMs`. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Calls `onLate` unless the wait is ended in time. The process does not stay for that alone. */
  begin(onLate: () => void): TimedWait {
    const wait = { dueMs: performance.now() + this.#limitMs, onLate }
    this.#waits.add(wait)
    this.#checkIn(this.#limitMs)
    return wait
  }

  end(wait: TimedWait): void {
    this.#waits.delete(wait)
  }

  #checkIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#check(), ms).unref()
  }

  #check(): void {
    this.#timer = undefined
    const nowMs = performance.now()
    for (const wait of this.#waits) {
      if (wait.dueMs > nowMs) {
        this.#checkIn(Math.ceil(wait.dueMs - nowMs))
        break
      }
      this.#waits.delete(wait)
      wait.onLate()
    }
  }
}
