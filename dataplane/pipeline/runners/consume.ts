/** Polls, processes and commits batches in order: the loop of both runners. */
import type { ConsumedRecord, PollLimits, Subscription } from '../../ports/bus.ts'
import { openReader } from './reader.ts'
import { type AfterCommit, LeftUndone, type RunnerDeps } from './work.ts'

/** A batch under way. */
export interface Batch {
  /** The work's own part; rejects when it fails. */
  readonly output: Promise<AfterCommit | undefined>
  /** Makes it final, once `output` is there and all batches before are final. */
  commit(): Promise<void>
  /** Called instead of `commit` when this batch or one before has failed. */
  giveUp(): Promise<void>
}

/** Hands a batch to the work; resolves when the work has it. */
export type StartBatch = (records: readonly ConsumedRecord[], subscription: Subscription) => Promise<Batch>

/**
 * Consumes until `signal` aborts and what was under way is committed. Several batches are under way, and committed in their order.
 * Rejects with the first failure, with nothing committed from the failed batch on: the next run starts there again.
 */
export async function consume({ bus, clock, work, signal }: RunnerDeps, start: StartBatch): Promise<void> {
  const { maxInFlight = 2, maxUncommitted = maxInFlight, minBatchMs = 0, memory, limits } = work
  const reader = await openReader(bus, work)
  const inFlight = new Set<Promise<unknown>>()
  const uncommitted: Promise<void>[] = []
  let failure: { readonly error: unknown } | undefined
  let committed: Promise<void> = Promise.resolve()
  const fail = (error: unknown) => {
    if (failure === undefined || failure.error instanceof LeftUndone) failure = { error }
  }
  const settle = async () => {
    work.leave?.()
    await Promise.all(uncommitted.splice(0))
    if (!(failure?.error instanceof LeftUndone)) return
    failure = undefined
    committed = Promise.resolve()
  }
  try {
    await work.prepare?.()
    while (!signal.aborted && failure === undefined) {
      const polled = await reader.poll(limits)
      if (polled.kind === 'moved') {
        await settle()
        memory?.reset()
        await reader.rewind()
        continue
      }
      const { repeated, fresh } = polled
      if (repeated.length > 0) await memory?.restore(repeated)
      if (fresh.length === 0 && repeated.length === 0) await work.idle?.()
      if (fresh.length === 0 || reader.hasMoved() || failure !== undefined) continue
      const paced = isSmall(fresh, limits) ? clock.sleep(minBatchMs, signal) : undefined
      const batch = await start(fresh, reader.subscription)
      keepUntilSettled(inFlight, batch.output)
      committed = commitAfter(committed, batch)
      uncommitted.push(committed.catch(fail))
      if (uncommitted.length >= maxUncommitted) await uncommitted.shift()
      while (inFlight.size >= maxInFlight) await Promise.race(inFlight)
      await paced
    }
    await settle()
  } finally {
    await reader.subscription.close()
  }
  if (failure !== undefined) throw failure.error
}

function keepUntilSettled(set: Set<Promise<unknown>>, promise: Promise<unknown>): void {
  const settled: Promise<unknown> = promise.catch(() => undefined).then(() => set.delete(settled))
  set.add(settled)
}

async function commitAfter(before: Promise<void>, batch: Batch): Promise<void> {
  try {
    const [, afterCommit] = await Promise.all([before, batch.output])
    await batch.commit()
    afterCommit?.()
  } catch (error) {
    await batch.giveUp()
    throw error
  }
}

/** Less than half of what one poll may return: more would have been better. */
function isSmall(records: readonly ConsumedRecord[], { maxRecords, maxBytes }: PollLimits): boolean {
  if (records.length > maxRecords / 2) return false
  let bytes = 0
  for (const { value } of records) bytes += value.length
  return bytes < maxBytes / 2
}
