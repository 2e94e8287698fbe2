import { isRecent } from './is-recent.ts'

/** A function that says true at most once in `everyMs`, by the clock that `nowMs` reads; at once when that was set back. */
export function onceEvery(everyMs: number, nowMs: () => number): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY
  return () => {
    const atMs = nowMs()
    if (isRecent(lastMs, everyMs, atMs)) return false
    lastMs = atMs
    return true
  }
}
