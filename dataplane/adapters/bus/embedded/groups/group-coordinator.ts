/** Consumer groups: members join, get partitions, release them and commit offsets. */
import type { TopicConfig } from '../../../../contract/topics.ts'
import { BusError, type TopicPartition, type TopicPartitionOffset } from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { BusLog } from '../../bus-log.ts'
import type { GroupJournal } from './group-journal.ts'
import { assignPartitions, partitionKey } from './partition-assignment.ts'

export interface JoinRequest {
  readonly memberId: string
  readonly groupId: string
  readonly topics: readonly string[]
  readonly startFrom: 'earliest' | 'latest'
  readonly standsBy: boolean
}

/** Events that a member gets. The answer to `revoke` is `release`, once the member is done with the records that it polled. */
export type MemberEvent =
  | { readonly kind: 'assigned'; readonly partitions: readonly TopicPartitionOffset[] }
  | { readonly kind: 'revoke'; readonly partitions: readonly TopicPartition[] }
  /** The member did not release the partitions in time. */
  | { readonly kind: 'lost'; readonly partitions: readonly TopicPartition[] }

export interface TopicOffsets {
  readonly startOffsets: Float64Array
  readonly nextOffsets: Float64Array
}

export interface CoordinatorDeps {
  readonly journal: GroupJournal
  readonly clock: Clock
  readonly log: BusLog
  readonly offsetsOf: (topic: string) => TopicOffsets
  /** By name: a topic names the groups whose unread records it keeps. */
  readonly topics: ReadonlyMap<string, TopicConfig>
  /** How long a member may go on with a partition that another should get. */
  readonly rebalanceTimeoutMs: number
}

interface Member extends JoinRequest {
  readonly notify: (event: MemberEvent) => void
}

interface Holding {
  readonly memberId: string
  /** Where it began to read. */
  readonly startOffset: number
  revoking: boolean
}

interface Group {
  readonly members: Map<string, Member>
  /** By `topic/partition`. */
  readonly holdings: Map<string, Holding>
}

/** A group and how far it has read a topic. */
export interface GroupPosition {
  readonly groupId: string
  /** By partition: the next one that it will read. */
  readonly offsets: Float64Array
}

/** Groups with members are noted as seen so often: a group is forgotten when nobody has seen it for as long as its topic keeps records. */
const SEEN_EVERY_MS = 3_600_000

/** Spreads the partitions over the members of each group. A partition changes hands only once its holder has let go of it. */
export class GroupCoordinator {
  readonly #deps: CoordinatorDeps
  readonly #groups = new Map<string, Group>()
  readonly #groupOfMember = new Map<string, string>()
  readonly #stopped = new AbortController()

  constructor(deps: CoordinatorDeps) {
    this.#deps = deps
  }

  join(request: JoinRequest, notify: (event: MemberEvent) => void): void {
    for (const topic of request.topics) this.#deps.offsetsOf(topic)
    const group = this.#groups.get(request.groupId) ?? { members: new Map<string, Member>(), holdings: new Map<string, Holding>() }
    this.#groups.set(request.groupId, group)
    group.members.set(request.memberId, { ...request, notify })
    this.#groupOfMember.set(request.memberId, request.groupId)
    this.#rebalance(request.groupId, group)
  }

  leave(memberId: string): void {
    const groupId = this.#groupOfMember.get(memberId)
    const group = groupId === undefined ? undefined : this.#groups.get(groupId)
    if (groupId === undefined || group === undefined) return
    this.#groupOfMember.delete(memberId)
    group.members.delete(memberId)
    for (const [key, holding] of group.holdings) if (holding.memberId === memberId) group.holdings.delete(key)
    if (group.members.size === 0) this.#groups.delete(groupId)
    else this.#rebalance(groupId, group)
  }

  /** The member has stopped reading these. */
  release(memberId: string, partitions: readonly TopicPartition[]): void {
    const groupId = this.#groupOfMember.get(memberId)
    const group = groupId === undefined ? undefined : this.#groups.get(groupId)
    if (groupId === undefined || group === undefined) return
    for (const { topic, partition } of partitions) {
      const key = partitionKey(topic, partition)
      if (group.holdings.get(key)?.memberId === memberId) group.holdings.delete(key)
    }
    this.#rebalance(groupId, group)
  }

  async commit(memberId: string, offsets: readonly TopicPartitionOffset[]): Promise<void> {
    const groupId = this.#groupOfMember.get(memberId)
    const group = groupId === undefined ? undefined : this.#groups.get(groupId)
    if (groupId === undefined || group === undefined) throw new BusError('closed', 'the subscription has left its group')
    for (const { topic, partition, offset } of offsets) {
      if (group.holdings.get(partitionKey(topic, partition))?.memberId !== memberId)
        throw new BusError(
          'unavailable',
          `${topic}/${partition} is no longer assigned to this member of group ${groupId}: nothing was committed`,
        )
      if (!Number.isSafeInteger(offset) || offset < 0)
        throw new RangeError(`offset of ${topic}/${partition} must be a whole number, not ${offset}`)
    }
    await this.#deps.journal.append([{ groupId, offsets }])
  }

  /**
   * The groups that keep a topic's records from being deleted before their time, and how far they have read: the topic's own readers, those
   * with a member, and those that were seen within the topic's retention. What is older is deleted anyway.
   */
  readersOf(topic: string): readonly GroupPosition[] {
    return [...this.#countingGroups(topic)].map(groupId => ({ groupId, offsets: this.positionsOf(groupId, topic) }))
  }

  /** By partition: the next one that the group will read, 0 where it has not begun. */
  positionsOf(groupId: string, topic: string): Float64Array {
    return this.#deps.offsetsOf(topic).nextOffsets.map((_, partition) => this.#positionOf(groupId, topic, partition))
  }

  /** Journals that the groups with members are there; to be called now and then. */
  async noteSeen(): Promise<void> {
    const { journal, clock } = this.#deps
    const before = clock.nowMs() - SEEN_EVERY_MS
    await journal.noteSeen([...this.#groups.keys()].filter(groupId => (journal.lastSeenMs(groupId) ?? 0) <= before))
  }

  /** Forgets a group and its offsets. Rejects when it has members. */
  async remove(groupId: string): Promise<void> {
    if (this.#groups.has(groupId)) throw new BusError('unavailable', `group ${groupId} has members: stop them first`)
    await this.#deps.journal.remove(groupId)
  }

  stop(): void {
    this.#stopped.abort()
  }

  #countingGroups(topic: string): ReadonlySet<string> {
    const { journal, clock, topics } = this.#deps
    const { readers = [], retentionMs } = topics.get(topic)!
    const seenAfterMs = clock.nowMs() - retentionMs
    const present = [...this.#groups].filter(([, { members }]) => [...members.values()].some(member => member.topics.includes(topic)))
    const seen = journal.groupIds().filter(groupId => journal.hasRead(groupId, topic) && journal.lastSeenMs(groupId)! > seenAfterMs)
    return new Set([...readers, ...present.map(([groupId]) => groupId), ...seen])
  }

  #positionOf(groupId: string, topic: string, partition: number): number {
    return (
      this.#deps.journal.offsetOf(groupId, topic, partition) ??
      this.#groups.get(groupId)?.holdings.get(partitionKey(topic, partition))?.startOffset ??
      0
    )
  }

  #rebalance(groupId: string, group: Group): void {
    const members = [...group.members.values()]
    const topics = [...new Set(members.flatMap(member => member.topics))]
    const partitions = topics.flatMap(topic =>
      Array.from(this.#deps.offsetsOf(topic).nextOffsets, (_, partition) => ({ topic, partition })),
    )
    const owners = new Map([...group.holdings].map(([key, { memberId }]) => [key, memberId]))
    const active = members.filter(({ standsBy }) => !standsBy)
    const target = assignPartitions(active.length > 0 ? active : members, partitions, owners)
    for (const member of members) {
      const due = partitions.filter(({ topic, partition }) => target.get(partitionKey(topic, partition)) === member.memberId)
      this.#assign(group, member, due)
      const surplus = partitions.filter(({ topic, partition }) => {
        const key = partitionKey(topic, partition)
        return owners.get(key) === member.memberId && target.get(key) !== member.memberId
      })
      this.#revoke(groupId, group, member, surplus)
    }
  }

  #assign(group: Group, member: Member, due: readonly TopicPartition[]): void {
    const gained: TopicPartitionOffset[] = []
    for (const { topic, partition } of due) {
      const key = partitionKey(topic, partition)
      if (group.holdings.has(key)) continue
      const offset = this.#startOffset(member, topic, partition)
      group.holdings.set(key, { memberId: member.memberId, startOffset: offset, revoking: false })
      gained.push({ topic, partition, offset })
    }
    if (gained.length > 0) member.notify({ kind: 'assigned', partitions: gained })
  }

  #startOffset(member: Member, topic: string, partition: number): number {
    const committed = this.#deps.journal.offsetOf(member.groupId, topic, partition)
    if (committed !== undefined) return committed
    const { startOffsets, nextOffsets } = this.#deps.offsetsOf(topic)
    return member.startFrom === 'latest' ? nextOffsets[partition]! : (startOffsets[partition] ?? 0)
  }

  #revoke(groupId: string, group: Group, member: Member, surplus: readonly TopicPartition[]): void {
    const revoked = new Map<TopicPartition, Holding>()
    for (const each of surplus) {
      const holding = group.holdings.get(partitionKey(each.topic, each.partition))
      if (holding === undefined || holding.revoking) continue
      holding.revoking = true
      revoked.set(each, holding)
    }
    if (revoked.size === 0) return
    member.notify({ kind: 'revoke', partitions: [...revoked.keys()] })
    void this.#takeAwayLater(groupId, group, member, revoked)
  }

  async #takeAwayLater(groupId: string, group: Group, member: Member, revoked: ReadonlyMap<TopicPartition, Holding>): Promise<void> {
    const { clock, rebalanceTimeoutMs, log } = this.#deps
    await clock.sleep(rebalanceTimeoutMs, this.#stopped.signal)
    if (this.#stopped.signal.aborted) return
    // One that came back meanwhile, and is to go again, is another holding.
    const held = [...revoked].flatMap(([each, holding]) =>
      group.holdings.get(partitionKey(each.topic, each.partition)) === holding ? [each] : [],
    )
    if (held.length === 0) return
    log.warn({ groupId, partitions: held, rebalanceTimeoutMs }, 'a bus consumer kept partitions too long: they were taken from it')
    member.notify({ kind: 'lost', partitions: held })
    this.release(member.memberId, held)
  }
}
