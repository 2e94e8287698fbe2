import type { Admin, ConsumerGroupJoinEvent, EachBatchPayload, KafkaMessage } from 'kafkajs'
import type {
  ConsumedRecord,
  PollLimits,
  Subscription,
  SubscriptionConfig,
  TopicPartition,
  TopicPartitionOffset,
} from '../../../ports/bus.ts'
import type { OffsetClaim } from '../kafka/both-clients/buffered-transaction.ts'
import { withDeadline } from '../kafka/both-clients/deadline.ts'
import type { KafkaSettings } from '../kafka/both-clients/kafka-config.ts'
import { closedError, notAssigned } from '../kafka/both-clients/kafka-errors.ts'
import { PartitionQueues, queueKey, unpacked } from '../kafka/both-clients/partition-queues.ts'
import { GroupMember } from './group-member.ts'
import { fetchStarts, fetchStates } from './group-offsets.ts'
import { retryPassing, toBusError } from './kafkajs-errors.ts'

const RESTART_BACKOFF_MS = 1_000

export interface SubscriptionDeps {
  readonly admin: Admin
  readonly settings: KafkaSettings
  readonly onOpened: (subscription: GroupSubscription) => void
  /** At once; `leaving` is when nothing of it is left. */
  readonly onClosed: (subscription: GroupSubscription, leaving: Promise<void>) => void
}

/** A subscription that transactions commit offsets for. */
export interface GroupSubscription extends Subscription {
  readonly groupId: string
  /** Throws when the member does not have one of the partitions. */
  claim(offsets: readonly TopicPartitionOffset[]): OffsetClaim
}

/** Joins the group; resolves once it takes part. */
export async function subscribe(deps: SubscriptionDeps, config: SubscriptionConfig): Promise<GroupSubscription> {
  const subscription = new KafkaJsSubscription(deps, config)
  deps.onOpened(subscription)
  try {
    await subscription.start()
    return subscription
  } catch (error) {
    await subscription.close()
    throw toBusError(error, `joining group ${config.groupId}`)
  }
}

/**
 * A member under the eager protocol, the only one of `kafkajs`: it pushes batches, which are kept until they are polled; a partition whose
 * queue is full is paused.
 */
class KafkaJsSubscription implements GroupSubscription {
  readonly groupId: string
  readonly #deps: SubscriptionDeps
  readonly #config: SubscriptionConfig
  readonly #queues: PartitionQueues
  readonly #paused = new Set<string>()
  /** None while one that gave up is replaced. */
  #member: GroupMember | undefined
  #memberId = ''
  #leaving = Promise.resolve()
  #isRebalancing = true
  #joins = 0
  #firstJoin = Promise.withResolvers<void>()
  #closed = false

  constructor(deps: SubscriptionDeps, config: SubscriptionConfig) {
    this.#deps = deps
    this.#config = config
    this.groupId = config.groupId
    this.#queues = new PartitionQueues(deps.settings.clock, deps.settings.maxPrefetchBytes)
    this.#firstJoin.promise.catch(() => undefined)
  }

  async start(): Promise<void> {
    await withDeadline(
      Promise.all([this.#createMember().start(), this.#firstJoin.promise]),
      this.#deps.settings.joinTimeoutMs,
      `joining group ${this.#config.groupId}`,
    )
  }

  async poll(limits: PollLimits): Promise<readonly ConsumedRecord[]> {
    if (this.#closed) return []
    const records = await this.#queues.poll(limits)
    if (this.#closed) return []
    this.#resumeHungry()
    return records
  }

  async commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (offsets.length === 0) return
    const { deliveryTimeoutMs } = this.#deps.settings
    await withDeadline(this.#commit(offsets), deliveryTimeoutMs, `committing offsets of group ${this.#config.groupId}`)
  }

  async seek(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (this.#closed) throw closedError('the subscription')
    const moved = offsets.filter(({ topic, partition }) => this.#queues.get(topic, partition) !== undefined)
    if (moved.length === 0) return
    const topics = [...new Set(moved.map(({ topic }) => topic))]
    const { clock, deliveryTimeoutMs } = this.#deps.settings
    const asked = retryPassing(clock, clock.nowMs() + deliveryTimeoutMs, () => fetchStates(this.#deps.admin, topics))
    const states = await withDeadline(asked, deliveryTimeoutMs, 'asking for offsets')
    for (const { topic, partition, offset } of moved) {
      const state = states.find(known => known.topic === topic && known.partition === partition)!
      this.#moveTo({ topic, partition, offset: Math.min(Math.max(offset, state.startOffset), state.endOffset) })
    }
  }

  claim(offsets: readonly TopicPartitionOffset[]): OffsetClaim {
    return this.#queues.claim(offsets, () => undefined)
  }

  assignment(): readonly TopicPartition[] {
    return this.#queues.all().map(({ topic, partition }) => ({ topic, partition }))
  }

  async close(): Promise<void> {
    if (this.#closed) return this.#leaving
    this.#closed = true
    this.#queues.close()
    this.#firstJoin.reject(closedError('the subscription'))
    this.#leaving = Promise.all([this.#member?.close(), this.#leaving]).then(() => undefined)
    this.#deps.onClosed(this, this.#leaving)
    await this.#leaving
  }

  #createMember(): GroupMember {
    const member = new GroupMember(this.#deps.settings, this.#config, {
      onRebalance: () => {
        if (member === this.#member) this.#isRebalancing = true
      },
      onJoin: join => this.#onJoin(member, join),
      onBatch: payload => this.#take(member, payload),
      onEnd: error => this.#replace(member, error),
    })
    this.#member = member
    return member
  }

  #replace(member: GroupMember, error: Error): void {
    if (this.#closed || member !== this.#member) return
    const { log, clock } = this.#deps.settings
    log.warn({ groupId: this.#config.groupId, problem: error.message }, 'cannot take part in the group, trying again')
    this.#member = undefined
    this.#isRebalancing = true
    this.#lose(this.assignment())
    this.#leaving = member.close()
    const again = async () => {
      await Promise.all([this.#leaving, clock.sleep(RESTART_BACKOFF_MS)])
      if (this.#closed) return
      const next = this.#createMember()
      await next.start().catch((failure: Error) => this.#replace(next, failure))
    }
    void again()
  }

  /**
   * The library would fetch from what is committed: partitions that stay go on where they are, new ones are held until it is known where
   * they start.
   */
  #onJoin(member: GroupMember, { memberId, memberAssignment }: ConsumerGroupJoinEvent['payload']): void {
    if (this.#closed || member !== this.#member) return
    const join = ++this.#joins
    const assigned = Object.entries(memberAssignment).flatMap(([topic, partitions]) => partitions.map(partition => ({ topic, partition })))
    const keys = new Set(assigned.map(({ topic, partition }) => queueKey(topic, partition)))
    // As another member it had been out of the group: what it had may have moved on elsewhere.
    const isSameMember = memberId === this.#memberId
    this.#memberId = memberId
    this.#lose(this.assignment().filter(({ topic, partition }) => !isSameMember || !keys.has(queueKey(topic, partition))))
    for (const { topic, partition, fetchOffset } of this.#queues.all()) member.seek({ topic, partition, offset: fetchOffset })
    const gained = assigned.filter(({ topic, partition }) => this.#queues.get(topic, partition) === undefined)
    member.pause(gained)
    for (const { topic, partition } of gained) this.#paused.add(queueKey(topic, partition))
    this.#isRebalancing = false
    void this.#gain(member, gained, join)
  }

  async #gain(member: GroupMember, gained: readonly TopicPartition[], join: number): Promise<void> {
    const { admin, settings } = this.#deps
    const isCurrent = () => !this.#closed && member === this.#member && join === this.#joins
    while (isCurrent() && gained.length > 0) {
      try {
        const starts = await fetchStarts(admin, this.#config.groupId, gained, this.#config.startFrom ?? 'earliest')
        if (!isCurrent()) return
        for (const start of starts) this.#queues.add(start)
        this.#config.onAssigned?.(gained)
        for (const start of starts) this.#moveTo(start)
        this.#resumeHungry()
        break
      } catch (error) {
        settings.log.warn({ groupId: this.#config.groupId, problem: (error as Error).message }, 'cannot find where to start, trying again')
        await settings.clock.sleep(RESTART_BACKOFF_MS)
      }
    }
    if (isCurrent()) this.#firstJoin.resolve()
  }

  #lose(lost: readonly TopicPartition[]): void {
    if (lost.length === 0) return
    for (const partition of lost) this.#queues.remove(partition)
    if (!this.#closed) this.#config.onRevoked?.(lost)
  }

  #moveTo({ topic, partition, offset }: TopicPartitionOffset): void {
    this.#queues.get(topic, partition)?.seek(offset)
    this.#member?.seek({ topic, partition, offset })
  }

  #take(member: GroupMember, { batch, isStale, isRunning }: EachBatchPayload): void {
    const { topic, partition } = batch
    const queue = this.#queues.get(topic, partition)
    if (member !== this.#member || queue === undefined || isStale() || !isRunning()) return
    const records = batch.messages.map(message => toRecord(topic, partition, message)).filter(({ offset }) => offset >= queue.fetchOffset)
    this.#queues.push(queue, unpacked(records), Number(batch.lastOffset()) + 1)
    if (this.#queues.isHungry(queue)) return
    this.#paused.add(queueKey(topic, partition))
    member.pause([queue])
  }

  #resumeHungry(): void {
    for (const queue of this.#queues.all()) {
      const key = queueKey(queue.topic, queue.partition)
      if (!this.#paused.has(key) || !this.#queues.isHungry(queue)) continue
      this.#paused.delete(key)
      this.#member?.resume([queue])
    }
  }

  /** The library would commit under whatever generation it is in by then: whether the partition is still ours is checked before and after. */
  async #commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    const { clock, deliveryTimeoutMs } = this.#deps.settings
    const deadlineMs = clock.nowMs() + deliveryTimeoutMs
    while (this.#isRebalancing && !this.#closed && clock.nowMs() < deadlineMs) await clock.sleep(20)
    this.#expectAssigned(offsets)
    await this.#member!.commit(offsets)
    this.#expectAssigned(offsets)
    for (const { topic, partition, offset } of offsets) this.#queues.get(topic, partition)!.noteCommitted(offset)
  }

  #expectAssigned(partitions: readonly TopicPartition[]): void {
    if (this.#closed) throw closedError('the subscription')
    for (const { topic, partition } of partitions) if (this.#queues.get(topic, partition) === undefined) throw notAssigned(topic, partition)
  }
}

const NO_BYTES = Buffer.alloc(0)

function toRecord(topic: string, partition: number, { offset, timestamp, key, value, headers }: KafkaMessage): ConsumedRecord {
  const texts = Object.entries(headers ?? {}).map(([name, content]) => [name, String(content ?? '')] as const)
  return {
    topic,
    partition,
    offset: Number(offset),
    timestampMs: Number(timestamp),
    key: key?.toString() ?? '',
    value: value ?? NO_BYTES,
    headers: Object.fromEntries(texts),
  }
}
