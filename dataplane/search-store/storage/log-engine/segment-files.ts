/** The files of an index's segments: made, sealed, put in the place of others, removed. */
import { releaseBytes } from '../../../memory/release-bytes.ts'
import { isDiskFull } from '../../full-disk.ts'
import type { DeadDocuments } from './format/dead-documents.ts'
import { SegmentFile } from './format/segment-file.ts'
import { deadPath, logPath, lostPath, removeSegment, segmentPath } from './index-directory.ts'
import { encodeIndex, hasPoorBlocks, repackBlocks } from './sealed/seal-segment.ts'
import { SealedSegment } from './sealed/sealed-segment.ts'
import type { SegmentContext } from './segment-context.ts'
import type { IndexLog } from './tail/index-log.ts'
import type { Tail } from './tail/tail.ts'

type SaveSealed = (leastBytes: number) => void

export class SegmentFiles {
  readonly #context: SegmentContext
  readonly #dir: string
  /** A segment was put in the place of its old file, and no crash has been ruled out yet that undoes that. */
  #isRenamed = false

  constructor(context: SegmentContext, dir: string) {
    this.#context = context
    this.#dir = dir
  }

  logPath(number: number): string {
    return logPath(this.#dir, number)
  }

  /** Creates the file of a new segment. The file survives a crash once this returns. */
  create(number: number): SegmentFile {
    const { files } = this.#context
    const file = new SegmentFile(files, segmentPath(this.#dir, number))
    file.truncate(0)
    this.syncNames()
    return file
  }

  /** The files of segments stand at their names after a crash, too. */
  syncNames(): void {
    this.#context.files.syncDirectory(this.#dir)
    this.#isRenamed = false
  }

  /** As far as that is not so yet. */
  syncRenamed(): void {
    if (this.#isRenamed) this.syncNames()
  }

  /** The list of segments is saved without them. */
  forgetLost(numbers: readonly number[]): void {
    for (const number of numbers) this.#context.files.remove(lostPath(this.#dir, number))
  }

  /** The file of a merged segment until `placeMerged`. */
  createBeside(number: number): SegmentFile {
    return new SegmentFile(this.#context.files, this.#beside(number))
  }

  removeBeside(number: number): void {
    this.#context.files.remove(this.#beside(number))
  }

  #beside(number: number): string {
    return `${segmentPath(this.#dir, number)}.tmp`
  }

  /** Makes deletions durable that are not yet. */
  saveDead(segments: readonly { readonly number: number; readonly dead: DeadDocuments }[]): void {
    for (const { dead, number } of segments) if (dead.isDirty) dead.save(this.#context.files, deadPath(this.#dir, number))
  }

  /**
   * Writes the index of a tail behind its documents, which `saveDead` goes before. `log`: removed once the index takes its place.
   * `saveState` saves mapping and list of segments, before the segment counts as sealed; it is told how many bytes of commits the segment's file has after any crash.
   */
  async seal(tail: Tail, nextSeqNo: number, log: IndexLog | undefined, saveState: SaveSealed): Promise<SealedSegment> {
    const rewritten = hasPoorBlocks(tail) ? await this.#rewrite(tail, nextSeqNo, log, saveState) : undefined
    const file = rewritten ?? (await this.#appendIndex(tail, nextSeqNo, log, saveState))
    const sealed = SealedSegment.open(this.#context, tail.number, file, tail.dead)
    if (sealed === undefined) throw new Error(`${file.path} has no footer after sealing`)
    file.shareDescriptor(segmentPath(this.#dir, tail.number))
    return sealed
  }

  async #appendIndex(tail: Tail, nextSeqNo: number, log: IndexLog | undefined, saveState: SaveSealed): Promise<SegmentFile> {
    saveState(tail.end)
    try {
      const index = await encodeIndex(this.#context, tail, tail.blocks, tail.end, nextSeqNo)
      log?.remove()
      await tail.file.append(index, tail.end)
      releaseBytes(index)
    } catch (error) {
      tail.file.truncate(tail.end)
      throw error
    }
    return tail.file
  }

  /**
   * Many small commits make poor blocks: the segment is written anew beside the old file, then put in its place. Undefined where the disk has no
   * room for both.
   */
  async #rewrite(tail: Tail, nextSeqNo: number, log: IndexLog | undefined, saveState: SaveSealed): Promise<SegmentFile | undefined> {
    const { files } = this.#context
    const path = segmentPath(this.#dir, tail.number)
    const temporary = `${path}.tmp`
    files.remove(temporary)
    const file = new SegmentFile(files, temporary)
    let isWritten = false
    try {
      const { blocks, end } = await repackBlocks(tail, nextSeqNo, (bytes, at) => file.writeSync(bytes, at))
      const index = await encodeIndex(this.#context, tail, blocks, end, nextSeqNo)
      await file.append(index, end)
      isWritten = true
      saveState(Math.min(tail.end, end))
      releaseBytes(index)
      // Readers of the log count on the segment being the one that it was written for.
      log?.remove()
      // Should a crash undo the renaming, the old file still has every frame.
      files.rename(temporary, path)
      this.#isRenamed = true
    } catch (error) {
      file.close()
      files.remove(temporary)
      if (!isWritten && isDiskFull(error)) return undefined
      throw error
    }
    return file
  }

  /** `saveState` saves a list that takes the merged segment for its sources, or those for it. */
  placeMerged(tail: Tail, number: number, saveState: (merged: SealedSegment) => void): SealedSegment {
    const { files } = this.#context
    const path = segmentPath(this.#dir, number)
    try {
      if (tail.dead.isDirty) tail.dead.save(files, deadPath(this.#dir, number))
      const segment = SealedSegment.open(this.#context, number, tail.file, tail.dead)
      if (segment === undefined) throw new Error(`${path} has no footer after merging`)
      saveState(segment)
      files.rename(`${path}.tmp`, path)
      this.syncNames()
      segment.file.shareDescriptor(path)
      return segment
    } catch (error) {
      files.remove(`${path}.tmp`)
      this.remove(number)
      throw error
    }
  }

  /** No crash may leave the documents of a segment without its deletions, or the sources of a merge without the merged segment. */
  removeEmpty(segments: readonly SealedSegment[]): void {
    const { files } = this.#context
    if (segments.some(({ replaces }) => replaces.length > 0)) files.syncDirectory(this.#dir)
    for (const { file, number } of segments) {
      file.keepDescriptor()
      files.remove(segmentPath(this.#dir, number))
    }
    files.syncDirectory(this.#dir)
    for (const { number } of segments) files.remove(deadPath(this.#dir, number))
  }

  remove(number: number): void {
    removeSegment(this.#context.files, this.#dir, number)
  }
}
