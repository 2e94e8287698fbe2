/** Writes the content of a transaction with the transactions of `kafkajs`. */
import type { Admin, Transaction } from 'kafkajs'
import { BusError, type TopicPartitionOffset } from '../../../ports/bus.ts'
import { monotonicMs } from '../../../ports/clock.ts'
import type { TransactionContent } from '../kafka/both-clients/buffered-transaction.ts'
import type { KafkaSettings } from '../kafka/both-clients/kafka-config.ts'
import { FENCED } from '../kafka/both-clients/kafka-errors.ts'
import { byTopic } from '../kafka/both-clients/topic-partitions.ts'
import { createProducer, type OpenProducer, sendBatches } from './client.ts'
import { fetchCommitted } from './group-offsets.ts'
import { codeOf, toBusError } from './kafkajs-errors.ts'

export interface TransactionalProducerDeps {
  readonly admin: Admin
  readonly settings: KafkaSettings
  /** Another producer with the same one ends this one's transactions. */
  readonly transactionalId: string
}

const STABLE_POLL_MS = 20

/**
 * Writes transactions of Kafka's, one after the other. `kafkajs` commits offsets without the member's generation: only the transactional id
 * keeps a member out that lost its partitions.
 */
export class TransactionalProducer {
  readonly #deps: TransactionalProducerDeps
  #open: OpenProducer | undefined
  #fenced: BusError | undefined

  constructor(deps: TransactionalProducerDeps) {
    this.#deps = deps
  }

  /** All of it or nothing. */
  async write(content: TransactionContent): Promise<void> {
    if (this.#fenced !== undefined) throw this.#fenced
    let transaction: Transaction | undefined
    try {
      this.#open ??= this.#create()
      const { producer, connected } = this.#open
      await connected()
      transaction = await producer.transaction()
      for (const [topic, rounds] of content.rounds) for (const batches of rounds) await sendBatches(transaction, topic, batches)
      for (const claim of [...content.claims.values()].flat()) claim.check()
      for (const [consumerGroupId, offsets] of content.offsets)
        await transaction.sendOffsets({
          consumerGroupId,
          topics: byTopic(offsets, ({ partition, offset }) => ({ partition, offset: String(offset) })),
        })
      await transaction.commit()
    } catch (error) {
      await transaction?.abort().catch(() => undefined) // ended by the next producer of this id, or by its time-out
      await this.close()
      if (FENCED.some(code => code === codeOf(error))) {
        const message = `another process has taken over transactional id ${this.#deps.transactionalId}`
        this.#fenced = new BusError('closed', message, { cause: error })
        throw this.#fenced
      }
      throw toBusError(error, 'the transaction')
    }
    for (const [groupId, offsets] of content.offsets) await this.#waitUntilVisible(groupId, offsets)
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.close()
  }

  #create(): OpenProducer {
    const { settings, transactionalId } = this.#deps
    return createProducer(settings, { transactionalId, transactionTimeout: settings.transactionTimeoutMs })
  }

  /** The coordinator answers before it has written the offsets: who took over at once would start at older ones. */
  async #waitUntilVisible(groupId: string, offsets: readonly TopicPartitionOffset[]): Promise<void> {
    const { admin, settings } = this.#deps
    const deadlineMs = monotonicMs(settings.clock) + settings.requestTimeoutMs
    while (monotonicMs(settings.clock) < deadlineMs) {
      const committed = await fetchCommitted(admin, groupId).catch(() => [])
      const isVisible = ({ topic, partition, offset }: TopicPartitionOffset) =>
        committed.some(known => known.topic === topic && known.partition === partition && known.offset >= offset)
      if (offsets.every(isVisible)) return
      await settings.clock.sleep(STABLE_POLL_MS)
    }
  }
}
