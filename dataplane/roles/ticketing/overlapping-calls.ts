/** Calls that would change one incident and overlap in time: the first that changes it wins, the others learn that they lost (Decisions 6). */

export interface OverlappingCalls {
  /** The call is under way until `work` has ended: until then nobody can know what came of it. */
  run<T>(incident: string, work: (call: ChangingCall) => Promise<T>): Promise<T>
}

export interface ChangingCall {
  /** Another one that was under way at the same time has changed the incident. */
  readonly isOvertaken: boolean
  /** This one has changed it. */
  won(): void
}

interface CallUnderWay extends ChangingCall {
  isOvertaken: boolean
  hasWon: boolean
}

export function createOverlappingCalls(): OverlappingCalls {
  const underWay = new Map<string, Set<CallUnderWay>>()
  return {
    async run(incident, work) {
      const others = underWay.get(incident) ?? new Set()
      const call: CallUnderWay = {
        isOvertaken: [...others].some(({ hasWon }) => hasWon),
        hasWon: false,
        won() {
          call.hasWon = true
          for (const other of others) if (other !== call) other.isOvertaken = true
        },
      }
      underWay.set(incident, others.add(call))
      try {
        return await work(call)
      } finally {
        others.delete(call)
        if (others.size === 0) underWay.delete(incident)
      }
    },
  }
}
