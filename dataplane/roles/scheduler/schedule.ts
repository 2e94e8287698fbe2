/** Runs `feature_compute` when it is due, and the runs that were triggered by hand. */
import { Cron } from 'croner'
import { hoursToCompute } from '../../domain/features/feature-hour.ts'
import { conclude, FEATURE_JOB, type FeatureRun, giveBackRun, scheduledRun } from '../../domain/features/feature-run.ts'
import type { ComputeResult } from '../../pipeline/features/compute-features.ts'
import { type Clock, monotonicMs } from '../../ports/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ClaimedRun, RunStore } from './run-store.ts'

/** Hourly, in UTC. */
export const SCHEDULE = '0 * * * *'

/** An hour is computed this long after its end, when its records are searchable. */
const SETTLE_MS = 60_000
/** Hours that are caught up with after a pause; older ones are left out. */
const MAX_CATCH_UP_HOURS = 24
/** The longest time between two looks at the clock: it may be set, and the machine may sleep. */
const LONGEST_WAIT_MS = 60_000
const AFTER_FAILURE_MS = 5_000

export interface ScheduleDeps {
  readonly runs: RunStore
  /** `signal` aborts when the scheduler is to stop. */
  readonly compute: (hourMs: number, signal: AbortSignal) => Promise<ComputeResult>
  readonly clock: Clock
  readonly log: Log
  readonly onEnd?: (run: FeatureRun) => void
}

export interface Schedule {
  /** Looks for work at once. */
  wake(): void
  /** When the search store last answered it, ms since the epoch; undefined: not yet. */
  heartbeatMs(): number | undefined
  /** Gives the run under way back, for another scheduler. */
  stop(): Promise<void>
}

export function startSchedule(deps: ScheduleDeps): Schedule {
  const { clock, log } = deps
  const stopping = new AbortController()
  let woken = new AbortController()
  let heartbeatMs: number | undefined
  let isFailing = false
  let isPrepared = false

  const look = async (): Promise<number> => {
    try {
      if (!isPrepared) await deps.runs.prepare()
      isPrepared = true
      const isRetrying = await doDueWork(deps, stopping.signal, () => {
        heartbeatMs = clock.nowMs()
      })
      isFailing = false
      return isRetrying ? AFTER_FAILURE_MS : untilDue(clock.nowMs())
    } catch (error) {
      if (!isFailing) log.warn({ error }, `${FEATURE_JOB} waits for the search store`)
      isFailing = true
      return AFTER_FAILURE_MS
    }
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      // Armed before the search for work: a request that comes during the search ends the wait.
      woken = new AbortController()
      const waitMs = await look()
      await clock.sleep(waitMs, AbortSignal.any([stopping.signal, woken.signal]))
    }
  }
  const done = loop()
  return {
    wake: () => woken.abort(),
    heartbeatMs: () => heartbeatMs,
    async stop() {
      stopping.abort()
      await done
    },
  }
}

/** The end of the next scheduled hour, plus the time that its records take to be searchable. */
function untilDue(nowMs: number): number {
  const next = nextRun(nowMs - SETTLE_MS)
  return Math.min(LONGEST_WAIT_MS, Math.max(1, next + SETTLE_MS - nowMs))
}

/** When the schedule fires next after a time, ms since the epoch. */
export function nextRun(afterMs: number): number {
  return new Cron(SCHEDULE, { timezone: 'UTC' }).nextRun(new Date(afterMs))!.getTime()
}

/** Nothing is scheduled or run while the job is paused, as with Airflow. Resolves to whether a run failed and will be tried again. */
async function doDueWork(deps: ScheduleDeps, signal: AbortSignal, onAnswer: () => void): Promise<boolean> {
  const { runs, clock, log } = deps
  const isPaused = await runs.isPaused()
  onAnswer()
  if (isPaused) return false
  const lastHourMs = await runs.lastScheduledHour()
  const nowMs = clock.nowMs()
  const hours = hoursToCompute({ lastHourMs, nowMs: nowMs - SETTLE_MS, maxHours: MAX_CATCH_UP_HOURS })
  if (hours.length > 1) log.info({ hours: hours.length }, `${FEATURE_JOB} catches up`)
  for (const hourMs of hours) await runs.create(scheduledRun(hourMs, nowMs))
  let isRetrying = false
  // A pause that comes while a run is under way holds those behind it.
  while (!signal.aborted && !(await runs.isPaused())) {
    const claimed = await runs.claimNext(clock.nowMs())
    onAnswer()
    if (claimed === undefined) break
    const ended = await execute(claimed, deps, signal)
    isRetrying ||= ended.state === 'running'
  }
  return isRetrying
}

async function execute(claimed: ClaimedRun, { runs, compute, clock, log, onEnd }: ScheduleDeps, signal: AbortSignal): Promise<FeatureRun> {
  const { dag_run_id: run, data_interval_start: hour, tries } = claimed.run
  const startedMs = monotonicMs(clock)
  let ended: FeatureRun
  try {
    const result = await compute(Date.parse(hour), signal)
    ended = conclude(claimed.run, clock.nowMs())
    log.info({ run, hour, ...result, tookMs: Math.round(monotonicMs(clock) - startedMs) }, `${FEATURE_JOB} done`)
  } catch (error) {
    if (signal.aborted) {
      await runs.update(claimed, giveBackRun(claimed.run))
      return claimed.run
    }
    ended = conclude(claimed.run, clock.nowMs(), error instanceof Error ? error.message : String(error))
    log[ended.state === 'failed' ? 'error' : 'warn']({ run, hour, tries, error }, `${FEATURE_JOB} failed`)
  }
  await runs.update(claimed, ended)
  if (ended.state !== 'running') onEnd?.(ended)
  return ended
}
