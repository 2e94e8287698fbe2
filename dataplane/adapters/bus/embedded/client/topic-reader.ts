/** Reads records of one topic from its segments. */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type LeasedMemory, RecordLeases } from '../../../../memory/record-leases.ts'
import { BusError, type ConsumedRecord } from '../../../../ports/bus.ts'
import type { BusLog } from '../../bus-log.ts'
import { type BusFrameHeader, FRAME_STATE } from '../log/bus-frame.ts'
import { FrameScanner, type ScannedFrame } from '../log/frame-scanner.ts'
import { FrameRecords, RecordCursor } from '../log/record-batch.ts'
import { readSegmentHeader, segmentHeaderLength, segmentName } from '../log/segment.ts'
import type { LogPosition } from '../log/segment-list.ts'
import type { LogOwner, ReadPlace, TopicLayout } from '../log-owner.ts'
import type { SharedEnds } from '../shared-ends.ts'
import type { FrameCache } from './frame-cache.ts'

interface OpenSegment {
  readonly sequence: number
  readonly descriptor: number
  readonly scanner: FrameScanner
  /** How many bytes of the segment count; known once the segment is no longer being written. */
  finalLength: number | undefined
}

export interface TopicReaderDeps {
  readonly layout: TopicLayout
  /** The topic's place in the shared ends. */
  readonly index: number
  readonly ends: SharedEnds
  readonly owner: LogOwner
  readonly log: BusLog
  /** Shared by the readers of one thread. */
  readonly cache: FrameCache
}

const UNASSIGNED = -1
/** Retention may delete a file between looking up its place and opening it; not time and again. */
const MAX_ATTEMPTS = 5

/** Reads one topic's segment files in this thread, for the partitions that it is told to. */
export class TopicReader {
  readonly #deps: TopicReaderDeps
  /** By partition: the next one to hand out, or UNASSIGNED. */
  readonly #nextOffsets: Float64Array
  readonly #leases: RecordLeases
  #segment: OpenSegment | undefined
  #records: RecordCursor | undefined
  #mustLocate = true
  #isSought = false
  #closed = false

  constructor(deps: TopicReaderDeps) {
    this.#deps = deps
    deps.cache.join(deps.layout.name)
    this.#nextOffsets = new Float64Array(deps.layout.partitions).fill(UNASSIGNED)
    this.#leases = new RecordLeases(deps.layout.partitions)
  }

  get index(): number {
    return this.#deps.index
  }

  /** Reads the partition from this offset on. */
  start(partition: number, offset: number): void {
    this.#nextOffsets[partition] = offset
    this.#leases.restart(partition, offset)
    this.#records = undefined
    this.#mustLocate = true
  }

  /** As `start`, but an offset that is no longer kept is not reported. */
  seek(partition: number, offset: number): void {
    this.start(partition, offset)
    this.#isSought = true
  }

  stop(partition: number): void {
    this.#nextOffsets[partition] = UNASSIGNED
    this.#leases.restart(partition)
    // Half a frame may have been taken: what is left of it is read again, without that partition.
    if (this.#records !== undefined) this.#mustLocate = true
    this.#records = undefined
  }

  /** The group is done with the records before `offset`: their views end. */
  committed(partition: number, offset: number): void {
    this.#leases.commit(partition, offset)
  }

  /** Appends what can be read now, up to the limits, and returns the bytes of the values. */
  async read(out: ConsumedRecord[], maxRecords: number, maxBytes: number): Promise<number> {
    if (this.#nextOffsets.every(offset => offset === UNASSIGNED)) return 0
    let bytes = 0
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (this.#mustLocate) await this.#locate()
      bytes += this.#readHere(out, maxRecords, maxBytes - bytes)
      if (!this.#mustLocate) return bytes
    }
    throw new BusError('unavailable', `${this.#deps.layout.directory} lacks files that the log should have`)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#deps.cache.leave(this.#deps.layout.name)
    this.#closeSegment()
    this.#nextOffsets.fill(UNASSIGNED)
  }

  #readHere(out: ConsumedRecord[], maxRecords: number, maxBytes: number): number {
    let bytes = 0
    for (;;) {
      if (this.#records === undefined) {
        const records = this.#nextFrame()
        if (records === undefined) return bytes
        records.retain()
        this.#leases.hold(leaseOf(records))
        this.#records = new RecordCursor(records)
      }
      bytes += this.#records.take(out, maxRecords, maxBytes - bytes, this.#nextOffsets)
      for (const { partition } of this.#records.sections)
        if (this.#nextOffsets[partition] !== UNASSIGNED) this.#leases.noteHandedOut(partition, this.#nextOffsets[partition]!)
      if (!this.#records.done) return bytes
      this.#records = undefined
      if (out.length >= maxRecords || (out.length > 0 && bytes >= maxBytes)) return bytes
    }
  }

  /** The next frame with wanted records; undefined at the end, or when the place must be looked up anew. */
  #nextFrame(): FrameRecords | undefined {
    const [lastSequence, lastPosition] = this.#deps.ends.sequenceAndPosition(this.#deps.index)
    for (;;) {
      const segment = this.#segment
      if (segment === undefined) return undefined
      const isLast = segment.sequence >= lastSequence
      const limit = isLast ? lastPosition : this.#finalLength(segment)
      if (limit === undefined) return undefined
      const known = this.#knownFrame(segment, limit)
      if (known !== undefined) {
        if (this.#isWanted(known.header)) return known
        continue
      }
      const { position } = segment.scanner
      const frame = segment.scanner.next(limit)
      if (frame === undefined) {
        if (isLast || !this.#openSegment({ sequence: segment.sequence + 1, position: 0 })) return undefined
      } else if (this.#isWanted(frame.header)) {
        const records = this.#unpack(frame)
        if (records === undefined) continue
        if (position === frame.position) this.#deps.cache.add(records, segment.sequence, position, frame.end)
        return records
      }
    }
  }

  /** The next frame when another reader of this thread has unpacked it before. */
  #knownFrame({ sequence, scanner }: OpenSegment, limit: number): FrameRecords | undefined {
    const known = this.#deps.cache.find(this.#deps.layout.name, sequence, scanner.position, limit)
    if (known === undefined) return undefined
    scanner.skipTo(known.end)
    return known.records
  }

  /** Undefined for a frame that cannot be unpacked although its checksum holds. */
  #unpack(frame: ScannedFrame): FrameRecords | undefined {
    const { layout, log } = this.#deps
    try {
      return new FrameRecords(layout.name, frame.header, frame.body)
    } catch (error) {
      log.error(
        { topic: layout.name, position: frame.position, records: frame.header.recordCount, error },
        'unreadable records in the bus were passed over',
      )
      return undefined
    }
  }

  #isWanted(header: BusFrameHeader): boolean {
    if (header.state === FRAME_STATE.aborted) return false
    for (const { partition, baseOffset, count } of header.sections) {
      const next = this.#nextOffsets[partition] ?? UNASSIGNED
      if (next !== UNASSIGNED && baseOffset + count > next) return true
    }
    return false
  }

  /** The header of the segment behind says how much of this one counts. */
  #finalLength(segment: OpenSegment): number | undefined {
    if (segment.finalLength !== undefined) return segment.finalLength
    const descriptor = this.#openFile(segment.sequence + 1)
    if (descriptor === undefined) return undefined
    try {
      const length = readSegmentHeader(descriptor)?.previousLength
      if (length === undefined) throw this.#damagedHeader(segment.sequence + 1)
      segment.finalLength = length
      return length
    } finally {
      closeSync(descriptor)
    }
  }

  async #locate(): Promise<void> {
    const wanted: { readonly partition: number; readonly offset: number }[] = []
    this.#nextOffsets.forEach((offset, partition) => {
      if (offset !== UNASSIGNED) wanted.push({ partition, offset })
    })
    this.#mustLocate = false
    const place = await this.#deps.owner.locate(this.#deps.layout.name, wanted)
    if (this.#closed) return
    this.#clamp(place)
    this.#openSegment(place)
  }

  /** Records before the start of what is kept are gone; none can lie beyond the end. */
  #clamp({ startOffsets, endOffsets }: ReadPlace): void {
    const { log, layout } = this.#deps
    this.#nextOffsets.forEach((offset, partition) => {
      if (offset === UNASSIGNED) return
      const startOffset = startOffsets[partition] ?? 0
      if (offset < startOffset && !this.#isSought)
        log.warn({ topic: layout.name, partition, offset, startOffset }, 'a bus consumer was behind what is kept and misses records')
      const kept = Math.min(Math.max(offset, startOffset), endOffsets[partition] ?? 0)
      if (kept === offset) return
      this.#nextOffsets[partition] = kept
      this.#leases.restart(partition, kept)
    })
    this.#isSought = false
  }

  /** Goes on at `place` (position 0: the first frame); false, and the place is to be looked up anew, when retention has deleted it. */
  #openSegment(place: LogPosition): boolean {
    const descriptor = this.#openFile(place.sequence)
    if (descriptor === undefined) return false
    const header = readSegmentHeader(descriptor)
    if (header === undefined) {
      closeSync(descriptor)
      throw this.#damagedHeader(place.sequence)
    }
    this.#closeSegment()
    const start = place.position || segmentHeaderLength(header.baseOffsets.length)
    const scanner = new FrameScanner(descriptor, header.salt, start, (position, length) =>
      this.#deps.log.error(
        { topic: this.#deps.layout.name, segment: place.sequence, file: this.#pathOf(place.sequence), position, length },
        'damaged records in the bus were passed over',
      ),
    )
    this.#segment = { sequence: place.sequence, descriptor, scanner, finalLength: undefined }
    return true
  }

  #pathOf(sequence: number): string {
    return join(this.#deps.layout.directory, segmentName(sequence))
  }

  #openFile(sequence: number): number | undefined {
    try {
      return openSync(this.#pathOf(sequence), 'r')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
        throw new BusError('unavailable', `${this.#deps.layout.name} cannot be read`, { cause: error })
      this.#mustLocate = true
      return undefined
    }
  }

  #closeSegment(): void {
    if (this.#segment !== undefined) closeSync(this.#segment.descriptor)
    this.#segment = undefined
    this.#records = undefined
  }

  #damagedHeader(sequence: number): BusError {
    return new BusError('unavailable', `${this.#pathOf(sequence)} does not start with a segment header: the next start makes it anew`)
  }
}

/** The memory of a frame's records. */
function leaseOf(records: FrameRecords): LeasedMemory {
  const { raw, header } = records
  const ends = header.sections.map(({ partition, baseOffset, count }) => ({ partition, offset: baseOffset + count }))
  return { bytes: raw.length, ends, giveBack: () => records.release() }
}
