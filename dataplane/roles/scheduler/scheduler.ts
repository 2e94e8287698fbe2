/** The workflow scheduler: runs `feature_compute` hourly, and shows it as Airflow would (Decisions 9). */
import { SCHEDULER_COUNTERS } from '../../contract/counters.ts'
import { createControlApp } from '../../http/control-app.ts'
import { startHttpServer } from '../../http/server.ts'
import { computeHour } from '../../pipeline/features/compute-features.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OnlineStore } from '../../ports/online-store.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { type Running, startTogether } from '../../process/running.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { API_VERSIONS } from './airflow/api-version.ts'
import { airflowRoutes } from './airflow/routes.ts'
import { createRunStore } from './run-store.ts'
import { type Schedule, startSchedule } from './schedule.ts'

export interface SchedulerDeps {
  readonly search: SearchStore
  readonly online: OnlineStore
  readonly clock: Clock
  readonly log: Log
  readonly host: string
  /** 0: a free one. */
  readonly port: number
  /** The setting that the port comes from. */
  readonly portSetting: string
  readonly version: string
}

export interface Scheduler extends Running {
  readonly port: number
}

/** A scheduler that looked for work within this time is healthy. */
const HEARTBEAT_MS = 150_000

/** Leaves the stores open when it stops. */
export function startScheduler(deps: SchedulerDeps): Promise<Scheduler> {
  const { search, online, clock, log, version } = deps
  const metrics = createMetrics()
  metrics.processMetrics()
  const count = metrics.counters(SCHEDULER_COUNTERS)
  const runs = createRunStore(search)
  const onWork = () => schedule?.wake()
  const health = async () => airflowHealth(schedule?.heartbeatMs(), clock.nowMs())
  const routes = API_VERSIONS.flatMap(api => airflowRoutes(api, { runs, clock, log, onWork, health, version }))
  // Airflow's own `GET /health` has these members too.
  const app = createControlApp({ routes, log, metrics, health: async () => ({ status: 'ok', ...(await health()) }) })
  let schedule: Schedule | undefined
  return startTogether(async keep => {
    const { port } = keep(await startHttpServer(app, { host: deps.host, port: deps.port, setting: deps.portSetting }))
    schedule = keep(
      startSchedule({
        runs,
        compute: (hourMs, signal) => computeHour({ search, online, clock, log, signal }, hourMs),
        clock,
        log,
        onEnd: ({ state }) => count(state === 'success' ? 'succeeded' : 'failed'),
      }),
    )
    return { port }
  })
}

/** The search store is to this scheduler what the metadata database is to Airflow. */
function airflowHealth(heartbeatMs: number | undefined, nowMs: number) {
  const status = heartbeatMs !== undefined && nowMs - heartbeatMs < HEARTBEAT_MS ? 'healthy' : 'unhealthy'
  return {
    metadatabase: { status },
    scheduler: { status, latest_scheduler_heartbeat: heartbeatMs === undefined ? null : new Date(heartbeatMs).toISOString() },
    triggerer: { status: null, latest_triggerer_heartbeat: null },
    dag_processor: { status: null, latest_dag_processor_heartbeat: null },
  }
}
