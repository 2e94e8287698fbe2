/** How long the pod of mode AllInOne may take to start: its StatefulSet, unlike a Deployment, never says that it makes no progress. */
import { COMPONENTS } from '../../api/components.ts'
import type { LogPipelineStatus } from '../../api/status.ts'

/** As `progressDeadlineSeconds` of Deployments has it by default. */
const START_DEADLINE_MS = 10 * 60_000

/** The inputs of the pod. A pod from other inputs has the whole time again. */
export interface WantedPod {
  readonly generation: number
  readonly inputsHash: string
  /** When its StatefulSet was changed last, in ms since the epoch; absent where nothing tells. */
  readonly appliedMs?: number | undefined
}

/**
 * When the time is over, in ms since the epoch. Counted from the last change of `Ready`, `StandaloneAvailable` and `Stalled`, as the status tells it, and of
 * the StatefulSet, so that a restart of the operator changes nothing. Undefined: all is well, the status is of another pod, or there is no such pod.
 */
export function startDeadlineMs(
  status: LogPipelineStatus | undefined,
  { generation, inputsHash, appliedMs = 0 }: WantedPod,
): number | undefined {
  if (status?.observedGeneration !== generation || status.inputsHash !== inputsHash) return undefined
  const find = (wanted: string) => status.conditions?.find(({ type }) => type === wanted)
  const available = find(COMPONENTS.standalone.condition)
  const ready = find('Ready')
  if (available === undefined || ready?.status !== 'False') return undefined
  const falseSince = [ready, available, find('Stalled')].flatMap(condition =>
    condition?.status === 'False' ? [Date.parse(condition.lastTransitionTime)] : [],
  )
  const sinceMs = Math.max(...falseSince, appliedMs)
  return Number.isNaN(sinceMs) ? undefined : sinceMs + START_DEADLINE_MS
}
