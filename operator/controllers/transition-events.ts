import type { Condition } from '../api/status.ts'
import type { KubernetesObject } from '../kube/object.ts'
import { transitions } from '../observed/conditions.ts'
import type { EventRecorder } from '../runtime/event-recorder.ts'

/** Called after a status was written that differs from the one before. */
export type TellTransitions = (about: KubernetesObject, before: readonly Condition[], after: readonly Condition[]) => void

/** These repeat what another condition says. */
const SUMMARIES: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])
/** Where True means that something is out of the ordinary. */
const ABNORMAL_TRUE: ReadonlySet<string> = new Set(['Paused'])

/** Kubernetes Events for conditions that changed. What is well from the first sight on is no event. */
export function createTransitionEvents(recorder: Pick<EventRecorder, 'record'>): TellTransitions {
  return (about, before, after) => {
    const known = new Set(before.map(({ type }) => type))
    for (const { type, status, reason, message } of transitions(before, after)) {
      const isWell = (status === 'True') !== ABNORMAL_TRUE.has(type)
      if (SUMMARIES.has(type) || status === 'Unknown' || (isWell && !known.has(type))) continue
      const kind = isWell || ABNORMAL_TRUE.has(type) ? 'Normal' : 'Warning'
      recorder.record(about, { type: kind, reason, action: type, note: `${type}: ${message}` })
    }
  }
}
