/** Incidents over HTTP (Spec: Ticketing). */
import { z } from 'zod'
import { MISSING_SHARDS_HEADER, NEXT_CURSOR_HEADER } from '../../contract/headers.ts'
import { INCIDENT_ACTIONS, type IncidentAction } from '../../domain/incidents/incident-status.ts'
import { toIncident } from '../../domain/incidents/stored-incident.ts'
import { boundedList } from '../../http/bounded-list.ts'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { readDispatches } from '../../pipeline/tickets/thread-store.ts'
import { changeIncidents } from './batch-change.ts'
import { type ChangeDeps, changeIncident } from './change-incident.ts'
import { commentIncident } from './comment-incident.ts'
import { locateIncident, readIncident, unknownIncident } from './incident-finder.ts'
import { INCIDENT_FILTERS, listIncidents } from './incident-list.ts'

const NOTE_FIELDS = { actor: z.string().trim().max(200).optional(), note: z.string().trim().max(4000).optional() }
const NOTE = z.strictObject(NOTE_FIELDS).optional()
const COMMENT = z.strictObject({
  ...NOTE_FIELDS,
  note: z.string().trim().min(1, { error: 'expected a text of at least 1 character' }).max(4000),
})

const MAX_BATCH = 500
const BATCH = z.strictObject({
  ids: boundedList(z.string().min(1).max(512), { least: 1, most: MAX_BATCH }),
  action: z.enum(INCIDENT_ACTIONS as readonly [IncidentAction, ...IncidentAction[]]),
  ...NOTE_FIELDS,
})

/** Called after each state change. */
export type OnChanged = (action: IncidentAction, count: number) => void

export function incidentRoutes(deps: ChangeDeps, onChanged: OnChanged): readonly Route[] {
  const { store } = deps
  return [
    route({
      method: 'GET',
      path: '/api/incidents',
      query: INCIDENT_FILTERS,
      async handle({ query, tenant }) {
        const { incidents, nextCursor, missing } = await listIncidents(store, query, tenant)
        const headers = {
          ...(nextCursor !== undefined && { [NEXT_CURSOR_HEADER]: nextCursor }),
          ...(missing !== undefined && { [MISSING_SHARDS_HEADER]: `${missing.shards}/${missing.of}` }),
        }
        return { headers, body: incidents }
      },
    }),
    route({
      method: 'GET',
      path: '/api/incidents/:id',
      async handle({ params, tenant }) {
        const { source } = await readIncident(store, params['id']!, tenant)
        return { body: toIncident(source, (await readDispatches(store, [source]))(source)) }
      },
    }),
    ...INCIDENT_ACTIONS.map(action => changeRoute(deps, action, onChanged)),
    route({
      method: 'POST',
      path: '/api/incidents/:id/comment',
      body: COMMENT,
      async handle({ params, body, tenant }) {
        const id = params['id']!
        const commented = await commentIncident(deps, { id, note: noteOf(body) }, await locateIncident(store, id, tenant))
        if (commented === undefined) throw unknownIncident(id)
        return { body: { id, status: commented.incident.status, commentedAt: commented.at } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/incidents/batch',
      body: BATCH,
      async handle({ body: { ids, action, actor, note }, tenant }) {
        const result = await changeIncidents(deps, { ids, action, note: noteOf({ actor, note }), tenant })
        onChanged(action, result.updated)
        return { body: result }
      },
    }),
  ]
}

/** `POST /api/incidents/:id/<action>` answers `{ id, status, <time of the change> }`, an escalation `escalatedTo` too. */
function changeRoute(deps: ChangeDeps, action: IncidentAction, onChanged: OnChanged): Route {
  return route({
    method: 'POST',
    path: `/api/incidents/:id/${action}`,
    body: NOTE,
    async handle({ params, body, tenant }) {
      const id = params['id']!
      const outcome = await changeIncident(deps, { id, action, note: noteOf(body ?? {}) }, () => locateIncident(deps.store, id, tenant))
      if (outcome.kind === 'unknown') throw unknownIncident(id)
      if (outcome.kind === 'refused') throw new HttpError(409, `incident ${id}: ${outcome.reason}`)
      onChanged(action, 1)
      const { incident, timeField } = outcome
      const escalatedTo = action === 'escalate' ? { escalatedTo: incident.escalatedTo } : {}
      return { body: { id, status: incident.status, [timeField]: incident[timeField], ...escalatedTo } }
    },
  })
}

/** Forms send blank fields: nobody, and no reason. */
function noteOf({ actor, note }: { readonly actor?: string | undefined; readonly note?: string | undefined }) {
  return { ...(actor && { actor }), ...(note && { note }) }
}
