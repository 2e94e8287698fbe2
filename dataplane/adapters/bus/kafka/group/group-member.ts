/** A member's side of the group protocol: join, sync, heartbeat, let go, leave. */
import { BusError, closedError, type TopicPartition } from '../../../../ports/bus.ts'
import { monotonicMs } from '../../../../ports/clock.ts'
import { settledWithin } from '../both-clients/deadline.ts'
import { queueKey } from '../both-clients/topic-partitions.ts'
import { type Api, HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, SYNC_GROUP } from '../cluster/apis.ts'
import { type Cluster, rebalanceTimeoutMs } from '../cluster/cluster.ts'
import { answerIn, hasCode, messageOf } from '../cluster/protocol-errors.ts'
import { decodeConsumerProtocolAssignment } from '../library.ts'
import { assignGroup, encodeOffer, PROTOCOL } from './group-assignment.ts'

const BACKOFF_MS = 200
const STOP_PATIENCE_MS = 1_000
/** How often the leader of a group looks whether topics have other partitions than it has shared out. */
const LOOK_MS = 10_000
const PROTOCOL_TYPE = 'consumer'

export interface GroupMemberDeps {
  readonly cluster: Cluster
  readonly groupId: string
  readonly topics: readonly string[]
  /** Takes partitions only while nobody else does. */
  readonly standsBy: boolean
  /** Partitions that came; resolves once they are being read. They may go again meanwhile. */
  readonly onGained: (partitions: readonly TopicPartition[]) => Promise<void>
  /** Partitions that are to go: resolves once what was handed out of them is committed, or has waited long enough. */
  readonly onLeaving: (partitions: readonly TopicPartition[]) => Promise<void>
  /** Partitions that are gone. */
  readonly onLost: (partitions: readonly TopicPartition[]) => void
}

/** The identity by which the group's coordinator knows a member. */
export interface Membership {
  readonly memberId: string
  readonly generationId: number
}

type JoinAnswer = Awaited<ReturnType<(typeof JOIN_GROUP)[0]['async']>>

/**
 * A member of a consumer group under Kafka's cooperative protocol: a rebalance takes only those partitions away that move,
 * and those only once the member let go of them.
 */
export class GroupMember {
  readonly #deps: GroupMemberDeps
  readonly #stopping = new AbortController()
  readonly #owned = new Map<string, TopicPartition>()
  #memberId = ''
  #generationId = -1
  #isStable = false
  #loop: Promise<void> | undefined
  readonly #gains = new Set<Promise<void>>()
  /** Partitions of each topic that this member has shared out; undefined where another is the leader of the group. */
  #sharedOut: ReadonlyMap<string, number> | undefined
  #lookedMs = 0

  constructor(deps: GroupMemberDeps) {
    this.#deps = deps
  }

  /** Joins; resolves with the first assignment, which may be empty while other members let go of their partitions. */
  async start(): Promise<void> {
    const { cluster, groupId } = this.#deps
    await cluster.retry(cluster.deadlineIn(cluster.settings.joinTimeoutMs), `joining group ${groupId}`, () => this.#join())
    this.#loop = this.#live()
    await Promise.all(this.#gains)
  }

  owned(): readonly TopicPartition[] {
    return [...this.#owned.values()]
  }

  owns(topic: string, partition: number): boolean {
    return this.#owned.has(queueKey(topic, partition))
  }

  /** Undefined while the group finds a new assignment: what is committed then could be for partitions that are going. */
  membership(): Membership | undefined {
    return this.#isStable ? { memberId: this.#memberId, generationId: this.#generationId } : undefined
  }

  /** Leaves; in time, also when no broker answers. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#isStable = false
    // When it cannot say good-bye, the group finds out by the session's time-out.
    if (this.#memberId !== '') await this.#ask(LEAVE_GROUP, this.#deps.groupId, [{ memberId: this.#memberId }]).catch(() => undefined)
    // A join under way is answered once the member has left.
    await settledWithin(this.#loop ?? Promise.resolve(), STOP_PATIENCE_MS)
    this.#owned.clear()
  }

  /** Heartbeats, and joins again whenever the group asks for it. */
  async #live(): Promise<void> {
    const { cluster, groupId } = this.#deps
    const { clock, heartbeatMs, log } = cluster.settings
    const { signal } = this.#stopping
    let isFailing = false
    while (!signal.aborted) {
      try {
        if (!this.#isStable) await this.#join()
        await clock.sleep(heartbeatMs, signal)
        if (!signal.aborted) await this.#heartbeat()
        this.#lookAtTopics()
        if (isFailing) log.info({ groupId }, 'member of the group again')
        isFailing = false
      } catch (error) {
        if (signal.aborted) return
        if (!isFailing) log.warn({ groupId, problem: messageOf(error) }, 'cannot take part in the group, trying again')
        isFailing = true
        await clock.sleep(BACKOFF_MS, signal)
      }
    }
  }

  /** Lets go of partitions, and has the group find again who reads them, and from where. */
  startOver(partitions: readonly TopicPartition[]): void {
    this.#drop(partitions.filter(({ topic, partition }) => this.owns(topic, partition)))
    this.#isStable = false
  }

  /** Partitions that were added would be read by nobody. Nothing waits for the answer: a broker that hangs must not hold the heartbeats up. */
  #lookAtTopics(): void {
    const { cluster, groupId } = this.#deps
    const nowMs = monotonicMs(cluster.settings.clock)
    const sharedOut = this.#sharedOut
    if (sharedOut === undefined || nowMs - this.#lookedMs < LOOK_MS) return
    this.#lookedMs = nowMs
    const compare = () => {
      const grown = [...sharedOut].filter(([topic, partitions]) => this.#partitionsOf(topic) !== partitions).map(([topic]) => topic)
      if (grown.length === 0 || sharedOut !== this.#sharedOut || this.#stopping.signal.aborted) return
      cluster.settings.log.info({ groupId, topics: grown }, 'topics have other partitions than before, the group shares them out anew')
      this.#isStable = false
    }
    cluster.refresh().then(compare, () => undefined)
  }

  #partitionsOf(topic: string): number | undefined {
    const { cluster } = this.#deps
    return cluster.has(topic) ? cluster.topic(topic).leaders.length : undefined
  }

  async #heartbeat(): Promise<void> {
    try {
      await this.#ask(HEARTBEAT, this.#deps.groupId, this.#generationId, this.#memberId, null)
    } catch (error) {
      this.#judge((error as Error).cause ?? error)
    }
  }

  /** Reads from an answer of the coordinator whether the membership has ended; rethrows every other failure. */
  #judge(error: unknown): void {
    if (hasCode(error, 'REBALANCE_IN_PROGRESS')) this.#isStable = false
    else if (hasCode(error, 'UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID')) this.#expelled(error)
    else throw error
  }

  /** The group went on without this member: what it had belongs to others by now. */
  #expelled(error: unknown): void {
    this.#isStable = false
    if (hasCode(error, 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID')) this.#memberId = ''
    this.#generationId = -1
    this.#drop(this.owned())
  }

  /** Joins as often as it takes until the assignment is one that asks to let go of nothing. */
  async #join(): Promise<void> {
    for (;;) {
      const assigned = await this.#joinOnce()
      if (assigned === undefined) continue
      const keys = new Set(assigned.map(({ topic, partition }) => queueKey(topic, partition)))
      const leaving = this.owned().filter(({ topic, partition }) => !keys.has(queueKey(topic, partition)))
      this.#isStable = true
      this.#gain(assigned)
      if (leaving.length === 0) return
      await this.#letGo(leaving)
      if (this.#stopping.signal.aborted) return
      this.#isStable = false
    }
  }

  /** Where partitions start may take a while to find out: a transaction of the member before may have to end first. */
  #gain(assigned: readonly TopicPartition[]): void {
    const gained = assigned.filter(({ topic, partition }) => !this.owns(topic, partition))
    if (gained.length === 0) return
    for (const partition of gained) this.#owned.set(queueKey(partition.topic, partition.partition), partition)
    const gaining = this.#deps.onGained(gained).catch(error => {
      if (this.#stopping.signal.aborted) return
      const { cluster, groupId } = this.#deps
      cluster.settings.log.warn({ groupId, problem: messageOf(error) }, 'cannot find where to start, joining the group again')
      this.#drop(gained.filter(partition => this.#owned.get(queueKey(partition.topic, partition.partition)) === partition))
      this.#isStable = false
    })
    this.#gains.add(gaining)
    void gaining.finally(() => this.#gains.delete(gaining))
  }

  /** Goes on heartbeating under the new generation while the partitions' last offsets are committed. */
  async #letGo(leaving: readonly TopicPartition[]): Promise<void> {
    const { clock, heartbeatMs } = this.#deps.cluster.settings
    let isDone = false
    const done = this.#deps.onLeaving(leaving).then(() => {
      isDone = true
    })
    while (!isDone && !this.#stopping.signal.aborted) {
      const wait = new AbortController()
      await Promise.race([done, clock.sleep(heartbeatMs, wait.signal)])
      wait.abort()
      if (isDone) break
      // A further rebalance does not take the time away that letting go needs.
      await this.#heartbeat().catch(() => undefined)
      if (this.#generationId === -1) return
      this.#isStable = true
    }
    this.#drop(leaving)
  }

  #drop(partitions: readonly TopicPartition[]): void {
    if (partitions.length === 0) return
    for (const { topic, partition } of partitions) this.#owned.delete(queueKey(topic, partition))
    this.#deps.onLost(partitions)
  }

  /** One round of the protocol; undefined when the group has to start over. */
  async #joinOnce(): Promise<readonly TopicPartition[] | undefined> {
    const { groupId } = this.#deps
    if (this.#stopping.signal.aborted) throw closedError('the subscription')
    try {
      const joined = await this.#askJoin()
      this.#memberId = joined.memberId
      this.#generationId = joined.generationId
      this.#sharedOut = undefined
      const assignments = joined.leader === joined.memberId ? await this.#assign(joined) : []
      const args = [groupId, joined.generationId, joined.memberId, null, PROTOCOL_TYPE, PROTOCOL, assignments] as const
      const { assignment } = await this.#askForRound(SYNC_GROUP, ...args)
      return decodeConsumerProtocolAssignment(assignment).assignedPartitions.flatMap(({ topic, partitions }) =>
        partitions.map(partition => ({ topic, partition })),
      )
    } catch (error) {
      if (this.#stopping.signal.aborted) throw error
      const cause = (error as Error).cause ?? error
      if (hasCode(cause, 'INCONSISTENT_GROUP_PROTOCOL'))
        throw new BusError('unavailable', `group ${groupId} has members with another client: BUS_CLIENT must be the same for all roles`)
      if (hasCode(cause, 'MEMBER_ID_REQUIRED')) this.#memberId = answerIn<JoinAnswer>(cause).memberId
      else this.#judge(cause)
      return undefined
    }
  }

  async #askJoin(): Promise<JoinAnswer> {
    const { cluster, groupId, topics, standsBy } = this.#deps
    const metadata = encodeOffer({ topics, owned: this.owned(), generationId: this.#generationId, standsBy })
    const timeouts = [cluster.settings.sessionTimeoutMs, rebalanceTimeoutMs(cluster.settings)] as const
    return this.#askForRound(JOIN_GROUP, groupId, ...timeouts, this.#memberId, null, PROTOCOL_TYPE, [{ name: PROTOCOL, metadata }], null)
  }

  /** Asks the group's coordinator. */
  #ask<A extends unknown[], R>(apis: readonly Api<A, R>[], ...args: A): Promise<R> {
    const { cluster, groupId } = this.#deps
    return cluster.askCoordinator({ type: 'group', id: groupId }, cluster.deadlineIn(cluster.settings.requestTimeoutMs), apis, ...args)
  }

  /** As `ask`, for what is answered once all members of the group have said their part. */
  #askForRound<A extends unknown[], R>(apis: readonly Api<A, R>[], ...args: A): Promise<R> {
    const { cluster, groupId } = this.#deps
    const deadlineMs = cluster.deadlineIn(rebalanceTimeoutMs(cluster.settings))
    return cluster.askCoordinator({ type: 'group', id: groupId, lane: `join ${groupId}` }, deadlineMs, apis, ...args)
  }

  /** The leader of the group decides who gets what. */
  async #assign({ members }: JoinAnswer): Promise<{ memberId: string; assignment: Buffer }[]> {
    await this.#deps.cluster.refresh()
    const sharedOut = new Map<string, number>()
    const assignments = assignGroup(this.#memberId, members, topic => {
      const partitions = this.#partitionsOf(topic)
      if (partitions !== undefined) sharedOut.set(topic, partitions)
      return partitions
    })
    this.#sharedOut = sharedOut
    return assignments
  }
}
