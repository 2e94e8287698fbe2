import type { TopicPartition, TopicPartitionOffset } from '../../../../ports/bus.ts'

export const queueKey = (topic: string, partition: number) => `${topic}/${partition}`

export function byTopic<T extends TopicPartition, R>(
  items: readonly T[],
  toPartition: (item: T) => R,
): { readonly topic: string; readonly partitions: R[] }[] {
  return [...Map.groupBy(items, ({ topic }) => topic)].map(([topic, list]) => ({ topic, partitions: list.map(toPartition) }))
}

/** Kafka's offsets of a group, sorted and without the partitions of which nothing is committed: their offset is -1. */
export function onlyCommitted(offsets: readonly TopicPartitionOffset[]): readonly TopicPartitionOffset[] {
  return offsets
    .filter(({ offset }) => offset >= 0)
    .sort((a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition))
}

/** Committed offsets without those behind the end of their partition: records of another log, which was cut off or made anew since. */
export function withinLog(
  committed: readonly TopicPartitionOffset[],
  ends: readonly TopicPartitionOffset[],
): readonly TopicPartitionOffset[] {
  const endOf = new Map(ends.map(({ topic, partition, offset }) => [queueKey(topic, partition), offset]))
  return committed.filter(({ topic, partition, offset }) => offset <= (endOf.get(queueKey(topic, partition)) ?? offset))
}
