import { randomUUID } from 'node:crypto'
import type { Bus, Transaction } from '../../../ports/bus.ts'
import { bufferTransaction } from './both-clients/buffered-transaction.ts'
import { type KafkaConfig, withDefaults } from './both-clients/kafka-config.ts'
import { closedError, unknownTopic } from './both-clients/kafka-errors.ts'
import { ByteBudget, type PartitionBatches, SendQueue, splitRecords, type TopicLayout } from './both-clients/send-queue.ts'
import { INIT_PRODUCER_ID } from './cluster/apis.ts'
import { Cluster } from './cluster/cluster.ts'
import { hasCode } from './cluster/protocol-errors.ts'
import { EARLIEST, fetchCommitted, fetchMembers, LATEST, listOffsets } from './group/group-offsets.ts'
import { type GroupSubscription, subscribe } from './group/subscription.ts'
import { type ProducerSession, produce } from './produce/idempotent-producer.ts'
import { TransactionalProducer } from './produce/transactional-producer.ts'
import { ensureTopics } from './topics/ensure-topics.ts'
import { purgeTopic } from './topics/purge-topic.ts'

/** How long committed offsets wait for a transaction that is being ended; that of a process that died ends much later. */
const STABLE_PATIENCE_MS = 3_000

/** A bus on Kafka, spoken with `@platformatic/kafka`. Makes the topics that are missing; rejects as `unavailable` when no broker answers. */
export async function openPlatformaticBus(config: KafkaConfig): Promise<Bus> {
  const settings = withDefaults(config)
  const cluster = new Cluster(settings)
  try {
    const layouts = await ensureTopics(cluster, settings.clock.nowMs() + settings.startTimeoutMs)
    return createBus(cluster, layouts)
  } catch (error) {
    await cluster.close()
    throw error
  }
}

function createBus(cluster: Cluster, layouts: ReadonlyMap<string, TopicLayout>): Bus {
  const { settings } = cluster
  const budget = new ByteBudget(settings.maxQueuedBytes)
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
  const queues = new Map([...layouts].map(([name, topic]) => [name, createSendQueue(cluster, topic, budget)]))
  const memberOf = (groupId: string) => [...subscriptions].find(candidate => candidate.groupId === groupId)
  const transactions = createTransactions(cluster, layoutOf, groupId => memberOf(groupId)?.membership())
  const allPartitions = () =>
    settings.topics.flatMap(({ name: topic }) => cluster.topic(topic).leaders.map((_, partition) => ({ topic, partition })))
  const deadlineMs = () => settings.clock.nowMs() + settings.deliveryTimeoutMs

  return {
    async send(topic, records) {
      checkOpen()
      layoutOf(topic)
      await queues.get(topic)!.send(records)
    },
    async beginTransaction(): Promise<Transaction> {
      checkOpen()
      return bufferTransaction({
        budget,
        check: (topic, records) => void splitRecords(layoutOf(topic), records),
        claim: (groupId, offsets) => memberOf(groupId)?.claim(offsets),
        async write(content) {
          checkOpen()
          const writing = transactions.write(content)
          const settled = writing.catch(() => undefined)
          underWay.add(settled)
          await writing.finally(() => underWay.delete(settled))
        },
      })
    },
    async subscribe(subscriptionConfig) {
      checkOpen()
      const subscription = await subscribe(cluster, subscriptionConfig, closed => void subscriptions.delete(closed))
      subscriptions.add(subscription)
      return subscription
    },
    async describe() {
      checkOpen()
      await cluster.retry(deadlineMs(), 'describing the bus', () => cluster.refresh())
      const all = allPartitions()
      const [starts, ends] = await Promise.all([
        listOffsets(cluster, all, EARLIEST, deadlineMs()),
        listOffsets(cluster, all, LATEST, deadlineMs()),
      ])
      const partitions = starts.map(({ topic, partition, offset }) => ({
        topic,
        partition,
        startOffset: offset,
        endOffset: ends.find(end => end.topic === topic && end.partition === partition)?.offset ?? offset,
      }))
      return { brokers: cluster.brokerCount, partitions }
    },
    async committedOffsets(groupId) {
      checkOpen()
      try {
        return await fetchCommitted(cluster, groupId, settings.clock.nowMs() + STABLE_PATIENCE_MS, allPartitions())
      } catch (error) {
        if (!hasCode((error as Error).cause, 'UNSTABLE_OFFSET_COMMIT')) throw error
        return fetchCommitted(cluster, groupId, deadlineMs(), allPartitions(), 'latest')
      }
    },
    async purge(topic) {
      checkOpen()
      await purgeTopic(cluster, layoutOf(topic).name, deadlineMs())
    },
    async groupMembers(groupId) {
      checkOpen()
      return fetchMembers(cluster, groupId, deadlineMs())
    },
    async stop() {
      if (isClosed) return
      isClosed = true
      await Promise.all([...subscriptions].map(subscription => subscription.close()))
      await Promise.all([...[...queues.values()].map(queue => queue.close()), ...underWay])
      await cluster.close()
    },
  }
}

/** One producer identity per topic, renewed after a write whose outcome is uncertain. */
function createSendQueue(cluster: Cluster, topic: TopicLayout, budget: ByteBudget): SendQueue {
  const { clock, deliveryTimeoutMs } = cluster.settings
  let session: ProducerSession | undefined
  const write = async (name: string, batches: PartitionBatches) => {
    const deadlineMs = clock.nowMs() + deliveryTimeoutMs
    session ??= await newSession(cluster, deadlineMs)
    try {
      await produce(cluster, session, name, batches, deadlineMs)
    } catch (error) {
      session = undefined
      throw error
    }
  }
  return new SendQueue({ topic, produce: write, budget, deliveryTimeoutMs })
}

async function newSession(cluster: Cluster, deadlineMs: number): Promise<ProducerSession> {
  const timeoutMs = cluster.settings.transactionTimeoutMs
  const ask = () => cluster.askAny(INIT_PRODUCER_ID, null, timeoutMs, -1n, -1)
  const { producerId, producerEpoch } = await cluster.retry(deadlineMs, 'becoming a producer', ask)
  return { producerId, producerEpoch, transactionalId: null, sequences: new Map() }
}

/** As many transactional producers as there are transactions at once, each used again. */
function createTransactions(
  cluster: Cluster,
  layoutOf: (topic: string) => TopicLayout,
  membershipOf: ConstructorParameters<typeof TransactionalProducer>[0]['membershipOf'],
): Pick<TransactionalProducer, 'write'> {
  const prefix = cluster.settings.transactionalId ?? `${cluster.settings.clientId}-${randomUUID()}`
  const idle: TransactionalProducer[] = []
  let count = 0
  return {
    async write(content) {
      const producer = idle.pop() ?? new TransactionalProducer({ cluster, transactionalId: `${prefix}-${count++}`, layoutOf, membershipOf })
      try {
        await producer.write(content)
      } finally {
        idle.push(producer)
      }
    },
  }
}
