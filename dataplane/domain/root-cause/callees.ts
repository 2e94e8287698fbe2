/** Who calls whom, from the order in which services first show up in a trace: no span parents needed (Decisions 6). */
import type { ObservedPeriod } from './observed-system.ts'

/** Whether the first service rather calls the second than the other way round. */
export type Calls = (caller: number, callee: number) => boolean

export function findCallees({ requests }: ObservedPeriod, serviceCount: number): Calls {
  const votes = new Map<number, number>()
  for (const { records } of requests) {
    const seen = new Set<number>()
    let previous = -1
    for (const { kind } of records) {
      const { service } = kind
      if (previous >= 0 && previous !== service && !seen.has(service)) {
        const key = previous * serviceCount + service
        votes.set(key, (votes.get(key) ?? 0) + 1)
      }
      seen.add(service)
      previous = service
    }
  }
  const votesFor = (caller: number, callee: number) => votes.get(caller * serviceCount + callee) ?? 0
  return (caller, callee) => votesFor(caller, callee) > votesFor(callee, caller)
}
