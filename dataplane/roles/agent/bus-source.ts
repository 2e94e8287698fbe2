import { readersOf } from '../../contract/consumer-groups.ts'
import { TOPICS } from '../../contract/topics.ts'
import type { Bus, PartitionState, TopicPartitionOffset } from '../../ports/bus.ts'

export type TopicKey = keyof typeof TOPICS
const TOPIC_KEYS = Object.keys(TOPICS) as TopicKey[]

export interface BusState {
  readonly brokers: number
  /** The product's topics that are there. */
  readonly topics: Readonly<Record<string, { readonly partitions: number; readonly consumerLag: number }>>
  /** Topics and groups that could not be read, or are missing. */
  readonly missing: readonly string[]
  /** Why the bus takes no records just now. */
  readonly problem?: string | undefined
  /** Bytes of the embedded bus that went before their time. */
  readonly deletedEarlyBytes?: number | undefined
}

/** Committed offsets of a group; undefined when they could not be read. */
type GroupOffsets = ReadonlyMap<string, readonly TopicPartitionOffset[] | undefined>

/** Brokers, and each topic's partitions and lag, as the bus tells them. */
export async function readBusState(
  bus: Pick<Bus, 'describe' | 'committedOffsets'>,
  names: Readonly<Record<TopicKey, string>>,
): Promise<BusState> {
  const [{ brokers, partitions, problem, deletedEarlyBytes }, offsets] = await Promise.all([bus.describe(), readOffsets(bus, names)])
  const topics: Record<string, { partitions: number; consumerLag: number }> = {}
  const missing = [...offsets].filter(([, committed]) => committed === undefined).map(([groupId]) => `offsets of ${groupId}`)
  for (const key of TOPIC_KEYS) {
    const own = partitions.filter(({ topic }) => topic === names[key])
    if (own.length === 0) missing.push(`topic ${names[key]}`)
    else topics[names[key]] = { partitions: own.length, consumerLag: topicLag(own, readersOf(key, names), offsets) }
  }
  return { brokers, topics, missing, problem, deletedEarlyBytes }
}

async function readOffsets(bus: Pick<Bus, 'committedOffsets'>, names: Readonly<Record<TopicKey, string>>): Promise<GroupOffsets> {
  const groups = new Set(TOPIC_KEYS.flatMap(key => readersOf(key, names)))
  const read = async (groupId: string) => [groupId, await bus.committedOffsets(groupId).catch(() => undefined)] as const
  return new Map(await Promise.all([...groups].map(read)))
}

/** Records that the slowest of the topic's steps has still to read; a step whose offsets are not known does not count. */
function topicLag(partitions: readonly PartitionState[], readers: readonly string[], offsets: GroupOffsets): number {
  const known = readers.map(groupId => offsets.get(groupId)).filter(committed => committed !== undefined)
  return Math.max(0, ...known.map(committed => groupLag(partitions, committed)))
}

/** A partition without a committed offset is read from its start. */
function groupLag(partitions: readonly PartitionState[], committed: readonly TopicPartitionOffset[]): number {
  let lag = 0
  for (const { topic, partition, startOffset, endOffset } of partitions) {
    const next = committed.find(offset => offset.topic === topic && offset.partition === partition)?.offset ?? startOffset
    lag += Math.max(0, endOffset - Math.max(next, startOffset))
  }
  return lag
}
