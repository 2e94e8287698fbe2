/** Topics in Kafka: made where they are missing, looked at, emptied. */
import type { TopicConfig } from '../../../contract/topics.ts'
import { kafkaError } from './both-clients/kafka-errors.ts'
import type { TopicLayout } from './both-clients/send-queue.ts'
import {
  assertMayCreate,
  checkTopics,
  mendTopics,
  readTopic,
  settingsOf,
  TOPIC_SETTINGS,
  type TopicInKafka,
  type TopicRequests,
} from './both-clients/topic-check.ts'
import { ALTER_CONFIGS, CREATE_PARTITIONS, CREATE_TOPICS, DELETE_RECORDS, DESCRIBE_CONFIGS } from './cluster/apis.ts'
import type { Cluster } from './cluster/cluster.ts'
import { answerIn, codeName } from './cluster/protocol-errors.ts'
import { ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from './library.ts'

const CREATE_TIMEOUT_MS = 10_000

/** Creates the topics that are missing, and tells how all are laid out. */
export async function ensureTopics(cluster: Cluster, deadlineMs: number): Promise<ReadonlyMap<string, TopicLayout>> {
  const { topics, log, reachTimeoutMs } = cluster.settings
  await cluster.retry(Math.min(deadlineMs, cluster.deadlineIn(reachTimeoutMs)), 'reaching Kafka', () => cluster.refresh())
  const missing = topics.filter(({ name }) => !cluster.has(name))
  if (missing.length > 0) {
    assertMayCreate(cluster.settings, missing)
    await cluster.retry(deadlineMs, `creating ${missing.map(({ name }) => name).join(', ')}`, () => createTopics(cluster, missing))
    log.info({ topics: missing.map(({ name }) => name) }, 'topics created in Kafka')
    await cluster.retry(deadlineMs, 'waiting for the new topics', () => expectLeaders(cluster, topics))
  }
  const describe = () => cluster.retry(deadlineMs, 'reading the settings of the topics', () => describeTopics(cluster, topics))
  return checkTopics(cluster.settings, await mendTopics(cluster.settings, describe, requestsOf(cluster)))
}

/** An answer with an error code rejects. */
const requestsOf = (cluster: Cluster): TopicRequests => ({
  addPartitions: ({ name, partitions }) =>
    cluster.askAny(CREATE_PARTITIONS, [{ name, count: partitions, assignments: null }], CREATE_TIMEOUT_MS, false),
  setRetention({ name, retentionMs }) {
    const config = { name: 'retention.ms', configOperation: IncrementalAlterConfigOperationTypes.SET, value: String(retentionMs) }
    return cluster.askAny(ALTER_CONFIGS, [{ resourceType: ConfigResourceTypes.TOPIC, resourceName: name, configs: [config] }], false)
  },
})

type CreateAnswer = Awaited<ReturnType<(typeof CREATE_TOPICS)[0]['async']>>

async function createTopics(cluster: Cluster, missing: readonly TopicConfig[]): Promise<void> {
  const { replicationFactor = -1 } = cluster.settings
  const wanted = missing.map(topic => ({
    name: topic.name,
    numPartitions: topic.partitions,
    replicationFactor,
    assignments: [],
    configs: settingsOf(topic),
  }))
  const answer = await cluster.askAny(CREATE_TOPICS, wanted, CREATE_TIMEOUT_MS, false).catch(answerIn<CreateAnswer>)
  for (const { name, errorCode, errorMessage } of answer.topics) {
    const code = codeName(errorCode)
    // Another process starts at the same time.
    if (code !== undefined && code !== 'TOPIC_ALREADY_EXISTS') throw kafkaError(code, `creating topic ${name} (${errorMessage})`)
  }
}

async function expectLeaders(cluster: Cluster, topics: readonly TopicConfig[]): Promise<void> {
  await cluster.refresh()
  for (const { name } of topics)
    if (!cluster.has(name) || cluster.topic(name).leaders.some(leader => leader < 0)) throw new Error(`topic ${name} has no leaders yet`)
}

async function describeTopics(cluster: Cluster, topics: readonly TopicConfig[]): Promise<readonly TopicInKafka[]> {
  const resources = topics.map(({ name }) => ({
    resourceType: ConfigResourceTypes.TOPIC,
    resourceName: name,
    configurationKeys: [...TOPIC_SETTINGS],
  }))
  const [{ results }] = await Promise.all([cluster.askAny(DESCRIBE_CONFIGS, resources, false, false), cluster.refresh()])
  return results.map(({ resourceName, configs }) =>
    readTopic(resourceName, cluster.topic(resourceName).leaders.length, setting => configs.find(({ name }) => name === setting)?.value),
  )
}

/** Up to the last record that is written everywhere. */
const ALL = -1n

/** Deletes the records that a topic holds, at the leader of each partition. */
export async function purgeTopic(cluster: Cluster, topic: string, deadlineMs: number): Promise<void> {
  await cluster.retry(deadlineMs, `deleting the records of ${topic}`, async () => {
    await cluster.refresh()
    const byLeader = Map.groupBy(cluster.topic(topic).leaders.keys(), partition => cluster.topic(topic).leaders[partition] ?? -1)
    for (const [leader, partitions] of byLeader) {
      const asked = [{ name: topic, partitions: partitions.map(partitionIndex => ({ partitionIndex, offset: ALL })) }]
      const { topics } = await cluster.ask(leader, 'control', DELETE_RECORDS, asked, cluster.settings.requestTimeoutMs)
      for (const { partitionIndex, errorCode } of topics.flatMap(answer => answer.partitions)) {
        const code = codeName(errorCode)
        if (code !== undefined) throw kafkaError(code, `deleting the records of partition ${partitionIndex} of ${topic}`)
      }
    }
  })
}
