import { type Repairs, ValueReader } from '../json/strict.ts'

/** Work on a request that may rest: it yields where others can have their turn. A request of megabytes would hold its thread for most of a second otherwise. */
export type Steps<T> = Generator<undefined, T>

/** Bytes that are worked on in one go: with more, others get their turns meanwhile. */
export const MAX_AT_ONCE_BYTES = 65_536
/** Bytes that are read between two places to rest: a millisecond or two, however the bytes were chosen. */
export const STEP_BYTES = 16_384

/** Where steps over positions that only grow rest. */
export class Rests {
  #at: number

  constructor(start: number) {
    this.#at = start + STEP_BYTES
  }

  /** Whether it is time to rest at this position; if so, the next rest is counted from there. */
  isDue(position: number): boolean {
    if (position < this.#at) return false
    this.#at = position + STEP_BYTES
    return true
  }
}

/** All of the work in one go. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** `valueEnd`, with rests. */
export function* valueEndSteps(text: Uint8Array, start: number, repairs: Repairs, levels: number): Steps<number> {
  const reader = new ValueReader(text, start, repairs, levels)
  while (!reader.goOn(reader.position + STEP_BYTES)) yield
  return reader.position
}
