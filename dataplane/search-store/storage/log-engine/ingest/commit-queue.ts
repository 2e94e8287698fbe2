/** Gathers writes into batches. */
import type { Creations, WriteError, WriteOp, WriteOutcome } from '../../index-storage.ts'

/** The commit could not be made durable and was taken back whole. */
export interface CommitFailure {
  readonly failure: WriteError
}

/** Runs one commit after the other. Writes that arrive meanwhile go into the next commit together. */
export interface CommitQueue {
  /** The outcome of a creation that went well has no sequence number. */
  apply(writes: Writes): Promise<readonly WriteOutcome[]>
  /** Runs something between two commits. */
  exclusive<T>(task: () => Promise<T>): Promise<T>
  /** Waits for writes that were accepted, and refuses later ones. */
  close(): Promise<void>
}

/** Most operations and bytes of one commit. */
export const MAX_COMMIT_OPS = 8192
const MAX_COMMIT_BYTES = 32 << 20

export type Writes = readonly WriteOp[] | Creations

/** Writes that go into one commit: those of a caller from one position to another. */
export interface Share {
  readonly writes: Writes
  readonly from: number
  readonly to: number
}

interface Waiting {
  readonly writes: Writes
  readonly count: number
  readonly outcomes: WriteOutcome[]
  readonly resolve: (outcomes: readonly WriteOutcome[]) => void
  readonly reject: (error: unknown) => void
}

type Commit = (shares: readonly Share[]) => Promise<readonly WriteOutcome[] | CommitFailure>

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
    try {
      const result = await commit(shares)
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
      if (task.outcomes.length < task.count) continue
      remove(waiting, task)
      task.resolve(task.outcomes)
    }
  }

  return {
    exclusive,
    apply(writes) {
      if (isClosed) return Promise.reject(new Error(`index ${name} is closed`))
      const count = isList(writes) ? writes.length : writes.count
      if (count === 0) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        waiting.push({ writes, count, outcomes: [], resolve, reject })
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

interface TaskShare extends Share {
  readonly task: Waiting
}

function takeShares(waiting: readonly Waiting[]): TaskShare[] {
  const shares: TaskShare[] = []
  let ops = 0
  let bytes = 0
  for (const task of waiting) {
    const { writes, count } = task
    const from = task.outcomes.length
    let to = from
    while (to < count && ops < MAX_COMMIT_OPS && bytes < MAX_COMMIT_BYTES) {
      bytes += isList(writes) ? sizeOf(writes[to]!) : sizeOfCreation(writes, to)
      to++
      ops++
    }
    if (to > from) shares.push({ task, writes, from, to })
    if (to < count) break
  }
  return shares
}

/** `Array.isArray` does not tell read-only arrays. */
export const isList = (writes: Writes): writes is readonly WriteOp[] => Array.isArray(writes)

const sizeOfCreation = ({ places }: Creations, k: number): number => places[3 * k + 2]! - places[3 * k + 1]!

function sizeOf(op: WriteOp): number {
  if (op.action === 'delete') return 0
  return op.action === 'update' ? op.partial.length + (op.upsert?.length ?? 0) : op.source.length
}

function remove(waiting: Waiting[], task: Waiting): void {
  const at = waiting.indexOf(task)
  if (at >= 0) waiting.splice(at, 1)
}
