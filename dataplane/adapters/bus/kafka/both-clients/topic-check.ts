import { MAX_BUS_MESSAGE_BYTES, TIMESTAMP_TYPE, type TopicConfig } from '../../../../contract/topics.ts'

/** A topic as Kafka has it. */
export interface TopicInKafka {
  readonly name: string
  readonly partitions: number
  /** -1: for ever. */
  readonly retentionMs: number
  readonly maxMessageBytes: number
  /** `CreateTime` or `LogAppendTime`. */
  readonly timestampType: string
}

/** The settings of a topic that `TopicInKafka` is read from. */
export const TOPIC_SETTINGS = ['retention.ms', 'max.message.bytes', 'message.timestamp.type'] as const
type TopicSetting = (typeof TOPIC_SETTINGS)[number]

/** What `settingOf` says, as a topic. */
export function readTopic(name: string, partitions: number, settingOf: (setting: TopicSetting) => string | null | undefined): TopicInKafka {
  return {
    name,
    partitions,
    retentionMs: Number(settingOf('retention.ms')),
    maxMessageBytes: Number(settingOf('max.message.bytes')),
    timestampType: String(settingOf('message.timestamp.type')),
  }
}

/** Settings of a topic that is made. */
export const settingsOf = ({ retentionMs }: TopicConfig) => [
  { name: 'retention.ms', value: String(retentionMs) },
  { name: 'message.timestamp.type', value: TIMESTAMP_TYPE },
]

export interface TopicDifference {
  readonly topic: string
  readonly setting: 'partitions' | TopicSetting
  readonly expected: number | string
  readonly found: number | string
}

/** Where topics that exist differ from the wanted ones, so that an operator can decide. They are used as they are. */
export function compareTopics(wanted: readonly TopicConfig[], found: readonly TopicInKafka[]): readonly TopicDifference[] {
  const byName = new Map(found.map(topic => [topic.name, topic]))
  return wanted.flatMap(({ name, partitions, retentionMs }) => {
    const topic = byName.get(name)
    if (topic === undefined) return []
    const differences: TopicDifference[] = []
    const add = (setting: TopicDifference['setting'], expected: number | string, seen: number | string) =>
      differences.push({ topic: name, setting, expected, found: seen })
    if (topic.partitions !== partitions) add('partitions', partitions, topic.partitions)
    if (topic.retentionMs !== retentionMs) add('retention.ms', retentionMs, topic.retentionMs)
    if (topic.maxMessageBytes < MAX_BUS_MESSAGE_BYTES) add('max.message.bytes', MAX_BUS_MESSAGE_BYTES, topic.maxMessageBytes)
    if (topic.timestampType !== TIMESTAMP_TYPE) add('message.timestamp.type', TIMESTAMP_TYPE, topic.timestampType)
    return differences
  })
}
