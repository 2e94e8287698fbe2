import { setImmediate } from 'node:timers/promises'

/** How long a piece of work may hold the thread, ms. A request that comes meanwhile needs several turns of its own until it is answered. */
const TURN_MS = 2

/** Lets others run in the midst of long work: `if (turns.isDue()) await turns.next()`. */
export class Turns {
  readonly #turnMs: number
  #end: number

  constructor(turnMs = TURN_MS) {
    this.#turnMs = turnMs
    this.#end = performance.now() + turnMs
  }

  isDue(): boolean {
    return performance.now() >= this.#end
  }

  async next(): Promise<void> {
    await setImmediate()
    this.#end = performance.now() + this.#turnMs
  }
}
