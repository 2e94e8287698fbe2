/** Divides the partitions of topics among the members of a group. */
import type { TopicPartition } from '../../../../ports/bus.ts'

export interface MemberTopics {
  readonly memberId: string
  readonly topics: readonly string[]
}

export const partitionKey = (topic: string, partition: number) => `${topic}/${partition}`

/**
 * The reader of each partition: `topic/partition` → member id.
 *
 * Every topic is spread evenly over the members that subscribe to it, members with less in all get the remainder,
 * and a partition stays where it is as long as that is even.
 */
export function assignPartitions(
  members: readonly MemberTopics[],
  partitions: readonly TopicPartition[],
  currentOwner: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const assigned = new Map<string, string>()
  const totals = new Map(members.map(({ memberId }) => [memberId, 0]))
  for (const [topic, ofTopic] of Map.groupBy(partitions, ({ topic }) => topic)) {
    const readers = members.filter(({ topics }) => topics.includes(topic)).map(({ memberId }) => memberId)
    if (readers.length > 0) assignTopic(readers, ofTopic, currentOwner, totals, assigned)
  }
  return assigned
}

function assignTopic(
  readers: readonly string[],
  partitions: readonly TopicPartition[],
  currentOwner: ReadonlyMap<string, string>,
  totals: Map<string, number>,
  assigned: Map<string, string>,
): void {
  const held = new Map(readers.map(reader => [reader, 0]))
  const give = (key: string, reader: string) => {
    assigned.set(key, reader)
    held.set(reader, held.get(reader)! + 1)
    totals.set(reader, totals.get(reader)! + 1)
  }
  const least = Math.floor(partitions.length / readers.length)
  let extras = partitions.length % readers.length
  const open: string[] = []
  for (const { topic, partition } of partitions) {
    const key = partitionKey(topic, partition)
    const owner = currentOwner.get(key)
    const count = owner === undefined ? undefined : held.get(owner)
    if (owner === undefined || count === undefined || count > least || (count === least && extras === 0)) {
      open.push(key)
      continue
    }
    if (count === least) extras--
    give(key, owner)
  }
  for (const key of open) {
    const next = readers.reduce((best, reader) => (isLighter(reader, best, held, totals) ? reader : best))
    give(key, next)
  }
}

function isLighter(a: string, b: string, held: ReadonlyMap<string, number>, totals: ReadonlyMap<string, number>): boolean {
  return held.get(a)! < held.get(b)! || (held.get(a) === held.get(b) && totals.get(a)! < totals.get(b)!)
}
