import type { Clock } from '../ports/clock.ts'

/** A clock that stands until it is moved; sleepers wake in the order of their time. */
export interface FakeClock extends Clock {
  /** Moves time on and wakes all waits that are over by then. */
  advance(ms: number): void
  /** How many sleep just now. */
  readonly sleepers: number
}

export function createFakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let nowMs = startMs
  const sleeping = new Map<() => void, number>()
  return {
    nowMs: () => nowMs,
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
        sleeping.set(wake, nowMs + ms)
        signal?.addEventListener('abort', wake)
      })
    },
    advance(ms) {
      nowMs += ms
      const due = [...sleeping].filter(([, atMs]) => atMs <= nowMs).sort((a, b) => a[1] - b[1])
      for (const [wake] of due) wake()
    },
  }
}
