import type { ConsumedRecord, PollLimits, TopicPartition, TopicPartitionOffset } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import { BatchMemory, type UnpackedBatch } from './batch-memory.ts'
import type { OffsetClaim } from './buffered-transaction.ts'
import { notAssigned } from './kafka-errors.ts'

/** Bookkeeping of a record in memory, beside its bytes. */
const RECORD_OVERHEAD = 100

/** Records of one partition that were read ahead. */
export class PartitionQueue implements TopicPartition {
  readonly topic: string
  readonly partition: number
  /** Where the next read starts. */
  fetchOffset: number
  /** Grows when the position is moved: what was asked for before is not wanted any more. */
  epoch = 0
  bytes = 0
  /** Nothing is handed out: the partition is on its way to another member. */
  isHeld = false
  /** Next offset after what was handed out. */
  polledOffset: number
  #committedOffset: number
  readonly #memory = new BatchMemory()
  #records: readonly ConsumedRecord[] = []
  #next = 0
  readonly #more: (readonly ConsumedRecord[])[] = []

  constructor({ topic, partition, offset }: TopicPartitionOffset) {
    this.topic = topic
    this.partition = partition
    this.fetchOffset = offset
    this.polledOffset = offset
    this.#committedOffset = offset
  }

  push(records: readonly ConsumedRecord[], nextOffset: number, batches: readonly UnpackedBatch[] = []): void {
    this.fetchOffset = nextOffset
    if (records.length === 0) return
    for (const batch of batches) this.#memory.hold(batch)
    for (const record of records) this.bytes += memoryOf(record)
    this.#more.push(records)
  }

  peek(): ConsumedRecord | undefined {
    while (this.#next >= this.#records.length) {
      const records = this.#more.shift()
      if (records === undefined) return undefined
      this.#records = records
      this.#next = 0
    }
    return this.#records[this.#next]
  }

  /** Takes what `peek` showed. */
  shift(record: ConsumedRecord): void {
    this.#next++
    this.bytes -= memoryOf(record)
    this.polledOffset = record.offset + 1
  }

  seek(offset: number): void {
    this.#records = []
    this.#next = 0
    this.#more.length = 0
    this.bytes = 0
    this.epoch++
    this.#memory.forget()
    this.fetchOffset = offset
    this.polledOffset = offset
  }

  /** Where reading goes on, when all that was read and lies behind `offset` is no record; else `offset`. */
  endOfRead(offset: number): number {
    return offset === this.polledOffset && this.peek() === undefined ? this.fetchOffset : offset
  }

  /** What was handed out before `offset` is committed: nobody uses it any more. */
  noteCommitted(offset: number): void {
    this.#committedOffset = offset
    this.#memory.commit(Math.min(offset, this.polledOffset))
  }

  /** Everything that was handed out is committed. */
  isSettled(): boolean {
    return this.#committedOffset >= this.polledOffset
  }
}

const memoryOf = ({ value }: ConsumedRecord) => value.length + RECORD_OVERHEAD

export const queueKey = (topic: string, partition: number) => `${topic}/${partition}`

/** What a subscription has read ahead, and how `poll` takes from it. */
export class PartitionQueues {
  readonly #clock: Clock
  readonly #maxBytes: number
  readonly #queues = new Map<string, PartitionQueue>()
  #first = 0
  #wake: (() => void) | undefined
  #closed = false

  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock
    this.#maxBytes = maxBytes
  }

  add(from: TopicPartitionOffset): PartitionQueue {
    const queue = new PartitionQueue(from)
    this.#queues.set(queueKey(from.topic, from.partition), queue)
    return queue
  }

  remove({ topic, partition }: TopicPartition): void {
    this.#queues.delete(queueKey(topic, partition))
  }

  get(topic: string, partition: number): PartitionQueue | undefined {
    return this.#queues.get(queueKey(topic, partition))
  }

  /** Still the one that was asked for, at the same position. */
  isCurrent(queue: PartitionQueue, epoch: number): boolean {
    return this.get(queue.topic, queue.partition) === queue && queue.epoch === epoch
  }

  all(): readonly PartitionQueue[] {
    return [...this.#queues.values()]
  }

  /** Whether to read ahead for a partition: it has less than half of its share. */
  isHungry(queue: PartitionQueue): boolean {
    return queue.bytes < this.#maxBytes / (2 * this.#queues.size)
  }

  /** `batches`: those whose memory the records lie in. */
  push(queue: PartitionQueue, records: readonly ConsumedRecord[], nextOffset: number, batches: readonly UnpackedBatch[] = []): void {
    queue.push(records, nextOffset, batches)
    if (records.length > 0) this.#wake?.()
  }

  async poll(limits: PollLimits): Promise<readonly ConsumedRecord[]> {
    const records = this.#take(limits)
    if (records.length > 0 || limits.waitMs <= 0 || this.#closed) return records
    await this.#waitForRecords(limits.waitMs)
    return this.#take(limits)
  }

  /**
   * Offsets to commit, moved behind what is no record: a transaction ends with a marker, which would be shown as one record of lag for as long
   * as no other follows.
   */
  passMarkers(offsets: readonly TopicPartitionOffset[]): readonly TopicPartitionOffset[] {
    return offsets.map(of => ({ ...of, offset: Math.max(of.offset, this.get(of.topic, of.partition)?.endOfRead(of.offset) ?? 0) }))
  }

  /** Throws when one of the partitions is not here; `onSettled` is called once their offsets are committed. */
  claim(offsets: readonly TopicPartitionOffset[], onSettled: () => void): OffsetClaim {
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
        onSettled()
      },
    }
  }

  /** Ends polls that wait. */
  close(): void {
    this.#closed = true
    this.#queues.clear()
    this.#wake?.()
  }

  #take({ maxRecords, maxBytes }: PollLimits): readonly ConsumedRecord[] {
    const queues = this.all()
    const taken: ConsumedRecord[] = []
    let bytes = 0
    // Each partition has its turn to be first, so that a busy one does not starve the others.
    const first = this.#first++
    for (let i = 0; i < queues.length; i++) {
      const queue = queues[(first + i) % queues.length]!
      if (queue.isHeld) continue
      for (let record = queue.peek(); record !== undefined; record = queue.peek()) {
        const size = record.value.length + record.key.length
        if (taken.length >= maxRecords || (taken.length > 0 && bytes + size > maxBytes)) return taken
        taken.push(record)
        bytes += size
        queue.shift(record)
      }
    }
    return taken
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
