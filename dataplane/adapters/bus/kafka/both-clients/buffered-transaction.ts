/** A transaction of the bus until its commit. */
import type { TopicPartitionOffset, Transaction } from '../../../../ports/bus.ts'
import { type OffsetClaim, TransactionBuffer } from '../../transaction-buffer.ts'
import { sizeOf } from './record-size.ts'
import { type ByteBudget, type PartitionBatches, splitRecords, type TopicLayout, toRounds } from './send-queue.ts'

/** With the offsets that are to be committed. */
export interface GroupClaim extends OffsetClaim {
  offsets(): readonly TopicPartitionOffset[]
}

/** Everything a transaction does, in one go. */
export interface TransactionContent {
  /** By topic, to be written one after the other. */
  readonly rounds: ReadonlyMap<string, readonly PartitionBatches[]>
  /** By group. */
  readonly offsets: ReadonlyMap<string, readonly TopicPartitionOffset[]>
  /** By group; none for a group of which the bus has no member. */
  readonly claims: ReadonlyMap<string, readonly GroupClaim[]>
}

export interface BufferedTransactionDeps {
  readonly budget: ByteBudget
  /** Throws for a topic that does not exist. */
  readonly layoutOf: (topic: string) => TopicLayout
  /** Throws when the bus's member of the group does not have one of the partitions; undefined when it has no member. */
  readonly claim: (groupId: string, offsets: readonly TopicPartitionOffset[]) => GroupClaim | undefined
  /** Writes all of it in one transaction of Kafka's, or none. Not called when there is nothing to write. */
  readonly write: (content: TransactionContent) => Promise<void>
}

/**
 * Keeps everything in memory until the commit: a transaction is open in Kafka only while it is written, so that slow work
 * holds up no reader, and one without content never reaches Kafka, which refuses to end it.
 */
export function bufferTransaction({ budget, layoutOf, claim, write }: BufferedTransactionDeps): Transaction {
  const buffer = new TransactionBuffer(budget)
  const unclaimed = new Map<string, TopicPartitionOffset[]>()
  const claims = new Map<string, GroupClaim[]>()
  const writeAll = async () => {
    const claimed = [...claims].map(([groupId, list]) => [groupId, list.flatMap(claim => claim.offsets())] as const)
    const offsets = new Map([...unclaimed, ...claimed])
    const rounds = new Map([...buffer.records].map(([topic, list]) => [topic, toRounds(splitRecords(layoutOf(topic), list))]))
    if (rounds.size + offsets.size > 0) await write({ rounds, offsets, claims })
    for (const claim of [...claims.values()].flat()) claim.settle()
  }
  return {
    async send(topic, added) {
      buffer.checkOpen()
      splitRecords(layoutOf(topic), added) // throws for a record that never fits
      if (added.length === 0) return
      const bytes = added.reduce((sum, record) => sum + sizeOf(record), 0)
      buffer.add(topic, added, bytes)
    },
    async sendOffsets(groupId, added) {
      buffer.checkOpen()
      if (added.length === 0) return
      const claimed = claim(groupId, added)
      if (claimed === undefined) unclaimed.set(groupId, [...(unclaimed.get(groupId) ?? []), ...added])
      else claims.set(groupId, [...(claims.get(groupId) ?? []), claimed])
    },
    commit: () => buffer.commit(writeAll),
    async abort() {
      buffer.abort()
    },
  }
}
