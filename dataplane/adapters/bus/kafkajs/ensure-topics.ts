/** Topics in Kafka: made where they are missing, set right where they are to be kept. */
import kafkajs, { type Admin } from 'kafkajs'
import type { KafkaSettings } from '../kafka/both-clients/kafka-config.ts'
import type { TopicLayout } from '../kafka/both-clients/send-queue.ts'
import {
  assertMayCreate,
  checkTopics,
  mendTopics,
  readTopic,
  settingsOf,
  TOPIC_SETTINGS,
  type TopicInKafka,
  type TopicRequests,
} from '../kafka/both-clients/topic-check.ts'

/** Creates the topics that are missing, and tells how all are laid out. */
export async function ensureTopics(admin: Admin, settings: KafkaSettings): Promise<ReadonlyMap<string, TopicLayout>> {
  const { topics, log, replicationFactor = -1 } = settings
  const existing = new Set(await admin.listTopics())
  const missing = topics.filter(({ name }) => !existing.has(name))
  if (missing.length > 0) {
    assertMayCreate(settings, missing)
    // False when another process was faster.
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map(topic => ({
        topic: topic.name,
        numPartitions: topic.partitions,
        replicationFactor,
        configEntries: settingsOf(topic),
      })),
    })
    log.info({ topics: missing.map(({ name }) => name) }, 'topics created in Kafka')
  }
  const describe = () =>
    describeTopics(
      admin,
      topics.map(({ name }) => name),
    )
  return checkTopics(settings, await mendTopics(settings, describe, requestsOf(admin)))
}

const requestsOf = (admin: Admin): TopicRequests => ({
  addPartitions: ({ name, partitions }) => admin.createPartitions({ topicPartitions: [{ topic: name, count: partitions }] }),
  async setRetention({ name, retentionMs }) {
    const configEntries = [...(await ownSettings(admin, name)), { name: 'retention.ms', value: String(retentionMs) }]
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries }] })
  },
})

/** Settings of the topic itself but its retention: the request that changes one sets all others back. */
async function ownSettings(admin: Admin, name: string) {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }],
  })
  const entries = resources.flatMap(({ configEntries }) => configEntries)
  return entries
    .filter(({ configName, configSource }) => configName !== 'retention.ms' && configSource === kafkajs.ConfigSource.TOPIC_CONFIG)
    .map(({ configName, configValue }) => ({ name: configName, value: configValue }))
}

async function describeTopics(admin: Admin, names: string[]): Promise<readonly TopicInKafka[]> {
  const [{ topics }, { resources }] = await Promise.all([
    admin.fetchTopicMetadata({ topics: names }),
    admin.describeConfigs({
      includeSynonyms: false,
      resources: names.map(name => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: [...TOPIC_SETTINGS] })),
    }),
  ])
  return topics.map(({ name, partitions }) => {
    const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? []
    return readTopic(name, partitions.length, setting => entries.find(({ configName }) => configName === setting)?.configValue)
  })
}
