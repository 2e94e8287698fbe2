/** Gathers the writes of one turn of the event loop into one commit, so that many callers share one fsync. */
import { setImmediate } from 'node:timers/promises'
import { NO_WRITE_HEALTH, type WriteHealth } from '../../write-health.ts'
import type { WriteError, WriteOp, WriteOutcome } from '../index-storage.ts'
import type { DocumentDatabase } from './document-database.ts'
import type { Stage } from './stage.ts'

/** The table, as the queue uses it. */
export interface StagedTable {
  newStage(): Stage
  stage(op: WriteOp, stage: Stage): WriteOutcome
  /** Within a transaction of the database. */
  write(stage: Stage): void
  /** The same: puts back what `write` has overwritten. */
  takeBack(stage: Stage): void
  /** Makes committed changes visible. */
  publish(stage: Stage): void
}

interface Job {
  readonly table: StagedTable
  readonly ops: readonly WriteOp[]
  readonly outcomes: WriteOutcome[]
  readonly resolve: (outcomes: readonly WriteOutcome[]) => void
  readonly reject: (error: unknown) => void
}

/** Operations of a job that are in one portion: the first jobs have a share each. */
interface Share {
  readonly job: Job
  readonly outcomes: WriteOutcome[]
}

/** How long operations of one commit are worked out, ms; writing them takes about as long. Others run before the next commit. */
const PORTION_MS = 12

export interface CommitQueue {
  /** Resolves once durable and visible; what takes long is committed in portions. A full disk answers each operation with an error of status 429. */
  enqueue(table: StagedTable, ops: readonly WriteOp[]): Promise<readonly WriteOutcome[]>
  /** Resolves when nothing is waiting. */
  settled(): Promise<void>
}

/** Tables are one file. */
const ALL_TABLES = 'small indices'

export function createCommitQueue(database: DocumentDatabase, writes: WriteHealth = NO_WRITE_HEALTH): CommitQueue {
  let waiting: Job[] = []
  let idle: Promise<void> = Promise.resolve()

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await setImmediate()
      const { shares, error } = await commitPortion(database, waiting)
      const refusal = fullDiskError(error)
      if (refusal !== undefined) writes.failed(ALL_TABLES, refusal.reason)
      else if (error === undefined) writes.wrote(ALL_TABLES)
      // Others have come meanwhile.
      waiting = error === undefined ? settle(waiting, shares) : fail(waiting, shares, error)
    }
  }

  return {
    enqueue: (table, ops) =>
      new Promise((resolve, reject) => {
        waiting.push({ table, ops, outcomes: [], resolve, reject })
        if (waiting.length === 1) idle = flush()
      }),
    settled: () => idle,
  }
}

interface Committed {
  readonly shares: readonly Share[]
  readonly error: unknown
}

/** Commits as many operations as there is time for, of the first jobs. */
async function commitPortion(database: DocumentDatabase, jobs: readonly Job[]): Promise<Committed> {
  const stages = new Map<StagedTable, Stage>()
  const shares: Share[] = []
  try {
    const end = performance.now() + PORTION_MS
    for (const job of jobs) {
      if (performance.now() >= end) break
      const stage = stages.get(job.table) ?? job.table.newStage()
      stages.set(job.table, stage)
      const outcomes: WriteOutcome[] = []
      shares.push({ job, outcomes })
      for (let at = job.outcomes.length; at < job.ops.length && (outcomes.length === 0 || performance.now() < end); at++)
        outcomes.push(job.table.stage(job.ops[at]!, stage))
    }
    await database.transactionInTurns(
      () => {
        for (const [table, stage] of stages) table.write(stage)
      },
      () => {
        for (const [table, stage] of stages) table.takeBack(stage)
      },
    )
    for (const [table, stage] of stages) table.publish(stage)
    return { shares, error: undefined }
  } catch (error) {
    return { shares, error }
  }
}

/** Notes what became of each share; the jobs that are left, those first that have waited for longest. */
function settle(jobs: readonly Job[], shares: readonly Share[]): Job[] {
  const begun: Job[] = []
  for (const { job, outcomes } of shares) {
    for (const outcome of outcomes) job.outcomes.push(outcome)
    if (job.outcomes.length < job.ops.length) begun.push(job)
    else job.resolve(job.outcomes)
  }
  return [...jobs.slice(shares.length), ...begun]
}

/** A full disk refuses what the portion held, anything else fails its jobs whole. */
function fail(jobs: readonly Job[], shares: readonly Share[], error: unknown): Job[] {
  const refusal = fullDiskError(error)
  if (refusal !== undefined)
    return settle(
      jobs,
      shares.map(({ job, outcomes }) => ({ job, outcomes: outcomes.map(() => ({ error: refusal })) })),
    )
  for (const { job } of shares) job.reject(error)
  return jobs.slice(shares.length)
}
const SQLITE_FULL = 13
const SQLITE_IOERR = 10

function fullDiskError(error: unknown): WriteError | undefined {
  const isOfSystem = error instanceof Error && 'syscall' in error
  const code = typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
  if (code !== SQLITE_FULL && code !== SQLITE_IOERR && !isOfSystem) return undefined
  return {
    type: 'cluster_block_exception',
    reason: `the search store cannot write to disk: ${error instanceof Error ? error.message : String(error)}`,
    status: 429,
  }
}
