/** The bus on Kafka as `BUS_CLIENT=kafkajs` makes it. */
import type { Admin } from 'kafkajs'
import { type Bus, BusError } from '../../../ports/bus.ts'
import { createClientBus, createProducerPool, type KafkaClient } from '../kafka/both-clients/client-bus.ts'
import { withDeadline } from '../kafka/both-clients/deadline.ts'
import { type KafkaConfig, type KafkaSettings, withDefaults } from '../kafka/both-clients/kafka-config.ts'
import { PartitionGone } from '../kafka/both-clients/kafka-errors.ts'
import type { SendQueueDeps } from '../kafka/both-clients/send-queue.ts'
import { createKafkajsClient, createProducer, type OpenProducer, RETRY, sendBatches } from './client.ts'
import { ensureTopics } from './ensure-topics.ts'
import { fetchCommitted, fetchMembers, fetchStates } from './group-offsets.ts'
import { retryPassing, toBusError } from './kafkajs-errors.ts'
import { KafkaJsSubscription } from './subscription.ts'
import { TransactionalProducer } from './transactional-producer.ts'

/** Makes the topics that are missing. Rejects as `unavailable` when no broker answers within `startTimeoutMs`. */
export async function openKafkaJsBus(config: KafkaConfig): Promise<Bus> {
  const settings = withDefaults(config)
  const client = createKafkajsClient(settings)
  const admin = client.kafka.admin({ retry: RETRY })
  const disconnect = () => client.close(() => admin.disconnect())
  const open = async () => {
    await withDeadline(admin.connect(), settings.reachTimeoutMs, 'reaching Kafka')
    return retryPassing(settings.clock, settings.startTimeoutMs, () => ensureTopics(admin, settings))
  }
  try {
    const layouts = await withDeadline(open(), settings.startTimeoutMs, 'reaching Kafka')
    return createClientBus(settings, layouts, createKafkaClient(settings, admin, disconnect))
  } catch (error) {
    const problem = client.lastProblem()
    await client.close()
    const failure = toBusError(error, 'reaching Kafka')
    throw problem === undefined || failure.message.includes(problem)
      ? failure
      : new BusError(failure.reason, `${failure.message} (${problem})`, { cause: error })
  }
}

function createKafkaClient(settings: KafkaSettings, admin: Admin, disconnect: () => Promise<void>): KafkaClient<KafkaJsSubscription> {
  const { clock, deliveryTimeoutMs } = settings
  const senders: Sender[] = []
  /** By topic that was made anew with fewer partitions. */
  const fewer = new Map<string, number>()
  const learnPartitions = async (error: unknown): Promise<never> => {
    if (error instanceof PartitionGone) {
      const { topics } = await admin.fetchTopicMetadata({ topics: [error.topic] })
      for (const { name, partitions } of topics) if (partitions.length > 0) fewer.set(name, partitions.length)
    }
    throw error
  }
  const producers = createProducerPool(settings, transactionalId => new TransactionalProducer({ admin, settings, transactionalId }))
  const ask = async <T>(work: () => Promise<T>, doing: string): Promise<T> => {
    try {
      return await withDeadline(retryPassing(clock, deliveryTimeoutMs, work), deliveryTimeoutMs, doing)
    } catch (error) {
      throw toBusError(error, doing)
    }
  }
  return {
    partitionsOf: ({ name, partitions }) => Math.min(partitions, fewer.get(name) ?? partitions),
    createProduce() {
      const sender = createSender(settings)
      senders.push(sender)
      return (topic, batches) => sender.produce(topic, batches).catch(learnPartitions)
    },
    writeTransaction: content =>
      withDeadline(
        producers.use(producer => producer.write(content).catch(learnPartitions)),
        2 * deliveryTimeoutMs,
        'the transaction',
      ),
    createSubscription: (config, onClosed) => new KafkaJsSubscription(settings, admin, config, onClosed),
    describe: () =>
      ask(async () => {
        const topics = settings.topics.map(({ name }) => name)
        const [{ brokers }, partitions] = await Promise.all([admin.describeCluster(), fetchStates(admin, topics)])
        return { brokers: brokers.length, partitions }
      }, 'describing the bus'),
    committedOffsets: groupId => ask(() => fetchCommitted(admin, groupId), `reading the offsets of group ${groupId}`),
    groupMembers: groupId => ask(() => fetchMembers(admin, groupId), `asking for the members of group ${groupId}`),
    async purge({ name: topic, partitions: count }) {
      const partitions = Array.from({ length: count }, (_, partition) => ({ partition, offset: '-1' }))
      await ask(() => admin.deleteTopicRecords({ topic, partitions }), `deleting the records of ${topic}`)
    },
    async close() {
      await Promise.all([...senders, ...producers.all].map(producer => producer.close()))
      await disconnect()
    },
  }
}

interface Sender {
  readonly produce: SendQueueDeps['produce']
  close(): Promise<void>
}

/**
 * One producer per topic, made anew after a write whose outcome is uncertain: the old one would give the next records the numbers of those,
 * and the broker would drop them as duplicates.
 */
function createSender(settings: KafkaSettings): Sender {
  let current: OpenProducer | undefined
  const close = async () => {
    const dropped = current
    current = undefined
    await dropped?.close()
  }
  return {
    async produce(topic, batches) {
      current ??= createProducer(settings)
      const { producer, connected } = current
      const write = async () => {
        await connected()
        await sendBatches(producer, topic, batches)
      }
      try {
        await withDeadline(write(), settings.deliveryTimeoutMs, `writing to ${topic}`)
      } catch (error) {
        await close()
        throw toBusError(error, `writing to ${topic}`)
      }
    },
    close,
  }
}
