/** The interface between a step of the pipeline and the runners that keep its offsets. */
import type { Bus, ConsumedRecord, PollLimits, SubscriptionConfig, TopicPartition, TopicPartitionOffset } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'

/** Runs after the offsets of a batch are committed: the place to count, so that nothing is counted twice by a retry. */
export type AfterCommit = () => void

/** Where a batch's output goes: the bus, or a transaction of it. */
export interface Output extends Pick<Bus, 'send'> {
  /** Records are read until the batch is committed, as a transaction reads them: their memory must stay as it is. Default: until `send` resolves. */
  readonly keepsRecords?: boolean
}

/** Rejects a batch that the work does not finish, as `leave` asked for: it is handed out again. */
export class LeftUndone extends Error {
  constructor() {
    super('left undone: the partitions have changed, or the program stops')
    this.name = 'LeftUndone'
  }
}

/** One step of the pipeline with its input and output, independent of how offsets are kept. */
export interface Work {
  readonly subscription: Omit<SubscriptionConfig, 'startFrom' | 'onAssigned' | 'onRevoked'>
  readonly limits: PollLimits
  /**
   * Shortest time from one batch to the next, ms: larger batches cost less per record. A batch that reached its limits is followed at once.
   * Default 0.
   */
  readonly minBatchMs?: number
  /** Batches under way at once, so that computing one overlaps with writing another. Default 2. */
  readonly maxInFlight?: number
  /** Batches that are not committed yet at once: more than `maxInFlight` lets a slow one be overtaken. Default `maxInFlight`. */
  readonly maxUncommitted?: number
  /** Restores the state that the work keeps in memory; absent: the work keeps none. */
  readonly memory?: Memory
  /** Called once, before the first poll. */
  prepare?(): Promise<void>
  /**
   * Handles one batch; resolves once its output is sent. It is called again before it has resolved (see `maxInFlight`),
   * always in the order of the records. A batch that failed is handed out again, to a new `Work`: at least once, output must be idempotent.
   */
  handle(records: readonly ConsumedRecord[], output: Output): Promise<AfterCommit | undefined>
  /** Called after each poll that found nothing. */
  idle?(): Promise<void>
  /** Partitions came or went, or the program stops: batches that would take long may reject with `LeftUndone`. */
  leave?(): void
}

/** State that follows from the records handled so far. */
export interface Memory {
  /** How many records before the committed offset are read again, per partition. */
  readonly records: number
  /** How many of `records` a message of the bus holds; default: it is one. */
  weigh?(message: ConsumedRecord): number
  /** Forgets everything: the partitions of this member are others than before. */
  reset(): void
  /** Takes records that are read again, in order, and emits nothing for them. */
  restore(records: readonly ConsumedRecord[]): Promise<void>
}

export interface RunnerDeps {
  readonly bus: Bus
  readonly clock: Clock
  readonly work: Work
  readonly signal: AbortSignal
}

/** The same work; `ready` is called once its state is restored. */
export function withReady(work: Work, ready: () => void): Work {
  return {
    ...work,
    async prepare() {
      await work.prepare?.()
      ready()
    },
  }
}

/** The offsets to commit once all of `records` is done: per partition the last one plus one. */
export function nextOffsets(records: readonly ConsumedRecord[]): readonly TopicPartitionOffset[] {
  const next = new Map<string, TopicPartition & { offset: number }>()
  let last: (TopicPartition & { offset: number }) | undefined
  for (const { topic, partition, offset } of records) {
    // Records of one partition mostly follow each other.
    if (last === undefined || last.partition !== partition || last.topic !== topic) {
      const id = `${topic}/${partition}`
      last = next.get(id) ?? { topic, partition, offset: 0 }
      next.set(id, last)
    }
    last.offset = Math.max(last.offset, offset + 1)
  }
  return [...next.values()]
}
