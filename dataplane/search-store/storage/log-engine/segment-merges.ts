/** Merges small segments, and removes those without a living document. */
import { DamagedSegment } from '../damaged-segment.ts'
import type { Segment } from '../index-storage.ts'
import { encodeFrame } from './format/frame.ts'
import type { HeldSegments } from './held-segments.ts'
import type { SavedList } from './saved-list.ts'
import { type Merged, mergeCandidates, mergeSegments } from './sealed/merge-segments.ts'
import type { SealedSegment } from './sealed/sealed-segment.ts'
import { writeFrame } from './tail/write-frame.ts'
import { unlessOfSystem } from './unless-of-system.ts'

/** The result of a finished merge. */
export interface PreparedMerge {
  readonly sources: readonly SealedSegment[]
  readonly merged: Merged
  readonly number: number
}

export class SegmentMerges {
  readonly #held: HeldSegments
  readonly #list: SavedList
  #isMerging = false
  /** Segments that others took the place of, and whose files the disk did not remove: they must be gone before those others are. */
  #leftovers: readonly number[] = []
  /** Not merged any more. */
  readonly #damaged = new WeakSet<Segment>()

  constructor(held: HeldSegments, list: SavedList) {
    this.#held = held
    this.#list = list
  }

  /** Merges small neighbours beside the running writes; undefined when there is nothing to merge. `finish` must follow. */
  async prepare(): Promise<PreparedMerge | undefined> {
    const held = this.#held
    const sources = this.#isMerging ? [] : mergeCandidates(held.sealed, this.#damaged)
    if (sources.length === 0) return undefined
    this.#isMerging = true
    const number = held.nextNumber++
    try {
      const file = held.files.createBeside(number)
      const replaces = [...this.#leftovers, ...sources.map(each => each.number)]
      const merged = await mergeSegments(held.context, held.mapping, { sources, replaces, number, file }, held.high)
      return { sources, number, merged }
    } catch (error) {
      this.#isMerging = false
      held.files.removeBeside(number)
      if (error instanceof DamagedSegment) this.#damaged.add(error.segment)
      throw error
    }
  }

  /** Puts a merged segment in the place of its sources. To be called between two commits. */
  finish({ sources, merged, number }: PreparedMerge): void {
    this.#isMerging = false
    const { tail, origins } = merged
    // Documents that died while the merge was running.
    for (const [doc, { segment, doc: was }] of origins.entries()) if (!segment.isLive(was)) tail.dead.add(doc)
    const segment = this.#held.files.placeMerged(tail, number, placed => this.#list.saveMerging(placed, sources))
    this.#held.putMerged(segment, sources, origins)
    for (const { file } of sources) file.keepDescriptor()
    this.#leftovers = [...this.#leftovers, ...sources.map(each => each.number)]
    this.#removeLeftovers()
  }

  /** Whether all are gone. */
  #removeLeftovers(): boolean {
    this.#leftovers = this.#leftovers.filter(number => {
      try {
        this.#held.files.remove(number)
        return false
      } catch (error) {
        unlessOfSystem(error)
        return true
      }
    })
    return this.#leftovers.length === 0
  }

  /**
   * Removes sealed segments without a living document, whose deletions are durable. A failure of the disk leaves the segments for the next call.
   * To be called between two commits.
   */
  async dropEmpty(): Promise<void> {
    const empty = this.#isMerging ? [] : this.#held.sealed.filter(({ liveCount }) => liveCount === 0)
    if (empty.length === 0 || !this.#removeLeftovers()) return
    try {
      await this.#keepNextSeqNo(empty)
      this.#list.save()
      this.#held.files.removeEmpty(empty)
    } catch (error) {
      return unlessOfSystem(error)
    }
    this.#held.drop(empty)
  }

  /** The next sequence number stands in the newest frame or segment. Where that segment goes, the tail gets a frame with the number. */
  async #keepNextSeqNo(going: readonly SealedSegment[]): Promise<void> {
    const next = this.#held.nextSeqNo
    if (this.#held.tail.end > 0 || this.#held.sealed.some(each => each.nextSeqNo === next && !going.includes(each))) return
    const frame = encodeFrame({ seq: next, next }, [])
    await writeFrame(this.#held.tail, frame)
    this.#held.tail.end += frame.length
  }
}
