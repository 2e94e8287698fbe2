/** The online feature server: Feast's HTTP interface over the online store (Decisions 9). */
import { z } from 'zod'
import { FEATURES_COUNTERS } from '../../contract/counters.ts'
import { FEATURE_VIEW } from '../../domain/features/feature-view.ts'
import { createControlApp } from '../../http/control-app.ts'
import { HttpError } from '../../http/http-error.ts'
import { type Route, route } from '../../http/route.ts'
import { type HttpServer, startHttpServer } from '../../http/server.ts'
import type { Clock } from '../../ports/clock.ts'
import { type FeatureRow, type OnlineStore, OnlineStoreUnavailable } from '../../ports/online-store.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { getOnlineFeatures, OnlineFeaturesRequest } from './online-features.ts'
import { PushRequest, parsePush, parseRows, WriteRequest } from './push.ts'
import { createRowTurns, WRITE_PORTION_ROWS } from './rows-in-turns.ts'

export interface FeaturesDeps {
  readonly store: OnlineStore
  readonly clock: Clock
  readonly log: Log
  readonly host: string
  /** 0: a free one. */
  readonly port: number
}

/** Leaves the store open when it stops. */
export function startFeatures({ store, clock, log, host, port }: FeaturesDeps): Promise<HttpServer> {
  const metrics = createMetrics()
  metrics.processMetrics()
  const count = metrics.counters(FEATURES_COUNTERS)
  const routes = featureRoutes(store, clock, {
    read: rows => count('rowsRead', rows),
    written: rows => count('rowsWritten', rows),
  })
  return startHttpServer(createControlApp({ routes, log, metrics, health: () => health(store) }), { host, port, setting: 'FEATURES_PORT' })
}

interface Tally {
  read(rows: number): void
  written(rows: number): void
}

function featureRoutes(store: OnlineStore, clock: Clock, tally: Tally): readonly Route[] {
  const turns = createRowTurns()
  const write = async (tenant: string | undefined, rows: readonly FeatureRow[]) => {
    await turns.run(tenant, rows, portion => store.write(portion), WRITE_PORTION_ROWS)
    tally.written(rows.length)
  }
  return [
    route({
      method: 'POST',
      path: '/get-online-features',
      query: z.looseObject({}),
      body: OnlineFeaturesRequest,
      async handle({ body, tenant }) {
        const answer = await getOnlineFeatures({ store, turns }, body, tenant)
        tally.read(answer.results[0]?.values.length ?? 0)
        return { body: answer }
      },
    }),
    route({
      method: 'POST',
      path: '/push',
      query: z.looseObject({}),
      body: PushRequest,
      async handle({ body, tenant }) {
        await write(tenant, parsePush(body, { tenant, nowMs: clock.nowMs() }))
        return { body: undefined }
      },
    }),
    route({
      method: 'POST',
      path: '/write-to-online-store',
      query: z.looseObject({}),
      body: WriteRequest,
      async handle({ body: { feature_view_name: view, df }, tenant }) {
        if (view !== FEATURE_VIEW) throw new HttpError(404, `feature_view_name: expected ${FEATURE_VIEW}, seen ${JSON.stringify(view)}`)
        await write(tenant, parseRows(df, { tenant, nowMs: clock.nowMs() }))
        return { body: null }
      },
    }),
  ]
}

async function health(store: OnlineStore) {
  try {
    await store.version()
    return { status: 'ok', store: 'connected' }
  } catch (error) {
    if (!(error instanceof OnlineStoreUnavailable)) throw error
    return { status: 'error', store: 'disconnected' }
  }
}
