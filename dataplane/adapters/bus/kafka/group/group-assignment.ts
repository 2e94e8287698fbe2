/** Offers of the members of a group, and the partitions that each member gets. */
import type { TopicPartition } from '../../../../ports/bus.ts'
import { byTopic, queueKey } from '../both-clients/topic-partitions.ts'
import {
  cooperativeStickyAssigner,
  decodeConsumerProtocolSubscription,
  encodeConsumerProtocolAssignment,
  encodeConsumerProtocolSubscription,
} from '../library.ts'

export const PROTOCOL = 'cooperative-sticky'
const VERSION = 3
/** User data of a member that stands by; other clients send none. */
const STANDS_BY = 'stands-by'

export interface MemberOffer {
  readonly topics: readonly string[]
  readonly owned: readonly TopicPartition[]
  readonly generationId: number
  readonly standsBy: boolean
}

/** A member's description of itself when it joins. */
export function encodeOffer({ topics, owned, generationId, standsBy }: MemberOffer): Buffer {
  return encodeConsumerProtocolSubscription({
    version: VERSION,
    topics: [...topics],
    userData: standsBy ? STANDS_BY : '',
    ownedPartitions: byTopic(owned, ({ partition }) => partition),
    generationId: owned.length > 0 ? generationId : -1,
    rackId: null,
  })
}

/**
 * The partitions of each member, decided by the leader of the group: as Kafka's cooperative assignor does it, but members that stand by are left out while
 * others are there. Partitions that they still have are given away in the next round, once they let go of them.
 */
export function assignGroup(
  leader: string,
  members: readonly { readonly memberId: string; readonly metadata: Buffer }[],
  partitionsOf: (topic: string) => number | undefined,
): { memberId: string; assignment: Buffer }[] {
  const offers = members.map(({ memberId, metadata }) => ({ memberId, ...decodeConsumerProtocolSubscription(metadata) }))
  const isStandingBy = ({ userData }: (typeof offers)[number]) => userData?.toString() === STANDS_BY
  const active = offers.filter(offer => !isStandingBy(offer))
  const takers = active.length > 0 ? active : offers
  const counts = new Map<string, { partitionsCount: number }>()
  for (const topic of takers.flatMap(({ topics }) => topics)) {
    const partitionsCount = partitionsOf(topic)
    if (partitionsCount !== undefined) counts.set(topic, { partitionsCount })
  }
  const kept = new Set<string>()
  if (active.length > 0)
    for (const { ownedPartitions = [] } of offers.filter(isStandingBy))
      for (const { topic, partitions } of ownedPartitions) for (const partition of partitions) kept.add(queueKey(topic, partition))
  // The assignor reads nothing of the metadata but the partition counts.
  const metadata = { topics: counts } as unknown as Parameters<typeof cooperativeStickyAssigner>[3]
  const byMember = new Map(takers.map(offer => [offer.memberId, offer]))
  const assigned = new Map(
    cooperativeStickyAssigner(leader, byMember, new Set(counts.keys()), metadata).map(({ memberId, assignments }) => [
      memberId,
      [...assignments.values()].map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.filter(partition => !kept.has(queueKey(topic, partition))),
      })),
    ]),
  )
  return offers.map(({ memberId }) => ({
    memberId,
    assignment: encodeConsumerProtocolAssignment({
      version: VERSION,
      assignedPartitions: assigned.get(memberId) ?? [],
      userData: null,
    }),
  }))
}
