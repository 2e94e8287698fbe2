/** Changes to incidents: shown at once, taken back with the reason where the ticketing agent refuses. */
import { notifications } from '@mantine/notifications'
import { type InfiniteData, type QueryClient, type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import type { IncidentAction } from '../../../../domain/incidents/incident-status.ts'
import { problemOf } from '../../../api/problem.ts'
import { serverNow } from '../../../api/server-clock.ts'
import type { Incident } from '../../../api/ticketing.ts'
import { type ChangeNote, changeIncident, changeIncidents, commentIncident, retryDispatch } from '../../../api/ticketing.ts'
import { changeInBatches } from '../rules/change-in-batches.ts'
import { describeBatch, describeChange, explainRefusal, foreseeChange } from '../rules/incident-actions.ts'
import type { ListPage } from '../rules/incident-pages.ts'
import { INCIDENT_KEYS } from './use-incidents.ts'

export interface Change {
  readonly ids: readonly string[]
  readonly action: IncidentAction
  readonly note: ChangeNote
}

/** Called as soon as the answer is there, before the incidents are read anew. */
export interface ChangeOutcome {
  readonly onSuccess?: () => void
  readonly onError?: (failed: Change) => void
}

export function useIncidentChange(outcome: ChangeOutcome = {}): (change: Change) => void {
  const client = useQueryClient()
  const { mutate } = useMutation({
    mutationFn: ({ ids, action, note }: Change) => send(ids, action, note),
    // One after the other: two at once on one incident, and the agent refuses one of them.
    scope: { id: 'incident-changes' },
    async onMutate({ ids, action }) {
      // An answer that is on its way would show the state before.
      await client.cancelQueries({ queryKey: INCIDENT_KEYS.all })
      const before = client.getQueriesData({ queryKey: INCIDENT_KEYS.all })
      foresee(client, new Set(ids), action)
      return { before }
    },
    onError(error, change, context) {
      const { action, ids } = change
      takeBack(client, context?.before)
      outcome.onError?.(change)
      const { title, text } = explainRefusal(action, problemOf(error))
      notifications.show({
        color: 'red',
        title: ids.length === 1 ? title : `${title}: ${ids.length} incidents`,
        message: text,
        autoClose: 12_000,
      })
    },
    onSuccess({ message, reasons }, _, context) {
      outcome.onSuccess?.()
      const isPartly = reasons.length > 0
      // The agent may be away: none may stand as changed that was left out.
      if (isPartly) takeBack(client, context.before)
      notifications.show({
        color: isPartly ? 'yellow' : 'teal',
        message: isPartly ? `${message}: ${reasons.join('; ')}` : message,
        autoClose: isPartly ? 12_000 : 5_000,
      })
    },
    onSettled: () => client.invalidateQueries({ queryKey: INCIDENT_KEYS.all }),
  })
  return mutate
}

async function send(
  ids: readonly string[],
  action: IncidentAction,
  note: ChangeNote,
): Promise<{ message: string; reasons: readonly string[] }> {
  const [id] = ids
  if (ids.length === 1 && id !== undefined) return { message: describeChange(action, await changeIncident(id, action, note)), reasons: [] }
  const answers = await changeInBatches(
    ids,
    batch => changeIncidents(batch, action, note),
    error => explainRefusal(action, problemOf(error)).text,
  )
  const { text, reasons } = describeBatch(action, answers)
  return { message: text, reasons }
}

function foresee(client: QueryClient, ids: ReadonlySet<string>, action: IncidentAction): void {
  const now = new Date(serverNow()).toISOString()
  const change = (incident: Incident) => (ids.has(incident.id) ? foreseeChange(incident, action, now) : incident)
  client.setQueriesData<InfiniteData<ListPage<Incident>>>({ queryKey: INCIDENT_KEYS.lists }, list =>
    list === undefined ? list : { ...list, pages: list.pages.map(page => ({ ...page, incidents: page.incidents.map(change) })) },
  )
  for (const id of ids)
    client.setQueryData<Incident>(INCIDENT_KEYS.one(id), incident => (incident === undefined ? incident : change(incident)))
}

function takeBack(client: QueryClient, before: readonly (readonly [QueryKey, unknown])[] | undefined): void {
  for (const [key, data] of before ?? []) client.setQueryData(key, data)
}

/** `onError` gets the words back. */
export function useComment(incidentId: string, onError: (note: ChangeNote) => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (note: ChangeNote) => commentIncident(incidentId, note),
    scope: { id: 'incident-changes' },
    onError(error, note) {
      onError(note)
      const { message, whatToDo } = problemOf(error)
      notifications.show({ color: 'red', title: 'The comment is not kept', message: `${message} ${whatToDo}`, autoClose: 12_000 })
    },
    onSuccess: () => notifications.show({ color: 'teal', message: 'The comment stands in the timeline' }),
    onSettled: () => client.invalidateQueries({ queryKey: INCIDENT_KEYS.audit(incidentId) }),
  })
}

/** Tries a dispatch that failed once more. */
export function useRetry(incidentId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (platform: string) => retryDispatch(incidentId, platform),
    onError(error, platform) {
      const { message, whatToDo } = problemOf(error)
      notifications.show({ color: 'red', title: `${platform} was not tried again`, message: `${message} ${whatToDo}`, autoClose: 12_000 })
    },
    onSettled: () => client.invalidateQueries({ queryKey: INCIDENT_KEYS.all }),
  })
}
