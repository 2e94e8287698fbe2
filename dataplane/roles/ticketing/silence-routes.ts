/** Times in which incidents of some services tell nobody (Decisions 6). */
import { z } from 'zod'
import { SEVERITIES } from '../../contract/platforms.ts'
import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import { boundedList } from '../../http/bounded-list.ts'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { MAX_SILENCES, type SilenceStore } from '../../pipeline/tickets/silence-store.ts'
import { TIME } from './incident-list.ts'

const MAX_GLOBS = 100
const SILENCE = z
  .strictObject({
    services: boundedList(z.string().trim().min(1).max(256), { least: 1, most: MAX_GLOBS }),
    severities: boundedList(z.enum(SEVERITIES), { least: 1, most: SEVERITIES.length }).optional(),
    from: TIME,
    to: TIME,
    reason: z.string().trim().min(1).max(500),
  })
  .check(({ value: { from, to }, issues }) => {
    if (Date.parse(to) <= Date.parse(from)) issues.push({ code: 'custom', path: ['to'], input: to, message: 'expected a time after from' })
  })

/** `onChanged` is called when incidents may be told that were not. */
export function silenceRoutes(silences: SilenceStore, onChanged: () => void): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/silences',
      handle: async ({ tenant = DEFAULT_TENANT }) => ({ body: await silences.list(tenant) }),
    }),
    route({
      method: 'POST',
      path: '/api/v1/silences',
      body: SILENCE,
      async handle({ tenant = DEFAULT_TENANT, body: { severities, ...fields } }) {
        const silence = await silences.add(tenant, { ...fields, ...(severities !== undefined && { severities: [...new Set(severities)] }) })
        if (silence === undefined)
          throw new HttpError(409, `a tenant has at most ${MAX_SILENCES} silences, those of the last week among them: delete some first`)
        return { status: 201, body: silence }
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/silences/:id',
      async handle({ tenant = DEFAULT_TENANT, params: { id = '' } }) {
        if (!(await silences.remove(tenant, id))) throw new HttpError(404, `no silence has the id ${JSON.stringify(id.slice(0, 100))}`)
        onChanged()
        return { body: { status: 'ok', id } }
      },
    }),
  ]
}
