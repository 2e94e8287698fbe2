/** `GET /api/v1/stats`: how many incidents, and how fast they were taken care of (Decisions 6). */
import { z } from 'zod'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { readStatistics } from '../../pipeline/tickets/read-statistics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { TIME } from './incident-list.ts'

/** Without `from`. */
const DEFAULT_SPAN_MS = 30 * 86_400_000

export function statsRoutes({ store, clock }: { readonly store: SearchStore; readonly clock: Clock }): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/stats',
      query: z.strictObject({ from: TIME.optional(), to: TIME.optional() }),
      async handle({ query, tenant }) {
        const to = query.to ?? new Date(clock.nowMs()).toISOString()
        const from = query.from ?? new Date(Date.parse(to) - DEFAULT_SPAN_MS).toISOString()
        if (Date.parse(from) > Date.parse(to)) throw new HttpError(400, `from: expected a time that is not after to (${to}), seen ${from}`)
        return { body: await readStatistics(store, { from, to, tenant }) }
      },
    }),
  ]
}
