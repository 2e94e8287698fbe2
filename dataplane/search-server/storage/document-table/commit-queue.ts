/** Gathers the writes of one turn of the event loop into one commit, so that many callers share one fsync. */
import type { WriteError, WriteOp, WriteOutcome } from '../index-storage.ts'
import type { DocumentDatabase } from './document-database.ts'
import type { DocumentTable } from './document-table.ts'
import type { Stage } from './stage.ts'

interface Job {
  readonly table: DocumentTable
  readonly ops: readonly WriteOp[]
  readonly resolve: (outcomes: readonly WriteOutcome[]) => void
  readonly reject: (error: unknown) => void
}

export interface CommitQueue {
  /** Resolves once durable and visible. A full disk answers each operation with an error of status 429. */
  enqueue(table: DocumentTable, ops: readonly WriteOp[]): Promise<readonly WriteOutcome[]>
  /** Resolves when nothing is waiting. */
  settled(): Promise<void>
}

export function createCommitQueue(database: DocumentDatabase): CommitQueue {
  let waiting: Job[] = []
  let idle: Promise<void> = Promise.resolve()

  const flush = (): void => {
    const jobs = waiting
    waiting = []
    commit(database, jobs)
  }

  return {
    enqueue: (table, ops) =>
      new Promise((resolve, reject) => {
        waiting.push({ table, ops, resolve, reject })
        if (waiting.length === 1)
          idle = new Promise(done =>
            setImmediate(() => {
              flush()
              done()
            }),
          )
      }),
    settled: () => idle,
  }
}

function commit(database: DocumentDatabase, jobs: readonly Job[]): void {
  const stages = new Map<DocumentTable, Stage>()
  try {
    const results = jobs.map(job => {
      const stage = stages.get(job.table) ?? job.table.newStage()
      stages.set(job.table, stage)
      return job.table.stage(job.ops, stage)
    })
    database.transaction(() => {
      for (const [table, stage] of stages) table.write(stage)
    })
    for (const [table, stage] of stages) table.publish(stage)
    jobs.forEach((job, at) => {
      job.resolve(results[at]!)
    })
  } catch (error) {
    const refusal = fullDiskError(error)
    for (const job of jobs) {
      if (refusal === undefined) job.reject(error)
      else job.resolve(job.ops.map(() => ({ error: refusal })))
    }
  }
}

const SQLITE_FULL = 13
const SQLITE_IOERR = 10

function fullDiskError(error: unknown): WriteError | undefined {
  const code = typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
  if (code !== SQLITE_FULL && code !== SQLITE_IOERR) return undefined
  return {
    type: 'cluster_block_exception',
    reason: `the search store cannot write to disk: ${error instanceof Error ? error.message : String(error)}`,
    status: 429,
  }
}
