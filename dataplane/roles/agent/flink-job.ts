/** The state of a Flink job, read from its resource, in the agent's three states (Decisions 10). */
import type { KubernetesObject } from '../../kube/object.ts'
import type { JobState } from './stream-source.ts'

/** `FlinkDeployment` or `FlinkSessionJob` of the Flink operator, as far as the agent reads them. Any field may hold anything else. */
export interface FlinkResource extends KubernetesObject {
  readonly spec?: {
    /** A deployment without one is a session cluster. */
    readonly job?: { readonly state?: string } | null
    /** The session cluster that a session job runs on. */
    readonly deploymentName?: string
  }
  readonly status?: {
    readonly lifecycleState?: string
    readonly jobManagerDeploymentStatus?: string
    readonly error?: string
    /** `startTime`: ms since the epoch, as text. */
    readonly jobStatus?: { readonly state?: string; readonly startTime?: string | number } | null
    readonly taskManager?: { readonly replicas?: number } | null
  }
}

/** `passing`: on its way from one state to another. */
export type FlinkReading = JobState | 'passing'

const FAILED_JOB: readonly string[] = ['FAILED', 'FAILING']
const ENDED_JOB: readonly string[] = ['SUSPENDED', 'CANCELED', 'FINISHED']
/** Lifecycle states between two deployments: the job's own state is then that of the deployment that goes away. */
const CHANGING: readonly string[] = ['CREATED', 'UPGRADING', 'ROLLING_BACK', 'DELETING', 'DELETED']

/** A deployment that is a session cluster has no job of its own. */
export function hasJob({ kind, spec, status }: FlinkResource): boolean {
  return kind === 'FlinkSessionJob' || spec?.job != null || status?.jobStatus?.state !== undefined
}

export function readFlinkState({ spec, status }: FlinkResource): FlinkReading {
  const { lifecycleState = '', jobManagerDeploymentStatus: jobManager, error, jobStatus } = status ?? {}
  const job = jobStatus?.state ?? ''
  if (lifecycleState === 'FAILED' || FAILED_JOB.includes(job)) return 'FAILED'
  if (jobManager === 'ERROR' || (jobManager === 'MISSING' && Boolean(error))) return 'FAILED'
  if (spec?.job?.state === 'suspended' || lifecycleState === 'SUSPENDED') return 'SUSPENDED'
  if (CHANGING.includes(lifecycleState)) return 'passing'
  if (ENDED_JOB.includes(job)) return 'SUSPENDED'
  return job === 'RUNNING' ? 'RUNNING' : 'passing'
}

/** How long a passing state may last. */
const PASSING_MS = 120_000

/** The state of a job that is kept from one reading to the next. */
export interface FlinkMemory {
  /** The last state that was not passing; SUSPENDED, as neither working nor failed, before the first. */
  readonly settled: JobState
  /** By a clock that nobody sets; undefined: it is settled. */
  readonly passingSinceMs: number | undefined
}

export function rememberReading(before: FlinkMemory | undefined, reading: FlinkReading, nowMs: number): FlinkMemory {
  if (reading !== 'passing') return { settled: reading, passingSinceMs: undefined }
  return { settled: before?.settled ?? 'SUSPENDED', passingSinceMs: before?.passingSinceMs ?? nowMs }
}

/** A passing state keeps the last one for two minutes, then is FAILED. */
export function stateOf({ settled, passingSinceMs }: FlinkMemory, nowMs: number): JobState {
  return passingSinceMs !== undefined && nowMs - passingSinceMs >= PASSING_MS ? 'FAILED' : settled
}

/** 0 unless running. */
export function uptimeOf({ status }: FlinkResource, state: JobState, nowMs: number): number {
  const startMs = Number(status?.jobStatus?.startTime ?? Number.NaN)
  return state === 'RUNNING' && startMs > 0 ? Math.max(0, nowMs - startMs) : 0
}
