/** The part of a subscription that is alike with either client: records that were read ahead wait in queues until they are polled. */
import {
  type ConsumedRecord,
  closedError,
  type PartitionState,
  type PollLimits,
  type Subscription,
  type SubscriptionConfig,
  type TopicPartition,
  type TopicPartitionOffset,
} from '../../../../ports/bus.ts'
import type { GroupClaim } from './buffered-transaction.ts'
import type { KafkaSettings } from './kafka-config.ts'
import { PartitionQueues } from './partition-queues.ts'
import { withSoundTimes } from './record-time.ts'

/** Called as it begins to close; `leaving` resolves when nothing of the subscription is left. */
export type OnClosed = (leaving: Promise<void>) => void

export abstract class QueuedSubscription implements Subscription {
  protected readonly settings: KafkaSettings
  protected readonly config: SubscriptionConfig
  protected readonly queues: PartitionQueues
  protected isClosed = false
  readonly #onClosed: OnClosed
  #leaving: Promise<void> | undefined

  constructor(settings: KafkaSettings, config: SubscriptionConfig, onClosed: OnClosed) {
    this.settings = settings
    this.config = config
    this.queues = new PartitionQueues(settings.clock, settings.maxPrefetchBytes)
    this.#onClosed = onClosed
  }

  get groupId(): string {
    return this.config.groupId
  }

  /** Joins the group; resolves once the member takes part. */
  abstract start(): Promise<void>
  /** Has records read for the queues that are low. */
  protected abstract refill(): void
  /** Commits offsets, or rejects, within the time for deliveries. */
  protected abstract store(offsets: readonly TopicPartitionOffset[]): Promise<void>
  /** Offsets that Kafka keeps of these partitions, and maybe of others. */
  protected abstract statesOf(partitions: readonly TopicPartition[]): Promise<readonly PartitionState[]>
  /** Leaves the group, in time. */
  protected abstract leave(): Promise<void>

  async poll(limits: PollLimits): Promise<readonly ConsumedRecord[]> {
    if (this.isClosed) return []
    this.refill()
    const records = await this.queues.poll(limits)
    if (this.isClosed) return []
    this.refill()
    return withSoundTimes(records, this.settings.clock.nowMs())
  }

  async commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (this.isClosed) throw closedError('the subscription')
    if (offsets.length === 0) return
    await this.store(offsets)
    this.queues.noteCommitted(offsets)
  }

  /** For a transaction. Throws when the member does not have one of the partitions. */
  claim(offsets: readonly TopicPartitionOffset[]): GroupClaim {
    return this.queues.claim(offsets)
  }

  async seek(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (this.isClosed) throw closedError('the subscription')
    const moved = offsets.filter(({ topic, partition }) => this.queues.get(topic, partition) !== undefined)
    if (moved.length === 0) return
    const states = await this.statesOf(moved)
    for (const { topic, partition, offset } of moved) {
      const { startOffset, endOffset } = states.find(state => state.topic === topic && state.partition === partition)!
      this.moveTo({ topic, partition, offset: Math.min(Math.max(offset, startOffset), endOffset) })
    }
    this.refill()
  }

  assignment(): readonly TopicPartition[] {
    return this.queues.all().map(({ topic, partition }) => ({ topic, partition }))
  }

  close(): Promise<void> {
    if (this.#leaving !== undefined) return this.#leaving
    this.isClosed = true
    this.queues.close()
    this.#leaving = this.leave()
    this.#onClosed(this.#leaving)
    return this.#leaving
  }

  protected moveTo({ topic, partition, offset }: TopicPartitionOffset): void {
    this.queues.get(topic, partition)?.seek(offset)
  }

  protected lose(partitions: readonly TopicPartition[]): void {
    if (partitions.length === 0) return
    for (const partition of partitions) this.queues.remove(partition)
    if (!this.isClosed) this.config.onRevoked?.(partitions)
  }
}
