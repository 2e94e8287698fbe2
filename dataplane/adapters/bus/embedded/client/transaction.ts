/** A transaction of the embedded bus. */
import type { TopicPartitionOffset, Transaction } from '../../../../ports/bus.ts'
import { type OffsetClaim, TransactionBuffer } from '../../transaction-buffer.ts'
import type { GroupOffsets } from '../groups/group-journal.ts'
import type { LogOwner } from '../log-owner.ts'
import type { RecordSender } from './record-sender.ts'
import type { GroupSubscription } from './subscription.ts'

export function beginTransaction(
  owner: LogOwner,
  sender: RecordSender,
  memberOf: (groupId: string) => GroupSubscription | undefined,
): Transaction {
  const buffer = new TransactionBuffer(sender)
  const groups = new Map<string, TopicPartitionOffset[]>()
  const claims: OffsetClaim[] = []

  const write = async () => {
    for (const claim of claims) claim.check()
    const committed: GroupOffsets[] = [...groups].map(([groupId, offsets]) => ({ groupId, offsets }))
    const outputs = [...buffer.records].map(([topic, records]) => ({
      topic,
      frames: sender.split(topic, records).map(piece => sender.encode(topic, piece.records)),
    }))
    if (outputs.length + committed.length > 0) await sender.track(owner.commitTransaction(outputs, committed))
    for (const claim of claims) claim.settle()
  }

  return {
    async send(topic, records) {
      buffer.checkOpen()
      const bytes = sender.split(topic, records).reduce((sum, piece) => sum + piece.bytes, 0)
      buffer.add(topic, records, bytes)
    },
    async sendOffsets(groupId, offsets) {
      buffer.checkOpen()
      const claim = memberOf(groupId)?.claim(offsets)
      if (claim !== undefined) claims.push(claim)
      groups.set(groupId, [...(groups.get(groupId) ?? []), ...offsets])
    },
    commit: () => buffer.commit(write),
    async abort() {
      buffer.abort()
    },
  }
}
