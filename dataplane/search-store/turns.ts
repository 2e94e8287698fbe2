/** How long work that nobody watches may hold the thread, ms. */
const TURN_MS = 8

/** Lets others run in the midst of long work: `if (turns.isDue()) await turns.next()`. */
export class Turns {
  #end = performance.now() + TURN_MS

  isDue(): boolean {
    return performance.now() >= this.#end
  }

  async next(): Promise<void> {
    await new Promise<void>(resolve => setImmediate(resolve))
    this.#end = performance.now() + TURN_MS
  }
}
