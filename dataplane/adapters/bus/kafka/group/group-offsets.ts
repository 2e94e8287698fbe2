import type { GroupMember, TopicPartition, TopicPartitionOffset } from '../../../../ports/bus.ts'
import { notAssigned } from '../both-clients/kafka-errors.ts'
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
  const topics = groupByTopic(of).map(([name, list]) => ({ name, partitionIndexes: list.map(p => p.partition) }))
  const group = { groupId, memberEpoch: NO_TIME, topics }
  const coordinator = { type: 'group', id: groupId } as const
  const { groups } = await cluster.askCoordinator(coordinator, deadlineMs, OFFSET_FETCH, [group], which === 'stable')
  return groups
    .flatMap(answer => answer.topics)
    .flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, committedOffset }) => ({
        topic: name,
        partition: partitionIndex,
        offset: Number(committedOffset),
      })),
    )
    .filter(({ offset }) => offset >= 0)
    .sort((a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition))
}

/** Who is in a group; nobody in one that is not there. */
export async function fetchMembers(cluster: Cluster, groupId: string, deadlineMs: number): Promise<readonly GroupMember[]> {
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
  const topics = groupByTopic(offsets).map(([name, list]) => ({ name, partitions: list.map(toCommitted) }))
  const deadlineMs = cluster.settings.clock.nowMs() + cluster.settings.deliveryTimeoutMs
  try {
    await cluster.askCoordinator({ type: 'group', id: groupId }, deadlineMs, OFFSET_COMMIT, groupId, generationId, memberId, null, topics)
  } catch (error) {
    if (hasCode((error as Error).cause, 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID'))
      throw notAssigned(offsets[0]!.topic, offsets[0]!.partition)
    throw error
  }
}

export const toCommitted = ({ partition, offset }: TopicPartitionOffset) => ({
  partitionIndex: partition,
  committedOffset: BigInt(offset),
  committedLeaderEpoch: -1,
  committedMetadata: null,
})

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
  const asked = groupByTopic(of).map(([name, list]) => ({
    name,
    partitions: list.map(({ partition }) => ({ partitionIndex: partition, currentLeaderEpoch: -1, timestamp })),
  }))
  const { topics } = await cluster.ask(leader, 'control', LIST_OFFSETS, -1, READ_UNCOMMITTED, asked)
  return topics.flatMap(({ name, partitions }) =>
    partitions.map(({ partitionIndex, offset }) => ({ topic: name, partition: partitionIndex, offset: Number(offset) })),
  )
}

export function groupByTopic<T extends TopicPartition>(items: readonly T[]): readonly (readonly [string, readonly T[]])[] {
  return [...Map.groupBy(items, ({ topic }) => topic)]
}
