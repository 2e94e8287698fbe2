/** Records that were read ahead, by partition, from the broker's answer to the commit that ends the use of its memory. */

import { RecordLeases } from '../../../../memory/record-leases.ts'
import { releaseBytes } from '../../../../memory/release-bytes.ts'
import { type ConsumedRecord, notAssigned, type PollLimits, type TopicPartition, type TopicPartitionOffset } from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { GroupClaim } from './buffered-transaction.ts'
import { queueKey } from './topic-partitions.ts'

/** Bookkeeping of a record, or of a header, in memory, beside its bytes. */
const PART_OVERHEAD = 100

/**
 * At least one record, packed as the broker sent it. Records are unpacked when it is their turn, as they are many times larger then; those of a large batch
 * a portion at a time.
 */
export interface PackedRecords {
  /** Held until then. */
  readonly bytes: number
  unpack(): UnpackedRecords
}

/** An unpacked batch: the values of its records are views of `bytes`, which nothing else uses. */
export interface UnpackedBatch {
  readonly lastOffset: number
  readonly bytes: Uint8Array
}

export interface UnpackedRecords {
  readonly records: readonly ConsumedRecord[]
  /** Bytes that came out of the batch: also keys and headers. */
  readonly plainBytes?: number
  /** Its records and headers. */
  readonly parts?: number
  /** The memory that the values lie in, where it is theirs alone. That of a rest is the one of the portion before. */
  readonly memory?: UnpackedBatch
  /** The records behind them in the same batch. */
  readonly rest?: PackedRecords
}

/** Records of one partition that were read ahead. */
export class PartitionQueue implements TopicPartition {
  readonly topic: string
  readonly partition: number
  /** Where the next read starts. */
  fetchOffset: number
  /** Grows when the position is moved: answers to earlier reads are not wanted any more. */
  epoch = 0
  /** As they came from the broker, those of the batch that is being handed out unpacked. */
  bytes = 0
  /** The unpacked ones among `bytes`. */
  unpackedBytes = 0
  /** Nothing is handed out: the partition is on its way to another member. */
  isHeld = false
  /** Leases of this partition alone, also those from when the partition was here before. */
  readonly #leases: RecordLeases
  #records: readonly ConsumedRecord[] = []
  #next = 0
  /** Bytes of keys and headers of `#records`, until the last of these is taken. */
  #besideValues = 0
  /** The first of `#packed`, where it is of the same batch as `#records`. */
  #rest: PackedRecords | undefined
  readonly #packed: PackedRecords[] = []

  constructor({ topic, partition, offset }: TopicPartitionOffset, leases: RecordLeases) {
    this.topic = topic
    this.partition = partition
    this.fetchOffset = offset
    this.#leases = leases
    leases.restart(ONLY, offset)
  }

  push(packed: readonly PackedRecords[], nextOffset: number): void {
    this.fetchOffset = nextOffset
    for (const one of packed) {
      this.bytes += one.bytes
      this.#packed.push(one)
    }
  }

  /** The next record. Throws for a batch that cannot be unpacked: the batch stays where it is, and nothing behind it is handed out. */
  peek(): ConsumedRecord | undefined {
    while (this.#next >= this.#records.length) {
      const packed = this.#packed[0]
      if (packed === undefined) return undefined
      const { records, memory, plainBytes = 0, parts = 0, rest } = packed.unpack()
      const isRest = packed === this.#rest
      this.#packed.shift()
      this.bytes -= packed.bytes
      if (isRest) this.unpackedBytes -= packed.bytes
      this.#records = records
      this.#next = 0
      let bytes = 0
      for (const record of records) bytes += memoryOf(record)
      this.#besideValues = records.length === 0 ? 0 : Math.max(0, plainBytes + parts * PART_OVERHEAD - bytes)
      this.#rest = rest
      if (rest !== undefined) this.#packed.unshift(rest)
      const heldBytes = bytes + this.#besideValues + (rest?.bytes ?? 0)
      this.bytes += heldBytes
      this.unpackedBytes += heldBytes
      if (memory !== undefined && !isRest) this.#lease(memory)
    }
    return this.#records[this.#next]
  }

  #lease({ lastOffset, bytes }: UnpackedBatch): void {
    this.#leases.hold({ bytes: bytes.length, ends: [{ partition: ONLY, offset: lastOffset + 1 }], giveBack: () => releaseBytes(bytes) })
  }

  /** Bytes that `record`, which `peek` showed, counts for in a poll. The first of a portion counts for what the portion holds beside values. */
  sizeOf({ value, key }: ConsumedRecord): number {
    return value.length + key.length + (this.#next === 0 ? this.#besideValues : 0)
  }

  /** Takes what `peek` showed. */
  shift(record: ConsumedRecord): void {
    this.#next++
    this.#dropBytes(memoryOf(record))
    if (this.#next === this.#records.length) this.#leavePortion()
    this.#leases.noteHandedOut(ONLY, record.offset + 1)
  }

  seek(offset: number): void {
    this.#leavePortion()
    this.#packed.length = 0
    this.#rest = undefined
    this.bytes = 0
    this.unpackedBytes = 0
    this.epoch++
    this.#leases.restart(ONLY, offset)
    this.fetchOffset = offset
  }

  #dropBytes(bytes: number): void {
    this.bytes -= bytes
    this.unpackedBytes -= bytes
  }

  /** Nothing of the portion is kept: a partition may be silent for long. */
  #leavePortion(): void {
    this.#records = []
    this.#next = 0
    this.#dropBytes(this.#besideValues)
    this.#besideValues = 0
  }

  /** Where reading goes on, when nothing but markers was read behind `offset`; else `offset`. */
  endOfRead(offset: number): number {
    const isEmpty = this.#next >= this.#records.length && this.#packed.length === 0
    return offset === this.#leases.handedOut(ONLY) && isEmpty ? this.fetchOffset : offset
  }

  /** Records handed out before `offset` are committed: nobody uses them any more. */
  noteCommitted(offset: number): void {
    this.#leases.commit(ONLY, offset)
  }

  /** Everything that was handed out is committed. */
  isSettled(): boolean {
    return this.#leases.isSettled(ONLY)
  }
}

/** A queue's leases know one partition. */
const ONLY = 0

const memoryOf = ({ value }: ConsumedRecord) => value.length + PART_OVERHEAD

/** Records that were never packed, or are not any more. */
export function unpacked(records: readonly ConsumedRecord[]): readonly PackedRecords[] {
  if (records.length === 0) return []
  let plainBytes = 0
  let parts = 0
  for (const { key, value, headers } of records) {
    const entries = Object.entries(headers)
    plainBytes += value.length + key.length + entries.reduce((sum, [name, text]) => sum + name.length + text.length, 0)
    parts += 1 + entries.length
  }
  return [{ bytes: plainBytes + parts * PART_OVERHEAD, unpack: () => ({ records, plainBytes, parts }) }]
}

/** Records that a subscription has read ahead, and how `poll` takes from them. */
export class PartitionQueues {
  readonly #clock: Clock
  readonly #maxBytes: number
  readonly #queues = new Map<string, PartitionQueue>()
  /** Leases of each partition that was ever here. */
  readonly #leases = new Map<string, RecordLeases>()
  #first = 0
  #wake: (() => void) | undefined
  /** Ends the waits of those that let go. */
  #onLess: (() => void) | undefined
  #closed = false
  /** The batch that could not be unpacked, and why. */
  #problem: unknown

  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock
    this.#maxBytes = maxBytes
  }

  add(from: TopicPartitionOffset): PartitionQueue {
    const key = queueKey(from.topic, from.partition)
    const leases = this.#leases.get(key) ?? new RecordLeases(1)
    this.#leases.set(key, leases)
    const queue = new PartitionQueue(from, leases)
    this.#queues.set(key, queue)
    return queue
  }

  remove({ topic, partition }: TopicPartition): void {
    this.#queues.delete(queueKey(topic, partition))
    this.#onLess?.()
  }

  get(topic: string, partition: number): PartitionQueue | undefined {
    return this.#queues.get(queueKey(topic, partition))
  }

  /** Whether the queue is still the one that was asked for, at the same position. */
  isCurrent(queue: PartitionQueue, epoch: number): boolean {
    return this.get(queue.topic, queue.partition) === queue && queue.epoch === epoch
  }

  all(): readonly PartitionQueue[] {
    return [...this.#queues.values()]
  }

  /** Whether to read ahead for a partition: it has less than half of its share, and all that are handed out less than the limit. */
  isHungry(queue: PartitionQueue): boolean {
    return queue.bytes < this.#maxBytes / (2 * this.#queues.size) && this.#handedOutBytes('bytes') < this.#maxBytes
  }

  push(queue: PartitionQueue, packed: readonly PackedRecords[], nextOffset: number): void {
    queue.push(packed, nextOffset)
    if (packed.length > 0) this.#wake?.()
  }

  /** Rejects once a batch has come that cannot be unpacked, and from then on. */
  async poll(limits: PollLimits): Promise<readonly ConsumedRecord[]> {
    const records = this.#take(limits)
    if (records.length > 0 || limits.waitMs <= 0 || this.#closed) return records
    await this.#waitForRecords(limits.waitMs)
    return this.#take(limits)
  }

  /**
   * Offsets to commit, moved behind the markers that end transactions. A marker would be shown as one record of lag for as long as no record
   * follows.
   */
  passMarkers(offsets: readonly TopicPartitionOffset[]): readonly TopicPartitionOffset[] {
    return offsets.map(of => ({ ...of, offset: Math.max(of.offset, this.get(of.topic, of.partition)?.endOfRead(of.offset) ?? 0) }))
  }

  /** Throws when one of the partitions is not here. */
  claim(offsets: readonly TopicPartitionOffset[]): GroupClaim {
    const claimed = offsets.map(({ topic, partition, offset }) => ({ topic, partition, offset, queue: this.get(topic, partition) }))
    const check = () => {
      for (const { topic, partition, queue } of claimed)
        if (queue === undefined || queue !== this.get(topic, partition)) throw notAssigned(topic, partition)
    }
    check()
    return {
      check,
      offsets: () => this.passMarkers(offsets),
      settle: () => {
        for (const { queue, offset } of claimed) queue!.noteCommitted(offset)
        this.#onLess?.()
      },
    }
  }

  noteCommitted(offsets: readonly TopicPartitionOffset[]): void {
    for (const { topic, partition, offset } of offsets) this.get(topic, partition)?.noteCommitted(offset)
    this.#onLess?.()
  }

  /** Hands nothing more out of these partitions; resolves once all that was handed out is committed, or has waited `patienceMs`, or they are gone. */
  async letGo(partitions: readonly TopicPartition[], patienceMs: number): Promise<void> {
    const queues = partitions.flatMap(({ topic, partition }) => this.get(topic, partition) ?? [])
    for (const queue of queues) queue.isHeld = true
    const isDone = (queue: PartitionQueue) => queue.isSettled() || this.get(queue.topic, queue.partition) !== queue
    const timer = new AbortController()
    let isLate = false
    const late = this.#clock.sleep(patienceMs, timer.signal).then(() => {
      isLate = true
    })
    while (!queues.every(isDone) && !isLate && !this.#closed) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#onLess = resolve
      await Promise.race([promise, late])
    }
    this.#onLess = undefined
    timer.abort()
  }

  /** Ends polls that wait, and letting go. */
  close(): void {
    this.#closed = true
    this.#queues.clear()
    this.#wake?.()
    this.#onLess?.()
  }

  #take(limits: PollLimits): readonly ConsumedRecord[] {
    if (this.#problem !== undefined) throw this.#problem
    const taken: ConsumedRecord[] = []
    try {
      this.#takeInto(taken, limits)
    } catch (error) {
      this.#problem = error
      if (taken.length === 0) throw error
    }
    return taken
  }

  /** Each partition has its turn to be first, so that a busy one does not starve the others. */
  #takeInto(taken: ConsumedRecord[], limits: PollLimits): void {
    const queues = this.all()
    const first = this.#first++ % Math.max(1, queues.length)
    const inTurn = [...queues.slice(first), ...queues.slice(0, first)].filter(({ isHeld }) => !isHeld)
    let bytes = 0
    const take = (queue: PartitionQueue, mayUnpack: boolean): boolean => {
      while (mayUnpack || queue.unpackedBytes > 0) {
        const record = queue.peek()
        if (record === undefined) break
        const size = queue.sizeOf(record)
        if (taken.length >= limits.maxRecords || (taken.length > 0 && bytes + size > limits.maxBytes)) return false
        taken.push(record)
        bytes += size
        queue.shift(record)
      }
      return true
    }
    // Batches that were begun come first while they hold the limit: with many partitions, or large batches, each partition would hold one.
    const isFull = this.#handedOutBytes('unpackedBytes') >= this.#maxBytes
    if (isFull && !inTurn.every(queue => take(queue, false))) return
    inTurn.every(queue => take(queue, true))
  }

  /** Without partitions that are held: nothing is taken of them, and they leave soon. */
  #handedOutBytes(kind: 'bytes' | 'unpackedBytes'): number {
    let sum = 0
    for (const queue of this.#queues.values()) if (!queue.isHeld) sum += queue[kind]
    return sum
  }

  async #waitForRecords(waitMs: number): Promise<void> {
    const timer = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await Promise.race([promise, this.#clock.sleep(waitMs, timer.signal)])
    this.#wake = undefined
    timer.abort()
  }
}
