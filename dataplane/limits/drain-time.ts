/** The time that slow clients have when the process ends. Its servers stop one after the other: each would give that time anew, and the last ones had none. */

/** When the end began, ms of `performance.now`; undefined while the process runs. */
let sinceMs: number | undefined
/** Part of its time that a server gives whose turn comes when the time of all is over. */
const LEAST_SHARE = 0.2

/** From here on servers that stop share their time; the function given back takes that back. */
export function beginDrain(): () => void {
  sinceMs = performance.now()
  return () => {
    sinceMs = undefined
  }
}

/** The part of `graceMs` that a server gives which stops now. */
export function graceLeftMs(graceMs: number): number {
  const spentMs = sinceMs === undefined ? 0 : performance.now() - sinceMs
  return Math.max(LEAST_SHARE * graceMs, graceMs - spentMs)
}
