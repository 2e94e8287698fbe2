import { randomUUID } from 'node:crypto'
import type { Admin } from 'kafkajs'
import { type Bus, BusError } from '../../../ports/bus.ts'
import { bufferTransaction, type TransactionContent } from '../kafka/both-clients/buffered-transaction.ts'
import { withDeadline } from '../kafka/both-clients/deadline.ts'
import { type KafkaConfig, type KafkaSettings, withDefaults } from '../kafka/both-clients/kafka-config.ts'
import { closedError, unknownTopic } from '../kafka/both-clients/kafka-errors.ts'
import { ByteBudget, type PartitionBatches, SendQueue, splitRecords, type TopicLayout } from '../kafka/both-clients/send-queue.ts'
import { createClient, createProducer, type OpenProducer, RETRY, sendBatches } from './client.ts'
import { ensureTopics } from './ensure-topics.ts'
import { fetchCommitted, fetchMembers, fetchStates } from './group-offsets.ts'
import { retryPassing, toBusError } from './kafkajs-errors.ts'
import { type GroupSubscription, subscribe } from './subscription.ts'
import { TransactionalProducer } from './transactional-producer.ts'

/** A bus on Kafka, spoken with `kafkajs`. Makes the topics that are missing; rejects as `unavailable` when no broker answers. */
export async function openKafkaJsBus(config: KafkaConfig): Promise<Bus> {
  const settings = withDefaults(config)
  const client = createClient(settings)
  const admin = client.kafka.admin({ retry: RETRY })
  const disconnect = () => client.close(() => admin.disconnect())
  const deadlineMs = settings.clock.nowMs() + settings.startTimeoutMs
  const open = async () => {
    await withDeadline(admin.connect(), settings.reachTimeoutMs, 'reaching Kafka')
    return retryPassing(settings.clock, deadlineMs, () => ensureTopics(admin, settings))
  }
  try {
    return createBus({ settings, admin, disconnect, layouts: await withDeadline(open(), settings.startTimeoutMs, 'reaching Kafka') })
  } catch (error) {
    const problem = client.lastProblem()
    await client.close()
    const failure = toBusError(error, 'reaching Kafka')
    throw problem === undefined || failure.message.includes(problem)
      ? failure
      : new BusError(failure.reason, `${failure.message} (${problem})`, { cause: error })
  }
}

interface BusDeps {
  readonly settings: KafkaSettings
  readonly admin: Admin
  readonly disconnect: () => Promise<void>
  readonly layouts: ReadonlyMap<string, TopicLayout>
}

function createBus({ settings, admin, disconnect, layouts }: BusDeps): Bus {
  const budget = new ByteBudget(settings.maxQueuedBytes)
  /** Also those that are still joining. */
  const opened = new Set<GroupSubscription>()
  const subscriptions = new Set<GroupSubscription>()
  const underWay = new Set<Promise<void>>()
  let isClosed = false
  const checkOpen = () => {
    if (isClosed) throw closedError('the bus')
  }
  const layoutOf = (topic: string) => {
    const layout = layouts.get(topic)
    if (layout === undefined) throw unknownTopic(topic, layouts.keys())
    return layout
  }
  const senders = new Map([...layouts].map(([name, topic]) => [name, createSender(settings, topic, budget)]))
  const transactions = createTransactions(settings, admin, layoutOf)
  const ask = async <T>(work: () => Promise<T>, doing: string): Promise<T> => {
    try {
      const deadlineMs = settings.clock.nowMs() + settings.deliveryTimeoutMs
      return await withDeadline(retryPassing(settings.clock, deadlineMs, work), settings.deliveryTimeoutMs, doing)
    } catch (error) {
      throw toBusError(error, doing)
    }
  }

  return {
    async send(topic, records) {
      checkOpen()
      layoutOf(topic)
      await senders.get(topic)!.queue.send(records)
    },
    async beginTransaction() {
      checkOpen()
      return bufferTransaction({
        budget,
        check: (topic, records) => void splitRecords(layoutOf(topic), records),
        claim: (groupId, offsets) => [...subscriptions].find(candidate => candidate.groupId === groupId)?.claim(offsets),
        async write(content) {
          checkOpen()
          const writing = withDeadline(transactions.write(content), 2 * settings.deliveryTimeoutMs, 'the transaction')
          const settled = writing.catch(() => undefined)
          underWay.add(settled)
          await writing.finally(() => underWay.delete(settled))
        },
      })
    },
    async subscribe(config) {
      checkOpen()
      for (const topic of config.topics) layoutOf(topic)
      const onClosed = (closed: GroupSubscription, leaving: Promise<void>) => {
        opened.delete(closed)
        subscriptions.delete(closed)
        underWay.add(leaving)
        void leaving.then(() => underWay.delete(leaving))
      }
      const subscription = await subscribe({ admin, settings, onOpened: open => opened.add(open), onClosed }, config)
      subscriptions.add(subscription)
      return subscription
    },
    async describe() {
      checkOpen()
      const topics = settings.topics.map(({ name }) => name)
      const [cluster, partitions] = await ask(
        () => Promise.all([admin.describeCluster(), fetchStates(admin, topics)]),
        'describing the bus',
      )
      return { brokers: cluster.brokers.length, partitions }
    },
    async committedOffsets(groupId) {
      checkOpen()
      return ask(() => fetchCommitted(admin, groupId), `reading the offsets of group ${groupId}`)
    },
    async purge(topic) {
      checkOpen()
      const { partitions } = layoutOf(topic)
      const all = Array.from({ length: partitions }, (_, partition) => ({ partition, offset: '-1' }))
      await ask(() => admin.deleteTopicRecords({ topic, partitions: all }), `deleting the records of ${topic}`)
    },
    async groupMembers(groupId) {
      checkOpen()
      return ask(() => fetchMembers(admin, groupId), `asking for the members of group ${groupId}`)
    },
    async stop() {
      if (isClosed) return
      isClosed = true
      await Promise.all([...opened].map(subscription => subscription.close()))
      await Promise.all([...[...senders.values()].map(sender => sender.close()), ...underWay])
      await transactions.close()
      await disconnect()
    },
  }
}

/**
 * One producer per topic, made anew after a write whose outcome is uncertain: the old one would give the next records the numbers of those,
 * and the broker would drop them as duplicates.
 */
function createSender(settings: KafkaSettings, topic: TopicLayout, budget: ByteBudget) {
  let current: OpenProducer | undefined
  const drop = async () => {
    const dropped = current
    current = undefined
    await dropped?.close()
  }
  const write = async (name: string, batches: PartitionBatches) => {
    current ??= createProducer(settings)
    const open = current
    const produce = async () => {
      await open.connected()
      await sendBatches(open.producer, name, batches)
    }
    try {
      await withDeadline(produce(), settings.deliveryTimeoutMs, `writing to ${name}`)
    } catch (error) {
      await drop()
      throw toBusError(error, `writing to ${name}`)
    }
  }
  const queue = new SendQueue({ topic, produce: write, budget, deliveryTimeoutMs: settings.deliveryTimeoutMs })
  return {
    queue,
    async close() {
      await queue.close()
      await drop()
    },
  }
}

/** As many transactional producers as there are transactions at once, each used again. */
function createTransactions(settings: KafkaSettings, admin: Admin, layoutOf: (topic: string) => TopicLayout) {
  const prefix = settings.transactionalId ?? `${settings.clientId}-${randomUUID()}`
  const all: TransactionalProducer[] = []
  const idle: TransactionalProducer[] = []
  const next = () => {
    const producer = new TransactionalProducer({ admin, settings, transactionalId: `${prefix}-${all.length}`, layoutOf })
    all.push(producer)
    return producer
  }
  return {
    async write(content: TransactionContent): Promise<void> {
      const producer = idle.pop() ?? next()
      try {
        await producer.write(content)
      } finally {
        idle.push(producer)
      }
    },
    close: async () => void (await Promise.all(all.map(producer => producer.close()))),
  }
}
