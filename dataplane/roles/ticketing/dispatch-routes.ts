/** Outbox rows, for reading and for mending (Decisions 6). */
import { z } from 'zod'
import { isTargetId, TARGET_ID_RULE } from '../../contract/target-id.ts'
import { retryThread, whyNoRetry } from '../../domain/tickets/delivery.ts'
import { threadId } from '../../domain/tickets/outbox-row.ts'
import { showRows, type TicketThread } from '../../domain/tickets/ticket-thread.ts'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { changeThread, readThreads } from '../../pipeline/tickets/thread-store.ts'
import type { TicketAgent } from '../../pipeline/tickets/ticket-agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { readIncident } from './incident-finder.ts'

const INCIDENT_ID = z.string().min(1).max(512)
const RETRY = z.strictObject({
  incidentId: INCIDENT_ID,
  platform: z.string().refine(isTargetId, `expected ${TARGET_ID_RULE}`),
})

export interface DispatchRouteDeps {
  readonly store: SearchStore
  readonly clock: Clock
  /** A row is to be sent. */
  readonly onRows: () => void
  readonly restsUntil: TicketAgent['restsUntil']
}

export function dispatchRoutes({ store, clock, onRows, restsUntil }: DispatchRouteDeps): readonly Route[] {
  const show = (thread: TicketThread, evenIfAsked?: 'evenIfAsked') => {
    const nowMs = clock.nowMs()
    return showRows(thread, new Date(Math.max(nowMs, restsUntil(thread.lane, evenIfAsked) ?? nowMs)).toISOString())
  }
  return [
    route({
      method: 'GET',
      path: '/api/v1/dispatches',
      query: z.strictObject({ incident_id: INCIDENT_ID }),
      async handle({ query: { incident_id }, tenant }) {
        const { source } = await readIncident(store, incident_id, tenant)
        const threads = await readThreads(store, source)
        return { body: threads.flatMap(thread => show(thread)) }
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/dispatches/retry',
      body: RETRY,
      async handle({ body: { incidentId, platform }, tenant }) {
        const { source } = await readIncident(store, incidentId, tenant)
        const changed = await changeThread(store, source.tenantId, threadId(source.tenantId, incidentId, platform), thread => {
          if (thread === undefined) throw new HttpError(404, `incident ${incidentId} was not dispatched to ${platform}`)
          return retryThread(thread, clock.nowMs()) ?? refuse(thread)
        })
        onRows()
        // The row that is tried next, or what came of it. A rest of its target ends, but for the time that the platform asked for.
        const rows = show(changed!.source, 'evenIfAsked')
        return { body: rows.find(({ status }) => status === 'pending') ?? rows.at(-1) ?? { incidentId, platform } }
      },
    }),
  ]
}

function refuse(thread: TicketThread): never {
  const { incidentId, platform } = thread
  throw new HttpError(409, `incident ${incidentId}: there is nothing to try again on ${platform}: ${whyNoRetry(thread)}`)
}
