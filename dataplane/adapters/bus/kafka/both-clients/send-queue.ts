/** Records that are sent wait here, are put into batches by partition, and are written one batch after the other. */
import { type TimedWait, TimedWaits } from '../../../../limits/timed-waits.ts'
import { type BusRecord, closedError, QueueFull } from '../../../../ports/bus.ts'
import { partitionOf } from '../../partitioner.ts'
import { tooLate } from './deadline.ts'
import { batchBytesFor, sizeOf, tooLarge } from './record-size.ts'

/** Records by partition; each list fits into one batch. */
export type PartitionBatches = ReadonlyMap<number, readonly BusRecord[]>

export interface TopicLayout {
  readonly name: string
  readonly partitions: number
  /** The topic's `max.message.bytes`. */
  readonly maxMessageBytes: number
  /** The topic's `compression.type`: `producer` where batches stay as they were written. */
  readonly compressionType: string
}

export interface SendQueueDeps {
  readonly topic: TopicLayout
  /** Writes with `acks=all`; rejects with a `BusError` when it is not certain that all is written. Never called again before it has settled. */
  readonly produce: (topic: string, batches: PartitionBatches) => Promise<void>
  readonly budget: ByteBudget
  /** From `send` to its failure as `unavailable`. */
  readonly deliveryTimeoutMs: number
}

interface Sending {
  readonly bytes: number
  piecesLeft: number
  /** Pieces that still wait then are not written any more. */
  isSettled: boolean
  wait: TimedWait | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Piece {
  readonly records: readonly BusRecord[]
  readonly bytes: number
  readonly sending: Sending
}

/** Bytes that a client may have under way; shared by its topics. */
export class ByteBudget {
  readonly #limit: number
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** A single send larger than the limit is taken when nothing else is under way. */
  reserve(bytes: number): void {
    if (this.#used > 0 && this.#used + bytes > this.#limit)
      throw new QueueFull(`${this.#used} bytes wait to be written to Kafka, the limit is ${this.#limit}`)
    this.#used += bytes
  }

  release(bytes: number): void {
    this.#used -= bytes
  }
}

/**
 * Orders the sends to one topic: one write at a time, everything that arrives meanwhile goes into the next.
 * So retries never overtake, and many small sends share a batch.
 */
export class SendQueue {
  readonly #deps: SendQueueDeps
  readonly #waiting = new Map<number, Piece[]>()
  readonly #waits: TimedWaits
  #isWriting = false
  #isScheduled = false
  #closed = false
  #onIdle: (() => void) | undefined

  constructor(deps: SendQueueDeps) {
    this.#deps = deps
    this.#waits = new TimedWaits(deps.deliveryTimeoutMs)
  }

  send(records: readonly BusRecord[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw closedError('the bus')
      if (records.length === 0) return resolve()
      const { topic, budget, deliveryTimeoutMs } = this.#deps
      const pieces = splitRecords(topic, records)
      let bytes = 0
      for (const piece of pieces) bytes += piece.bytes
      budget.reserve(bytes)
      const sending: Sending = { bytes, piecesLeft: pieces.length, isSettled: false, wait: undefined, resolve, reject }
      sending.wait = this.#waits.begin(() => this.#fail(sending, tooLate(`writing to ${topic.name}`, deliveryTimeoutMs)))
      for (const { partition, records: part, bytes: size } of pieces) {
        const queue = this.#waiting.get(partition)
        const piece = { records: part, bytes: size, sending }
        if (queue === undefined) this.#waiting.set(partition, [piece])
        else queue.push(piece)
      }
      this.#schedule()
    })
  }

  #succeed(sending: Sending): void {
    if (this.#end(sending)) sending.resolve()
  }

  #fail(sending: Sending, error: unknown): void {
    if (this.#end(sending)) sending.reject(error)
  }

  /** False when it has ended before. */
  #end(sending: Sending): boolean {
    if (sending.isSettled) return false
    sending.isSettled = true
    if (sending.wait !== undefined) this.#waits.end(sending.wait)
    this.#deps.budget.release(sending.bytes)
    return true
  }

  /** Takes no more, and resolves once all that is under way is settled. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#isWriting || this.#waiting.size > 0)
      await new Promise<void>(resolve => {
        this.#onIdle = resolve
      })
  }

  /** Sends made in one go share a batch; who gathers more waits before it sends. */
  #schedule(): void {
    if (this.#isScheduled || this.#isWriting) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.size > 0) {
      const pieces = this.#take()
      if (pieces.size > 0) await this.#writePieces(pieces)
    }
    this.#isWriting = false
    this.#onIdle?.()
  }

  async #writePieces(pieces: ReadonlyMap<number, readonly Piece[]>): Promise<void> {
    const batches = new Map<number, readonly BusRecord[]>()
    for (const [partition, list] of pieces)
      batches.set(partition, list.length === 1 ? list[0]!.records : list.flatMap(piece => piece.records))
    try {
      await this.#deps.produce(this.#deps.topic.name, batches)
      for (const list of pieces.values()) for (const { sending } of list) if (--sending.piecesLeft === 0) this.#succeed(sending)
    } catch (error) {
      for (const list of pieces.values()) for (const { sending } of list) this.#fail(sending, error)
    }
  }

  /** One batch of each partition that has something to write. */
  #take(): ReadonlyMap<number, readonly Piece[]> {
    const limit = batchBytesFor(this.#deps.topic.maxMessageBytes)
    const taken = new Map<number, readonly Piece[]>()
    for (const [partition, queue] of this.#waiting) {
      const alive = queue.filter(({ sending }) => !sending.isSettled)
      let bytes = 0
      let count = 0
      while (count < alive.length && (count === 0 || bytes + alive[count]!.bytes <= limit)) bytes += alive[count++]!.bytes
      if (count > 0) taken.set(partition, alive.slice(0, count))
      if (count < alive.length) this.#waiting.set(partition, alive.slice(count))
      else this.#waiting.delete(partition)
    }
    return taken
  }
}

/** Cuts records into pieces that fit into a batch, in the order of each partition; throws for a record that never will. */
export function splitRecords(
  { partitions, maxMessageBytes }: TopicLayout,
  records: readonly BusRecord[],
): readonly { readonly partition: number; readonly records: readonly BusRecord[]; readonly bytes: number }[] {
  const limit = batchBytesFor(maxMessageBytes)
  const pieces: { partition: number; records: BusRecord[]; bytes: number }[] = []
  const open = new Map<number, (typeof pieces)[number]>()
  for (const record of records) {
    const size = sizeOf(record)
    if (size > limit) throw tooLarge(size, limit)
    const partition = partitionOf(record.key, partitions)
    let piece = open.get(partition)
    if (piece === undefined || piece.bytes + size > limit) {
      piece = { partition, records: [], bytes: 0 }
      open.set(partition, piece)
      pieces.push(piece)
    }
    piece.records.push(record)
    piece.bytes += size
  }
  return pieces
}

/** Pieces as rounds of at most one batch per partition, in order. */
export function toRounds(pieces: ReturnType<typeof splitRecords>): readonly PartitionBatches[] {
  const rounds: Map<number, readonly BusRecord[]>[] = []
  const seen = new Map<number, number>()
  for (const { partition, records } of pieces) {
    const round = seen.get(partition) ?? 0
    seen.set(partition, round + 1)
    rounds[round] ??= new Map()
    rounds[round].set(partition, records)
  }
  return rounds
}
