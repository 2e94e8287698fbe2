/** Merges small segments, and removes those without a living document. */
import { SnapshotGone } from '../index-copy.ts'
import type { Segment } from '../index-storage.ts'
import { encodeFrame } from './format/frame.ts'
import type { HeldSegments } from './held-segments.ts'
import type { SavedList } from './saved-list.ts'
import { committedDocuments, type DocumentSource } from './sealed/committed-documents.ts'
import { type Merged, mergeCandidates, mergeSegments } from './sealed/merge-segments.ts'
import type { SealedSegment } from './sealed/sealed-segment.ts'
import { writeFrame } from './tail/write-frame.ts'
import { unlessOfSystem } from './unless-of-system.ts'

/** The result of a finished merge. */
export interface PreparedMerge {
  readonly sources: readonly SealedSegment[]
  readonly merged: Merged
  readonly number: number
  /** The merge of a single damaged segment, which makes it anew. */
  readonly isMended: boolean
}

export class SegmentMerges {
  readonly #held: HeldSegments
  readonly #list: SavedList
  #isMerging = false
  /** Segments that others took the place of, and whose files the disk did not remove: they must be gone before those others are. */
  #leftovers: readonly number[] = []
  /** Numbers of those of which a part could not be read, and which are yet to be made anew. */
  readonly #damaged = new Set<number>()
  /** Their documents are damaged: they are neither merged nor made anew. */
  readonly #lost = new WeakSet<Segment>()

  constructor(held: HeldSegments, list: SavedList) {
    this.#held = held
    this.#list = list
  }

  /** A part of a sealed segment could not be read. */
  noteDamage(number: number): void {
    this.#damaged.add(number)
  }

  /**
   * Makes a damaged segment anew from its documents, or merges small neighbours, beside the running writes; undefined when there is nothing to do.
   * `finish` must follow.
   */
  async prepare(): Promise<PreparedMerge | undefined> {
    if (this.#isMerging) return undefined
    this.#isMerging = true
    try {
      const prepared = (await this.#prepareMended()) ?? (await this.#prepareMerged())
      this.#isMerging = prepared !== undefined
      return prepared
    } catch (error) {
      this.#isMerging = false
      throw error
    }
  }

  async #prepareMended(): Promise<PreparedMerge | undefined> {
    for (const number of this.#damaged) {
      const segment = this.#held.sealed.find(each => each.number === number)
      if (segment !== undefined && segment.liveCount > 0 && !this.#lost.has(segment)) {
        const documents = await this.#committed(segment)
        if (documents !== undefined) return this.#write([segment], new Map([[segment, documents]]))
        this.#lost.add(segment)
      }
      this.#damaged.delete(number)
    }
    return undefined
  }

  /** Undefined where they are damaged, too, or the disk does not read them. */
  #committed(segment: SealedSegment): Promise<DocumentSource | undefined> {
    return committedDocuments(segment, this.#held.context.cache).catch(error => {
      if (error instanceof SnapshotGone || (error instanceof Error && 'syscall' in error)) return undefined
      throw error
    })
  }

  async #prepareMerged(): Promise<PreparedMerge | undefined> {
    const sources = mergeCandidates(this.#held.sealed, this.#lost)
    return sources.length === 0 ? undefined : this.#write(sources)
  }

  async #write(sources: readonly SealedSegment[], documents?: ReadonlyMap<SealedSegment, DocumentSource>): Promise<PreparedMerge> {
    const held = this.#held
    const number = held.nextNumber++
    try {
      const file = held.files.createBeside(number)
      const replaces = [...this.#leftovers, ...sources.map(each => each.number)]
      const plan = { sources, replaces, number, file, ...(documents && { documents }) }
      const merged = await mergeSegments(held.context, held.mapping, plan, held.high)
      return { sources, number, merged, isMended: documents !== undefined }
    } catch (error) {
      held.files.removeBeside(number)
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
    for (const { number: gone } of sources) this.#damaged.delete(gone)
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
