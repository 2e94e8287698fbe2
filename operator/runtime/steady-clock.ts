import { performance } from 'node:perf_hooks'
import type { Clock } from '../../dataplane/ports/clock.ts'

/** A clock that does not jump when the machine's time is set: it starts with it and counts on by itself. */
export function createSteadyClock(clock: Clock): Clock {
  const offsetMs = clock.nowMs() - performance.now()
  return { nowMs: () => Math.round(offsetMs + performance.now()), sleep: clock.sleep }
}
