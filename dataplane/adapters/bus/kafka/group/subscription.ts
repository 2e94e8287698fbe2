import type {
  ConsumedRecord,
  PollLimits,
  Subscription,
  SubscriptionConfig,
  TopicPartition,
  TopicPartitionOffset,
} from '../../../../ports/bus.ts'
import type { OffsetClaim } from '../both-clients/buffered-transaction.ts'
import { closedError, notAssigned, unknownTopic } from '../both-clients/kafka-errors.ts'
import { PartitionQueues, queueKey } from '../both-clients/partition-queues.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Fetcher } from '../fetch/fetcher.ts'
import { GroupMember, type Membership } from './group-member.ts'
import { commitOffsets, EARLIEST, fetchCommitted, LATEST, listOffsets } from './group-offsets.ts'

/** A subscription, and who it is within its group: transactions commit offsets in its name. */
export interface GroupSubscription extends Subscription {
  readonly groupId: string
  membership(): Membership | undefined
  /** Throws when the member does not have one of the partitions. */
  claim(offsets: readonly TopicPartitionOffset[]): OffsetClaim
}

/** Joins the group; resolves once it takes part. */
export async function subscribe(
  cluster: Cluster,
  config: SubscriptionConfig,
  onClosed: (subscription: GroupSubscription) => void,
): Promise<GroupSubscription> {
  for (const topic of config.topics)
    if (!cluster.has(topic))
      throw unknownTopic(
        topic,
        cluster.settings.topics.map(({ name }) => name),
      )
  const subscription = new KafkaSubscription(cluster, config, onClosed)
  try {
    await subscription.start()
    return subscription
  } catch (error) {
    await subscription.close()
    throw error
  }
}

class KafkaSubscription implements GroupSubscription {
  readonly groupId: string
  readonly #cluster: Cluster
  readonly #config: SubscriptionConfig
  readonly #onClosed: (subscription: GroupSubscription) => void
  readonly #queues: PartitionQueues
  readonly #fetcher: Fetcher
  readonly #member: GroupMember
  /** Partitions of which it is being found out where they start, each with the attempt that does. */
  readonly #gaining = new Map<string, symbol>()
  #settled: (() => void) | undefined
  #closed = false

  constructor(cluster: Cluster, config: SubscriptionConfig, onClosed: (subscription: GroupSubscription) => void) {
    const { clock, maxPrefetchBytes } = cluster.settings
    this.groupId = config.groupId
    this.#cluster = cluster
    this.#config = config
    this.#onClosed = onClosed
    this.#queues = new PartitionQueues(clock, maxPrefetchBytes)
    this.#fetcher = new Fetcher({ cluster, queues: this.#queues, resetOffset: queue => this.#firstOffset(queue) })
    this.#member = new GroupMember({
      cluster,
      groupId: config.groupId,
      topics: config.topics,
      standsBy: config.standsBy ?? false,
      onGained: partitions => this.#gain(partitions),
      onLeaving: partitions => this.#letGo(partitions),
      onLost: partitions => this.#lose(partitions),
    })
  }

  async start(): Promise<void> {
    await this.#member.start()
  }

  membership(): Membership | undefined {
    return this.#member.membership()
  }

  claim(offsets: readonly TopicPartitionOffset[]): OffsetClaim {
    return this.#queues.claim(offsets, () => this.#settled?.())
  }

  async poll(limits: PollLimits): Promise<readonly ConsumedRecord[]> {
    if (this.#closed) return []
    this.#fetcher.pump()
    const records = await this.#queues.poll(limits)
    if (this.#closed) return []
    this.#fetcher.pump()
    return records
  }

  async commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (this.#closed) throw closedError('the subscription')
    if (offsets.length === 0) return
    const { clock, deliveryTimeoutMs } = this.#cluster.settings
    const deadlineMs = clock.nowMs() + deliveryTimeoutMs
    await this.#cluster.retry(deadlineMs, `committing offsets of group ${this.groupId}`, async () => {
      for (const { topic, partition } of offsets) if (!this.#member.owns(topic, partition)) throw notAssigned(topic, partition)
      const membership = this.#member.membership()
      if (membership === undefined) throw new Error('the group is being rebalanced')
      await commitOffsets(this.#cluster, this.groupId, membership, this.#queues.passMarkers(offsets))
    })
    for (const { topic, partition, offset } of offsets) this.#queues.get(topic, partition)?.noteCommitted(offset)
    this.#settled?.()
  }

  async seek(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (this.#closed) throw closedError('the subscription')
    const moved = offsets.filter(({ topic, partition }) => this.#queues.get(topic, partition) !== undefined)
    if (moved.length === 0) return
    const deadlineMs = this.#cluster.settings.clock.nowMs() + this.#cluster.settings.deliveryTimeoutMs
    const [starts, ends] = await Promise.all([
      listOffsets(this.#cluster, moved, EARLIEST, deadlineMs).then(byPartition),
      listOffsets(this.#cluster, moved, LATEST, deadlineMs).then(byPartition),
    ])
    for (const { topic, partition, offset } of moved) {
      const key = queueKey(topic, partition)
      this.#queues.get(topic, partition)?.seek(Math.min(Math.max(offset, starts.get(key) ?? 0), ends.get(key) ?? offset))
    }
    this.#fetcher.pump()
  }

  assignment(): readonly TopicPartition[] {
    return this.#queues.all().map(({ topic, partition }) => ({ topic, partition }))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#settled?.()
    this.#fetcher.close()
    this.#queues.close()
    this.#onClosed(this)
    await this.#member.stop()
  }

  async #gain(partitions: readonly TopicPartition[]): Promise<void> {
    const attempt = Symbol('attempt')
    for (const { topic, partition } of partitions) this.#gaining.set(queueKey(topic, partition), attempt)
    const starts = await this.#startOffsets(partitions)
    if (this.#closed) return
    // Some may be lost again by now.
    const gained = starts.filter(({ topic, partition }) => this.#gaining.get(queueKey(topic, partition)) === attempt)
    for (const start of gained) {
      this.#gaining.delete(queueKey(start.topic, start.partition))
      this.#queues.add(start)
    }
    this.#config.onAssigned?.(gained.map(({ topic, partition }) => ({ topic, partition })))
    this.#fetcher.pump()
  }

  /**
   * Where partitions start: at the committed offset, which is waited for while a transaction that holds it is being ended, as the
   * offset before it would hand records out twice.
   */
  async #startOffsets(partitions: readonly TopicPartition[]): Promise<readonly TopicPartitionOffset[]> {
    const { clock, transactionTimeoutMs, deliveryTimeoutMs } = this.#cluster.settings
    const patienceMs = Math.max(transactionTimeoutMs, deliveryTimeoutMs)
    const committed = await fetchCommitted(this.#cluster, this.groupId, clock.nowMs() + patienceMs, partitions)
    const known = byPartition(committed)
    const fresh = partitions.filter(({ topic, partition }) => !known.has(queueKey(topic, partition)))
    if (fresh.length === 0) return committed
    const from = this.#config.startFrom === 'latest' ? LATEST : EARLIEST
    return [...committed, ...(await listOffsets(this.#cluster, fresh, from, clock.nowMs() + deliveryTimeoutMs))]
  }

  /** Hands nothing more out, and waits until what was handed out is committed. */
  async #letGo(partitions: readonly TopicPartition[]): Promise<void> {
    const { clock, handoverMs } = this.#cluster.settings
    const queues = partitions.flatMap(({ topic, partition }) => this.#queues.get(topic, partition) ?? [])
    for (const queue of queues) queue.isHeld = true
    const timer = new AbortController()
    let isLate = false
    const late = clock.sleep(handoverMs, timer.signal).then(() => {
      isLate = true
    })
    while (!queues.every(queue => queue.isSettled()) && !isLate && !this.#closed) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#settled = resolve
      await Promise.race([promise, late])
    }
    this.#settled = undefined
    timer.abort()
  }

  #lose(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) {
      this.#gaining.delete(queueKey(partition.topic, partition.partition))
      this.#queues.remove(partition)
    }
    if (!this.#closed) this.#config.onRevoked?.(partitions)
  }

  async #firstOffset(partition: TopicPartition): Promise<number> {
    const { clock, deliveryTimeoutMs } = this.#cluster.settings
    const [found] = await listOffsets(this.#cluster, [partition], EARLIEST, clock.nowMs() + deliveryTimeoutMs)
    return found!.offset
  }
}

const byPartition = (offsets: readonly TopicPartitionOffset[]) =>
  new Map(offsets.map(({ topic, partition, offset }) => [queueKey(topic, partition), offset]))
