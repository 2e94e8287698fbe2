/** The only source of time for everything that is tested. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number
  /** Milliseconds since some moment; it goes on evenly when the time of day is set. Absent: as `nowMs`. */
  monotonicMs?(): number
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The clock's time for how long things take. */
export const monotonicMs = (clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): number => clock.monotonicMs?.() ?? clock.nowMs()
