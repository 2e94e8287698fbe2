/** The one DAG, as Airflow's REST API shows it. */
import { HOUR_MS } from '../../../domain/features/feature-hour.ts'
import { FEATURE_JOB, offsetTime } from '../../../domain/features/feature-run.ts'
import { SCHEDULE } from '../schedule.ts'
import type { ApiVersion } from './api-version.ts'

export interface DagState {
  readonly isPaused: boolean
  /** End of the hour that is computed next, ms since the epoch. */
  readonly nextRunMs: number
  /** Since when it is scheduled here. */
  readonly startedMs: number
}

const DESCRIPTION = 'Computes the ML features of every service from the logs of the last full hour'
const FILE = 'dags/feature_compute.py'

/** Members that both versions have, and those that one has. */
export function dagView(version: ApiVersion, { isPaused, nextRunMs, startedMs }: DagState): object {
  const time = (ms: number) => (version === 'v1' ? offsetTime(new Date(ms).toISOString()) : new Date(ms).toISOString())
  const common = {
    dag_id: FEATURE_JOB,
    dag_display_name: FEATURE_JOB,
    description: DESCRIPTION,
    is_paused: isPaused,
    fileloc: FILE,
    file_token: FEATURE_JOB,
    owners: ['logpipeline'],
    tags: [],
    timetable_description: 'Hourly',
    max_active_runs: 1,
    max_active_tasks: 1,
    max_consecutive_failed_dag_runs: 0,
    has_import_errors: false,
    has_task_concurrency_limits: false,
    last_parsed_time: time(startedMs),
    last_expired: null,
    next_dagrun_data_interval_start: time(nextRunMs - HOUR_MS),
    next_dagrun_data_interval_end: time(nextRunMs),
  }
  if (version === 'v1')
    return {
      ...common,
      default_view: 'grid',
      is_active: true,
      is_subdag: false,
      last_pickled: null,
      pickle_id: null,
      root_dag_id: null,
      scheduler_lock: null,
      schedule_interval: { __type: 'CronExpression', value: SCHEDULE },
      next_dagrun: time(nextRunMs - HOUR_MS),
      next_dagrun_create_after: time(nextRunMs),
    }
  return {
    ...common,
    bundle_name: null,
    bundle_version: null,
    is_stale: false,
    relative_fileloc: FILE,
    last_parse_duration: null,
    timetable_summary: SCHEDULE,
    next_dagrun_logical_date: time(nextRunMs - HOUR_MS),
    next_dagrun_run_after: time(nextRunMs),
  }
}
