import type { Bus, ConsumedRecord, Subscription } from '../../ports/bus.ts'

export interface RewindDeps {
  readonly bus: Pick<Bus, 'committedOffsets'>
  readonly groupId: string
  readonly topic: string
  /** How many committed records to read again, per partition. */
  readonly records: number
}

/** Reads the last committed records again, so that state kept in memory is restored after a restart. */
export interface Rewind {
  /** Moves the subscription back. */
  start(subscription: Subscription): Promise<void>
  /** Whether the record was committed before: it restores state, and nothing is to be emitted for it. */
  isRepeated(record: ConsumedRecord): boolean
}

export function createRewind({ bus, groupId, topic, records }: RewindDeps): Rewind {
  const committed = new Map<number, number>()
  return {
    async start(subscription) {
      const offsets = (await bus.committedOffsets(groupId)).filter(offset => offset.topic === topic)
      for (const { partition, offset } of offsets) committed.set(partition, offset)
      await subscription.seek(offsets.map(({ partition, offset }) => ({ topic, partition, offset: Math.max(0, offset - records) })))
    },
    isRepeated: ({ topic: of, partition, offset }) => of === topic && offset < (committed.get(partition) ?? 0),
  }
}
