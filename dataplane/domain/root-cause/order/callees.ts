/** Callers and callees, from the order in which services first show up in a trace: no span parents needed (Decisions 6). */
import type { ObservedPeriod } from '../observed/observed-system.ts'

/** Each tells whether the first service rather calls the second than the other way round. */
export interface Callees {
  /** By the services that first show up after others. */
  calls(caller: number, callee: number): boolean
  /** Where that does not tell, by further visits: a database that others of the trace asked before is the callee of a worker that asks it at the end. */
  mayCall(caller: number, callee: number): boolean
}

export function findCallees({ requests }: Pick<ObservedPeriod, 'requests'>, serviceCount: number): Callees {
  const first = new Map<number, number>()
  const later = new Map<number, number>()
  for (const { records, visits } of requests) {
    const begin = new Set(visits.map(visit => visit.records[0]))
    const seen = new Set<number>()
    let previous = -1
    for (const record of records) {
      const { service } = record.kind
      if (previous >= 0 && previous !== service && begin.has(record)) {
        const votes = seen.has(service) ? later : first
        const key = previous * serviceCount + service
        votes.set(key, (votes.get(key) ?? 0) + 1)
      }
      seen.add(service)
      previous = service
    }
  }
  const lead = (votes: ReadonlyMap<number, number>, caller: number, callee: number) =>
    (votes.get(caller * serviceCount + callee) ?? 0) - (votes.get(callee * serviceCount + caller) ?? 0)
  return {
    calls: (caller, callee) => lead(first, caller, callee) > 0,
    mayCall: (caller, callee) => (lead(first, caller, callee) || lead(later, caller, callee)) > 0,
  }
}
