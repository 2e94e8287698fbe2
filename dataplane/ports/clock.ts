/** The only source of time for everything that is tested. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number
  /** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
