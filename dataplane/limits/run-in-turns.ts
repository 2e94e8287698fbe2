/** How long work may hold the thread, ms. */
const TURN_MS = 10

const waiting: (() => void)[] = []

/** Runs work that yields now and then to its end; others get their turn between, and of several such works one at a time. */
export async function runInTurns<T>(work: Generator<void, T>): Promise<T> {
  if (waiting.length > 0) await nextTurn()
  let end = performance.now() + TURN_MS
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (performance.now() < end) continue
    await nextTurn()
    end = performance.now() + TURN_MS
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(giveTurn)
  })
}

/** One turn for each round of the event loop: what comes from outside waits for one of them, however many works there are. */
function giveTurn(): void {
  waiting.shift()!()
  if (waiting.length > 0) setImmediate(giveTurn)
}
