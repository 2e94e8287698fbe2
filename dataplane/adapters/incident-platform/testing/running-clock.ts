import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'

/** Goes on by itself whenever somebody waits, so that nobody does. */
export function createRunningClock(startMs?: number): FakeClock {
  const clock = createFakeClock(startMs)
  return {
    ...clock,
    nowMs: clock.nowMs,
    get sleepers() {
      return clock.sleepers
    },
    async sleep(ms) {
      clock.advance(ms)
    },
  }
}
