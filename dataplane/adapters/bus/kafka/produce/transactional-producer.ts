/** Writes the content of a transaction, and the offsets that go with it, in one transaction of Kafka's. */
import type { GroupClaim, TransactionContent } from '../both-clients/buffered-transaction.ts'
import { FENCED } from '../both-clients/kafka-errors.ts'
import type { PartitionBatches } from '../both-clients/send-queue.ts'
import { ADD_OFFSETS, ADD_PARTITIONS, type Api, END_TXN, INIT_PRODUCER_ID, TXN_OFFSET_COMMIT } from '../cluster/apis.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { hasCode, toBusError } from '../cluster/protocol-errors.ts'
import type { Membership } from '../group/group-member.ts'
import { toCommitted } from '../group/group-offsets.ts'
import { type ProduceDeps, type ProducerSession, produce } from './idempotent-producer.ts'

/** In whose name offsets of a group are committed; undefined while there is a rebalance. */
type MembershipOf = (groupId: string) => Membership | undefined

/** For a group of which the bus has no member. Kafka takes its offsets unchecked. */
const NOBODY: Membership = { memberId: '', generationId: -1 }
const NOT_OF_THIS_GENERATION = ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS'] as const
/** Asks for a new identity; anything else would be taken for that of a producer that is fenced by now. */
const UNKNOWN = { producerId: -1n, producerEpoch: -1 } as const

/** Writes transactions of Kafka's, one after the other. */
export class TransactionalProducer {
  readonly #deps: ProduceDeps
  readonly #cluster: Cluster
  readonly #transactionalId: string
  #session: ProducerSession | undefined
  /** The last identity, to be renewed: Kafka refuses it when another producer has taken over. */
  #lastIdentity: { readonly producerId: bigint; readonly producerEpoch: number } = UNKNOWN

  /** Another producer with the same id ends this one's transactions. */
  constructor(deps: ProduceDeps, transactionalId: string) {
    this.#deps = deps
    this.#cluster = deps.cluster
    this.#transactionalId = transactionalId
  }

  /** All of it or nothing; after a failure the next transaction starts under a renewed identity. */
  async write(content: TransactionContent, membershipOf: MembershipOf): Promise<void> {
    this.#session ??= await this.#takeOver()
    const session = this.#session
    try {
      for (const [topic, rounds] of content.rounds) await this.#writeRecords(session, topic, rounds)
      for (const groupId of content.offsets.keys()) await this.#writeOffsets(session, groupId, content, membershipOf)
      await this.#end(session, true)
    } catch (error) {
      this.#session = undefined
      // A transaction that could not be aborted here is aborted by the next identity, or by its time-out.
      await this.#end(session, false).catch(() => undefined)
      throw await this.#explain(error)
    }
  }

  /** Takes over the transactional id: what an earlier holder left open is aborted. Rejects as `closed` when a later one has taken it over. */
  async #takeOver(): Promise<ProducerSession> {
    const { producerId, producerEpoch } = this.#lastIdentity
    const timeoutMs = this.#cluster.settings.transactionTimeoutMs
    const identity = await this.#ask(INIT_PRODUCER_ID, this.#transactionalId, timeoutMs, producerId, producerEpoch)
    this.#lastIdentity = identity
    return { ...identity, transactionalId: this.#transactionalId, sequences: new Map() }
  }

  async #writeRecords(session: ProducerSession, topic: string, rounds: readonly PartitionBatches[]): Promise<void> {
    const { producerId, producerEpoch } = session
    const partitions = [...new Set(rounds.flatMap(round => [...round.keys()]))]
    const topics = [{ name: topic, partitions }]
    await this.#ask(ADD_PARTITIONS, [{ transactionalId: this.#transactionalId, producerId, producerEpoch, verifyOnly: false, topics }])
    for (const batches of rounds) await produce(this.#deps, session, topic, batches, this.#cluster.deadlineMs())
  }

  async #writeOffsets(
    { producerId, producerEpoch }: ProducerSession,
    groupId: string,
    { offsets, claims }: TransactionContent,
    membershipOf: MembershipOf,
  ): Promise<void> {
    const id = this.#transactionalId
    await this.#ask(ADD_OFFSETS, id, producerId, producerEpoch, groupId)
    const topics = toCommitted(offsets.get(groupId)!)
    const deadlineMs = this.#cluster.deadlineMs()
    // As long as the member has its partitions, an answer that it is not of this generation means that a rebalance goes on.
    await this.#cluster.retry(deadlineMs, `committing offsets of group ${groupId}`, async () => {
      const { memberId, generationId } = memberFor(groupId, claims.get(groupId), membershipOf)
      const group = { type: 'group', id: groupId } as const
      const args = [id, groupId, producerId, producerEpoch, generationId, memberId, null, topics] as const
      await this.#cluster.askCoordinator(group, deadlineMs, TXN_OFFSET_COMMIT, ...args).catch(error => {
        throw hasCode(error.cause, ...NOT_OF_THIS_GENERATION) ? new Error('the group is being rebalanced', { cause: error }) : error
      })
    })
  }

  async #end({ producerId, producerEpoch }: ProducerSession, isCommit: boolean): Promise<void> {
    await this.#ask(END_TXN, this.#transactionalId, producerId, producerEpoch, isCommit)
  }

  /** A transaction that was refused because its identity is an old one: by a time-out, which a new identity heals, or by another producer? */
  async #explain(error: unknown): Promise<unknown> {
    if (hasCode(error instanceof Error ? (error.cause ?? error) : error, ...FENCED))
      try {
        this.#session = await this.#takeOver()
      } catch (fenced) {
        return fenced
      }
    return toBusError(error, 'the transaction')
  }

  /** Asks the coordinator of the transactional id. */
  #ask<A extends unknown[], R>(apis: readonly Api<A, R>[], ...args: A): Promise<R> {
    return this.#cluster.askCoordinator({ type: 'transaction', id: this.#transactionalId }, this.#cluster.deadlineMs(), apis, ...args)
  }
}

/** In whose name to commit: Kafka refuses it once the group has gone on without that member. */
function memberFor(groupId: string, claims: readonly GroupClaim[] | undefined, membershipOf: MembershipOf): Membership {
  if (claims === undefined) return NOBODY
  for (const claim of claims) claim.check()
  const membership = membershipOf(groupId)
  if (membership === undefined) throw new Error('the group is being rebalanced')
  return membership
}
