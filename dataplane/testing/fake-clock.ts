import type { Clock } from '../ports/clock.ts'

/** A clock that stands until it is moved; sleepers wake in the order of their time. */
export interface FakeClock extends Clock {
  /** Moves time on and wakes all waits that are over by then. */
  advance(ms: number): void
  /** Sets the time of day by so much, as somebody may do to a machine: no time passes. */
  shiftTimeOfDay(ms: number): void
  /** How many sleep just now. */
  readonly sleepers: number
}

export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let passedMs = 0
  let timeOfDayAtStartMs = startMs
  const sleeping = new Map<() => void, number>()
  return {
    nowMs: () => timeOfDayAtStartMs + passedMs,
    monotonicMs: () => passedMs,
    get sleepers() {
      return sleeping.size
    },
    sleep(ms, signal) {
      if (ms <= 0 || signal?.aborted) return Promise.resolve()
      return new Promise(resolve => {
        const wake = () => {
          sleeping.delete(wake)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        sleeping.set(wake, passedMs + ms)
        signal?.addEventListener('abort', wake)
      })
    },
    advance(ms) {
      passedMs += ms
      const due = [...sleeping].filter(([, atMs]) => atMs <= passedMs).sort((a, b) => a[1] - b[1])
      for (const [wake] of due) wake()
    },
    shiftTimeOfDay(ms) {
      timeOfDayAtStartMs += ms
    },
  }
}
