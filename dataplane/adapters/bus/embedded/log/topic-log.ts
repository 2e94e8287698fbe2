/** Writes the log of one topic: appends frames, begins segments, removes old ones. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { TOLERATED_MS } from '../../../../limits/believed-time.ts'
import { BusError } from '../../../../ports/bus.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { BusLog } from '../../bus-log.ts'
import { toBusError } from '../bus-errors.ts'
import type { TopicEnd } from '../groups/group-journal.ts'
import { countExpiredSegments } from '../retention/retention.ts'
import { type EncodedFrame, FRAME_STATE, type FrameState, fitsTopic, STATE_AT, stampFrame } from './bus-frame.ts'
import type { LogFile, LogFiles } from './log-files.ts'
import { encodeSegmentHeader, segmentName } from './segment.ts'
import { noteCheckpoint, type SegmentInfo, SegmentList } from './segment-list.ts'
import { WriteHealth } from './write-health.ts'

export interface TopicLimits {
  readonly retentionMs: number
  readonly segmentBytes: number
}

export interface TopicLogDeps {
  readonly topic: string
  readonly directory: string
  readonly files: LogFiles
  readonly clock: Clock
  readonly log: BusLog
  readonly limits: TopicLimits
  /** Makes the log readable up to here. */
  readonly publish: (sequence: number, position: number) => void
  /** Makes room for as many bytes under the cap of the whole bus; throws a `BusError` when there is none. */
  readonly makeRoom: (bytes: number) => Promise<void>
  /** Notes what is no longer kept. Never rejects. */
  readonly noteEnds: () => Promise<void>
  /** Makes room on the disk for what is not the bus; throws a `BusError` when there is none. */
  readonly ensureReserve: () => Promise<void>
}

/** A topic's log as recovery left it. `file` and `salt` are the last segment's; no segment: a new topic. */
export interface TopicLogState {
  readonly segments: readonly SegmentInfo[]
  readonly nextOffsets: Float64Array
  readonly tail: { readonly file: LogFile; readonly salt: number } | undefined
}

interface PendingFrame {
  readonly frame: EncodedFrame
  readonly bytes: number
  /** 0 outside a transaction. */
  readonly transactionId: number
  readonly resolve: () => void
  readonly reject: (error: BusError) => void
}

/** Frames of a transaction that is not decided yet, or whose decision is not marked in the file yet. */
interface Prepared {
  readonly positions: number[]
  outcome: 'open' | 'committed' | 'aborted'
  marking?: Promise<void> | undefined
}

const MAX_GROUP_BYTES = 8 << 20
const MAX_GROUP_FRAMES = 512
/** Positions travel in 32 bits of shared memory. */
const MAX_SEGMENT_BYTES = 2 ** 31

/**
 * The writing side of one topic: the only place that appends to its segments.
 *
 * Records that arrive while a group is being written and synced form the next group. Nothing is acknowledged, or visible to readers,
 * before its sync has succeeded. After a failed write the tail is cut; after a failed sync it counts as lost and a new segment begins.
 */
export class TopicLog {
  readonly #deps: TopicLogDeps
  #segments: SegmentList
  #nextOffsets: Float64Array
  #tail: TopicLogState['tail']
  #tailState: 'sound' | 'uncut' | 'lost'
  #queue: PendingFrame[] = []
  #running: Promise<void> | undefined
  #tasks: (() => Promise<void>)[] = []
  #closed = false
  readonly #health: WriteHealth
  #lastTimestampMs = 0
  /** Segments that are dropped from the log, and still on the disk. */
  readonly #deleted: SegmentInfo[] = []
  readonly #prepared = new Map<number, Prepared>()

  constructor(deps: TopicLogDeps, state: TopicLogState) {
    this.#deps = deps
    this.#health = new WriteHealth(deps.topic, deps.log)
    this.#segments = new SegmentList(state.segments)
    this.#nextOffsets = state.nextOffsets
    this.#tail = state.tail
    this.#tailState = state.tail === undefined ? 'lost' : 'sound'
  }

  /** Makes the log ready for writers and readers. */
  async start(): Promise<void> {
    const known = this.#segments.all.length === 0 ? 0 : this.#segments.active.baseOffsets.length
    if (this.#tail === undefined || known < this.#nextOffsets.length) await this.#rotate()
    this.#publish()
  }

  get segments(): SegmentList {
    return this.#segments
  }

  get nextOffsets(): Float64Array {
    return this.#nextOffsets
  }

  /** Where the log begins, and how far it is durable. */
  get end(): TopicEnd {
    const { all, active } = this.#segments
    const { sequence, length } = active
    return { topic: this.#deps.topic, oldest: all[0]!.sequence, sequence, position: length, nextOffsets: [...this.#nextOffsets] }
  }

  /** Resolves once the frame is durable; with a transaction id it stays invisible until `decide`. */
  append(frame: EncodedFrame, transactionId = 0): Promise<void> {
    if (this.#closed) return Promise.reject(new BusError('closed', 'the bus is closed'))
    if (!fitsTopic(frame.header, this.#nextOffsets.length))
      return Promise.reject(
        new BusError('unavailable', `${this.#deps.topic} has ${this.#nextOffsets.length} partitions, the sender expects more`),
      )
    return new Promise((resolve, reject) => {
      this.#queue.push({ frame, bytes: frame.header.length + frame.body.length, transactionId, resolve, reject })
      this.#kick()
    })
  }

  /** Makes the frames of a transaction visible at once, or void once the abort is durable. An abort that fails is tried again before each write. */
  async decide(transactionId: number, outcome: 'committed' | 'aborted'): Promise<void> {
    const prepared = this.#prepared.get(transactionId)
    if (prepared === undefined) return
    prepared.outcome = outcome
    if (outcome === 'committed') this.#publish()
    await this.#markDecided(transactionId, prepared).catch((error: unknown) =>
      this.#deps.log.warn({ topic: this.#deps.topic, error }, 'the decision on a transaction could not be marked yet'),
    )
  }

  /** Makes every decision durable in the segment itself, so that the journal may forget the decision. */
  syncDecisions(): Promise<void> {
    return this.#exclusively(async () => {
      await this.#finishDecisions()
      await this.#tail?.file.sync()
    })
  }

  /** Deletes segments that are past retention at `nowMs`. Closes an ageing active segment, as only closed segments are deleted. */
  enforceRetention(nowMs: number): Promise<void> {
    return this.#exclusively(async () => {
      const { topic, limits, log } = this.#deps
      const expired = countExpiredSegments(this.#segments.all, limits.retentionMs, nowMs)
      await this.deleteOldest(expired)
      if (expired > 0) log.info({ topic, segments: expired }, 'bus segments past retention deleted')
      const { active } = this.#segments
      const isAgeing = active.length > active.headerLength && active.createdMs <= nowMs - limits.retentionMs / 4
      if (!isAgeing || this.#prepared.size > 0 || this.#tailState !== 'sound') return
      await this.#rotate()
      this.#publish()
    })
  }

  /** Deletes all records. Rejects while a transaction is not decided. */
  purge(): Promise<void> {
    return this.#exclusively(async () => {
      await this.#finishDecisions()
      if (this.#prepared.size > 0) throw new BusError('unavailable', `${this.#deps.topic} waits for a transaction to be decided`)
      const { active } = this.#segments
      if (active.length > active.headerLength) await this.#rotate()
      this.#publish()
      await this.deleteOldest(this.#segments.all.length - 1)
    })
  }

  /** Deletes the `count` oldest segments. Readers keep a segment that they have open; one that cannot be deleted now is tried again the next time. */
  async deleteOldest(count: number): Promise<void> {
    const { files, directory } = this.#deps
    for (let i = 0; i < count; i++) this.#deleted.push(this.#segments.dropOldest())
    // Not waited for: the journal may wait for this log.
    if (count > 0) void this.#deps.noteEnds()
    for (let segment = this.#deleted[0]; segment !== undefined; segment = this.#deleted[0]) {
      this.#deleted.shift()
      try {
        await files.remove(join(directory, segmentName(segment.sequence)))
      } catch (error) {
        this.#deleted.unshift(segment)
        throw error
      }
    }
  }

  /**
   * Why the log takes no records just now; undefined: it takes them, as far as one can tell without writing. A log that was full makes room as for
   * the write that it refused, since nobody may have tried again.
   */
  async problem(): Promise<string | undefined> {
    const { failing } = this.#health
    if (failing !== undefined && failing.failure.reason !== 'full') return failing.failure.message
    try {
      if (failing === undefined) await this.#deps.ensureReserve()
      else await this.#exclusively(() => this.#ensureRoom(failing.bytes))
    } catch (error) {
      return toBusError(error, `${this.#deps.topic} cannot be written`).message
    }
    if (this.#health.failing === failing) this.#health.noteWritten()
    return undefined
  }

  /** Finishes what is queued. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#running !== undefined) await this.#running
    await this.#tail?.file.close()
    this.#tail = undefined
  }

  #kick(): void {
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined
      if (this.#queue.length + this.#tasks.length > 0) this.#kick()
    })
  }

  /** Runs the task between two writes. */
  #exclusively(task: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject))
      this.#kick()
    })
  }

  async #drain(): Promise<void> {
    while (this.#queue.length + this.#tasks.length > 0) {
      const task = this.#tasks.shift()
      if (task === undefined) await this.#settleGroup(this.#takeGroup())
      else await task()
    }
  }

  async #settleGroup(group: readonly PendingFrame[]): Promise<void> {
    try {
      await this.#writeGroup(group)
      for (const pending of group) pending.resolve()
      this.#health.noteWritten()
    } catch (error) {
      const failure = toBusError(error, `${this.#deps.topic} cannot be written`)
      for (const pending of group) pending.reject(failure)
      this.#health.noteFailure(failure, bytesOf(group))
    }
  }

  #takeGroup(): readonly PendingFrame[] {
    let bytes = 0
    let count = 0
    const maxBytes = Math.min(MAX_GROUP_BYTES, this.#deps.limits.segmentBytes)
    while (count < this.#queue.length && count < MAX_GROUP_FRAMES) {
      bytes += this.#queue[count]!.bytes
      if (count > 0 && bytes > maxBytes) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  async #writeGroup(group: readonly PendingFrame[]): Promise<void> {
    const groupBytes = bytesOf(group)
    await this.#finishDecisions()
    await this.#ensureRoom(groupBytes)
    await this.#ensureTail(groupBytes)
    const { file, salt } = this.#tail!
    const active = this.#segments.active
    const nextOffsets = this.#nextOffsets.slice()
    const nowMs = this.#deps.clock.nowMs()
    // A clock that was ahead, and is right again, dates no later records: these would come into the index of that day.
    const timestampMs = this.#lastTimestampMs > nowMs + TOLERATED_MS ? nowMs : Math.max(this.#lastTimestampMs, nowMs)
    const chunks: Uint8Array[] = []
    for (const { frame, transactionId } of group) {
      stampFrame(frame.header, { timestampMs, salt, transactionId }, nextOffsets)
      chunks.push(frame.header, frame.body)
    }
    await this.#writeDurably(file, chunks, active.length)
    noteCheckpoint(active, active.length, this.#nextOffsets)
    for (const { bytes, transactionId } of group) {
      if (transactionId !== 0) this.#notePrepared(transactionId, active.length)
      active.length += bytes
    }
    this.#nextOffsets = nextOffsets
    this.#lastTimestampMs = timestampMs
    this.#publish()
  }

  async #writeDurably(file: LogFile, chunks: readonly Uint8Array[], position: number): Promise<void> {
    this.#tailState = 'uncut'
    try {
      await file.write(chunks, position)
    } catch (error) {
      await this.#cutTail(file, position)
      throw error
    }
    // If the sync fails, nobody can say what the disk holds beyond `position`.
    this.#tailState = 'lost'
    await file.sync()
    this.#tailState = 'sound'
  }

  async #cutTail(file: LogFile, position: number): Promise<void> {
    try {
      await file.truncate(position)
      this.#tailState = 'sound'
    } catch (error) {
      this.#deps.log.warn({ topic: this.#deps.topic, error }, 'a failed write could not be cut off yet')
    }
  }

  async #ensureRoom(bytes: number): Promise<void> {
    await this.#deps.makeRoom(bytes)
    await this.#deps.ensureReserve()
  }

  async #ensureTail(bytes: number): Promise<void> {
    if (this.#tailState === 'uncut') {
      await this.#tail!.file.truncate(this.#segments.active.length)
      this.#tailState = 'sound'
    }
    const isLost = this.#tailState === 'lost'
    const { active } = this.#segments
    const isFull = active.length + bytes > this.#deps.limits.segmentBytes && active.length > active.headerLength
    if (!isLost && !isFull) return
    // Recovery looks for undecided frames in the last segment alone, so they must not be left in an older one.
    if (this.#prepared.size === 0) await this.#rotate()
    else if (isLost || active.length + bytes > MAX_SEGMENT_BYTES)
      throw new BusError('unavailable', `${this.#deps.topic} waits for a transaction to be decided`)
  }

  /** Begins a new segment. When that fails the tail counts as lost: a half-made successor may already say where it ends. */
  async #rotate(): Promise<void> {
    const { files, directory, clock } = this.#deps
    const previous = this.#segments.all.length === 0 ? undefined : this.#segments.active
    if (this.#tailState === 'sound') await this.#tail?.file.sync()
    this.#tailState = 'lost'
    const sequence = (previous?.sequence ?? 0) + 1
    const salt = randomInt(2 ** 32)
    const createdMs = clock.nowMs()
    const header = encodeSegmentHeader({
      sequence,
      salt,
      createdMs,
      previousLength: previous?.length ?? 0,
      baseOffsets: [...this.#nextOffsets],
    })
    const file = await files.open(join(directory, segmentName(sequence)))
    try {
      await file.truncate(0)
      await file.write([header], 0)
      await file.sync()
      await files.syncDirectory(directory)
    } catch (error) {
      await file.close()
      throw error
    }
    await this.#tail?.file.close()
    this.#tail = { file, salt }
    this.#tailState = 'sound'
    const segment = {
      sequence,
      createdMs,
      baseOffsets: this.#nextOffsets.slice(),
      headerLength: header.length,
      length: header.length,
      checkpoints: [],
    }
    this.#segments.push(segment)
  }

  #notePrepared(transactionId: number, position: number): void {
    const known = this.#prepared.get(transactionId)
    if (known === undefined) this.#prepared.set(transactionId, { positions: [position], outcome: 'open' })
    else known.positions.push(position)
  }

  /** Readers may not pass the first undecided frame, nor one whose abort is not marked yet. */
  #publish(): void {
    const { sequence, length } = this.#segments.active
    let end = length
    for (const { positions, outcome } of this.#prepared.values()) if (outcome !== 'committed') end = Math.min(end, positions[0]!)
    this.#deps.publish(sequence, end)
  }

  async #finishDecisions(): Promise<void> {
    for (const [transactionId, prepared] of this.#prepared)
      if (prepared.outcome !== 'open') await this.#markDecided(transactionId, prepared)
  }

  /** A transaction is marked once at a time. */
  #markDecided(transactionId: number, prepared: Prepared): Promise<void> {
    prepared.marking ??= this.#mark(prepared)
      .then(() => {
        this.#prepared.delete(transactionId)
        this.#publish()
      })
      .finally(() => {
        prepared.marking = undefined
      })
    return prepared.marking
  }

  async #mark({ positions, outcome }: Prepared): Promise<void> {
    const { file } = this.#tail!
    const state: FrameState = outcome === 'committed' ? FRAME_STATE.committed : FRAME_STATE.aborted
    for (const position of positions) await file.write([Uint8Array.of(state)], position + STATE_AT)
    if (outcome === 'aborted') await file.sync()
  }
}

function bytesOf(group: readonly PendingFrame[]): number {
  return group.reduce((sum, { bytes }) => sum + bytes, 0)
}
