import { MAX_BUS_MESSAGE_BYTES, type TopicConfig } from '../../../contract/topics.ts'

/** A topic as Kafka has it. */
export interface TopicInKafka {
  readonly name: string
  readonly partitions: number
  /** -1: for ever. */
  readonly retentionMs: number
  readonly maxMessageBytes: number
}

export interface TopicDifference {
  readonly topic: string
  readonly setting: 'partitions' | 'retention.ms' | 'max.message.bytes'
  readonly expected: number
  readonly found: number
}

/** Where topics that exist differ from the wanted ones, so that an operator can decide. They are used as they are. */
export function compareTopics(wanted: readonly TopicConfig[], found: readonly TopicInKafka[]): readonly TopicDifference[] {
  const byName = new Map(found.map(topic => [topic.name, topic]))
  return wanted.flatMap(({ name, partitions, retentionMs }) => {
    const topic = byName.get(name)
    if (topic === undefined) return []
    const differences: TopicDifference[] = []
    const add = (setting: TopicDifference['setting'], expected: number, seen: number) =>
      differences.push({ topic: name, setting, expected, found: seen })
    if (topic.partitions !== partitions) add('partitions', partitions, topic.partitions)
    if (topic.retentionMs !== retentionMs) add('retention.ms', retentionMs, topic.retentionMs)
    if (topic.maxMessageBytes < MAX_BUS_MESSAGE_BYTES) add('max.message.bytes', MAX_BUS_MESSAGE_BYTES, topic.maxMessageBytes)
    return differences
  })
}
