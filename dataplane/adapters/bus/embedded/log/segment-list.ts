/** Where a reader starts: a frame boundary. */
export interface LogPosition {
  readonly sequence: number
  readonly position: number
}

interface Checkpoint {
  readonly position: number
  /** By partition: offset of its next record from here on. */
  readonly nextOffsets: Float64Array
}

export interface SegmentInfo {
  readonly sequence: number
  readonly createdMs: number
  readonly baseOffsets: Float64Array
  readonly headerLength: number
  /** Valid bytes. */
  length: number
  /** Sparse; empty for segments written before the last start, which a reader walks from their beginning. */
  readonly checkpoints: Checkpoint[]
}

const CHECKPOINT_BYTES = 1 << 20

/** The segments of a topic, oldest first; the last is the one being written. Never empty once opened. */
export class SegmentList {
  readonly #segments: SegmentInfo[]

  constructor(segments: readonly SegmentInfo[]) {
    this.#segments = [...segments]
  }

  get active(): SegmentInfo {
    return this.#segments.at(-1)!
  }

  get all(): readonly SegmentInfo[] {
    return this.#segments
  }

  get totalBytes(): number {
    let sum = 0
    for (const segment of this.#segments) sum += segment.length
    return sum
  }

  /** By partition: first offset still kept. */
  get startOffsets(): Float64Array {
    return this.#segments[0]!.baseOffsets
  }

  push(segment: SegmentInfo): void {
    this.#segments.push(segment)
  }

  dropOldest(): SegmentInfo {
    return this.#segments.shift()!
  }

  /** A place at or before all the given records. */
  locate(wanted: readonly { readonly partition: number; readonly offset: number }[]): LogPosition {
    let found: LogPosition | undefined
    for (const { partition, offset } of wanted) {
      const place = this.#placeOf(partition, offset)
      if (found === undefined || isBefore(place, found)) found = place
    }
    return found ?? { sequence: this.active.sequence, position: this.active.length }
  }

  #placeOf(partition: number, offset: number): LogPosition {
    const segment = this.#segments.findLast(s => (s.baseOffsets[partition] ?? 0) <= offset) ?? this.#segments[0]!
    const checkpoint = segment.checkpoints.findLast(c => (c.nextOffsets[partition] ?? 0) <= offset)
    return { sequence: segment.sequence, position: checkpoint?.position ?? segment.headerLength }
  }
}

/** Notes the place of the next frame when the last noted one is far enough behind. */
export function noteCheckpoint(segment: SegmentInfo, position: number, nextOffsets: Float64Array): void {
  const last = segment.checkpoints.at(-1)?.position ?? segment.headerLength
  if (position - last >= CHECKPOINT_BYTES) segment.checkpoints.push({ position, nextOffsets: nextOffsets.slice() })
}

function isBefore(a: LogPosition, b: LogPosition): boolean {
  return a.sequence < b.sequence || (a.sequence === b.sequence && a.position < b.position)
}
