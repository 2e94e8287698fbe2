/** Brings a topic's directory into order when the bus is opened. */
import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeDurableDirectory } from '../../../lifecycle/durable-directory.ts'
import type { BusLog } from '../bus-log.ts'
import { FRAME_STATE, STATE_AT } from './bus-frame.ts'
import { FrameScanner } from './frame-scanner.ts'
import type { LogFile, LogFiles } from './log-files.ts'
import { parseSegmentName, readSegmentHeader, type SegmentHeader, segmentHeaderLength, segmentName } from './segment.ts'
import { noteCheckpoint, type SegmentInfo } from './segment-list.ts'
import { repairSegment } from './segment-repair.ts'
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
}

/**
 * Brings a topic's directory to a state that can be written on: of old segments it reads the header, of the last one everything.
 *
 * A torn tail is cut off; it was never acknowledged. Damage with sound frames behind it is left for readers to pass over, and so is a missing segment.
 * Transactions without a recorded commit are aborted.
 */
export async function recoverTopic(recovery: TopicRecovery): Promise<TopicLogState> {
  makeDurableDirectory(recovery.directory)
  const { segments, last } = await loadSegments(recovery)
  const nextOffsets = new Float64Array(Math.max(recovery.partitions, last?.baseOffsets.length ?? 0))
  recovery.reachedOffsets.forEach((offset, partition) => {
    if (partition < nextOffsets.length) nextOffsets[partition] = offset
  })
  last?.baseOffsets.forEach((offset, partition) => {
    nextOffsets[partition] = Math.max(nextOffsets[partition]!, offset)
  })
  const active = segments.at(-1)
  if (active === undefined || last === undefined) return { segments, nextOffsets, tail: undefined }
  const file = await recovery.files.open(join(recovery.directory, segmentName(active.sequence)))
  await recoverTail(recovery, active, last.salt, nextOffsets, file)
  return { segments, nextOffsets, tail: { file, salt: last.salt } }
}

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
async function findSegments({ topic, directory, files, log }: TopicRecovery): Promise<readonly FoundSegment[]> {
  const headers = new Map<number, SegmentHeader | undefined>()
  for (const sequence of readdirSync(directory).map(parseSegmentName))
    if (sequence !== undefined) headers.set(sequence, inspect(join(directory, segmentName(sequence))).header)
  const [oldest = 0, newest = -1] = [Math.min(...headers.keys()), Math.max(...headers.keys())].filter(Number.isFinite)
  const found: FoundSegment[] = []
  for (let sequence = newest; sequence >= oldest; sequence--) {
    const path = join(directory, segmentName(sequence))
    const next = found.at(-1)?.header
    let header = headers.get(sequence)
    if (header === undefined && sequence === newest) {
      // Records are acknowledged only once the header is on the disk, so a newest segment without one holds nothing.
      await files.remove(path)
      continue
    }
    if (header === undefined) {
      const problem = headers.has(sequence) ? 'has a damaged header, which is made anew' : 'is missing: its records are passed over'
      log.error({ topic, segment: sequence }, `a bus segment ${problem}`)
      header = await repairSegment({ directory, files, sequence, previous: headers.get(sequence - 1), next })
    }
    found.push({ header, size: inspect(path).size })
  }
  return found.reverse()
}

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
  for (const { position, length } of damaged)
    if (position < active.length)
      log.error({ topic, segment: active.sequence, position, length }, 'damaged records in the bus are passed over')
  if (active.length < size) {
    log.warn({ topic, segment: active.sequence, position: active.length, length: size - active.length }, 'a torn write was cut off the bus')
    await file.truncate(active.length)
  }
  for (const { position, transactionId } of undecided) {
    const state = recovery.isCommitted(transactionId) ? FRAME_STATE.committed : FRAME_STATE.aborted
    await file.write([Uint8Array.of(state)], position + STATE_AT)
  }
  // Frames that were written but not synced before a crash become visible now, so they must not vanish in the next one.
  await file.sync()
}
