import type { OffsetClaim, TransactionContent } from '../both-clients/buffered-transaction.ts'
import { splitRecords, type TopicLayout, toRounds } from '../both-clients/send-queue.ts'
import { ADD_OFFSETS, ADD_PARTITIONS, END_TXN, INIT_PRODUCER_ID, TXN_OFFSET_COMMIT } from '../cluster/apis.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { hasCode, toBusError } from '../cluster/protocol-errors.ts'
import type { Membership } from '../group/group-member.ts'
import { groupByTopic, toCommitted } from '../group/group-offsets.ts'
import { type ProducerSession, produce } from './idempotent-producer.ts'

export interface TransactionalProducerDeps {
  readonly cluster: Cluster
  /** Another producer with the same one ends this one's transactions. */
  readonly transactionalId: string
  readonly layoutOf: (topic: string) => TopicLayout
  /** In whose name offsets of a group are committed; undefined while there is a rebalance. */
  readonly membershipOf: (groupId: string) => Membership | undefined
}

/** For a group of which the bus has no member. Kafka takes its offsets unchecked. */
const NOBODY: Membership = { memberId: '', generationId: -1 }
const NOT_OF_THIS_GENERATION = ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS'] as const
/** Asks for a new identity; anything else would be taken for that of a producer that is fenced by now. */
const UNKNOWN = { producerId: -1n, producerEpoch: -1 } as const

/** Writes transactions of Kafka's, one after the other. */
export class TransactionalProducer {
  readonly #deps: TransactionalProducerDeps
  #session: ProducerSession | undefined
  /** The last identity, to be renewed: Kafka refuses it when another producer has taken over. */
  #lastIdentity: { readonly producerId: bigint; readonly producerEpoch: number } = UNKNOWN

  constructor(deps: TransactionalProducerDeps) {
    this.#deps = deps
  }

  /** Takes over the transactional id: what an earlier holder left open is aborted. Rejects as `closed` when a later one has taken it over. */
  async prepare(): Promise<void> {
    const { transactionalId, cluster } = this.#deps
    const { producerId, producerEpoch } = this.#lastIdentity
    const timeoutMs = cluster.settings.transactionTimeoutMs
    const identity = await cluster.askCoordinator(
      { type: 'transaction', id: transactionalId },
      this.#deadlineMs(),
      INIT_PRODUCER_ID,
      transactionalId,
      timeoutMs,
      producerId,
      producerEpoch,
    )
    this.#session = { producerId: identity.producerId, producerEpoch: identity.producerEpoch, transactionalId, sequences: new Map() }
    this.#lastIdentity = this.#session
  }

  get isPrepared(): boolean {
    return this.#session !== undefined
  }

  /** All of it or nothing; after a failure the next transaction starts under a renewed identity. */
  async write(content: TransactionContent): Promise<void> {
    if (this.#session === undefined) await this.prepare()
    const session = this.#session!
    try {
      for (const [topic, records] of content.records) await this.#writeRecords(session, topic, records)
      for (const groupId of content.offsets.keys()) await this.#writeOffsets(session, groupId, content)
      await this.#end(session, true)
    } catch (error) {
      this.#session = undefined
      // What could not be aborted here is aborted by the next identity, or by the transaction's time-out.
      await this.#end(session, false).catch(() => undefined)
      throw await this.#explain(error)
    }
  }

  async #writeRecords(session: ProducerSession, topic: string, records: Parameters<typeof splitRecords>[1]): Promise<void> {
    const rounds = toRounds(splitRecords(this.#deps.layoutOf(topic), records))
    const partitions = [...new Set(rounds.flatMap(round => [...round.keys()]))]
    const added = { ...this.#identity(session), verifyOnly: false, topics: [{ name: topic, partitions }] }
    await this.#deps.cluster.askCoordinator(this.#coordinator, this.#deadlineMs(), ADD_PARTITIONS, [added])
    for (const batches of rounds) await produce(this.#deps.cluster, session, topic, batches, this.#deadlineMs())
  }

  async #writeOffsets(session: ProducerSession, groupId: string, { offsets, claims }: TransactionContent): Promise<void> {
    const { cluster } = this.#deps
    const { transactionalId, producerId, producerEpoch } = this.#identity(session)
    await cluster.askCoordinator(this.#coordinator, this.#deadlineMs(), ADD_OFFSETS, transactionalId, producerId, producerEpoch, groupId)
    const topics = groupByTopic(offsets.get(groupId)!).map(([name, list]) => ({ name, partitions: list.map(toCommitted) }))
    const deadlineMs = this.#deadlineMs()
    // As long as the member has its partitions, an answer that it is not of this generation means that a rebalance goes on.
    await cluster.retry(deadlineMs, `committing offsets of group ${groupId}`, async () => {
      const { memberId, generationId } = this.#memberFor(groupId, claims.get(groupId))
      const group = { type: 'group', id: groupId } as const
      const args = [transactionalId, groupId, producerId, producerEpoch, generationId, memberId, null, topics] as const
      await cluster.askCoordinator(group, deadlineMs, TXN_OFFSET_COMMIT, ...args).catch(error => {
        throw hasCode(error.cause, ...NOT_OF_THIS_GENERATION) ? new Error('the group is being rebalanced', { cause: error }) : error
      })
    })
  }

  /** In whose name to commit: Kafka refuses it once the group has gone on without that member. */
  #memberFor(groupId: string, claims: readonly OffsetClaim[] | undefined): Membership {
    if (claims === undefined) return NOBODY
    for (const claim of claims) claim.check()
    const membership = this.#deps.membershipOf(groupId)
    if (membership === undefined) throw new Error('the group is being rebalanced')
    return membership
  }

  async #end(session: ProducerSession, isCommit: boolean): Promise<void> {
    const { transactionalId, producerId, producerEpoch } = this.#identity(session)
    await this.#deps.cluster.askCoordinator(
      this.#coordinator,
      this.#deadlineMs(),
      END_TXN,
      transactionalId,
      producerId,
      producerEpoch,
      isCommit,
    )
  }

  /** A transaction that was refused because its identity is an old one: by a time-out, which a new identity heals, or by another producer? */
  async #explain(error: unknown): Promise<unknown> {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    if (!hasCode(cause, 'INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED', 'INVALID_PRODUCER_ID_MAPPING'))
      return toBusError(error, 'the transaction')
    return this.prepare().then(
      () => toBusError(error, 'the transaction'),
      fenced => fenced as unknown,
    )
  }

  get #coordinator() {
    return { type: 'transaction', id: this.#deps.transactionalId } as const
  }

  #identity({ producerId, producerEpoch }: ProducerSession) {
    return { transactionalId: this.#deps.transactionalId, producerId, producerEpoch }
  }

  #deadlineMs(): number {
    const { clock, deliveryTimeoutMs } = this.#deps.cluster.settings
    return clock.nowMs() + deliveryTimeoutMs
  }
}
