/** How long work may hold the thread, ms. */
const TURN_MS = 15

/** Runs work that yields now and then to its end; others get their turn between. */
export async function runInTurns<T>(work: Generator<void, T>): Promise<T> {
  let end = performance.now() + TURN_MS
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (performance.now() < end) continue
    await new Promise(resolve => setImmediate(resolve))
    end = performance.now() + TURN_MS
  }
}
