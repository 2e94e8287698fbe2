import type { Admin } from 'kafkajs'
import type { GroupMemberInfo, PartitionState, TopicPartition, TopicPartitionOffset } from '../../../ports/bus.ts'
import { onlyCommitted } from '../kafka/both-clients/topic-partitions.ts'

/** Committed offsets of a group, sorted; partitions without one are left out. */
export async function fetchCommitted(admin: Admin, groupId: string): Promise<readonly TopicPartitionOffset[]> {
  const topics = await admin.fetchOffsets({ groupId })
  return onlyCommitted(
    topics.flatMap(({ topic, partitions }) => partitions.map(({ partition, offset }) => ({ topic, partition, offset: Number(offset) }))),
  )
}

/** The members of a group; none of one that is not there. */
export async function fetchMembers(admin: Admin, groupId: string): Promise<readonly GroupMemberInfo[]> {
  const { groups } = await admin.describeGroups([groupId])
  return groups.flatMap(({ members }) => members.map(({ clientId }) => ({ clientId })))
}

/** The state of each partition of the topics. */
export async function fetchStates(admin: Admin, topics: readonly string[]): Promise<readonly PartitionState[]> {
  const states = await Promise.all(
    topics.map(async topic =>
      (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
        topic,
        partition,
        startOffset: Number(low),
        endOffset: Number(high),
      })),
    ),
  )
  return states.flat()
}

/** Where partitions of a group start: at what it committed, else at one end. */
export async function fetchStarts(
  admin: Admin,
  groupId: string,
  partitions: readonly TopicPartition[],
  startFrom: 'earliest' | 'latest',
): Promise<readonly TopicPartitionOffset[]> {
  const committed = await fetchCommitted(admin, groupId)
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  const states = await fetchStates(admin, topics)
  return partitions.map(({ topic, partition }) => {
    const is = (other: TopicPartition) => other.topic === topic && other.partition === partition
    const state = states.find(is)!
    const known = committed.find(is)?.offset
    // Behind the end: of another log, which was cut off or made anew since.
    if (known !== undefined && known > state.endOffset) return { topic, partition, offset: state.startOffset }
    const offset = known ?? (startFrom === 'latest' ? state.endOffset : state.startOffset)
    return { topic, partition, offset: Math.max(offset, state.startOffset) }
  })
}
