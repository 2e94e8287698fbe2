/** `POST /api/v1/analyze`: root cause on demand (Decisions 6). */
import { z } from 'zod'
import { DEFAULT_TENANT } from '../../contract/tenant-id.ts'
import { boundedList } from '../../http/bounded-list.ts'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { createTurns } from '../../limits/turns.ts'
import { type AnalysisDeps, analyse } from '../../pipeline/root-cause/analyse.ts'
import { TIME } from './incident-list.ts'

/** Analyses at once: each takes memory, and the search store's time. */
const MAX_RUNNING = 2
/** Under way or waiting, of one tenant and in all. */
const MAX_OF_TENANT = 4
const MAX_IN_ALL = 32

const ANALYSIS = z.strictObject({
  at: TIME,
  services: boundedList(z.string().min(1).max(1024), { most: 1000 }).optional(),
})

export function analyseRoutes(deps: AnalysisDeps): readonly Route[] {
  const turns = createTurns({ running: MAX_RUNNING, inAll: MAX_IN_ALL, ofOwner: MAX_OF_TENANT })
  return [
    route({
      method: 'POST',
      path: '/api/v1/analyze',
      body: ANALYSIS,
      async handle({ tenant = DEFAULT_TENANT, body: { at, services } }) {
        const nowMs = deps.clock.nowMs()
        const atMs = Date.parse(at)
        if (atMs > nowMs) throw new HttpError(400, `at: expected a time that is past, seen ${at}`)
        const answer = turns.take(tenant, () => analyse(deps, { tenant, atMs, nowMs, services }))
        if (answer === undefined) throw tooMany(turns.of(tenant))
        return { body: await answer }
      },
    }),
  ]
}

function tooMany(own: number): HttpError {
  const what = own >= MAX_OF_TENANT ? `${own} analyses of this tenant are under way` : 'too many analyses are under way'
  return new HttpError(429, what, { 'retry-after': '1' })
}
