/** A member of a group: polls the partitions that it has, and commits offsets. */
import { randomUUID } from 'node:crypto'
import {
  type ConsumedRecord,
  closedError,
  notAssigned,
  type PollLimits,
  type Subscription,
  type SubscriptionConfig,
  type TopicPartition,
  type TopicPartitionOffset,
} from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { OffsetClaim } from '../../transaction-buffer.ts'
import type { MemberEvent } from '../groups/group-coordinator.ts'
import { partitionKey } from '../groups/partition-assignment.ts'
import type { LogOwner } from '../log-owner.ts'
import type { SharedEnds } from '../shared-ends.ts'
import type { TopicReader } from './topic-reader.ts'

export interface SubscriptionDeps {
  readonly owner: LogOwner
  readonly ends: SharedEnds
  readonly clock: Clock
  readonly openReader: (topic: string) => TopicReader
  readonly onClosed: (subscription: GroupSubscription) => void
}

/** A subscription that transactions commit offsets for. */
export interface GroupSubscription extends Subscription {
  readonly groupId: string
  /** Throws when one of the partitions is not assigned. */
  claim(offsets: readonly TopicPartitionOffset[]): OffsetClaim
}

/** Joins the group; partitions arrive with the first poll. */
export async function subscribe(deps: SubscriptionDeps, config: SubscriptionConfig): Promise<GroupSubscription> {
  const subscription = new EmbeddedSubscription(deps, config)
  await subscription.join()
  return subscription
}

class EmbeddedSubscription implements GroupSubscription {
  readonly groupId: string
  readonly #deps: SubscriptionDeps
  readonly #config: SubscriptionConfig
  readonly #memberId = randomUUID()
  readonly #readers: ReadonlyMap<string, TopicReader>
  readonly #assigned = new Map<string, TopicPartition>()
  readonly #events: MemberEvent[] = []
  #wake: (() => void) | undefined
  #firstReader = 0
  #closed = false

  constructor(deps: SubscriptionDeps, config: SubscriptionConfig) {
    this.#deps = deps
    this.#config = config
    this.groupId = config.groupId
    this.#readers = new Map(config.topics.map(topic => [topic, deps.openReader(topic)]))
  }

  async join(): Promise<void> {
    const { groupId, topics, startFrom = 'earliest', standsBy = false } = this.#config
    await this.#deps.owner.join({ memberId: this.#memberId, groupId, topics, startFrom, standsBy }, event => {
      this.#events.push(event)
      this.#wake?.()
    })
  }

  async poll(limits: PollLimits): Promise<readonly ConsumedRecord[]> {
    const out: ConsumedRecord[] = []
    await this.#readInto(out, limits)
    if (out.length === 0 && !this.#closed && limits.waitMs > 0) await this.#waitInto(out, limits)
    return this.#closed ? [] : out
  }

  async commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (this.#closed) throw closedError('the subscription')
    await this.#deps.owner.commitOffsets(this.#memberId, offsets)
    this.#settle(offsets)
  }

  claim(offsets: readonly TopicPartitionOffset[]): OffsetClaim {
    const assignments = offsets.map(({ topic, partition }) => this.#assigned.get(partitionKey(topic, partition)))
    const check = () => {
      for (const [i, { topic, partition }] of offsets.entries())
        if (assignments[i] === undefined || this.#assigned.get(partitionKey(topic, partition)) !== assignments[i])
          throw notAssigned(topic, partition)
    }
    check()
    return { check, settle: () => this.#settle(offsets) }
  }

  async seek(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    if (this.#closed) throw closedError('the subscription')
    await this.#applyEvents()
    for (const { topic, partition, offset } of offsets)
      if (this.#assigned.has(partitionKey(topic, partition))) this.#readers.get(topic)?.seek(partition, offset)
  }

  assignment(): readonly TopicPartition[] {
    return [...this.#assigned.values()]
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#wake?.()
    for (const reader of this.#readers.values()) reader.close()
    this.#assigned.clear()
    this.#deps.onClosed(this)
    await this.#deps.owner.leave(this.#memberId)
  }

  #settle(offsets: readonly TopicPartitionOffset[]): void {
    for (const { topic, partition, offset } of offsets) this.#readers.get(topic)?.committed(partition, offset)
  }

  async #readInto(out: ConsumedRecord[], { maxRecords, maxBytes }: PollLimits): Promise<void> {
    await this.#applyEvents()
    const readers = [...this.#readers.values()]
    // Each topic has its turn to be first, so that a busy one does not starve the others.
    const first = this.#firstReader++
    let bytes = 0
    for (let i = 0; i < readers.length && !this.#closed; i++) {
      if (out.length >= maxRecords || (out.length > 0 && bytes >= maxBytes)) return
      try {
        bytes += await readers[(first + i) % readers.length]!.read(out, maxRecords, maxBytes - bytes)
      } catch (error) {
        // Records read before go out first; the failure will be met again.
        if (out.length === 0) throw error
        return
      }
    }
  }

  /** Waits for records, at most `waitMs`; goes through assignments and revocations meanwhile. */
  async #waitInto(out: ConsumedRecord[], limits: PollLimits): Promise<void> {
    let isOver = false
    let isAwake = false
    let resume: (() => void) | undefined
    const wake = () => {
      isAwake = true
      resume?.()
    }
    this.#wake = wake
    const timer = new AbortController()
    void this.#deps.clock.sleep(limits.waitMs, timer.signal).then(() => {
      isOver = true
      wake()
    })
    const silence = [...this.#readers.values()].map(reader => this.#deps.ends.listen(reader.index, wake))
    try {
      while (out.length === 0 && !isOver && !this.#closed) {
        isAwake = false
        await this.#readInto(out, limits)
        if (out.length > 0 || isAwake) continue
        await new Promise<void>(resolve => {
          resume = resolve
        })
      }
    } finally {
      this.#wake = undefined
      for (const stopListening of silence) stopListening()
      timer.abort()
    }
  }

  async #applyEvents(): Promise<void> {
    for (let event = this.#events.shift(); event !== undefined && !this.#closed; event = this.#events.shift()) {
      if (event.kind === 'assigned') this.#gain(event.partitions)
      else await this.#lose(event)
    }
  }

  #gain(partitions: readonly TopicPartitionOffset[]): void {
    const gained = partitions.map(({ topic, partition }) => ({ topic, partition }))
    for (const { topic, partition, offset } of partitions) {
      this.#assigned.set(partitionKey(topic, partition), { topic, partition })
      this.#readers.get(topic)?.start(partition, offset)
    }
    this.#config.onAssigned?.(gained)
  }

  async #lose(event: MemberEvent): Promise<void> {
    const lost = event.partitions.map(({ topic, partition }) => ({ topic, partition }))
    for (const { topic, partition } of lost) {
      this.#assigned.delete(partitionKey(topic, partition))
      this.#readers.get(topic)?.stop(partition)
    }
    this.#config.onRevoked?.(lost)
    if (event.kind === 'revoke') await this.#deps.owner.release(this.#memberId, lost)
  }
}
