/** Brings a topic's directory into order when the bus is opened. */
import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeDurableDirectory } from '../../../../process/durable-directory.ts'
import type { BusLog } from '../../bus-log.ts'
import type { TopicEnd } from '../groups/group-journal.ts'
import { FRAME_STATE, STATE_AT } from './bus-frame.ts'
import { FrameScanner } from './frame-scanner.ts'
import type { LogFile, LogFiles } from './log-files.ts'
import { putBackSegments } from './put-back-segments.ts'
import { parseSegmentName, readSegmentHeader, type SegmentHeader, segmentHeaderLength, segmentName } from './segment.ts'
import { noteCheckpoint, type SegmentInfo } from './segment-list.ts'
import { mayHoldFrames, repairSegment } from './segment-repair.ts'
import type { TopicLogState } from './topic-log.ts'

export interface TopicRecovery {
  readonly topic: string
  readonly directory: string
  readonly partitions: number
  readonly files: LogFiles
  readonly log: BusLog
  readonly isCommitted: (transactionId: number) => boolean
  /** By partition: offsets below these have been handed out and are not given again, even when their records were lost. */
  readonly reachedOffsets: readonly number[]
  /** So far the log was acknowledged; undefined: nobody noted it. */
  readonly acknowledged: TopicEnd | undefined
}

/**
 * Brings a topic's directory to a state that can be written on: of old segments it reads the header, of the last one everything.
 *
 * A torn tail is cut off; it was never acknowledged. Damage with sound frames behind it, and damage of what is known to be acknowledged, is left for
 * readers to pass over, and so is a missing segment.
 * Transactions without a recorded commit are aborted.
 */
export async function recoverTopic(recovery: TopicRecovery): Promise<TopicLogState> {
  makeDurableDirectory(recovery.directory)
  const { segments, last } = await loadSegments(recovery)
  const known = Math.max(last?.baseOffsets.length ?? 0, recovery.acknowledged?.nextOffsets.length ?? 0)
  const nextOffsets = new Float64Array(Math.max(recovery.partitions, known))
  for (const offsets of [recovery.reachedOffsets, recovery.acknowledged?.nextOffsets ?? [], last?.baseOffsets ?? []])
    offsets.forEach((offset, partition) => {
      if (partition < nextOffsets.length) nextOffsets[partition] = Math.max(nextOffsets[partition]!, offset)
    })
  const active = segments.at(-1)
  tellMissing(recovery, segments)
  if (active === undefined || last === undefined) return { segments, nextOffsets, tail: undefined }
  const file = await recovery.files.open(join(recovery.directory, segmentName(active.sequence)))
  await recoverTail(recovery, active, last.salt, nextOffsets, file)
  return { segments, nextOffsets, tail: { file, salt: last.salt } }
}

/** Missing segments between others are told of where the gap is closed. */
function tellMissing({ topic, directory, acknowledged, log }: TopicRecovery, segments: readonly SegmentInfo[]): void {
  if (acknowledged === undefined) return
  const { oldest, sequence, position } = acknowledged
  const fieldsOf = (segment: number) => ({ topic, segment, file: join(directory, segmentName(segment)) })
  const first = segments[0]?.sequence ?? sequence
  for (let missing = oldest; missing < first; missing++) log.warn(fieldsOf(missing), OLDEST_MISSING)
  if ((segments.at(-1)?.sequence ?? 0) < sequence) log.error({ ...fieldsOf(sequence), position: 0, length: position }, MISSING)
}

const WITH_A_BACKUP = 'with a backup, stop, put the file back and start again'
const OLDEST_MISSING = `one of the oldest bus segments is missing: unless it was just deleted as the machine stopped, ${WITH_A_BACKUP}`
const MISSING = `a bus segment is missing or empty, and its records are passed over: ${WITH_A_BACKUP}`

async function loadSegments(recovery: TopicRecovery) {
  const found = await findSegments(recovery)
  const segments: SegmentInfo[] = []
  let last: SegmentHeader | undefined
  for (const { header, size } of found) {
    const before = segments.at(-1)
    if (before !== undefined) before.length = Math.min(before.length, header.previousLength)
    segments.push({
      sequence: header.sequence,
      createdMs: header.createdMs,
      baseOffsets: Float64Array.from(header.baseOffsets),
      headerLength: segmentHeaderLength(header.baseOffsets.length),
      length: size,
      checkpoints: [],
    })
    last = header
  }
  return { segments, last }
}

interface FoundSegment {
  readonly header: SegmentHeader
  readonly size: number
}

/** All segments, oldest first, with no gap between them. */
async function findSegments(recovery: TopicRecovery): Promise<readonly FoundSegment[]> {
  const { topic, directory, files, log } = recovery
  await putBackSegments({ topic, directory, files, log })
  const headers = new Map<number, SegmentHeader | undefined>()
  for (const sequence of readdirSync(directory).map(parseSegmentName))
    if (sequence !== undefined) headers.set(sequence, inspect(join(directory, segmentName(sequence))).header)
  const [oldest = 0, newest = -1] = [Math.min(...headers.keys()), Math.max(...headers.keys())].filter(Number.isFinite)
  const found: FoundSegment[] = []
  for (let sequence = newest; sequence >= oldest; sequence--) {
    const path = join(directory, segmentName(sequence))
    const next = found.at(-1)?.header
    let header = headers.get(sequence)
    if (header === undefined && next === undefined && headers.has(sequence) && !mayHoldFrames(path)) {
      // Records are acknowledged only once the header is on the disk. Where this one was, `tellMissing` says so.
      await files.remove(path)
      continue
    }
    if (header === undefined) {
      log.error({ topic, segment: sequence, file: path }, headers.has(sequence) ? MADE_ANEW : MISSING)
      header = await repairSegment({ ...recovery, sequence, previous: headers.get(sequence - 1), next })
    }
    found.push({ header, size: inspect(path).size })
  }
  return found.reverse()
}

const MADE_ANEW = 'a bus segment has a damaged header, which is made anew'

function inspect(path: string) {
  const descriptor = openSync(path, 'r')
  try {
    return { header: readSegmentHeader(descriptor), size: fstatSync(descriptor).size }
  } finally {
    closeSync(descriptor)
  }
}

async function recoverTail(
  recovery: TopicRecovery,
  active: SegmentInfo,
  salt: number,
  nextOffsets: Float64Array,
  file: LogFile,
): Promise<void> {
  const { topic, log } = recovery
  const path = join(recovery.directory, segmentName(active.sequence))
  const size = active.length
  const undecided: { readonly position: number; readonly transactionId: number }[] = []
  const damaged: { readonly position: number; readonly length: number }[] = []
  active.length = active.headerLength
  const descriptor = openSync(path, 'r')
  try {
    const scanner = new FrameScanner(descriptor, salt, active.headerLength, (position, length) => damaged.push({ position, length }))
    for (let frame = scanner.next(size); frame !== undefined; frame = scanner.next(size)) {
      noteCheckpoint(active, frame.position, nextOffsets)
      for (const { partition, baseOffset, count } of frame.header.sections)
        nextOffsets[partition] = Math.max(nextOffsets[partition] ?? 0, baseOffset + count)
      if (frame.header.state === FRAME_STATE.prepared)
        undecided.push({ position: frame.position, transactionId: frame.header.transactionId })
      active.length = frame.end
    }
  } finally {
    closeSync(descriptor)
  }
  const { acknowledged } = recovery
  const acknowledgedEnd = acknowledged?.sequence === active.sequence ? acknowledged.position : 0
  if (active.length < acknowledgedEnd) {
    damaged.push({ position: active.length, length: acknowledgedEnd - active.length })
    // Readers say it again of what is there, and nothing is written over it.
    active.length = Math.min(acknowledgedEnd, size)
  }
  for (const { position, length } of damaged)
    if (position < Math.max(active.length, acknowledgedEnd))
      log.error(
        { topic, segment: active.sequence, file: path, position, length },
        `damaged or missing records in the bus are passed over: ${WITH_A_BACKUP}`,
      )
  if (active.length < size) {
    log.warn(
      { topic, segment: active.sequence, file: path, position: active.length, length: size - active.length },
      'a torn write was cut off the bus',
    )
    await file.truncate(active.length)
  }
  for (const { position, transactionId } of undecided) {
    const state = recovery.isCommitted(transactionId) ? FRAME_STATE.committed : FRAME_STATE.aborted
    await file.write([Uint8Array.of(state)], position + STATE_AT)
  }
  // Frames that were written but not synced before a crash become visible now, so they must not vanish in the next one.
  await file.sync()
}
