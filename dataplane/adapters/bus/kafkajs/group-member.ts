/** A consumer of `kafkajs` as a member of a group. */
import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload } from 'kafkajs'
import { BusError, type SubscriptionConfig, type TopicPartition, type TopicPartitionOffset } from '../../../ports/bus.ts'
import type { KafkaSettings } from '../kafka/both-clients/kafka-config.ts'
import { byTopic } from '../kafka/both-clients/topic-partitions.ts'
import { createKafkajsClient, type KafkajsClient, METADATA_MAX_AGE_MS, RETRY } from './client.ts'
import { createAssigner } from './group-assignment.ts'
import { toBusError } from './kafkajs-errors.ts'

const MAX_WAIT_MS = 250
const MAX_ANSWER_BYTES = 4 << 20
const MAX_PARTITION_BYTES = 512 << 10
/** Batches of different partitions handed over at once; handing over is quick. */
const CONCURRENCY = 8

export interface MemberEvents {
  readonly onRebalance: () => void
  readonly onJoin: (join: ConsumerGroupJoinEvent['payload']) => void
  readonly onBatch: (payload: EachBatchPayload) => void
  /** The member has given up. */
  readonly onEnd: (error: Error) => void
}

/** A member of a group, from its start to its end: a consumer of the library's, with connections of its own. */
export class GroupMember {
  readonly #client: KafkajsClient
  readonly #consumer: Consumer
  readonly #config: SubscriptionConfig
  readonly #events: MemberEvents
  /** Between its first join and its end: before and afterwards each call of the library throws. */
  #isRunning = false

  constructor(settings: KafkaSettings, config: SubscriptionConfig, events: MemberEvents) {
    this.#config = config
    this.#events = events
    this.#client = createKafkajsClient(settings)
    this.#consumer = this.#client.kafka.consumer({
      groupId: config.groupId,
      partitionAssigners: [createAssigner(config.standsBy ?? false)],
      sessionTimeout: settings.sessionTimeoutMs,
      rebalanceTimeout: settings.sessionTimeoutMs + 5_000,
      heartbeatInterval: settings.heartbeatMs,
      maxWaitTimeInMs: Math.min(MAX_WAIT_MS, settings.heartbeatMs),
      maxBytes: MAX_ANSWER_BYTES,
      maxBytesPerPartition: MAX_PARTITION_BYTES,
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      readUncommitted: false,
      // A member that fails for good, or too often, is started anew by the subscription, as a new member.
      retry: { ...RETRY, restartOnFailure: async () => false },
    })
  }

  async start(): Promise<void> {
    const { events } = this.#consumer
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#isRunning = true
      this.#events.onJoin(payload)
    })
    this.#consumer.on(events.REBALANCING, () => this.#events.onRebalance())
    this.#consumer.on(events.STOP, () => {
      this.#isRunning = false
    })
    this.#consumer.on(events.CRASH, ({ payload }) => this.#events.onEnd(payload.error))
    const { topics, startFrom } = this.#config
    await this.#consumer.connect()
    await this.#consumer.subscribe({ topics: [...topics], fromBeginning: startFrom !== 'latest' })
    await this.#consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: CONCURRENCY,
      eachBatch: async payload => this.#events.onBatch(payload),
    })
  }

  seek({ topic, partition, offset }: TopicPartitionOffset): void {
    if (this.#isRunning) this.#consumer.seek({ topic, partition, offset: String(offset) })
  }

  pause(partitions: readonly TopicPartition[]): void {
    if (this.#isRunning) this.#consumer.pause(byTopic(partitions, ({ partition }) => partition))
  }

  resume(partitions: readonly TopicPartition[]): void {
    if (this.#isRunning) this.#consumer.resume(byTopic(partitions, ({ partition }) => partition))
  }

  async commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    const doing = `committing offsets of group ${this.#config.groupId}`
    try {
      if (this.#isRunning)
        await this.#consumer.commitOffsets(offsets.map(({ topic, partition, offset }) => ({ topic, partition, offset: String(offset) })))
    } catch (error) {
      throw toBusError(error, doing)
    }
    // The library passes over what it is told while it ends.
    if (!this.#isRunning) throw new BusError('unavailable', `${doing}: the member has left it`)
  }

  /** Leaves the group, if it has joined. One that cannot say good-bye is found out by the session's time-out. */
  async close(): Promise<void> {
    await this.#client.close(this.#isRunning ? () => this.#consumer.disconnect() : undefined)
    this.#isRunning = false
  }
}
