import { systemClock } from '../adapters/clock/system-clock.ts'
import type { Clock } from '../ports/clock.ts'

/** A clock that begins with the machine's time and runs `factor` times as fast: suites of loops that pause wait less, in the same order. */
export function createFastClock(factor: number): Clock {
  const beganMs = Date.now()
  const origin = performance.now()
  return {
    nowMs: () => beganMs + Math.floor(factor * (performance.now() - origin)),
    sleep: (ms, signal) => systemClock.sleep(Math.ceil(ms / factor), signal),
  }
}
