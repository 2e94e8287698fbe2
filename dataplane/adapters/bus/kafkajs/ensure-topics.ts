import kafkajs, { type Admin } from 'kafkajs'
import type { KafkaSettings } from '../kafka/both-clients/kafka-config.ts'
import type { TopicLayout } from '../kafka/both-clients/send-queue.ts'
import { checkTopics, readTopic, settingsOf, TOPIC_SETTINGS, type TopicInKafka } from '../kafka/both-clients/topic-check.ts'

/** Creates the topics that are missing, and tells how all are laid out. */
export async function ensureTopics(admin: Admin, settings: KafkaSettings): Promise<ReadonlyMap<string, TopicLayout>> {
  const { topics, log, replicationFactor = -1 } = settings
  const existing = new Set(await admin.listTopics())
  const missing = topics.filter(({ name }) => !existing.has(name))
  if (missing.length > 0) {
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
  const found = await describeTopics(
    admin,
    topics.map(({ name }) => name),
  )
  return checkTopics(settings, found)
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
