import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import type { Condition } from '../api/status.ts'
import type { Transition } from '../runtime/event-object.ts'
import type { EventRecorder } from '../runtime/event-recorder.ts'

/** Called after a status was written that differs from the one before. */
export type TellTransitions = (about: KubernetesObject, before: readonly Condition[], after: readonly Condition[]) => void

/** Conditions that say again what `Ready` says. */
const SUMMARIES: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])
/** Where True is out of the ordinary, and False not worth a word at first sight. */
const OUT_OF_THE_ORDINARY: ReadonlySet<string> = new Set(['Paused'])

/**
 * Kubernetes Events for conditions that changed. `Ready` names the cause of the whole, so each of its reasons is one; of all others it is an
 * event when they turn from True to False or back. A rollout has one event at its end, not one for each part.
 */
export function createTransitionEvents(recorder: Pick<EventRecorder, 'record'>): TellTransitions {
  return (about, before, after) => {
    const isTrue = (name: string) => after.some(({ type, status }) => type === name && status === 'True')
    const isComing = isTrue('Reconciling')
    // A TicketingRoute has neither Stalled nor Reconciling: what it lacks waits for somebody.
    const isStalled = isTrue('Stalled') || !after.some(({ type }) => SUMMARIES.has(type))
    const beforeOf = (condition: Condition) => before.find(({ type }) => type === condition.type)
    const ready = after.find(condition => condition.type === 'Ready' && isEvent(condition, beforeOf(condition)))
    for (const condition of after) {
      const old = beforeOf(condition)
      if (isComing && isPart(condition) && condition.status === 'True') continue
      if (isEvent(condition, old) && !isToldBy(ready, condition)) recorder.record(about, eventOf(condition, isStalled))
    }
  }
}

const isPart = ({ type }: Condition) => type !== 'Ready' && !OUT_OF_THE_ORDINARY.has(type)

/** The part is the cause that the event of `Ready` names, such as a Secret that is missing. Components, which come and go by themselves, have events of their own. */
function isToldBy(ready: Condition | undefined, { type, status, reason, message }: Condition): boolean {
  if (ready === undefined || type === 'Ready' || type.endsWith('Available')) return false
  return ready.status === status && ready.reason === reason && ready.message === message
}

function isEvent({ type, status, reason }: Condition, old: Condition | undefined): boolean {
  if (SUMMARIES.has(type) || status === 'Unknown') return false
  if (type === 'Ready') return old?.status !== status || old.reason !== reason
  if (OUT_OF_THE_ORDINARY.has(type)) return old?.status !== status && (old !== undefined || status === 'True')
  // For every other reason `Ready` has the event.
  if (type === 'Dispatching' && status === 'False') return reason === 'Failing' && old?.reason !== reason
  return old !== undefined && old.status !== 'Unknown' && old.status !== status
}

function eventOf({ type, status, reason, message }: Condition, isStalled: boolean): Transition {
  const isTrouble = status === 'False' && !OUT_OF_THE_ORDINARY.has(type) && (type !== 'Ready' || isStalled)
  return { type: isTrouble ? 'Warning' : 'Normal', reason, action: type, note: `${type} is ${status}: ${message}` }
}
