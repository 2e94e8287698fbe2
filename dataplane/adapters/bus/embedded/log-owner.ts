import type { PartitionState, TopicPartition, TopicPartitionOffset } from '../../../ports/bus.ts'
import type { JoinRequest, MemberEvent } from './groups/group-coordinator.ts'
import type { GroupOffsets } from './groups/group-journal.ts'
import type { EncodedFrame } from './log/bus-frame.ts'
import type { LogPosition } from './log/segment-list.ts'

/** Frames of one topic within a transaction. */
export interface TransactionOutput {
  readonly topic: string
  readonly frames: readonly EncodedFrame[]
}

export interface ReadPlace extends LogPosition {
  /** By partition: first offset still kept. */
  readonly startOffsets: Float64Array
  /** By partition: next offset to be written. */
  readonly endOffsets: Float64Array
}

/** Services of the one thread that owns the logs to the clients in all threads. Every promise rejects with a `BusError`. */
export interface LogOwner {
  /** Resolves once durable. The frame is the owner's from then on. */
  append(topic: string, frame: EncodedFrame): Promise<void>
  /** Resolves once all of it is durable and visible; rejects when none of it is. */
  commitTransaction(outputs: readonly TransactionOutput[], groups: readonly GroupOffsets[]): Promise<void>
  join(request: JoinRequest, notify: (event: MemberEvent) => void): Promise<void>
  leave(memberId: string): Promise<void>
  release(memberId: string, partitions: readonly TopicPartition[]): Promise<void>
  commitOffsets(memberId: string, offsets: readonly TopicPartitionOffset[]): Promise<void>
  /** Where to start reading to meet all these records. */
  locate(topic: string, wanted: readonly { readonly partition: number; readonly offset: number }[]): Promise<ReadPlace>
  committedOffsets(groupId: string): Promise<readonly TopicPartitionOffset[]>
  partitions(): Promise<readonly PartitionState[]>
  /** Why a topic takes no records just now; undefined: all take them, as far as one can tell without writing. */
  problem(): Promise<string | undefined>
  /** Bytes that were deleted before their time, since the start. */
  deletedEarlyBytes(): Promise<number>
  purge(topic: string): Promise<void>
  close(): Promise<void>
}

/** Facts that a client needs to send to a topic and to read its files. */
export interface TopicLayout {
  readonly name: string
  readonly partitions: number
  readonly directory: string
}

/** Everything a client needs besides the owner; travels to other threads as it is. */
export interface BusLayout {
  /** In the order of the shared ends. */
  readonly topics: readonly TopicLayout[]
  readonly ends: SharedArrayBuffer
  /** Per thread. */
  readonly maxQueuedBytes: number
  readonly maxRecordBytes: number
}
