import type { Bus, ConsumedRecord, PollLimits, Subscription, SubscriptionConfig, TopicPartitionOffset } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'

/** Runs after the offsets of a batch are committed: the place to count, so that nothing is counted twice by a retry. */
export type AfterCommit = () => void

/** One step of the pipeline with its input and output, independent of how offsets are kept. */
export interface Work {
  readonly subscription: SubscriptionConfig
  readonly limits: PollLimits
  /**
   * Shortest time from one batch to the next, ms: larger batches cost less per record. A batch that reached its limits is followed at once.
   * Default 0.
   */
  readonly minBatchMs?: number
  /** Batches under way at once, so that computing one overlaps with writing another. Default 2. */
  readonly maxInFlight?: number
  /** Called once, before the first poll: the place to restore state. */
  prepare?(subscription: Subscription): Promise<void>
  /**
   * Handles one batch; resolves once its output is durable. It is called again before it has resolved (see `maxInFlight`),
   * always in the order of the records. Output must be idempotent: a batch that failed is handed out again.
   */
  handle(records: readonly ConsumedRecord[]): Promise<AfterCommit | undefined>
}

export interface AtLeastOnceDeps {
  readonly bus: Bus
  readonly clock: Clock
  readonly work: Work
  readonly signal: AbortSignal
}

/**
 * Consumes, processes, waits for the output, then commits; resolves when `signal` aborts and what was under way is committed.
 * Rejects with the first failure, with nothing committed from the failed batch on: the next run starts there again.
 */
export async function runAtLeastOnce({ bus, clock, work, signal }: AtLeastOnceDeps): Promise<void> {
  const { maxInFlight = 2, minBatchMs = 0 } = work
  const subscription = await bus.subscribe(work.subscription)
  const inFlight: Promise<void>[] = []
  let failure: { readonly error: unknown } | undefined
  let committed: Promise<void> = Promise.resolve()
  try {
    await work.prepare?.(subscription)
    while (!signal.aborted && failure === undefined) {
      const records = await subscription.poll(work.limits)
      if (records.length === 0) continue
      const paced = isSmall(records, work.limits) ? clock.sleep(minBatchMs, signal) : undefined
      const output = work.handle(records)
      committed = commitInOrder(committed, output, () => subscription.commit(nextOffsets(records)))
      const settled = committed.catch(error => {
        failure ??= { error }
      })
      inFlight.push(settled)
      if (inFlight.length >= maxInFlight) await inFlight.shift()
      await paced
    }
    await Promise.all(inFlight)
  } finally {
    await subscription.close()
  }
  if (failure !== undefined) throw failure.error
}

/** Less than half of what one poll may return: more would have been better. */
function isSmall(records: readonly ConsumedRecord[], { maxRecords, maxBytes }: PollLimits): boolean {
  if (records.length > maxRecords / 2) return false
  let bytes = 0
  for (const { value } of records) bytes += value.length
  return bytes < maxBytes / 2
}

async function commitInOrder(before: Promise<void>, output: Promise<AfterCommit | undefined>, commit: () => Promise<void>): Promise<void> {
  const [, afterCommit] = await Promise.all([before, output])
  await commit()
  afterCommit?.()
}

/** The offsets to commit once all of `records` is done: per partition the last one plus one. */
export function nextOffsets(records: readonly ConsumedRecord[]): readonly TopicPartitionOffset[] {
  const next = new Map<string, TopicPartitionOffset>()
  for (const { topic, partition, offset } of records) {
    const id = `${topic}/${partition}`
    const seen = next.get(id)
    if (seen === undefined || seen.offset <= offset) next.set(id, { topic, partition, offset: offset + 1 })
  }
  return [...next.values()]
}
