/** Waits, on the clock of the machine, for what becomes true by itself. */

interface Patience {
  readonly timeoutMs?: number
  readonly pauseMs?: number
}

/** Error of an attempt that need not be tried again. */
export class GaveUp extends Error {}

/** Tries until `attempt` does not throw; rejects with its last error once the time is over. */
export async function eventually<T>(attempt: () => Promise<T>, { timeoutMs = 15_000, pauseMs = 50 }: Patience = {}): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof GaveUp || performance.now() > deadlineMs) throw error
      await pause(pauseMs)
    }
  }
}

/** Asks until a condition holds; rejects with its words once the time is over. */
export async function untilTrue(
  holds: () => boolean | Promise<boolean>,
  { timeoutMs = 15_000, pauseMs = 20 }: Patience = {},
): Promise<void> {
  for (const deadlineMs = performance.now() + timeoutMs; !(await holds()); await pause(pauseMs))
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms: ${holds}`)
}

/** Asks until the answer is as wanted, or the time is over; resolves to the last answer, for the caller to judge. */
export async function lastSeen<T>(
  ask: () => Promise<T> | T,
  isWanted: (seen: T) => boolean,
  { timeoutMs = 15_000, pauseMs = 20 }: Patience = {},
): Promise<T> {
  for (const deadlineMs = performance.now() + timeoutMs; ; await pause(pauseMs)) {
    const seen = await ask()
    if (isWanted(seen) || performance.now() > deadlineMs) return seen
  }
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
