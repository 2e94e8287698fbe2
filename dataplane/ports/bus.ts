/**
 * The message bus: durable, partitioned, ordered per key. Adapters: embedded segment log, later Kafka.
 * Every adapter passes `adapters/bus/testing/bus-contract-suite.ts`.
 */

export interface BusRecord {
  /** Records of one key keep their order: they go to one partition. */
  readonly key: string
  readonly value: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface ConsumedRecord {
  readonly topic: string
  readonly partition: number
  /** Position within the partition; grows by at least one from record to record. */
  readonly offset: number
  /** When the bus took it, ms since the epoch. */
  readonly timestampMs: number
  readonly key: string
  /** A view that stays valid until its offset is committed; do not write to it. */
  readonly value: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  /**
   * Stands for records that cannot be read, up to `offset`: why. `value` are the bytes that hold them, as they were stored; key and headers are empty.
   * Undefined for a record that was read.
   */
  readonly unreadable?: string
}

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** `offset` is the next one to read. */
export interface TopicPartitionOffset extends TopicPartition {
  readonly offset: number
}

export interface SubscriptionConfig {
  readonly groupId: string
  readonly topics: readonly string[]
  /** Where a partition without a committed offset starts. Default `earliest`. */
  readonly startFrom?: 'earliest' | 'latest'
  /** Gets partitions only while every member of the group stands by. Members of one group must use the same client. Default false. */
  readonly standsBy?: boolean
  /** The group gained partitions; called before any of their records are handed out. */
  readonly onAssigned?: (partitions: readonly TopicPartition[]) => void
  /**
   * The group lost partitions: what was polled from them and not committed will be read again, elsewhere. Not called for what `close` gives up.
   */
  readonly onRevoked?: (partitions: readonly TopicPartition[]) => void
}

export interface PollLimits {
  readonly maxRecords: number
  readonly maxBytes: number
  /** Longest wait for a first record, ms. */
  readonly waitMs: number
}

/** One member of a consumer group. Not for concurrent use. */
export interface Subscription {
  /** The next records, in order per partition; empty after `waitMs` without any, or once closed. */
  poll(limits: PollLimits): Promise<readonly ConsumedRecord[]>
  /** Stores the group's next offsets; a later subscription of the group resumes there. Offsets may move back. */
  commit(offsets: readonly TopicPartitionOffset[]): Promise<void>
  /** Moves the read position of assigned partitions (clamped to what is kept); commits nothing. */
  seek(offsets: readonly TopicPartitionOffset[]): Promise<void>
  assignment(): readonly TopicPartition[]
  /** Leaves the group; commits nothing. */
  close(): Promise<void>
}

/** Outputs and offsets that become visible together, or not at all. */
export interface Transaction {
  /** The values must stay as they are until the transaction has ended. */
  send(topic: string, records: readonly BusRecord[]): Promise<void>
  /**
   * Committed in the name of this bus's member of the group: this, or the commit, rejects when it does not have one of the partitions any more,
   * or not without a break since this call, as another member may have processed its records.
   */
  sendOffsets(groupId: string, offsets: readonly TopicPartitionOffset[]): Promise<void>
  /** Resolves once durable and visible. */
  commit(): Promise<void>
  abort(): Promise<void>
}

export interface PartitionState extends TopicPartition {
  /** First offset still kept. */
  readonly startOffset: number
  /** Next offset to be written. */
  readonly endOffset: number
}

export interface BusDescription {
  readonly brokers: number
  readonly partitions: readonly PartitionState[]
  /** Why the bus takes no records just now, as far as it tells; a broker of Kafka does not. */
  readonly problem?: string | undefined
  /** Bytes of records that were read by every group and deleted before their time, since the start; the embedded bus alone does that. */
  readonly deletedEarlyBytes?: number | undefined
}

/** A member of a consumer group, as the bus knows it. */
export interface GroupMemberInfo {
  /** The name that its client gave itself; not of one member alone. */
  readonly clientId: string
}

export interface Bus {
  /**
   * Resolves once every record is durable; the values are then the caller's again.
   * Rejects with a `BusError` when that is not certain (some may have been written).
   */
  send(topic: string, records: readonly BusRecord[]): Promise<void>
  beginTransaction(): Promise<Transaction>
  subscribe(config: SubscriptionConfig): Promise<Subscription>
  describe(): Promise<BusDescription>
  committedOffsets(groupId: string): Promise<readonly TopicPartitionOffset[]>
  /** Deletes every record of the topic, for good; records that come meanwhile may go, too. Offsets are not set back. */
  purge(topic: string): Promise<void>
  /** The members of a group at this moment. None on the embedded bus: its members are threads of one process, without names. */
  groupMembers(groupId: string): Promise<readonly GroupMemberInfo[]>
  /** Closes subscriptions, finishes writes under way. */
  stop(): Promise<void>
}

export type BusErrorReason =
  /** Cannot be reached, or cannot write just now. */
  | 'unavailable'
  /** Out of disk space or over its cap, until there is room. */
  | 'full'
  /** Its write queue is at its limit: slow down. */
  | 'overloaded'
  /** A record that it will never take. */
  | 'record-too-large'
  | 'closed'

/** A request that the bus did not carry out. All reasons but `record-too-large` and `closed` pass with time. */
export class BusError extends Error {
  readonly reason: BusErrorReason
  constructor(reason: BusErrorReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BusError'
    this.reason = reason
  }
}

/** The write queue is at its limit: nothing of the records was taken, and their memory is the sender's alone again. */
export class QueueFull extends BusError {
  constructor(message: string) {
    super('overloaded', message)
    this.name = 'QueueFull'
  }
}

export const unknownTopic = (topic: string, known: Iterable<string>) =>
  new BusError('unavailable', `topic ${topic} does not exist; there are ${[...known].join(', ')}`)

export const notAssigned = (topic: string, partition: number) =>
  new BusError('unavailable', `partition ${partition} of ${topic} belongs to another member of the group by now`)

export const closedError = (what: string) => new BusError('closed', `${what} is closed`)
