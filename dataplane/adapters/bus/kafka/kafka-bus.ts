/** The bus on Kafka as `BUS_CLIENT=platformatic` makes it: the requests of the Kafka protocol are put together here, the library carries them. */
import type { Bus } from '../../../ports/bus.ts'
import { createClientBus, createProducerPool, type KafkaClient } from './both-clients/client-bus.ts'
import { type KafkaConfig, withDefaults } from './both-clients/kafka-config.ts'
import { Cluster } from './cluster/cluster.ts'
import { hasCode } from './cluster/protocol-errors.ts'
import { fetchCommitted, fetchMembers, fetchStates } from './group/group-offsets.ts'
import { GroupSubscription } from './group/subscription.ts'
import { createProduce, type ProduceDeps } from './produce/idempotent-producer.ts'
import { TopicCompressions } from './produce/topic-compressions.ts'
import { TransactionalProducer } from './produce/transactional-producer.ts'
import { ensureTopics, purgeTopic } from './topics.ts'

/** How long committed offsets wait for a transaction that is being ended; that of a process that died ends much later. */
const STABLE_PATIENCE_MS = 3_000

/** Makes the topics that are missing. Rejects as `unavailable` when no broker answers within `startTimeoutMs`. */
export async function openKafkaBus(config: KafkaConfig): Promise<Bus> {
  const settings = withDefaults(config)
  const cluster = new Cluster(settings)
  try {
    const layouts = await ensureTopics(cluster, cluster.deadlineIn(settings.startTimeoutMs))
    return createClientBus(settings, layouts, createClient({ cluster, compressions: new TopicCompressions(settings.log, layouts) }))
  } catch (error) {
    await cluster.close()
    throw error
  }
}

function createClient(deps: ProduceDeps): KafkaClient<GroupSubscription> {
  const { cluster } = deps
  const { settings } = cluster
  const allPartitions = () =>
    settings.topics.flatMap(({ name: topic }) => cluster.topic(topic).leaders.map((_, partition) => ({ topic, partition })))
  const producers = createProducerPool(settings, transactionalId => new TransactionalProducer(deps, transactionalId))

  return {
    partitionsOf: ({ name }) => cluster.usedPartitions(name),
    createProduce: () => createProduce(deps),
    writeTransaction: (content, memberOf) => producers.use(producer => producer.write(content, groupId => memberOf(groupId)?.membership())),
    createSubscription: (config, onClosed) => new GroupSubscription(cluster, config, onClosed),
    async describe() {
      await cluster.retry(cluster.deadlineMs(), 'describing the bus', () => cluster.refresh())
      return { brokers: cluster.brokerCount, partitions: await fetchStates(cluster, allPartitions(), cluster.deadlineMs()) }
    },
    async committedOffsets(groupId) {
      try {
        return await fetchCommitted(cluster, groupId, cluster.deadlineIn(STABLE_PATIENCE_MS), allPartitions())
      } catch (error) {
        if (!hasCode((error as Error).cause, 'UNSTABLE_OFFSET_COMMIT')) throw error
        return fetchCommitted(cluster, groupId, cluster.deadlineMs(), allPartitions(), 'latest')
      }
    },
    groupMembers: groupId => fetchMembers(cluster, groupId, cluster.deadlineMs()),
    purge: ({ name }) => purgeTopic(cluster, name, cluster.deadlineMs()),
    close: () => cluster.close(),
  }
}
