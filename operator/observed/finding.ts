/** Problems and findings of the checks, and the conditions made from them. */
import type { Condition } from '../api/status.ts'

/** Why something is not as it should be. */
export interface Problem {
  /** One precise word, such as `MissingSecret`. */
  readonly reason: string
  /** Names the field or the object, what was expected, what was seen. */
  readonly message: string
  /** The effect on the whole pipeline; absent: none. */
  readonly effect?: Effect
}

/** The result of one check. */
export interface Finding extends Problem {
  /** Type of the condition that says so. */
  readonly type: string
  readonly status: Condition['status']
  /** Why `Stalled` is True, where that is another reason than that of the condition. */
  readonly stalledReason?: string
}

/** `progressing`: will pass by itself. `stalled`: somebody has to act. */
export type Effect = 'progressing' | 'stalled'

/** Effect of an object that could not be applied: the API server will refuse again what it refuses. */
export const effectOfRefusal = ({ reason }: Problem): Effect => (reason === 'ApplyFailed' ? 'progressing' : 'stalled')

/** The condition as of `now` (RFC 3339), with the time of the last change of its status. */
export function toCondition(
  { type, status, reason, message }: Finding,
  { generation, now, previous }: { readonly generation: number; readonly now: string; readonly previous: readonly Condition[] },
): Condition {
  const before = previous.find(condition => condition.type === type)
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now
  return { type, status, observedGeneration: generation, lastTransitionTime, reason, message: shortened(inOneLine(message)) }
}

/** As `kubectl get --output wide` shows no more than the first line: that of an object with several faults is `errors:`. */
const inOneLine = (message: string): string => message.trim().replaceAll(/[\r\n]+\s*/g, ' ')

/** The API server refuses longer ones. */
const MAX_MESSAGE = 2_000

/** Half a character that a cut leaves would come back from the API server as another, and the status be written for ever. */
function shortened(message: string): string {
  return (message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 2)} …`).toWellFormed()
}
