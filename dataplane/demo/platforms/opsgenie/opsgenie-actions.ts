/** The actions on an open alert, as a table: form of the body, change, words for the alert's log. */
import type { z } from 'zod'
import { ACTION, type ActionBody, type Alert, DESCRIPTION, ESCALATION, MESSAGE, NOTE, PRIORITY, TAGS } from './opsgenie-alert.ts'

export interface AlertChange {
  readonly note: string | undefined
  /** Changes the alert; the words for its log. */
  apply(alert: Alert): string
}

interface ActionRoute {
  readonly method: 'POST' | 'PUT'
  /** Last part of the path. */
  readonly path: string
  /** The kind of change, as the fate of the request tells it. */
  readonly name: string
}

export interface AlertAction extends ActionRoute {
  /** The change that the body asks for, or why the body cannot be used. */
  read(json: unknown): AlertChange | z.ZodError
}

const action = <Body extends ActionBody>(
  route: ActionRoute,
  form: z.ZodType<Body>,
  apply: (alert: Alert, body: Body) => string,
): AlertAction => ({
  ...route,
  read(json) {
    const parsed = form.safeParse(json ?? {})
    if (!parsed.success) return parsed.error
    const body = parsed.data
    return { note: body.note, apply: alert => apply(alert, body) }
  },
})

export const ALERT_ACTIONS: readonly AlertAction[] = [
  action({ method: 'POST', path: 'acknowledge', name: 'Acknowledge' }, ACTION, alert => {
    alert.acknowledged = true
    return 'acknowledged'
  }),
  action({ method: 'POST', path: 'unacknowledge', name: 'UnAcknowledge' }, ACTION, alert => {
    alert.acknowledged = false
    return 'acknowledgement taken back'
  }),
  action({ method: 'POST', path: 'close', name: 'Close' }, ACTION, alert => {
    alert.status = 'closed'
    return 'closed'
  }),
  action({ method: 'POST', path: 'notes', name: 'AddNote' }, NOTE, () => 'note'),
  action({ method: 'POST', path: 'escalate', name: 'EscalateToNext' }, ESCALATION, () => 'escalated'),
  action({ method: 'PUT', path: 'priority', name: 'UpdatePriority' }, PRIORITY, (alert, { priority }) => {
    alert.priority = priority
    return `priority ${priority}`
  }),
  action({ method: 'PUT', path: 'message', name: 'UpdateMessage' }, MESSAGE, (alert, { message }) => {
    alert.message = message
    return 'new message'
  }),
  action({ method: 'PUT', path: 'description', name: 'UpdateDescription' }, DESCRIPTION, (alert, { description }) => {
    alert.description = description
    return 'new description'
  }),
  action({ method: 'POST', path: 'tags', name: 'AddTags' }, TAGS, (alert, { tags }) => {
    alert.tags = [...new Set([...alert.tags, ...tags])].slice(0, 20)
    return 'tags'
  }),
]
