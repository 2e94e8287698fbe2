/** Runs of the one job `feature_compute`, as the search store keeps them (Decisions 9). */
import { backOffMs } from '../../limits/back-off.ts'
import { HOUR_MS, hourOf, lastFullHour } from './feature-hour.ts'

export const FEATURE_JOB = 'feature_compute'

export const RUN_STATES = ['queued', 'running', 'success', 'failed'] as const
export type FeatureRunState = (typeof RUN_STATES)[number]
export const RUN_TYPES = ['scheduled', 'manual'] as const
export type RunType = (typeof RUN_TYPES)[number]

/** Names of Airflow's DAG run; times are ISO-8601 in UTC. */
export interface FeatureRun {
  readonly dag_run_id: string
  readonly run_type: RunType
  readonly state: FeatureRunState
  readonly logical_date: string
  /** The UTC hour that is computed. */
  readonly data_interval_start: string
  readonly data_interval_end: string
  readonly run_after: string
  readonly queued_at: string
  readonly start_date: string | null
  readonly end_date: string | null
  readonly conf: Readonly<Record<string, unknown>>
  readonly note: string | null
  /** The tenant that triggered it; absent for scheduled runs, and for a caller who speaks for all. */
  readonly tenant_id?: string | undefined
  readonly tries: number
  /** Until then a running one belongs to the scheduler that runs it; later others may take it. */
  readonly lease_until: string | null
  /** Why it failed, at last. */
  readonly error: string | null
}

/** Ids of runs that Airflow takes. */
export const RUN_ID_PATTERN = /^[A-Za-z0-9_.~:+-]{1,250}$/

/** The run of an hour that is over; there is one of them for each hour. */
export function scheduledRun(hourMs: number, nowMs: number): FeatureRun {
  const logicalDate = new Date(hourMs).toISOString()
  return {
    ...newRun(hourMs, nowMs),
    dag_run_id: `scheduled__${offsetTime(logicalDate)}`,
    run_type: 'scheduled',
    logical_date: logicalDate,
    run_after: new Date(hourMs + HOUR_MS).toISOString(),
  }
}

export interface ManualRunRequest {
  readonly id?: string | undefined
  /** The last full hour before it is computed. Default: now. */
  readonly logicalMs?: number | undefined
  /** Start of the hour, where it is another. */
  readonly hourMs?: number | undefined
  readonly conf?: Readonly<Record<string, unknown>> | undefined
  readonly note?: string | null | undefined
  readonly tenant?: string | undefined
}

export function manualRun({ id, logicalMs, hourMs, conf = {}, note = null, tenant }: ManualRunRequest, nowMs: number): FeatureRun {
  const logicalDate = new Date(logicalMs ?? nowMs).toISOString()
  return {
    ...newRun(hourMs ?? lastFullHour(logicalMs ?? nowMs), nowMs),
    dag_run_id: id ?? `manual__${offsetTime(logicalDate)}`,
    run_type: 'manual',
    logical_date: logicalDate,
    run_after: new Date(nowMs).toISOString(),
    conf,
    note,
    ...(tenant !== undefined && { tenant_id: tenant }),
  }
}

/** Runs that were triggered are for those who did: their names and notes say what a tenant does. Undefined: a caller who speaks for all. */
export function isShownTo(tenant: string | undefined, run: Pick<FeatureRun, 'run_type' | 'tenant_id'>): boolean {
  return tenant === undefined || run.run_type === 'scheduled' || run.tenant_id === tenant
}

function newRun(hourMs: number, nowMs: number) {
  return {
    state: 'queued',
    data_interval_start: new Date(hourMs).toISOString(),
    data_interval_end: new Date(hourMs + HOUR_MS).toISOString(),
    queued_at: new Date(nowMs).toISOString(),
    start_date: null,
    end_date: null,
    conf: {},
    note: null,
    tries: 0,
    lease_until: null,
    error: null,
  } as const
}

/** Whether an interval is one UTC hour. */
export function isFullHour(startMs: number, endMs: number): boolean {
  return startMs === hourOf(startMs) && endMs - startMs === HOUR_MS
}

/** `2026-01-31T12:00:00+00:00`, as Airflow's version 2 writes times. */
export function offsetTime(iso: string): string {
  return iso.replace(/\.000Z$/, 'Z').replace('Z', '+00:00')
}

/** Longest time that a run may take before another scheduler takes it up. Computing twice does no harm. */
export const LEASE_MS = 300_000

/** Whether a scheduler may take the run up now. */
export function isClaimable({ state, lease_until }: FeatureRun, nowMs: number): boolean {
  if (state === 'queued') return true
  return state === 'running' && Date.parse(lease_until ?? '') <= nowMs
}

export function claim(run: FeatureRun, nowMs: number): FeatureRun {
  const now = new Date(nowMs).toISOString()
  return {
    ...run,
    state: 'running',
    start_date: run.start_date ?? now,
    tries: run.tries + 1,
    lease_until: new Date(nowMs + LEASE_MS).toISOString(),
  }
}

/** As before it was claimed, so that another scheduler can take it. */
export function giveBackRun(run: FeatureRun): FeatureRun {
  return { ...run, state: 'queued', tries: run.tries - 1, lease_until: null }
}

const MAX_TRIES = 10
const RETRY = { firstMs: 5_000, maxMs: 300_000 }

/** After success, or after a failure: it stays running until the next try, ten times at most. */
export function conclude(run: FeatureRun, nowMs: number, error?: string): FeatureRun {
  const ended = { ...run, lease_until: null, end_date: new Date(nowMs).toISOString() }
  if (error === undefined) return { ...ended, state: 'success', error: null }
  if (run.tries >= MAX_TRIES) return { ...ended, state: 'failed', error }
  // Without chance: one scheduler alone holds the run.
  const retryMs = backOffMs(RETRY, run.tries, () => 0)
  return { ...run, lease_until: new Date(nowMs + retryMs).toISOString(), error }
}
