/** A subscription through Kafka's cooperative group protocol: joins a `GroupMember` to the `Fetcher` that reads for its partitions. */
import {
  notAssigned,
  type PartitionState,
  type SubscriptionConfig,
  type TopicPartition,
  type TopicPartitionOffset,
} from '../../../../ports/bus.ts'
import { type OnClosed, QueuedSubscription } from '../both-clients/queued-subscription.ts'
import { queueKey, withinLog } from '../both-clients/topic-partitions.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Fetcher } from '../fetch/fetcher.ts'
import { GroupMember, type Membership } from './group-member.ts'
import { commitOffsets, EARLIEST, fetchCommitted, fetchStates, LATEST, listOffsets } from './group-offsets.ts'

export class GroupSubscription extends QueuedSubscription {
  readonly #cluster: Cluster
  readonly #fetcher: Fetcher
  readonly #member: GroupMember
  /** Partitions of which it is being found out where they start, each with the attempt that does. */
  readonly #gaining = new Map<string, symbol>()

  constructor(cluster: Cluster, config: SubscriptionConfig, onClosed: OnClosed) {
    super(cluster.settings, config, onClosed)
    this.#cluster = cluster
    this.#fetcher = new Fetcher({
      ...{ cluster, queues: this.queues },
      resetOffset: queue => this.#firstOffset(queue),
      startOver: queues => this.#member.startOver(queues),
    })
    this.#member = new GroupMember({
      cluster,
      groupId: config.groupId,
      topics: config.topics,
      standsBy: config.standsBy ?? false,
      onGained: partitions => this.#gain(partitions),
      onLeaving: partitions => this.queues.letGo(partitions, cluster.settings.handoverMs),
      onLost: partitions => this.lose(partitions),
    })
  }

  start(): Promise<void> {
    return this.#member.start()
  }

  /** Its identity within its group: transactions commit offsets in this name. Undefined while the group is being rebalanced. */
  membership(): Membership | undefined {
    return this.#member.membership()
  }

  protected refill(): void {
    this.#fetcher.pump()
  }

  protected store(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    return this.#cluster.retry(this.#cluster.deadlineMs(), `committing offsets of group ${this.groupId}`, async () => {
      for (const { topic, partition } of offsets) if (!this.#member.owns(topic, partition)) throw notAssigned(topic, partition)
      const membership = this.#member.membership()
      if (membership === undefined) throw new Error('the group is being rebalanced')
      await commitOffsets(this.#cluster, this.groupId, membership, this.queues.passMarkers(offsets))
    })
  }

  protected statesOf(partitions: readonly TopicPartition[]): Promise<readonly PartitionState[]> {
    return fetchStates(this.#cluster, partitions, this.#cluster.deadlineMs())
  }

  protected leave(): Promise<void> {
    this.#fetcher.close()
    return this.#member.stop()
  }

  protected override lose(partitions: readonly TopicPartition[]): void {
    for (const { topic, partition } of partitions) this.#gaining.delete(queueKey(topic, partition))
    super.lose(partitions)
  }

  async #gain(partitions: readonly TopicPartition[]): Promise<void> {
    const attempt = Symbol('attempt')
    for (const { topic, partition } of partitions) this.#gaining.set(queueKey(topic, partition), attempt)
    const starts = await this.#startOffsets(partitions)
    if (this.isClosed) return
    // Some may be lost again by now.
    const gained = starts.filter(({ topic, partition }) => this.#gaining.get(queueKey(topic, partition)) === attempt)
    for (const start of gained) {
      this.#gaining.delete(queueKey(start.topic, start.partition))
      this.queues.add(start)
    }
    this.config.onAssigned?.(gained.map(({ topic, partition }) => ({ topic, partition })))
    this.refill()
  }

  /**
   * Where partitions start: at the committed offset, which is waited for while a transaction that holds it is being ended, as the
   * offset before it would hand records out twice.
   */
  async #startOffsets(partitions: readonly TopicPartition[]): Promise<readonly TopicPartitionOffset[]> {
    const { transactionTimeoutMs, deliveryTimeoutMs } = this.settings
    const patienceMs = Math.max(transactionTimeoutMs, deliveryTimeoutMs)
    const committed = await fetchCommitted(this.#cluster, this.groupId, this.#cluster.deadlineIn(patienceMs), partitions)
    const ends = await listOffsets(this.#cluster, partitions, LATEST, this.#cluster.deadlineMs())
    const starts = withinLog(committed, ends)
    if (starts.length < committed.length)
      this.settings.log.warn({ groupId: this.groupId }, 'Kafka has fewer records than the group has committed, all of them are read')
    const known = new Set(starts.map(({ topic, partition }) => queueKey(topic, partition)))
    const fresh = partitions.filter(({ topic, partition }) => !known.has(queueKey(topic, partition)))
    if (fresh.length === 0) return starts
    const from = this.config.startFrom === 'latest' ? LATEST : EARLIEST
    return [...starts, ...(await listOffsets(this.#cluster, fresh, from, this.#cluster.deadlineMs()))]
  }

  async #firstOffset(partition: TopicPartition): Promise<number> {
    const [found] = await listOffsets(this.#cluster, [partition], EARLIEST, this.#cluster.deadlineMs())
    return found!.offset
  }
}
