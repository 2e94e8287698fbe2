/** The segments that an index has now: the sealed ones in order of arrival and the tail, with the places of all ids. */
import type { MutableMapping } from '../../mapping/mapping.ts'
import type { Segment, StoredDocument } from '../index-storage.ts'
import type { DeadDocuments } from './format/dead-documents.ts'
import type { IdKey } from './format/document-id.ts'
import type { SegmentFile } from './format/segment-file.ts'
import type { IdPlaces } from './ids/id-places.ts'
import { docOf, placeOf } from './ids/place.ts'
import { DocumentWalker } from './ingest/document-walker.ts'
import type { CurrentDocument } from './ingest/write-batch.ts'
import type { Merged } from './sealed/merge-segments.ts'
import { SealedSegment } from './sealed/sealed-segment.ts'
import type { SegmentContext } from './segment-context.ts'
import type { SegmentFiles } from './segment-files.ts'
import { type ShowDocument, showDocuments } from './show-documents.ts'
import { IndexLog } from './tail/index-log.ts'
import { Tail, TailView } from './tail/tail.ts'
import type { HighCardinality } from './tail/tail-index.ts'

let instances = 0

export class HeldSegments {
  readonly context: SegmentContext
  readonly mapping: MutableMapping
  readonly files: SegmentFiles
  /** Among all that the process opens. */
  readonly instance = instances++
  readonly places: IdPlaces<SealedSegment | Tail>
  readonly high: HighCardinality = new Set()
  nextSeqNo = 0
  /** Grows with each commit, seal and merge. */
  revision = 0
  /** For the next segment. */
  nextNumber: number
  readonly #ordinals = new Map<SealedSegment | Tail, number>()
  #sealed: SealedSegment[] = []
  #tail!: Tail
  #walker!: DocumentWalker
  /** The log of the tail. A tail that was replayed has none. */
  #log: IndexLog | undefined

  constructor(
    context: SegmentContext,
    mapping: MutableMapping,
    files: SegmentFiles,
    places: IdPlaces<SealedSegment | Tail>,
    nextNumber: number,
  ) {
    this.context = context
    this.mapping = mapping
    this.files = files
    this.nextNumber = nextNumber
    this.places = places
  }

  addSealed(segment: SealedSegment): void {
    this.#sealed.push(segment)
    this.#ordinals.set(segment, this.places.add(segment))
    this.nextSeqNo = Math.max(this.nextSeqNo, segment.nextSeqNo)
  }

  /** To be called once all are there that were sealed before. */
  sortSealed(): void {
    this.#sealed.sort((a, b) => a.firstSeqNo - b.firstSeqNo)
  }

  /** A tail that was replayed. */
  setTail(tail: Tail): void {
    this.#tail = tail
    this.#walker = new DocumentWalker(this.mapping, this.context.slots, tail.index)
    this.#ordinals.set(tail, this.places.add(tail))
  }

  /** A tail without documents, in a new file. */
  beginTail(number: number, file: SegmentFile, expectedTerms = 0): void {
    this.setTail(new Tail(this.context, number, file, this.high, expectedTerms))
    const { files, slots } = this.context
    this.#log = new IndexLog(files, this.files.logPath(number), slots, this.#tail.index, this.high)
  }

  /** The tail is sealed: its documents are where they were. Another tail must follow. */
  sealTailAs(sealed: SealedSegment): void {
    const tail = this.#tail
    for (const [number, column] of tail.index.keywords.entries()) if (column?.isPartial) this.high.add(number)
    const ordinal = this.#ordinals.get(tail)!
    this.#ordinals.delete(tail)
    this.#ordinals.set(sealed, ordinal)
    this.places.replace(ordinal, sealed)
    this.#sealed.push(sealed)
    tail.becomeSealed(sealed)
    this.revision++
  }

  /** Puts a merged segment in the place of its sources. */
  putMerged(segment: SealedSegment, sources: readonly SealedSegment[], origins: Merged['origins']): void {
    this.#sealed.splice(this.#sealed.indexOf(sources[0]!), sources.length, segment)
    this.revision++
    this.#moveIds(segment, origins)
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

  /** Segments without a living document, whose files are gone. */
  drop(empty: readonly SealedSegment[]): void {
    const dropped = new Set(empty)
    this.#sealed = this.#sealed.filter(segment => !dropped.has(segment))
    this.revision++
    for (const segment of empty) {
      this.places.replace(this.#ordinals.get(segment)!, undefined)
      this.#ordinals.delete(segment)
    }
  }

  get tail(): Tail {
    return this.#tail
  }

  get log(): IndexLog | undefined {
    return this.#log
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
    return this.#tail.count === 0 ? [...this.#sealed] : [...this.#sealed, new TailView(this.context, this.#tail)]
  }

  get(key: IdKey, id: string): StoredDocument | undefined {
    const place = this.places.findCommitted(key)
    if (place < 0) return undefined
    const { seqNo, version, source } = this.documentAt(place)
    return { id, seqNo, version, source: source() }
  }

  /** The documents with these ids, as `get` gives them; others run meanwhile. */
  async getMany<T>(keys: readonly IdKey[], ids: readonly string[], show: ShowDocument<T>): Promise<readonly (T | undefined)[]> {
    return showDocuments(await this.places.findMany(keys), ids, show)
  }

  documentAt(place: number): CurrentDocument {
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
      source: () => new TailView(this.context, tail).source(doc),
    }
  }

  /** The place of the tail's next document. */
  get nextPlace(): number {
    return placeOf(this.#ordinals.get(this.#tail)!, this.#tail.count)
  }

  addressOf(place: number): [number, number] {
    const holder = this.places.holder(place)
    return [holder instanceof SealedSegment ? holder.number : this.#tail.number, docOf(place)]
  }

  deadOf(place: number): DeadDocuments {
    const holder = this.places.holder(place)
    return holder instanceof SealedSegment ? holder.dead : this.#tail.dead
  }

  closeFiles(): void {
    this.places.close()
    this.#log?.remove()
    for (const { file } of this.#sealed) file.close()
    this.#tail.file.close()
  }

  /** Lets go of all files; each closes when its last reader is gone. */
  abandon(): void {
    this.#log?.remove()
    this.#sealed = []
    this.#ordinals.clear()
    this.places.clear()
    this.#tail = new Tail(this.context, 0, this.#tail.file, this.high)
  }
}
