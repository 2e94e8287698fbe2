/** Threads of outbox rows in the search store. */
import { dispatchesIndex } from '../../contract/indices.ts'
import type { TargetId } from '../../contract/target-id.ts'
import type { Incident, IncidentDispatch } from '../../domain/incidents/incident-fields.ts'
import type { TicketedIncident } from '../../domain/tickets/incident-tickets.ts'
import { threadId } from '../../domain/tickets/outbox-row.ts'
import type { OwedEvent } from '../../domain/tickets/owed-event.ts'
import { addEvents, createThread, describeDispatch, type TicketThread } from '../../domain/tickets/ticket-thread.ts'
import { portionsOf } from '../../limits/portions-of.ts'
import { retryOnConflict } from '../../ports/retry-on-conflict.ts'
import type { SearchStore, Versioned } from '../../ports/search-store.ts'

type IncidentKey = Pick<Incident, 'id' | 'tenantId'>
type SevereIncident = Pick<Incident, 'id' | 'tenantId' | 'severity'>

/** Threads that are read in one request. */
const MAX_READ = 1_000

/** Writes the rows of events; those that are there stay as they are. */
export async function writeRows(store: SearchStore, incident: SevereIncident, owed: readonly OwedEvent[], now: string): Promise<void> {
  const targets = new Set(owed.flatMap(event => event.targets ?? []))
  await Promise.all(
    [...targets].map(target => {
      const own = owed.filter(event => event.targets?.includes(target))
      return writeThread(store, incident, target, own, now)
    }),
  )
}

async function writeThread(
  store: SearchStore,
  incident: SevereIncident,
  target: TargetId,
  events: readonly OwedEvent[],
  now: string,
): Promise<void> {
  const { id, tenantId } = incident
  const created = createThread(tenantId, id, target, now)
  await changeThread(store, tenantId, threadId(tenantId, id, target), thread => {
    const before = thread ?? created
    // A target that nothing is known of any more is not told what was done there.
    const next = takeEvents(before, incident, thread === undefined ? events.filter(({ except }) => except !== target) : events, now)
    return next === before ? undefined : next
  })
}

/** A thread with what its incident owes its target and is no row yet: the same where nothing is. */
export function takeOwed(thread: TicketThread, incident: Pick<TicketedIncident, 'severity' | 'ticketing'>, now: string): TicketThread {
  const { owed = [] } = incident.ticketing ?? {}
  const own = owed.filter(({ targets }) => targets?.includes(thread.platform))
  return takeEvents(thread, incident, own, now)
}

function takeEvents(
  thread: TicketThread,
  { severity }: Pick<Incident, 'severity'>,
  events: readonly OwedEvent[],
  now: string,
): TicketThread {
  const next = addEvents(thread, events, now)
  return next === thread ? thread : { ...next, severity: events.at(-1)?.severity ?? severity }
}

/** Writes what `change` makes of a thread, again when somebody else was first; nothing where it makes `undefined` of it. */
export function changeThread(
  store: SearchStore,
  tenant: string,
  id: string,
  change: (thread: TicketThread | undefined) => TicketThread | undefined,
): Promise<Versioned<TicketThread> | undefined> {
  const index = dispatchesIndex(tenant)
  return retryOnConflict(async () => {
    const stored = await store.get<TicketThread>(index, id)
    const next = change(stored?.source)
    if (next === undefined) return stored
    const version = await store.put(index, id, next, stored ?? { only: 'new' })
    return { ...version, index, id, source: next }
  })
}

/** The threads of an incident, in the order of its platforms. */
export async function readThreads(
  store: SearchStore,
  { id, tenantId, platforms }: IncidentKey & Pick<Incident, 'platforms'>,
): Promise<readonly TicketThread[]> {
  const ids = platforms.map(platform => threadId(tenantId, id, platform))
  const found = await store.getMany<TicketThread>(dispatchesIndex(tenantId), ids)
  return ids.flatMap(each => found.get(each)?.source ?? [])
}

/** `dispatches` of incidents, by incident id: how the newest dispatch to each target stands. */
export async function readDispatches(
  store: SearchStore,
  incidents: readonly (IncidentKey & Pick<Incident, 'platforms'>)[],
): Promise<(incident: IncidentKey & Pick<Incident, 'platforms'>) => Readonly<Record<string, IncidentDispatch>>> {
  const found = new Map<string, TicketThread>()
  for (const [tenant, own] of Map.groupBy(incidents, ({ tenantId }) => tenantId)) {
    const ids = own.flatMap(({ id, platforms }) => platforms.map(platform => threadId(tenant, id, platform)))
    for (const some of portionsOf(ids, MAX_READ)) {
      const page = await store.getMany<TicketThread>(dispatchesIndex(tenant), some, ['rows', 'ticket'])
      for (const [id, { source }] of page) found.set(id, source)
    }
  }
  return ({ id, tenantId, platforms }) =>
    Object.fromEntries(
      platforms.flatMap(platform => {
        const thread = found.get(threadId(tenantId, id, platform))
        const dispatch = thread === undefined ? undefined : describeDispatch(thread)
        return dispatch === undefined ? [] : [[platform, dispatch]]
      }),
    )
}
