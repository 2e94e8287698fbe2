/** Work on a request that may rest: it yields where others can have their turn. A request of megabytes would hold its thread for most of a second otherwise. */
export type Steps<T> = Generator<undefined, T>

/** Bytes that are worked on in one go: with more, others get their turns meanwhile. */
export const MAX_AT_ONCE_BYTES = 65_536
/** Bytes that are read between two places to rest: a millisecond or two, however the bytes were chosen. */
export const STEP_BYTES = 16_384

/** All of the work in one go. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
