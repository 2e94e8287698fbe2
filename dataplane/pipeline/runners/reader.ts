import type { Bus, ConsumedRecord, PollLimits, Subscription, TopicPartition } from '../../ports/bus.ts'
import type { Work } from './work.ts'

/** The result of one poll. `moved`: the partitions have changed; the records come again after `rewind`. */
export type Polled =
  | { readonly kind: 'moved' }
  | {
      readonly kind: 'records'
      /** Committed before. */
      readonly repeated: readonly ConsumedRecord[]
      readonly fresh: readonly ConsumedRecord[]
    }

/** A member of the work's group that restores the work's memory whenever partitions come or go. */
export interface Reader {
  readonly subscription: Subscription
  poll(limits: PollLimits): Promise<Polled>
  /** Goes back in every partition, by as many records as the memory takes. Nothing polled may be under way. */
  rewind(): Promise<void>
  /** Partitions came or went since `rewind`: the polled records must not be handled. */
  hasMoved(): boolean
}

const keyOf = ({ topic, partition }: TopicPartition) => `${topic}/${partition}`

const MOVED = { kind: 'moved' } as const

export async function openReader(
  bus: Pick<Bus, 'subscribe' | 'committedOffsets'>,
  { subscription: config, memory }: Work,
): Promise<Reader> {
  let hasMoved = false
  let committed: ReadonlyMap<string, number> = new Map()
  const onMoved = () => {
    hasMoved = memory !== undefined
  }
  const subscription = await bus.subscribe({ ...config, onAssigned: onMoved, onRevoked: onMoved })
  const isRepeated = (record: ConsumedRecord) => record.offset < (committed.get(keyOf(record)) ?? 0)

  return {
    subscription,
    hasMoved: () => hasMoved,
    async poll(limits) {
      if (hasMoved) return MOVED
      const records = await subscription.poll(limits)
      if (hasMoved) return MOVED
      if (committed.size === 0) return { kind: 'records', repeated: [], fresh: records }
      return { kind: 'records', repeated: records.filter(isRepeated), fresh: records.filter(record => !isRepeated(record)) }
    },
    async rewind() {
      hasMoved = false
      committed = new Map((await bus.committedOffsets(config.groupId)).map(({ offset, ...of }) => [keyOf(of), offset]))
      const back = memory?.records ?? 0
      // Those without a committed offset, too: records of them may have been polled and not handled.
      const startOf = (of: TopicPartition) => Math.max(0, (committed.get(keyOf(of)) ?? 0) - back)
      await subscription.seek(subscription.assignment().map(of => ({ ...of, offset: startOf(of) })))
    },
  }
}
