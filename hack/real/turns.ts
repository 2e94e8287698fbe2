/** Which suites run beside each other: those that need different servers, since suites stop, fill and clear the servers that they need. */
import type { RealSuite } from './suites.ts'

/** Most suites wait for servers more than they compute: one at a time leaves half of two cores idle. */
export const SUITES_AT_ONCE = 2

/** Takes the next suite that may run beside `running` out of `waiting`; undefined where there is none now. */
export function takeSuite(waiting: RealSuite[], running: readonly RealSuite[]): RealSuite | undefined {
  const next = waiting.findIndex(suite => running.every(other => !excludesEachOther(suite, other)))
  return next === -1 ? undefined : waiting.splice(next, 1)[0]
}

/** Suites without servers follow each other, too: they build programs that they share. */
function excludesEachOther(a: RealSuite, b: RealSuite): boolean {
  if (a.needs.length === 0 || b.needs.length === 0) return a.needs.length === b.needs.length
  return a.needs.some(name => b.needs.includes(name))
}

/**
 * The order in which two at once are busy longest: suites of one server first, the most common one before the others, then those that occupy several.
 * Suites without servers come last, because they run beside all of them. Those with the same needs follow each other.
 */
export function inTurns(suites: readonly RealSuite[]): readonly RealSuite[] {
  const groups = Object.values(Object.groupBy(suites, ({ needs }) => needs.join())).map((group = []) => group)
  const serversOf = ([first]: readonly RealSuite[]) => first!.needs.length || Number.POSITIVE_INFINITY
  return groups.sort((a, b) => Math.sign(serversOf(a) - serversOf(b)) || b.length - a.length).flat()
}
