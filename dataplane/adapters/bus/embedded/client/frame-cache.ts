/** Frames of the log that the readers of one thread share. */
import type { FrameRecords } from '../log/record-batch.ts'

/** A frame that a reader of this thread has unpacked, and where the next one starts. */
interface CachedFrame {
  readonly records: FrameRecords
  readonly end: number
  /** Readers that had it. */
  reads: number
}

/**
 * The frames that the readers of one thread unpacked last: groups that follow the same topic side by side read and unpack each frame once.
 * A frame is let go once each reader had it. Bounded by the bytes of the unpacked records; a reader that lags behind by more does its own reading.
 */
export class FrameCache {
  readonly #maxBytes: number
  readonly #readers = new Map<string, number>()
  /** Oldest first. */
  readonly #frames = new Map<string, CachedFrame>()
  #bytes = 0
  /** The last frame that each reader had: its last reader holds it by the time of the next call. */
  #passed: FrameRecords | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Frames of a topic are kept while it has two readers or more. */
  join(topic: string): void {
    this.#readers.set(topic, (this.#readers.get(topic) ?? 0) + 1)
  }

  leave(topic: string): void {
    this.#readers.set(topic, this.#readers.get(topic)! - 1)
    this.#letPassedGo()
    for (const { records } of this.#frames.values()) records.release()
    this.#frames.clear()
    this.#bytes = 0
  }

  /** The frame for one of the readers, unless it goes beyond `limit`; its records hold until the next call, or until they are released. */
  find(topic: string, sequence: number, position: number, limit: number): Pick<CachedFrame, 'records' | 'end'> | undefined {
    this.#letPassedGo()
    const readers = this.#readers.get(topic)!
    if (readers < 2) return undefined
    const key = keyOf(topic, sequence, position)
    const frame = this.#frames.get(key)
    if (frame === undefined || frame.end > limit) return undefined
    if (++frame.reads >= readers) {
      this.#remove(key, frame)
      this.#passed = frame.records
    }
    return frame
  }

  add(records: FrameRecords, sequence: number, position: number, end: number): void {
    const { topic, raw } = records
    if (this.#readers.get(topic)! < 2 || raw.length > this.#maxBytes / 4) return
    const key = keyOf(topic, sequence, position)
    if (this.#frames.has(key)) return
    records.retain()
    this.#frames.set(key, { records, end, reads: 1 })
    this.#bytes += raw.length
    for (const [oldestKey, oldest] of this.#frames) {
      if (this.#bytes <= this.#maxBytes) return
      this.#remove(oldestKey, oldest)
      oldest.records.release()
    }
  }

  #remove(key: string, { records }: CachedFrame): void {
    this.#frames.delete(key)
    this.#bytes -= records.raw.length
  }

  #letPassedGo(): void {
    this.#passed?.release()
    this.#passed = undefined
  }
}

const keyOf = (topic: string, sequence: number, position: number) => `${topic}/${sequence}/${position}`
