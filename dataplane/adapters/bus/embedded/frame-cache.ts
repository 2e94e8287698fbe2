import type { FrameRecords } from './record-batch.ts'

/** A frame that a reader of this thread has unpacked, and where the next one starts. */
interface CachedFrame {
  readonly records: FrameRecords
  readonly end: number
}

/**
 * The frames that the readers of one thread unpacked last: groups that follow the same topic side by side read and unpack each frame once.
 * Bounded by the bytes of the unpacked records; a reader that lags behind by more does its own reading.
 */
export class FrameCache {
  readonly #maxBytes: number
  readonly #readers = new Map<string, number>()
  /** Oldest first. */
  readonly #frames = new Map<string, CachedFrame>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Frames of a topic are kept while it has two readers or more. */
  join(topic: string): void {
    this.#readers.set(topic, (this.#readers.get(topic) ?? 0) + 1)
  }

  leave(topic: string): void {
    this.#readers.set(topic, this.#readers.get(topic)! - 1)
    for (const { records } of this.#frames.values()) records.release()
    this.#frames.clear()
    this.#bytes = 0
  }

  find(topic: string, sequence: number, position: number): CachedFrame | undefined {
    return this.#readers.get(topic)! > 1 ? this.#frames.get(keyOf(topic, sequence, position)) : undefined
  }

  add(records: FrameRecords, sequence: number, position: number, end: number): void {
    const { topic, raw } = records
    if (this.#readers.get(topic)! < 2 || raw.length > this.#maxBytes / 4) return
    const key = keyOf(topic, sequence, position)
    if (this.#frames.has(key)) return
    records.retain()
    this.#frames.set(key, { records, end })
    this.#bytes += raw.length
    for (const [oldestKey, oldest] of this.#frames) {
      if (this.#bytes <= this.#maxBytes) return
      this.#frames.delete(oldestKey)
      this.#bytes -= oldest.records.raw.length
      oldest.records.release()
    }
  }
}

const keyOf = (topic: string, sequence: number, position: number) => `${topic}/${sequence}/${position}`
