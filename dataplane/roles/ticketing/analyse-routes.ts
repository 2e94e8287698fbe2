/** `POST /api/v1/analyze`: root cause on demand (Decisions 6). */
import { z } from 'zod'
import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { analyse } from '../../pipeline/root-cause/analyse.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { createAnalysisTurns } from './analysis-turns.ts'
import { TIME } from './incident-list.ts'

const ANALYSIS = z.strictObject({
  at: TIME,
  services: z.array(z.string().min(1).max(1024)).max(1000).optional(),
})

export interface AnalyseDeps {
  readonly store: SearchStore
  readonly clock: Clock
}

export function analyseRoutes({ store, clock }: AnalyseDeps): readonly Route[] {
  const inTurn = createAnalysisTurns()
  return [
    route({
      method: 'POST',
      path: '/api/v1/analyze',
      body: ANALYSIS,
      async handle({ tenant = DEFAULT_TENANT, body: { at, services } }) {
        const nowMs = clock.nowMs()
        const atMs = Date.parse(at)
        if (atMs > nowMs) throw new HttpError(400, `at: expected a time that is past, seen ${at}`)
        return { body: await inTurn(tenant, () => analyse(store, { tenant, atMs, nowMs, services })) }
      },
    }),
  ]
}
