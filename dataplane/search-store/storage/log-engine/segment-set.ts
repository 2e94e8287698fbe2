/** The segments of one log index: takes commits, seals the tail, merges. */
import type { MutableMapping } from '../../mapping/mapping.ts'
import { DamagedSegment } from '../damaged-segment.ts'
import type { Segment, StoredDocument } from '../index-storage.ts'
import type { WalkedDocuments, WalkerKnowledge, WalkerNews } from '../walked-documents.ts'
import type { BlockRef, EncodedBlock } from './format/block.ts'
import type { DeadDocuments } from './format/dead-documents.ts'
import type { IdKey } from './format/document-id.ts'
import { encodeFrame, type FrameHead } from './format/frame.ts'
import { IdPlaces } from './ids/id-places.ts'
import { IdRuns } from './ids/id-runs.ts'
import { docOf, placeOf } from './ids/place.ts'
import type { FoundSegments } from './index-directory.ts'
import { MAX_COMMIT_OPS } from './ingest/commit-queue.ts'
import { DocumentWalker } from './ingest/document-walker.ts'
import { StagedDocuments } from './ingest/staged-documents.ts'
import type { BatchTarget, CurrentDocument, WriteBatch } from './ingest/write-batch.ts'
import { type Merged, mergeCandidates, mergeSegments } from './sealed/merge-segments.ts'
import { SealedSegment } from './sealed/sealed-segment.ts'
import type { SegmentContext } from './segment-context.ts'
import { SegmentFiles } from './segment-files.ts'
import { type ListedSegment, rowsOf } from './segment-list.ts'
import { type ShowDocument, showDocuments } from './show-documents.ts'
import { IndexLog } from './tail/index-log.ts'
import { replayTail } from './tail/replay-tail.ts'
import { MAX_SEGMENT_DOCS, Tail, TailView } from './tail/tail.ts'
import type { HighCardinality } from './tail/tail-index.ts'
import { WalkedShare } from './walked/walked-share.ts'
import { newsBeyond } from './walked/walker-news.ts'

/** The tail is sealed when it could not take another full commit, or at this size. */
const SEAL_DOCS = MAX_SEGMENT_DOCS - MAX_COMMIT_OPS
const SEAL_BYTES = 1 << 30
/**
 * The tail is also sealed when its index takes so much memory, bytes. The store and the query process hold an index each, and the query process
 * makes its own anew after a start.
 */
const MAX_TAIL_INDEX_BYTES = 48 * 1024 * 1024
const SEAL_ON_CLOSE_DOCS = 8192
/** A tail of half a segment is sealed when nobody writes for a while: pauses make at most twice as many segments. */
const SEAL_AT_REST_DOCS = SEAL_DOCS / 2

/** The result of a finished merge. */
export interface PreparedMerge {
  readonly sources: readonly SealedSegment[]
  readonly merged: Merged
  readonly number: number
}

let instances = 0

/** The segments of one index: the sealed ones in order of arrival and the tail, with the places of all ids. */
export class SegmentSet implements BatchTarget {
  readonly mapping: MutableMapping
  /** Among all that the process opens. */
  readonly instance = instances++
  readonly places: IdPlaces<SealedSegment | Tail>
  /** The documents of the running batch. */
  readonly staged = new StagedDocuments()
  nextSeqNo = 0
  /** Grows with each commit, seal and merge. */
  revision = 0
  readonly #context: SegmentContext
  readonly #files: SegmentFiles
  readonly #found: FoundSegments
  readonly #saveState: (segments: readonly ListedSegment[]) => void
  /** The list of segments as it was saved last. */
  #saved: string
  /** Listed segments that are yet to be opened. */
  #unopened: readonly ListedSegment[]
  readonly #high: HighCardinality = new Set()
  readonly #ordinals = new Map<SealedSegment | Tail, number>()
  #sealed: SealedSegment[] = []
  #tail!: Tail
  #walker!: DocumentWalker
  /** The log of the tail. A tail that was replayed has none. */
  #log: IndexLog | undefined
  #nextNumber: number
  #seqNos: readonly number[] = []
  #versions: readonly number[] = []
  #stagedFrom = 0
  #staged = 0
  #isMerging = false
  /** Segments that others took the place of, and whose files the disk did not remove: they must be gone before those others are. */
  #leftovers: readonly number[] = []
  /** Not merged any more. */
  readonly #damaged = new WeakSet<Segment>()

  constructor(
    context: SegmentContext,
    mapping: MutableMapping,
    dir: string,
    found: FoundSegments,
    listed: readonly ListedSegment[],
    saveState: (segments: readonly ListedSegment[]) => void,
    maxIdsInMemory?: number,
  ) {
    this.#context = context
    this.mapping = mapping
    this.#files = new SegmentFiles(context, dir)
    this.places = new IdPlaces(new IdRuns(context.files, dir), maxIdsInMemory)
    this.#found = found
    this.#saveState = saveState
    this.#saved = textOf(listed)
    this.#unopened = found.open
      .filter(({ listed }) => listed !== undefined)
      .map(({ listed, dead }) => ({ ...listed!, dead: dead?.savedCount ?? 0, of: [] }))
    this.#nextNumber = found.nextNumber
  }

  /** Replays what was not sealed. */
  async open(): Promise<void> {
    for (const segment of this.#found.sealed) this.#addSealed(segment)
    for (const found of this.#found.open) {
      const { tail, nextSeqNo } = replayTail(this.#context, this.mapping, found, this.#high, (segment, doc) => {
        // A dropped segment keeps its number: its deletions must never count for another segment.
        this.#nextNumber = Math.max(this.#nextNumber, segment + 1)
        this.#sealed.find(each => each.number === segment)?.dead.add(doc)
      })
      this.#unopened = this.#unopened.filter(each => each.number !== found.number)
      for (const doc of found.dead ?? []) tail.dead.add(doc)
      this.nextSeqNo = Math.max(this.nextSeqNo, nextSeqNo)
      this.#setTail(tail)
      if (!found.isNewest) await this.#sealOpen()
    }
    this.#sealed.sort((a, b) => a.firstSeqNo - b.firstSeqNo)
    if (!this.#found.open.some(({ isNewest }) => isNewest)) {
      const number = this.#nextNumber++
      this.#setNewTail(new Tail(this.#context, number, this.#files.create(number), this.#high))
    }
    this.places.open()
    const { accepted } = this.#found
    if (accepted.length > 0 && this.#trySaveState()) this.#files.forgetLost(accepted)
    await this.dropEmpty()
  }

  /** Saves mapping and list of segments; throws when they cannot be saved. */
  saveState(): void {
    this.#save(this.#listed())
  }

  #save(list: readonly ListedSegment[]): void {
    // The list has lengths that are true once segments stand at their names.
    this.#files.syncRenamed()
    this.#saveState(list)
    this.#saved = textOf(list)
  }

  #listed(sealed: readonly SealedSegment[] = this.#sealed, tailBytes = this.#tail.end): ListedSegment[] {
    const { number, dead } = this.#tail
    const tail = tailBytes > 0 ? [{ number, bytes: tailBytes, areCommits: true, dead: dead.savedCount, of: [] }] : []
    return [...listOf(sealed), ...this.#unopened, ...tail]
  }

  #addSealed(segment: SealedSegment): void {
    this.#sealed.push(segment)
    this.#ordinals.set(segment, this.places.add(segment))
    this.nextSeqNo = Math.max(this.nextSeqNo, segment.nextSeqNo)
  }

  #setTail(tail: Tail): void {
    this.#tail = tail
    this.#walker = new DocumentWalker(this.mapping, this.#context.slots, tail.index)
    this.#ordinals.set(tail, this.places.add(tail))
  }

  #setNewTail(tail: Tail): void {
    this.#setTail(tail)
    const { files, slots } = this.#context
    this.#log = new IndexLog(files, this.#files.logPath(tail.number), slots, tail.index, this.#high)
  }

  get tail(): Tail {
    return this.#tail
  }

  /** Offset behind the last record of the tail's index log that counts; 0: there is none. */
  get logEnd(): number {
    return this.#log?.end ?? 0
  }

  get sealed(): readonly SealedSegment[] {
    return this.#sealed
  }

  get walker(): DocumentWalker {
    return this.#walker
  }

  get docCount(): number {
    return this.#tail.count - this.#tail.dead.count + this.#sealed.reduce((sum, each) => sum + each.liveCount, 0)
  }

  get deletedCount(): number {
    return this.#tail.dead.count + this.#sealed.reduce((sum, each) => sum + each.dead.count, 0)
  }

  get sizeBytes(): number {
    return (
      this.#tail.end + (this.#log?.sizeBytes ?? 0) + this.places.bytesOnDisk + this.#sealed.reduce((sum, each) => sum + each.sizeBytes, 0)
    )
  }

  get memoryBytes(): number {
    return this.places.memoryBytes + this.#tail.memoryBytes
  }

  /** The segments for a query that starts now. */
  view(): readonly Segment[] {
    return this.#tail.count === 0 ? [...this.#sealed] : [...this.#sealed, new TailView(this.#context, this.#tail)]
  }

  get(key: IdKey, id: string): StoredDocument | undefined {
    const place = this.places.findCommitted(key)
    if (place < 0) return undefined
    const { seqNo, version, source } = this.#documentAt(place)
    return { id, seqNo, version, source: source() }
  }

  /** The documents with these ids, as `get` gives them; others run meanwhile. */
  async getMany<T>(keys: readonly IdKey[], ids: readonly string[], show: ShowDocument<T>): Promise<readonly (T | undefined)[]> {
    return showDocuments(await this.places.findMany(keys), ids, show)
  }

  #documentAt(place: number): CurrentDocument {
    const holder = this.places.holder(place)
    const doc = docOf(place)
    if (holder instanceof SealedSegment)
      return {
        place,
        seqNo: holder.seqNo(doc),
        version: holder.version(doc),
        idTellsTime: holder.idsTellTimes,
        source: () => holder.source(doc),
      }
    const tail = this.#tail
    return {
      place,
      seqNo: tail.seqs.at(doc),
      version: tail.versions.get(doc) ?? 1,
      idTellsTime: tail.idsTellTimes,
      source: () => new TailView(this.#context, tail).source(doc),
    }
  }

  /** Starts a batch of at most `count` operations (`places` being loaded), whose documents the caller collects in `staged` and the given arrays. */
  begin(count: number, seqNos: readonly number[], versions: readonly number[]): void {
    this.#seqNos = seqNos
    this.#versions = versions
    this.#stagedFrom = placeOf(this.#ordinals.get(this.#tail)!, this.#tail.count)
    this.#staged = 0
    this.places.begin(count, this.#stagedFrom, this.staged)
  }

  find(key: IdKey, timeMs: number): CurrentDocument | undefined {
    const place = this.places.find(key, timeMs)
    if (place < 0) return undefined
    const source = this.places.stagedSource(place)
    if (source === undefined) return this.#documentAt(place)
    const k = place - this.#stagedFrom
    // Where it does not, the batch does not say so of its documents either.
    return { place, seqNo: this.#seqNos[k]!, version: this.#versions[k]!, idTellsTime: true, source: () => source }
  }

  mayHold(hash: number, timeMs: number): boolean {
    return this.places.mayHold(hash, timeMs)
  }

  stage(hash: number, old: number): void {
    this.places.stage(hash, this.#stagedFrom + this.#staged++, old)
  }

  bury(place: number): void {
    this.places.bury(place)
  }

  addressOf(place: number): [number, number] {
    const holder = this.places.holder(place)
    return [holder instanceof SealedSegment ? holder.number : this.#tail.number, docOf(place)]
  }

  /** Resolves once the staged batch is durable in this frame. When the write fails, the tail stays as it was. The log is written meanwhile. */
  async writeBatch(frame: Uint8Array, head: FrameHead, blocks: readonly BlockRef[]): Promise<void> {
    const { end: at } = this.#tail
    const logging = this.#log?.add({ at, end: at + frame.length, frame: head, blocks, events: this.#walker.events })
    try {
      await this.write(frame)
    } catch (error) {
      this.#log?.fail()
      throw error
    } finally {
      await logging
    }
  }

  /** Resolves once the frame is durable. When the write fails, the file stays as it was. */
  async write(frame: Uint8Array): Promise<void> {
    const { file, end } = this.#tail
    try {
      await file.append(frame, end)
    } catch (error) {
      file.truncate(end)
      throw error
    }
  }

  abort(): void {
    this.places.rollback()
    this.staged.clear()
  }

  /** Puts a durable batch into the index in turns with other work. Queries do not see the batch yet. */
  indexBatch(): Promise<void> {
    return this.#tail.index.applyInTurns(this.#walker.events, this.#tail.count)
  }

  /** Shows queries a batch that is durable and in the index. */
  commit(batch: WriteBatch, refs: readonly BlockRef[], blocks: readonly EncodedBlock[], frameBytes: number): void {
    const tail = this.#tail
    const firstDoc = tail.count
    for (let k = 0; k < batch.seqNos.length; k++) {
      tail.seqs.add(firstDoc + k, batch.seqNos[k]!)
      if (batch.versions[k] !== 1) tail.versions.set(firstDoc + k, batch.versions[k]!)
    }
    if (batch.seqNos.length > 0 && !batch.idsTellTimes) tail.idsTellTimes = false
    const placed = refs.map(ref => ({ ...ref, firstDoc: firstDoc + ref.firstDoc }))
    const ids = blocks.map(block => Buffer.from(block.parts[1]!))
    tail.append(placed, ids, this.#walker.events)
    for (const [k, ref] of placed.entries()) tail.stored.keep(ref, blocks[k]!.content)
    tail.end += frameBytes
    this.#log?.commit()
    for (const place of batch.buried) this.#deadOf(place).add(docOf(place))
    this.nextSeqNo = batch.nextSeqNo
    this.revision++
    this.places.commit()
    this.staged.clear()
  }

  #deadOf(place: number): DeadDocuments {
    const holder = this.places.holder(place)
    return holder instanceof SealedSegment ? holder.dead : this.#tail.dead
  }

  /** Seals the tail when it could not take `count` more documents; throws when it cannot be sealed. */
  async makeRoom(count: number): Promise<void> {
    if (this.#tail.count + count > MAX_SEGMENT_DOCS || this.#tail.end >= 2 * SEAL_BYTES) await this.#sealTail()
  }

  /** Seals a full tail. A full disk does not fail the batch, which is durable: the next batch that finds no room reports the full disk. */
  async sealWhenFull(): Promise<void> {
    const { count, end, memoryBytes } = this.#tail
    if (count > SEAL_DOCS || end >= SEAL_BYTES || memoryBytes >= MAX_TAIL_INDEX_BYTES) await this.#sealTail().catch(unlessOfSystem)
  }

  async seal(): Promise<void> {
    if (this.#tail.count > 0) await this.#sealTail()
  }

  /** Everything that can fail comes first: when this throws, the tail is as it was. */
  async #sealTail(): Promise<void> {
    const number = this.#nextNumber++
    const file = this.#files.create(number)
    // After a full tail another one is likely.
    const expectedTerms = this.#tail.count > SEAL_DOCS ? this.#tail.index.terms.size : 0
    try {
      await this.#sealOpen()
    } catch (error) {
      file.close()
      this.#files.remove(number)
      throw error
    }
    this.#setNewTail(new Tail(this.#context, number, file, this.#high, expectedTerms))
  }

  /** Seals the tail, behind which another one must follow. */
  async #sealOpen(): Promise<void> {
    const tail = this.#tail
    this.#files.saveDead([...this.#sealed, tail])
    const sealed = await this.#files.seal(tail, this.nextSeqNo, this.#log, leastBytes => this.#save(this.#listed(this.#sealed, leastBytes)))
    for (const [number, column] of tail.index.keywords.entries()) if (column?.isPartial) this.#high.add(number)
    const ordinal = this.#ordinals.get(tail)!
    this.#ordinals.delete(tail)
    this.#ordinals.set(sealed, ordinal)
    this.places.replace(ordinal, sealed)
    this.#sealed.push(sealed)
    tail.becomeSealed(sealed)
    this.revision++
  }

  /** Merges small neighbours beside the running writes; undefined when there is nothing to merge. `finishMerge` must follow. */
  async prepareMerge(): Promise<PreparedMerge | undefined> {
    const sources = this.#isMerging ? [] : mergeCandidates(this.#sealed, this.#damaged)
    if (sources.length === 0) return undefined
    this.#isMerging = true
    const number = this.#nextNumber++
    try {
      const file = this.#files.createBeside(number)
      const replaces = [...this.#leftovers, ...sources.map(each => each.number)]
      const merged = await mergeSegments(this.#context, this.mapping, { sources, replaces, number, file }, this.#high)
      return { sources, number, merged }
    } catch (error) {
      this.#isMerging = false
      this.#files.removeBeside(number)
      if (error instanceof DamagedSegment) this.#damaged.add(error.segment)
      throw error
    }
  }

  /** Puts a merged segment in the place of its sources. To be called between two commits. */
  finishMerge({ sources, merged, number }: PreparedMerge): void {
    this.#isMerging = false
    const { tail, origins } = merged
    // Documents that died while the merge was running.
    for (const [doc, { segment, doc: was }] of origins.entries()) if (!segment.isLive(was)) tail.dead.add(doc)
    const segment = this.#files.placeMerged(tail, number, merged => {
      const others = this.#listed(this.#sealed.filter(each => !sources.includes(each)))
      const [placed] = listOf([merged])
      this.#save(placed === undefined ? others : [...others, { ...placed, of: listOf(sources) }])
    })
    this.#sealed.splice(this.#sealed.indexOf(sources[0]!), sources.length, segment)
    this.revision++
    this.#moveIds(segment, origins)
    for (const { file } of sources) file.keepDescriptor()
    this.#leftovers = [...this.#leftovers, ...sources.map(each => each.number)]
    this.#removeLeftovers()
  }

  /** Whether all are gone. */
  #removeLeftovers(): boolean {
    this.#leftovers = this.#leftovers.filter(number => {
      try {
        this.#files.remove(number)
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
    const empty = this.#isMerging ? [] : this.#sealed.filter(({ liveCount }) => liveCount === 0)
    if (empty.length === 0 || !this.#removeLeftovers()) return
    try {
      await this.#keepNextSeqNo(empty)
      this.#save(this.#listed())
      this.#files.removeEmpty(empty)
    } catch (error) {
      return unlessOfSystem(error)
    }
    const dropped = new Set(empty)
    this.#sealed = this.#sealed.filter(segment => !dropped.has(segment))
    this.revision++
    for (const segment of empty) {
      this.places.replace(this.#ordinals.get(segment)!, undefined)
      this.#ordinals.delete(segment)
    }
  }

  /** The next sequence number stands in the newest frame or segment. Where that segment goes, the tail gets a frame with the number. */
  async #keepNextSeqNo(going: readonly SealedSegment[]): Promise<void> {
    const next = this.nextSeqNo
    if (this.#tail.end > 0 || this.#sealed.some(each => each.nextSeqNo === next && !going.includes(each))) return
    const frame = encodeFrame({ seq: next, next }, [])
    await this.write(frame)
    this.#tail.end += frame.length
  }

  #moveIds(segment: SealedSegment, origins: Merged['origins']): void {
    const ordinal = this.places.add(segment)
    const moves = origins.map(
      ({ segment: from, doc, hash }, k) => [hash, placeOf(ordinal, k), placeOf(this.#ordinals.get(from)!, doc)] as const,
    )
    this.places.move(moves, moves.length)
    this.#ordinals.set(segment, ordinal)
    for (const { segment: from } of origins) {
      const old = this.#ordinals.get(from)
      if (old === undefined) continue
      this.places.replace(old, undefined)
      this.#ordinals.delete(from)
    }
  }

  /** A short tail is not worth a segment: it is replayed at the next start, which is to find all of it. */
  async sealForClose(): Promise<void> {
    if (this.#tail.count >= SEAL_ON_CLOSE_DOCS) await this.#sealTail().catch(unlessOfSystem)
    if (textOf(this.#listed()) !== this.#saved) this.#trySaveState()
  }

  /** Whether that was possible. The list that was saved before stays true, of fewer segments and lengths. */
  #trySaveState(): boolean {
    try {
      this.saveState()
      return true
    } catch (error) {
      unlessOfSystem(error)
      return false
    }
  }

  /** A sealed tail takes half of the disk, and queries read it as it is. */
  async sealAtRest(): Promise<void> {
    if (this.#tail.count >= SEAL_AT_REST_DOCS) await this.#sealTail().catch(unlessOfSystem)
  }

  closeFiles(): void {
    this.places.close()
    this.#log?.remove()
    for (const { file } of this.#sealed) file.close()
    this.#tail.file.close()
  }

  openWalked(walked: WalkedDocuments): WalkedShare | undefined {
    const { mapping, instance } = this
    const { slots } = this.#context
    this.#walker.refresh()
    return WalkedShare.open({ instance, mapping, slots, index: this.#tail.index, events: this.#walker.events }, walked)
  }

  newsFor(known: WalkerKnowledge | undefined): WalkerNews | undefined {
    const { mapping, instance } = this
    return newsBeyond(known, { instance, mapping, slots: this.#context.slots, index: this.#tail.index })
  }

  /** Lets go of all files; each closes when its last reader is gone. */
  abandon(): void {
    this.#log?.remove()
    this.#sealed = []
    this.#ordinals.clear()
    this.places.clear()
    this.#tail = new Tail(this.#context, 0, this.#tail.file, this.#high)
  }
}

/** A segment without a living document is left out: there is nothing to find in it, and perhaps its file is gone. */
const listOf = (segments: readonly SealedSegment[]): ListedSegment[] =>
  segments
    .filter(({ liveCount }) => liveCount > 0)
    .map(({ number, sizeBytes, commitsEnd, dead }) => ({
      number,
      bytes: commitsEnd ?? sizeBytes,
      areCommits: commitsEnd !== undefined,
      dead: dead.savedCount,
      of: [],
    }))

const textOf = (list: readonly ListedSegment[]): string => JSON.stringify(rowsOf(list))

/** Passes over failures of the disk, which leave everything as it was. Any other error is a fault of the program. */
function unlessOfSystem(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error
}
