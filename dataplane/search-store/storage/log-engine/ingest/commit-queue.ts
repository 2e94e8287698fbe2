/** Gathers writes into batches. */
import type { WriteError, WriteOp, WriteOutcome } from '../../index-storage.ts'

/** The commit could not be made durable and was taken back whole. */
export interface CommitFailure {
  readonly failure: WriteError
}

/** Runs one commit after the other. Writes that arrive meanwhile go into the next commit together. */
export interface CommitQueue {
  apply(ops: readonly WriteOp[]): Promise<readonly WriteOutcome[]>
  /** Runs something between two commits. */
  exclusive<T>(task: () => Promise<T>): Promise<T>
  /** Waits for writes that were accepted, and refuses later ones. */
  close(): Promise<void>
}

/** Most operations and bytes of one commit. */
export const MAX_COMMIT_OPS = 8192
const MAX_COMMIT_BYTES = 32 << 20

interface Waiting {
  readonly ops: readonly WriteOp[]
  readonly outcomes: WriteOutcome[]
  readonly resolve: (outcomes: readonly WriteOutcome[]) => void
  readonly reject: (error: unknown) => void
}

type Commit = (ops: readonly WriteOp[]) => Promise<readonly WriteOutcome[] | CommitFailure>

export function createCommitQueue(name: string, commit: Commit): CommitQueue {
  const waiting: Waiting[] = []
  let isRunning = false
  let isClosed = false
  let turn: Promise<unknown> = Promise.resolve()

  function exclusive<T>(task: () => Promise<T>): Promise<T> {
    const result = turn.then(task)
    turn = result.catch(() => undefined)
    return result
  }

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) await exclusive(commitNext)
    isRunning = false
  }

  async function commitNext(): Promise<void> {
    const shares = takeShares(waiting)
    const ops = shares.flatMap(({ task, from, to }) => task.ops.slice(from, to))
    try {
      const result = await commit(ops)
      let at = 0
      for (const { task, from, to } of shares) {
        for (let k = from; k < to; k++, at++) task.outcomes.push('failure' in result ? { error: result.failure } : result[at]!)
      }
    } catch (error) {
      for (const task of new Set(shares.map(share => share.task))) {
        remove(waiting, task)
        task.reject(error)
      }
      return
    }
    for (const { task } of shares) {
      if (task.outcomes.length < task.ops.length) continue
      remove(waiting, task)
      task.resolve(task.outcomes)
    }
  }

  return {
    exclusive,
    apply(ops) {
      if (isClosed) return Promise.reject(new Error(`index ${name} is closed`))
      if (ops.length === 0) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        waiting.push({ ops, outcomes: [], resolve, reject })
        if (!isRunning) void run()
      })
    },
    async close() {
      isClosed = true
      while (isRunning) await exclusive(async () => undefined)
      await turn
    },
  }
}

interface Share {
  readonly task: Waiting
  readonly from: number
  readonly to: number
}

function takeShares(waiting: readonly Waiting[]): Share[] {
  const shares: Share[] = []
  let ops = 0
  let bytes = 0
  for (const task of waiting) {
    const from = task.outcomes.length
    let to = from
    while (to < task.ops.length && ops < MAX_COMMIT_OPS && bytes < MAX_COMMIT_BYTES) {
      bytes += sizeOf(task.ops[to++]!)
      ops++
    }
    if (to > from) shares.push({ task, from, to })
    if (to < task.ops.length) break
  }
  return shares
}

function sizeOf(op: WriteOp): number {
  if (op.action === 'delete') return 0
  return op.action === 'update' ? op.partial.length + (op.upsert?.length ?? 0) : op.source.length
}

function remove(waiting: Waiting[], task: Waiting): void {
  const at = waiting.indexOf(task)
  if (at >= 0) waiting.splice(at, 1)
}
