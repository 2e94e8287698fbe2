/** Offsets: what a group has committed, what a partition keeps. */
import {
  type GroupMemberInfo,
  notAssigned,
  type PartitionState,
  type TopicPartition,
  type TopicPartitionOffset,
} from '../../../../ports/bus.ts'
import { byTopic, onlyCommitted, queueKey } from '../both-clients/topic-partitions.ts'
import { DESCRIBE_GROUPS, LIST_OFFSETS, OFFSET_COMMIT, OFFSET_FETCH } from '../cluster/apis.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { hasCode } from '../cluster/protocol-errors.ts'
import type { Membership } from './group-member.ts'

/** Timestamps that ask for the ends of a partition. */
export const EARLIEST = -2n
export const LATEST = -1n

const NO_TIME = -1
const READ_UNCOMMITTED = 0

/**
 * Committed offsets of a group; partitions without one are left out. `stable` waits for transactions that are being ended: asked for by name,
 * as Kafka says nothing of partitions whose first offset is on its way.
 */
export async function fetchCommitted(
  cluster: Cluster,
  groupId: string,
  deadlineMs: number,
  of: readonly TopicPartition[],
  which: 'stable' | 'latest' = 'stable',
): Promise<readonly TopicPartitionOffset[]> {
  const topics = byTopic(of, ({ partition }) => partition).map(({ topic: name, partitions: partitionIndexes }) => ({
    name,
    partitionIndexes,
  }))
  const group = { groupId, memberEpoch: NO_TIME, topics }
  const coordinator = { type: 'group', id: groupId } as const
  const { groups } = await cluster.askCoordinator(coordinator, deadlineMs, OFFSET_FETCH, [group], which === 'stable')
  const offsets = groups.flatMap(answer =>
    answer.topics.flatMap(({ name: topic, partitions }) =>
      partitions.map(({ partitionIndex: partition, committedOffset }) => ({ topic, partition, offset: Number(committedOffset) })),
    ),
  )
  return onlyCommitted(offsets)
}

/** The members of a group; none of one that is not there. */
export async function fetchMembers(cluster: Cluster, groupId: string, deadlineMs: number): Promise<readonly GroupMemberInfo[]> {
  const { groups } = await cluster.askCoordinator({ type: 'group', id: groupId }, deadlineMs, DESCRIBE_GROUPS, [groupId], false)
  return groups.flatMap(({ members }) => members.map(({ clientId }) => ({ clientId })))
}

/** Stores offsets as a member of the group. */
export async function commitOffsets(
  cluster: Cluster,
  groupId: string,
  { memberId, generationId }: Membership,
  offsets: readonly TopicPartitionOffset[],
): Promise<void> {
  const args = [groupId, generationId, memberId, null, toCommitted(offsets)] as const
  try {
    await cluster.askCoordinator({ type: 'group', id: groupId }, cluster.deadlineMs(), OFFSET_COMMIT, ...args)
  } catch (error) {
    if (hasCode((error as Error).cause, 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID'))
      throw notAssigned(offsets[0]!.topic, offsets[0]!.partition)
    throw error
  }
}

/** Offsets as Kafka takes them. */
export const toCommitted = (offsets: readonly TopicPartitionOffset[]) =>
  byTopic(offsets, ({ partition: partitionIndex, offset }) => ({
    partitionIndex,
    committedOffset: BigInt(offset),
    committedLeaderEpoch: -1,
    committedMetadata: null,
  })).map(({ topic: name, partitions }) => ({ name, partitions }))

/** The state of each partition. */
export async function fetchStates(cluster: Cluster, of: readonly TopicPartition[], deadlineMs: number): Promise<readonly PartitionState[]> {
  const [starts, ends] = await Promise.all([EARLIEST, LATEST].map(end => listOffsets(cluster, of, end, deadlineMs)))
  const endOffsets = new Map(ends!.map(({ topic, partition, offset }) => [queueKey(topic, partition), offset]))
  return starts!.map(({ topic, partition, offset: startOffset }) => ({
    topic,
    partition,
    startOffset,
    endOffset: endOffsets.get(queueKey(topic, partition)) ?? startOffset,
  }))
}

/** The first or the next offset of each partition. */
export async function listOffsets(
  cluster: Cluster,
  of: readonly TopicPartition[],
  timestamp: bigint,
  deadlineMs: number,
): Promise<readonly TopicPartitionOffset[]> {
  return cluster.retry(deadlineMs, 'asking for offsets', async () => {
    try {
      const byLeader = Map.groupBy(of, ({ topic, partition }) => cluster.topic(topic).leaders[partition] ?? -1)
      const found = await Promise.all([...byLeader].map(([leader, part]) => listAt(cluster, leader, part, timestamp)))
      return found.flat()
    } catch (error) {
      await cluster.refresh()
      throw error
    }
  })
}

async function listAt(
  cluster: Cluster,
  leader: number,
  of: readonly TopicPartition[],
  timestamp: bigint,
): Promise<readonly TopicPartitionOffset[]> {
  const asked = byTopic(of, ({ topic, partition: partitionIndex }) => ({
    partitionIndex,
    currentLeaderEpoch: cluster.topic(topic).leaderEpochs[partitionIndex] ?? -1,
    timestamp,
  })).map(({ topic: name, partitions }) => ({ name, partitions }))
  const { topics } = await cluster.ask(leader, 'control', LIST_OFFSETS, -1, READ_UNCOMMITTED, asked)
  return topics.flatMap(({ name, partitions }) =>
    partitions.map(({ partitionIndex, offset }) => ({ topic: name, partition: partitionIndex, offset: Number(offset) })),
  )
}
