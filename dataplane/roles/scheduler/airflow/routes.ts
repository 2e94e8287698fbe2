/** The part of Airflow's REST API that one DAG needs (Decisions 9): health, version, DAG, runs. */
import { z } from 'zod'
import { FEATURE_JOB, isShownTo, manualRun } from '../../../domain/features/feature-run.ts'
import { HttpError } from '../../../http/http-error.ts'
import { type Route, route } from '../../../http/route.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import { type RunStore, shownTo } from '../run-store.ts'
import { nextRun } from '../schedule.ts'
import type { ApiVersion } from './api-version.ts'
import { dagView } from './dag-view.ts'
import { PAGE, RUN_LISTS, RunListParameters, runQuery } from './list-query.ts'
import { runView } from './run-view.ts'
import { parseTrigger, TriggerRequest } from './trigger-request.ts'

export interface AirflowDeps {
  readonly runs: RunStore
  readonly clock: Clock
  readonly log: Log
  /** Called when a request has made work for the scheduler. */
  readonly onWork: () => void
  readonly health: () => Promise<object>
  /** The program's version. */
  readonly version: string
}

/** Parameters that choose among DAGs: there is only one DAG, which has no tags. Parameters without a name here have no effect. */
const DagListParameters = z.looseObject({
  ...PAGE,
  dag_id_pattern: z.string().optional(),
  paused: z.enum(['true', 'false']).optional(),
  tags: z.string().optional(),
})
/** Parameters of DAGs that may be given more than once. */
const DAG_LISTS = ['tags', 'owners', 'fields', 'order_by'] as const

export function airflowRoutes(version: ApiVersion, deps: AirflowDeps): readonly Route[] {
  const { runs, clock, log, onWork } = deps
  const base = `/api/${version}`
  const startedMs = clock.nowMs()
  const dag = async () => dagView(version, { isPaused: await runs.isPaused(), nextRunMs: nextRun(clock.nowMs()), startedMs })
  return [
    route({
      method: 'GET',
      path: version === 'v1' ? `${base}/health` : `${base}/monitor/health`,
      handle: async () => ({ body: await deps.health() }),
    }),
    route({ method: 'GET', path: `${base}/version`, handle: () => ({ body: { version: deps.version, git_version: null } }) }),
    route({
      method: 'GET',
      path: `${base}/dags`,
      query: DagListParameters,
      lists: DAG_LISTS,
      async handle({ query: { limit = 100, offset = 0, dag_id_pattern: pattern = '', paused, tags = '' } }) {
        const isAsked =
          tags === '' &&
          FEATURE_JOB.includes(pattern.replaceAll('%', '')) &&
          (paused === undefined || (await runs.isPaused()) === (paused === 'true'))
        const dags = isAsked ? [await dag()] : []
        return { body: { dags: dags.slice(offset, offset + limit), total_entries: dags.length } }
      },
    }),
    route({
      method: 'GET',
      path: `${base}/dags/:dagId`,
      query: z.looseObject({}),
      async handle({ params }) {
        assertDag(params)
        return { body: await dag() }
      },
    }),
    route({
      method: 'PATCH',
      path: `${base}/dags/:dagId`,
      query: z.strictObject({ update_mask: z.literal('is_paused').optional() }),
      body: z.strictObject({ is_paused: z.boolean() }),
      async handle({ params, body }) {
        assertDag(params)
        await runs.setPaused(body.is_paused, clock.nowMs())
        log.info({ isPaused: body.is_paused }, `${FEATURE_JOB} ${body.is_paused ? 'paused' : 'resumed'}`)
        onWork()
        return { body: await dag() }
      },
    }),
    ...runRoutes(version, deps),
  ]
}

function runRoutes(version: ApiVersion, { runs, clock, log, onWork }: AirflowDeps): readonly Route[] {
  const path = `/api/${version}/dags/:dagId/dagRuns`
  return [
    route({
      method: 'GET',
      path,
      query: RunListParameters,
      lists: RUN_LISTS,
      async handle({ params, query, tenant }) {
        // `~` stands for all DAGs.
        if (params['dagId'] !== '~') assertDag(params)
        const asked = runQuery(version, query)
        const { runs: found, total } = await runs.list({ ...asked, filters: [...asked.filters, ...shownTo(tenant)] })
        return { body: { dag_runs: found.map(run => runView(version, run)), total_entries: total } }
      },
    }),
    route({
      method: 'POST',
      path,
      body: TriggerRequest,
      async handle({ params, body, tenant }) {
        assertDag(params)
        const nowMs = clock.nowMs()
        const request = parseTrigger(body, nowMs)
        const run = manualRun({ ...request, tenant }, nowMs)
        const sameTime = request.logicalMs === undefined ? 0 : await countAt(runs, run.logical_date)
        if (sameTime > 0 || !(await runs.create(run)))
          throw new HttpError(409, `a run of ${FEATURE_JOB} with id ${run.dag_run_id} or logical date ${run.logical_date} exists`)
        log.info({ run: run.dag_run_id, hour: run.data_interval_start }, `${FEATURE_JOB} triggered`)
        onWork()
        return { body: runView(version, run) }
      },
    }),
    route({
      method: 'GET',
      path: `${path}/:runId`,
      query: z.looseObject({}),
      async handle({ params, tenant }) {
        assertDag(params)
        const run = await runs.get(params['runId']!)
        if (run === undefined || !isShownTo(tenant, run))
          throw new HttpError(404, `no run of ${FEATURE_JOB} with id ${JSON.stringify(params['runId'])}`)
        return { body: runView(version, run) }
      },
    }),
  ]
}

async function countAt(runs: RunStore, logicalDate: string): Promise<number> {
  const filters = [{ range: { logical_date: { gte: logicalDate, lte: logicalDate } } }]
  return (await runs.list({ filters, sort: [{ logical_date: 'asc' }], offset: 0, limit: 0 })).total
}

function assertDag(params: Readonly<Record<string, string>>): void {
  if (params['dagId'] !== FEATURE_JOB)
    throw new HttpError(404, `no DAG with id ${JSON.stringify(params['dagId'])}; there is one: ${FEATURE_JOB}`)
}
