import type { Condition } from '../api/status.ts'

/** What one check found. */
export interface Finding {
  /** Type of the condition that says so. */
  readonly type: string
  readonly status: Condition['status']
  readonly reason: string
  readonly message: string
  /** What it means for the whole; absent: all is well with it. */
  readonly effect?: Effect
  /** Why `Stalled` is True, where that is another reason than that of the condition. */
  readonly stalledReason?: string
}

/** `progressing`: will pass by itself. `stalled`: somebody has to act. */
export type Effect = 'progressing' | 'stalled'

/** The condition as of `now` (RFC 3339), with the time of the last change of its status. */
export function toCondition(
  { type, status, reason, message }: Finding,
  { generation, now, previous }: { readonly generation: number; readonly now: string; readonly previous: readonly Condition[] },
): Condition {
  const before = previous.find(condition => condition.type === type)
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now
  return { type, status, observedGeneration: generation, lastTransitionTime, reason, message: shortened(message) }
}

/** The API server refuses longer ones. */
const MAX_MESSAGE = 2_000

/** Half a character that a cut leaves would come back from the API server as another, and the status be written for ever. */
function shortened(message: string): string {
  return (message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 2)} …`).toWellFormed()
}
