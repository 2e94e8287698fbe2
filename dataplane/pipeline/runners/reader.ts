/** Reads the records of a group, and goes back in them to restore the memory of the work. */
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
  bus: Pick<Bus, 'subscribe' | 'committedOffsets' | 'describe'>,
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
      committed = await readCommitted(bus, config.groupId)
      if (memory === undefined) return goBack(() => 0)
      const { records, weigh } = memory
      if (weigh === undefined) return goBack(() => records)
      const weights = await weighLast(message => weigh.call(memory, message))
      if (!hasMoved) await goBack(of => Math.min(records, Math.ceil(records / Math.max(1, weights.get(keyOf(of)) ?? 1))))
    },
  }

  /** In every partition, also in those without a committed offset: records of them may have been polled and not handled. */
  async function goBack(messagesOf: (partition: TopicPartition) => number): Promise<void> {
    const startOf = (of: TopicPartition) => Math.max(0, (committed.get(keyOf(of)) ?? 0) - messagesOf(of))
    await subscription.seek(subscription.assignment().map(of => ({ ...of, offset: startOf(of) })))
  }

  /** The mean weight of each partition's last committed messages. */
  async function weighLast(weigh: (message: ConsumedRecord) => number): Promise<ReadonlyMap<string, number>> {
    await goBack(() => WEIGHED_MESSAGES)
    const weighed = new Map<string, { messages: number; weight: number }>()
    const missing = new Set(
      subscription
        .assignment()
        .map(keyOf)
        .filter(key => (committed.get(key) ?? 0) > 0),
    )
    for (let polls = 0; polls < MAX_WEIGHING_POLLS && missing.size > 0 && !hasMoved; polls++) {
      const messages = await subscription.poll(WEIGHING)
      // No more of them is kept.
      if (messages.length === 0) break
      for (const message of messages) {
        const key = keyOf(message)
        if (message.offset >= (committed.get(key) ?? 0) - 1) missing.delete(key)
        if (!isRepeated(message)) continue
        const seen = weighed.get(key) ?? { messages: 0, weight: 0 }
        weighed.set(key, { messages: seen.messages + 1, weight: seen.weight + weigh(message) })
      }
    }
    return new Map([...weighed].map(([key, { messages, weight }]) => [key, weight / messages]))
  }
}

/**
 * By partition. Offsets behind its end are left out: they are of another log, which was cut off or made anew since, and all that comes until
 * then would count as repeated.
 */
async function readCommitted(bus: Pick<Bus, 'committedOffsets' | 'describe'>, groupId: string): Promise<ReadonlyMap<string, number>> {
  const offsets = await bus.committedOffsets(groupId)
  if (offsets.length === 0) return new Map()
  const { partitions } = await bus.describe()
  const ends = new Map(partitions.map(({ endOffset, ...of }) => [keyOf(of), endOffset]))
  return new Map(
    offsets.map(({ offset, ...of }) => [keyOf(of), offset] as const).filter(([key, offset]) => offset <= (ends.get(key) ?? offset)),
  )
}

/** The last messages of a partition that tell how much its messages hold. */
const WEIGHED_MESSAGES = 8
/** Where the last messages of a partition are deleted, a backlog in the others is not read through to learn that. */
const MAX_WEIGHING_POLLS = 200
const WEIGHING: PollLimits = { maxRecords: 100, maxBytes: 1024 * 1024, waitMs: 200 }
