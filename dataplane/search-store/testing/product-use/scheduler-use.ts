/** Requests of the scheduler to the search store: runs listed by every filter and order, claimed and concluded by version, the pause switch. */
import { conclude, manualRun, scheduledRun } from '../../../domain/features/feature-run.ts'
import { createControlApp } from '../../../http/control-app.ts'
import { startHttpServer } from '../../../http/server.ts'
import { API_VERSIONS } from '../../../roles/scheduler/airflow/api-version.ts'
import { airflowRoutes } from '../../../roles/scheduler/airflow/routes.ts'
import { createRunStore } from '../../../roles/scheduler/run-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createMetrics } from '../../../telemetry/metrics.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createCaller, type JsonAnswer } from '../../../testing/http-caller.ts'
import type { RecordedStore } from './recorded-store.ts'

const NOW_MS = Date.UTC(2026, 0, 2, 12, 30)
const HOUR_MS = 3_600_000
const RUNS = 'dags/feature_compute/dagRuns'
const SORTABLE = [
  'dag_run_id',
  'state',
  'run_type',
  'logical_date',
  'data_interval_end',
  'run_after',
  'queued_at',
  'start_date',
  'end_date',
]

const QUERIES = [
  '',
  'limit=2',
  'limit=3&offset=2',
  'offset=9999&limit=100',
  'limit=0',
  ...SORTABLE.flatMap(field => [`order_by=${field},dag_run_id`, `order_by=-${field},-dag_run_id`]),
  'order_by=id',
  'state=success',
  'state=queued&state=running',
  'run_type=manual',
  ...['logical_date', 'start_date', 'end_date', 'run_after'].flatMap(field => [
    `${field}_gte=2026-01-02T08:00:00Z`,
    `${field}_lt=2026-01-02T09:30:00%2B00:00`,
  ]),
  'state=none',
]

export async function useAsScheduler({ store }: RecordedStore): Promise<unknown> {
  const clock = createFakeClock(NOW_MS)
  const runs = createRunStore(store)
  const seen: unknown[] = []
  await runs.prepare()
  const deps = { runs, clock, log: SILENT, onWork: () => {}, health: async () => ({}), version: '1.2.3' }
  const routes = API_VERSIONS.flatMap(version => airflowRoutes(version, deps))
  const app = createControlApp({ routes, log: SILENT, metrics: createMetrics() })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: 0, setting: 'PORT' })
  const caller = createCaller(`http://127.0.0.1:${server.port}`)
  const note = ({ status, body }: JsonAnswer) => void seen.push({ status, body })
  try {
    seen.push(await runs.lastScheduledHour(), await runs.claimNext(NOW_MS), await runs.get('none'))
    note(await caller.get(`/api/v2/${RUNS}`))
    for (let hour = 6; hour > 0; hour--) {
      clock.advance(1_000)
      seen.push(await runs.create(scheduledRun(NOW_MS - 1_800_000 - hour * HOUR_MS, clock.nowMs())))
    }
    seen.push(await runs.create(scheduledRun(NOW_MS - 1_800_000 - HOUR_MS, clock.nowMs())))
    for (const [version, body] of [
      ['v1', {}],
      ['v1', { logical_date: '2026-01-02T09:15:00Z' }],
      ['v2', { logical_date: '2026-01-02T09:15:00Z' }],
      ['v2', { logical_date: null, dag_run_id: 'by hand' }],
      ['v2', { logical_date: null, dag_run_id: 'by hand' }],
    ] as const) {
      clock.advance(1_000)
      note(await caller.send('POST', `/api/${version}/${RUNS}`, body))
    }
    for (let i = 0; i < 5; i++) {
      clock.advance(1_000)
      const claimed = await runs.claimNext(clock.nowMs())
      seen.push(claimed?.run)
      if (claimed === undefined || i === 4) continue
      await runs.update(
        claimed,
        i === 2 ? conclude({ ...claimed.run, tries: 1_000 }, clock.nowMs() + HOUR_MS, 'broken') : conclude(claimed.run, clock.nowMs()),
      )
      // An update that was overtaken changes nothing.
      await runs.update(claimed, { ...claimed.run, state: 'failed' })
    }
    seen.push(await runs.lastScheduledHour(), await runs.create(manualRun({ id: 'late', logicalMs: NOW_MS }, NOW_MS)))
    for (const version of API_VERSIONS) for (const query of QUERIES) note(await caller.get(`/api/${version}/${RUNS}?${query}`))
    for (const id of ['by hand', 'none', 'a/b']) note(await caller.get(`/api/v2/${RUNS}/${encodeURIComponent(id)}`))
    for (const isPaused of [true, false]) note(await caller.send('PATCH', '/api/v2/dags/feature_compute', { is_paused: isPaused }))
    note(await caller.get('/api/v1/dags'))
    return seen
  } finally {
    await server.stop()
  }
}
