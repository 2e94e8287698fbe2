/** A run, as Airflow's REST API shows it. */
import { FEATURE_JOB, type FeatureRun, offsetTime } from '../../../domain/features/feature-run.ts'
import type { ApiVersion } from './api-version.ts'

export function runView(version: ApiVersion, run: FeatureRun): object {
  const time = (iso: string | null) => (iso === null || version === 'v2' ? iso : offsetTime(iso))
  const common = {
    dag_id: FEATURE_JOB,
    dag_run_id: run.dag_run_id,
    run_type: run.run_type,
    state: run.state,
    logical_date: time(run.logical_date),
    data_interval_start: time(run.data_interval_start),
    data_interval_end: time(run.data_interval_end),
    start_date: time(run.start_date),
    end_date: time(run.end_date),
    last_scheduling_decision: time(run.end_date ?? run.start_date),
    conf: run.conf,
    note: run.note,
  }
  if (version === 'v1') return { ...common, execution_date: common.logical_date, external_trigger: run.run_type === 'manual' }
  return {
    ...common,
    dag_display_name: FEATURE_JOB,
    dag_versions: [],
    bundle_version: null,
    queued_at: run.queued_at,
    run_after: run.run_after,
    duration: run.start_date === null || run.end_date === null ? null : (Date.parse(run.end_date) - Date.parse(run.start_date)) / 1_000,
    triggered_by: run.run_type === 'manual' ? 'rest_api' : 'timetable',
    triggering_user_name: null,
  }
}
