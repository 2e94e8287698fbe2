/** How topics in Kafka should be, and where they are not. */
import { MAX_BUS_MESSAGE_BYTES, TIMESTAMP_TYPE, type TopicConfig } from '../../../../contract/topics.ts'
import { BusError } from '../../../../ports/bus.ts'
import type { KafkaSettings } from './kafka-config.ts'
import type { TopicLayout } from './send-queue.ts'

/** A topic as Kafka has it. */
export interface TopicInKafka extends TopicLayout {
  /** -1: for ever. */
  readonly retentionMs: number
  /** `CreateTime` or `LogAppendTime`. */
  readonly timestampType: string
}

/** The settings of a topic that `TopicInKafka` is read from. */
export const TOPIC_SETTINGS = ['retention.ms', 'max.message.bytes', 'message.timestamp.type', 'compression.type'] as const
type TopicSetting = (typeof TOPIC_SETTINGS)[number]

/** The topic that the answers of `settingOf` describe. */
export function readTopic(name: string, partitions: number, settingOf: (setting: TopicSetting) => string | null | undefined): TopicInKafka {
  return {
    name,
    partitions,
    retentionMs: Number(settingOf('retention.ms')),
    maxMessageBytes: Number(settingOf('max.message.bytes')),
    timestampType: String(settingOf('message.timestamp.type')),
    compressionType: String(settingOf('compression.type')),
  }
}

/** Settings of a topic that is made. */
export const settingsOf = ({ retentionMs }: TopicConfig) => [
  { name: 'retention.ms', value: String(retentionMs) },
  { name: 'message.timestamp.type', value: TIMESTAMP_TYPE },
]

/** Topics that are there and have fewer partitions than they should, or are kept for another time. Partitions cannot be taken away. */
export function topicsToMend({ topics, topicMode }: Pick<KafkaSettings, 'topics' | 'topicMode'>, found: readonly TopicInKafka[]) {
  const byName = new Map(found.map(topic => [topic.name, topic]))
  const wanted = topicMode === 'keep' ? topics.flatMap(topic => ({ topic, seen: byName.get(topic.name) })) : []
  const namesWhere = (differs: (topic: TopicConfig, seen: TopicInKafka) => boolean) =>
    wanted.flatMap(({ topic, seen }) => (seen !== undefined && differs(topic, seen) ? [topic] : []))
  return {
    tooFewPartitions: namesWhere((topic, seen) => seen.partitions < topic.partitions),
    otherRetention: namesWhere((topic, seen) => seen.retentionMs !== topic.retentionMs),
  }
}

/** Requests of one client. */
export interface TopicRequests {
  addPartitions(topic: TopicConfig): Promise<unknown>
  setRetention(topic: TopicConfig): Promise<unknown>
}

/** Brokers hear of a change some time after Kafka has acknowledged it; a change that none shows by then is told as it is. */
const SHOWN_WITHIN_MS = 5_000
const LOOK_EVERY_MS = 100

/** Sets topics right that are to be kept, and resolves with all as they are then. A change that Kafka refuses is told, and the topic stays as it is. */
export async function mendTopics(
  settings: KafkaSettings,
  describe: () => Promise<readonly TopicInKafka[]>,
  { addPartitions, setRetention }: TopicRequests,
): Promise<readonly TopicInKafka[]> {
  const { log, clock } = settings
  const mend = async (topics: readonly TopicConfig[], setting: string, change: (topic: TopicConfig) => Promise<unknown>) => {
    const changed = new Set<string>()
    for (const topic of topics) {
      try {
        await change(topic)
        changed.add(topic.name)
        log.info({ topic: topic.name, setting }, 'a topic in Kafka was set as it should be')
      } catch (error) {
        log.warn({ topic: topic.name, setting, error }, 'a topic in Kafka cannot be set as it should be')
      }
    }
    return changed
  }
  let found = await describe()
  const { tooFewPartitions, otherRetention } = topicsToMend(settings, found)
  const grown = await mend(tooFewPartitions, 'partitions', addPartitions)
  const kept = await mend(otherRetention, 'retention.ms', setRetention)
  const isShown = () => {
    const left = topicsToMend(settings, found)
    return !left.tooFewPartitions.some(({ name }) => grown.has(name)) && !left.otherRetention.some(({ name }) => kept.has(name))
  }
  for (let waitedMs = 0; !isShown() && waitedMs < SHOWN_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
    if (waitedMs > 0) await clock.sleep(LOOK_EVERY_MS)
    found = await describe()
  }
  return found
}

/** Throws `BusError` `unavailable` where topics are missing and none may be made: somebody may make them meanwhile. */
export function assertMayCreate({ topicMode }: Pick<KafkaSettings, 'topicMode'>, missing: readonly TopicConfig[]): void {
  if (topicMode !== 'existing') return
  const names = missing.map(({ name }) => name).join(', ')
  throw new BusError('unavailable', `${names} expected in Kafka, found nothing: create them, or let BUS_TOPICS be create or keep`)
}

/** Topics that exist, by name. They are used as they are; the log tells where they differ from the wanted ones, so that an operator can decide. */
export function checkTopics({ topics, log }: KafkaSettings, found: readonly TopicInKafka[]): ReadonlyMap<string, TopicLayout> {
  const byName = new Map(found.map(topic => [topic.name, topic]))
  for (const { name, partitions, retentionMs } of topics) {
    const topic = byName.get(name)
    if (topic === undefined) continue
    const expect = (setting: 'partitions' | TopicSetting, expected: number | string, seen: number | string, isFine = seen === expected) => {
      if (!isFine) log.warn({ topic: name, setting, expected, found: seen }, 'a topic in Kafka is not as this product makes it')
    }
    expect('partitions', partitions, topic.partitions)
    expect('retention.ms', retentionMs, topic.retentionMs)
    expect('max.message.bytes', MAX_BUS_MESSAGE_BYTES, topic.maxMessageBytes, topic.maxMessageBytes >= MAX_BUS_MESSAGE_BYTES)
    expect('message.timestamp.type', TIMESTAMP_TYPE, topic.timestampType)
  }
  return byName
}
