/** A subscription through the eager group protocol, the only one of `kafkajs`. */

import type { Admin, Batch, ConsumerGroupJoinEvent, EachBatchPayload } from 'kafkajs'
import {
  closedError,
  notAssigned,
  type PartitionState,
  type SubscriptionConfig,
  type TopicPartition,
  type TopicPartitionOffset,
} from '../../../ports/bus.ts'
import { monotonicMs } from '../../../ports/clock.ts'
import { withDeadline } from '../kafka/both-clients/deadline.ts'
import type { KafkaSettings } from '../kafka/both-clients/kafka-config.ts'
import { type PartitionQueue, unpacked } from '../kafka/both-clients/partition-queues.ts'
import { type OnClosed, QueuedSubscription } from '../kafka/both-clients/queued-subscription.ts'
import { queueKey } from '../kafka/both-clients/topic-partitions.ts'
import type { FetchedMessage } from './fetch-answer.ts'
import { GroupMember } from './group-member.ts'
import { fetchStarts, fetchStates } from './group-offsets.ts'
import { retryPassing, toBusError } from './kafkajs-errors.ts'

const RESTART_BACKOFF_MS = 1_000

/** The library pushes batches, which are kept until they are polled; a partition whose queue is full is paused. */
export class KafkaJsSubscription extends QueuedSubscription {
  readonly #admin: Admin
  readonly #paused = new Set<string>()
  /** None while one that gave up is replaced. */
  #member: GroupMember | undefined
  #memberId = ''
  /** The end of the member that gave up. */
  #ending = Promise.resolve()
  #isRebalancing = true
  #joins = 0
  #firstJoin = Promise.withResolvers<void>()

  constructor(settings: KafkaSettings, admin: Admin, config: SubscriptionConfig, onClosed: OnClosed) {
    super(settings, config, onClosed)
    this.#admin = admin
    this.#firstJoin.promise.catch(() => undefined)
  }

  async start(): Promise<void> {
    const doing = `joining group ${this.groupId}`
    try {
      await withDeadline(Promise.all([this.#createMember().start(), this.#firstJoin.promise]), this.settings.joinTimeoutMs, doing)
    } catch (error) {
      throw toBusError(error, doing)
    }
  }

  protected refill(): void {
    for (const queue of this.queues.all()) {
      const key = queueKey(queue.topic, queue.partition)
      if (!this.#paused.has(key) || !this.queues.isHungry(queue)) continue
      this.#paused.delete(key)
      this.#member?.resume([queue])
    }
  }

  protected store(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    return withDeadline(this.#commit(offsets), this.settings.deliveryTimeoutMs, `committing offsets of group ${this.groupId}`)
  }

  /** The library would commit under the generation that it is in by then: whether the partition is still ours is checked before and after. */
  async #commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    const { clock, deliveryTimeoutMs } = this.settings
    const deadlineMs = monotonicMs(clock) + deliveryTimeoutMs
    while (this.#isRebalancing && !this.isClosed && monotonicMs(clock) < deadlineMs) await clock.sleep(20)
    this.#expectAssigned(offsets)
    await this.#member!.commit(offsets)
    this.#expectAssigned(offsets)
  }

  #expectAssigned(partitions: readonly TopicPartition[]): void {
    if (this.isClosed) throw closedError('the subscription')
    for (const { topic, partition } of partitions) if (this.queues.get(topic, partition) === undefined) throw notAssigned(topic, partition)
  }

  protected statesOf(partitions: readonly TopicPartition[]): Promise<readonly PartitionState[]> {
    const topics = [...new Set(partitions.map(({ topic }) => topic))]
    const { clock, deliveryTimeoutMs } = this.settings
    const asked = retryPassing(clock, deliveryTimeoutMs, () => fetchStates(this.#admin, topics))
    return withDeadline(asked, deliveryTimeoutMs, 'asking for offsets')
  }

  protected async leave(): Promise<void> {
    this.#firstJoin.reject(closedError('the subscription'))
    await Promise.all([this.#member?.close(), this.#ending])
  }

  protected override moveTo(position: TopicPartitionOffset): void {
    super.moveTo(position)
    this.#member?.seek(position)
  }

  #createMember(): GroupMember {
    const member = new GroupMember(this.settings, this.config, {
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
    if (this.isClosed || member !== this.#member) return
    const { log, clock } = this.settings
    log.warn({ groupId: this.groupId, problem: error.message }, 'cannot take part in the group, trying again')
    this.#member = undefined
    this.#isRebalancing = true
    this.lose(this.assignment())
    this.#ending = member.close()
    const again = async () => {
      await Promise.all([this.#ending, clock.sleep(RESTART_BACKOFF_MS)])
      if (this.isClosed) return
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
    if (this.isClosed || member !== this.#member) return
    const join = ++this.#joins
    const assigned = Object.entries(memberAssignment).flatMap(([topic, partitions]) => partitions.map(partition => ({ topic, partition })))
    const keys = new Set(assigned.map(({ topic, partition }) => queueKey(topic, partition)))
    // As another member it had been out of the group: what it had may have moved on elsewhere.
    const isSameMember = memberId === this.#memberId
    this.#memberId = memberId
    this.lose(this.assignment().filter(({ topic, partition }) => !isSameMember || !keys.has(queueKey(topic, partition))))
    for (const { topic, partition, fetchOffset } of this.queues.all()) member.seek({ topic, partition, offset: fetchOffset })
    const gained = assigned.filter(({ topic, partition }) => this.queues.get(topic, partition) === undefined)
    member.pause(gained)
    for (const { topic, partition } of gained) this.#paused.add(queueKey(topic, partition))
    this.#isRebalancing = false
    void this.#gain(member, gained, join)
  }

  async #gain(member: GroupMember, gained: readonly TopicPartition[], join: number): Promise<void> {
    const { settings } = this
    const isCurrent = () => !this.isClosed && member === this.#member && join === this.#joins
    while (isCurrent() && gained.length > 0) {
      try {
        const starts = await fetchStarts(this.#admin, this.groupId, gained, this.config.startFrom ?? 'earliest')
        if (!isCurrent()) return
        for (const start of starts) this.queues.add(start)
        this.config.onAssigned?.(gained)
        for (const start of starts) this.moveTo(start)
        this.refill()
        break
      } catch (error) {
        settings.log.warn({ groupId: this.groupId, problem: (error as Error).message }, 'cannot find where to start, trying again')
        await settings.clock.sleep(RESTART_BACKOFF_MS)
      }
    }
    if (isCurrent()) this.#firstJoin.resolve()
  }

  #take(member: GroupMember, { batch, isStale, isRunning }: EachBatchPayload): void {
    const { topic, partition } = batch
    const known = this.queues.get(topic, partition)
    if (member !== this.#member || known === undefined || isStale() || !isRunning()) return
    const queue = isOfAnotherLog(batch, known.fetchOffset) ? this.#startOver(batch) : known
    const records = (batch.messages as unknown as readonly FetchedMessage[])
      .map(({ record }) => ({ ...record, topic, partition }))
      .filter(({ offset }) => offset >= queue.fetchOffset)
    this.queues.push(queue, unpacked(records), Number(batch.lastOffset()) + 1)
    if (this.queues.isHungry(queue)) return
    this.#paused.add(queueKey(topic, partition))
    member.pause([queue])
  }

  /** The library has begun at the first record that there is. */
  #startOver(batch: Batch): PartitionQueue {
    const { topic, partition } = batch
    this.settings.log.warn({ topic, partition }, 'a topic was made anew, or lost records: it is read from its beginning')
    this.lose([{ topic, partition }])
    const queue = this.queues.add({ topic, partition, offset: Number(batch.firstOffset()) })
    this.config.onAssigned?.([{ topic, partition }])
    return queue
  }
}

/** No broker answers with records that all lie before the one it was asked for, from a log that ends before it. */
function isOfAnotherLog(batch: Batch, fetchOffset: number): boolean {
  return batch.messages.length > 0 && Number(batch.lastOffset()) < fetchOffset && Number(batch.highWatermark) <= fetchOffset
}
