/** A transaction of the embedded bus. */
import { BusError, type BusRecord, type TopicPartitionOffset, type Transaction } from '../../../ports/bus.ts'
import type { GroupOffsets } from './group-journal.ts'
import type { LogOwner, TransactionOutput } from './log-owner.ts'
import type { RecordSender } from './record-sender.ts'
import type { GroupSubscription, OffsetClaim } from './subscription.ts'

/** Keeps everything in memory until the commit, which writes it in one go: an open transaction holds up no reader. */
export function beginTransaction(
  owner: LogOwner,
  sender: RecordSender,
  memberOf: (groupId: string) => GroupSubscription | undefined,
): Transaction {
  const outputs = new Map<string, BusRecord[]>()
  const groups = new Map<string, TopicPartitionOffset[]>()
  const claims: OffsetClaim[] = []
  let reservedBytes = 0
  let isFinished = false

  const checkOpen = () => {
    if (isFinished) throw new BusError('closed', 'the transaction is finished')
  }
  const finish = () => {
    isFinished = true
    sender.unreserve(reservedBytes)
    reservedBytes = 0
  }
  const encode = ([topic, records]: readonly [string, readonly BusRecord[]]): TransactionOutput => ({
    topic,
    frames: sender.split(topic, records).map(piece => sender.encode(topic, piece.records)),
  })

  return {
    async send(topic, records) {
      checkOpen()
      const bytes = sender.split(topic, records).reduce((sum, piece) => sum + piece.bytes, 0)
      sender.reserve(bytes)
      reservedBytes += bytes
      const known = outputs.get(topic)
      if (known === undefined) outputs.set(topic, [...records])
      else known.push(...records)
    },
    async sendOffsets(groupId, offsets) {
      checkOpen()
      const claim = memberOf(groupId)?.claim(offsets)
      if (claim !== undefined) claims.push(claim)
      groups.set(groupId, [...(groups.get(groupId) ?? []), ...offsets])
    },
    async commit() {
      checkOpen()
      isFinished = true
      try {
        for (const claim of claims) claim.check()
        const committed: GroupOffsets[] = [...groups].map(([groupId, offsets]) => ({ groupId, offsets }))
        if (outputs.size + committed.length > 0) await sender.track(owner.commitTransaction([...outputs].map(encode), committed))
        for (const claim of claims) claim.settle()
      } finally {
        finish()
      }
    },
    async abort() {
      checkOpen()
      finish()
    },
  }
}
