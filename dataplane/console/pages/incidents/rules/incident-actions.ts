/** Actions of a person on an incident: those that its state allows, the effect of each, and the reason of a refusal. */
import type { Incident } from '../../../../domain/incidents/incident-fields.ts'
import { type IncidentAction, type IncidentStatus, transition } from '../../../../domain/incidents/incident-status.ts'

export interface ActionWords {
  readonly label: string
  /** The key that asks for it. */
  readonly key?: string
  /** The effect of the action, for a first-time user. */
  readonly hint: string
}

export const ACTION_WORDS: Readonly<Record<IncidentAction, ActionWords>> = {
  acknowledge: { label: 'Acknowledge', key: 'a', hint: 'Says that somebody looks at it. Automatic escalation stops; tickets stay open.' },
  escalate: { label: 'Escalate', key: 'e', hint: 'Tells the platforms of the next severity up.' },
  resolve: { label: 'Resolve', key: 'r', hint: 'Closes it here and on its tickets. New anomalies make a new incident.' },
  reopen: { label: 'Reopen', key: 'o', hint: 'Makes it open again, here and on its tickets.' },
}

/** In the order in which they are offered. */
const OFFERED: readonly IncidentAction[] = ['acknowledge', 'resolve', 'escalate', 'reopen']

export function allowedActions(status: IncidentStatus): readonly IncidentAction[] {
  return OFFERED.filter(action => transition(status, action).kind === 'changed')
}

/** The one that most people want next. */
export function likeliestAction(status: IncidentStatus): IncidentAction {
  return allowedActions(status)[0] ?? 'reopen'
}

/** Actions that at least one of several incidents allows, each with how many do. */
export function allowedForMany(
  statuses: readonly IncidentStatus[],
): readonly { readonly action: IncidentAction; readonly count: number }[] {
  return OFFERED.map(action => ({ action, count: statuses.filter(status => transition(status, action).kind === 'changed').length })).filter(
    ({ count }) => count > 0,
  )
}

/** The incident as it will be once the change is stored; as it is where its state does not allow the action. */
export function foreseeChange<T extends Pick<Incident, 'status' | 'updatedAt'>>(incident: T, action: IncidentAction, now: string): T {
  const outcome = transition(incident.status, action)
  return outcome.kind === 'illegal' ? incident : { ...incident, status: outcome.to, updatedAt: now, [outcome.timeField]: now }
}

export interface Refusal {
  readonly title: string
  /** The event, and the next step. */
  readonly text: string
}

/** Why an action failed, in words for somebody in a hurry. `status` is that of HTTP, absent without an answer. */
export function explainRefusal(
  action: IncidentAction,
  { status = 0, message }: { readonly status?: number | undefined; readonly message: string },
): Refusal {
  const title = `Not ${DONE[action]}`
  const reason = message.replace(/^incident \S+: /i, '').replace(/\.$/, '')
  switch (status) {
    case 409:
      return { title, text: `The incident changed meanwhile: ${reason}. What you see now is its present state.` }
    case 401:
      return { title, text: 'The session has ended. Log in in another tab, then do it here again.' }
    case 404:
      return { title, text: 'The incident is no longer there. It may be older than what is kept.' }
    case 403:
      return { title, text: 'The incident belongs to another tenant.' }
    case 0:
      return { title, text: 'The console got no answer. Nothing is known to have changed; try again.' }
    default:
      return status >= 500
        ? { title, text: `The ticketing agent cannot do it at present (${status}: ${reason}). Try again; Health says what is down.` }
        : { title, text: reason }
  }
}

const DONE: Readonly<Record<IncidentAction, string>> = {
  acknowledge: 'acknowledged',
  escalate: 'escalated',
  resolve: 'resolved',
  reopen: 'reopened',
}

/** The effect of a change, in one sentence. */
export function describeChange(action: IncidentAction, { escalatedTo }: { readonly escalatedTo?: readonly string[] | undefined }): string {
  if (action !== 'escalate' || escalatedTo === undefined) return `Incident ${DONE[action]}`
  return escalatedTo.length === 0
    ? 'Incident escalated, but no platform is routed for it: nobody was told'
    : `Incident escalated: ${escalatedTo.join(', ')} ${escalatedTo.length === 1 ? 'is' : 'are'} told`
}

/** The effect of a batch, in one sentence; the reasons of those left out, the most frequent first. */
export function describeBatch(
  action: IncidentAction,
  { updated, skipped }: { readonly updated: number; readonly skipped: readonly { readonly reason: string }[] },
): { readonly text: string; readonly reasons: readonly string[] } {
  const counts = new Map<string, number>()
  for (const { reason } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const reasons = [...counts].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} × ${reason}`)
  const left = skipped.length === 0 ? '' : `, ${skipped.length} left as ${skipped.length === 1 ? 'it is' : 'they are'}`
  return { text: `${updated} ${updated === 1 ? 'incident' : 'incidents'} ${DONE[action]}${left}`, reasons }
}
