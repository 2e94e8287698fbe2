/** Packs and compresses sent records in the sending thread, and hands the frames to the owner of the log. */
import { BusError, type BusRecord, closedError, QueueFull, unknownTopic } from '../../../../ports/bus.ts'
import type { EncodedFrame } from '../log/bus-frame.ts'
import { encodeRecords, sizeOf } from '../log/record-batch.ts'
import type { BusLayout, LogOwner } from '../log-owner.ts'

/** Records of a frame before compression. Large enough for zstd, small enough not to hold up the thread: 0.3 ms (measured). */
const FRAME_BYTES = 256 * 1024
/** Frames under way per topic. What is sent meanwhile shares the next frame. */
const MAX_IN_FLIGHT = 2
/** Frames that are full already need not wait for company: the owner of the log writes them together, with one sync. */
const MAX_FULL_IN_FLIGHT = 12

/** One `send`, settled when its last piece is. */
interface Sending {
  piecesLeft: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

interface Piece {
  readonly records: readonly BusRecord[]
  readonly bytes: number
  readonly sending: Sending
}

interface TopicQueue {
  readonly topic: string
  readonly partitions: number
  readonly pieces: Piece[]
  inFlight: number
  isScheduled: boolean
}

/** Turns sends into frames in the sending thread: packs and compresses there, and hands the owner of the log only finished bytes. */
export class RecordSender {
  readonly #owner: LogOwner
  readonly #layout: BusLayout
  readonly #queues: ReadonlyMap<string, TopicQueue>
  #queuedBytes = 0
  #underway = 0
  #closed = false
  #onIdle: (() => void) | undefined

  constructor(owner: LogOwner, layout: BusLayout) {
    this.#owner = owner
    this.#layout = layout
    this.#queues = new Map(
      layout.topics.map(({ name, partitions }) => [name, { topic: name, partitions, pieces: [], inFlight: 0, isScheduled: false }]),
    )
  }

  async send(topic: string, records: readonly BusRecord[]): Promise<void> {
    if (records.length === 0) return
    const pieces = this.split(topic, records)
    const queue = this.#queueOf(topic)
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0)
    this.reserve(bytes)
    try {
      await this.track(
        new Promise<void>((resolve, reject) => {
          const sending = { piecesLeft: pieces.length, resolve, reject }
          for (const piece of pieces) queue.pieces.push({ ...piece, sending })
          this.#schedule(queue)
        }),
      )
    } finally {
      this.release(bytes)
    }
  }

  /** `close` waits for it. */
  async track(work: Promise<void>): Promise<void> {
    this.#underway++
    try {
      await work
    } finally {
      if (--this.#underway === 0) this.#onIdle?.()
    }
  }

  /** Cuts records into pieces of at most a frame's size; throws for what the bus cannot take. */
  split(topic: string, records: readonly BusRecord[]): { readonly records: readonly BusRecord[]; readonly bytes: number }[] {
    this.#queueOf(topic)
    const pieces: { records: BusRecord[]; bytes: number }[] = []
    let last: { records: BusRecord[]; bytes: number } | undefined
    for (const record of records) {
      const size = sizeOf(record)
      if (size > this.#layout.maxRecordBytes)
        throw new BusError(
          'record-too-large',
          `a record of ${size} bytes with its key and headers is larger than the bus takes (${this.#layout.maxRecordBytes})`,
        )
      if (last === undefined || last.bytes + size > FRAME_BYTES) {
        last = { records: [], bytes: 0 }
        pieces.push(last)
      }
      last.records.push(record)
      last.bytes += size
    }
    return pieces
  }

  encode(topic: string, records: readonly BusRecord[]): EncodedFrame {
    return encodeRecords(records, this.#queueOf(topic).partitions)
  }

  /** Counts bytes against the queue's limit; a single send larger than it is taken when nothing else is queued. */
  reserve(bytes: number): void {
    if (this.#closed) throw closedError('the bus')
    if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > this.#layout.maxQueuedBytes)
      throw new QueueFull(`${this.#queuedBytes} bytes wait to be written to the bus, the limit is ${this.#layout.maxQueuedBytes}`)
    this.#queuedBytes += bytes
  }

  release(bytes: number): void {
    this.#queuedBytes -= bytes
  }

  /** Takes no more, and resolves once all that is under way is settled. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#underway > 0)
      await new Promise<void>(resolve => {
        this.#onIdle = resolve
      })
  }

  #queueOf(topic: string): TopicQueue {
    const queue = this.#queues.get(topic)
    if (queue === undefined) throw unknownTopic(topic, this.#queues.keys())
    return queue
  }

  /** Sends of the same turn share a frame. */
  #schedule(queue: TopicQueue): void {
    if (queue.isScheduled) return
    queue.isScheduled = true
    queueMicrotask(() => {
      queue.isScheduled = false
      this.#pump(queue)
    })
  }

  #pump(queue: TopicQueue): void {
    while (queue.pieces.length > 0 && queue.inFlight < (isFull(queue.pieces) ? MAX_FULL_IN_FLIGHT : MAX_IN_FLIGHT))
      void this.#sendFrame(queue, takePieces(queue.pieces))
  }

  async #sendFrame(queue: TopicQueue, pieces: readonly Piece[]): Promise<void> {
    queue.inFlight++
    try {
      const records = pieces.length === 1 ? pieces[0]!.records : pieces.flatMap(piece => piece.records)
      await this.#owner.append(queue.topic, encodeRecords(records, queue.partitions))
      for (const { sending } of pieces) if (--sending.piecesLeft === 0) sending.resolve()
    } catch (error) {
      for (const { sending } of pieces) sending.reject(error as Error)
    }
    queue.inFlight--
    this.#pump(queue)
  }
}

/** Whether the next frame will be at least half full. */
function isFull(pieces: readonly Piece[]): boolean {
  let bytes = 0
  for (let k = 0; k < pieces.length && bytes < FRAME_BYTES / 2; k++) bytes += pieces[k]!.bytes
  return bytes >= FRAME_BYTES / 2
}

function takePieces(pieces: Piece[]): readonly Piece[] {
  let bytes = pieces[0]!.bytes
  let count = 1
  while (count < pieces.length && bytes + pieces[count]!.bytes <= FRAME_BYTES) bytes += pieces[count++]!.bytes
  return pieces.splice(0, count)
}
