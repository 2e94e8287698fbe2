/** The tail: the segment that is being written, and how queries see it. */
import { damageOf } from '../../damaged-segment.ts'
import type { Column, MinuteCount, Segment } from '../../index-storage.ts'
import type { MemberPick } from '../../member-pick.ts'
import { type BlockRef, forEachId, idAt } from '../format/block/block.ts'
import { MESSAGE_MEMBER } from '../format/block/message-column.ts'
import { DeadDocuments } from '../format/dead-documents.ts'
import type { StoredId } from '../format/document-id.ts'
import { idHash, idText } from '../format/document-id.ts'
import { NumberRuns } from '../format/number-runs.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import { docsWithIds } from '../ids/id-order.ts'
import type { IndexEvents } from '../ingest/document-events.ts'
import type { SealedSegment } from '../sealed/sealed-segment.ts'
import { blockIndexOf, createStoredBlocks, nextCacheName, type StoredBlocks } from '../sealed/stored-blocks.ts'
import { mayHoldPair, type SegmentContext } from '../segment-context.ts'
import { countByMinute, countedColumns, RunningMinuteCounts } from './minute-counts.ts'
import { emptyColumn, numberPostings } from './number-terms.ts'
import { type HighCardinality, TailIndex } from './tail-index.ts'

export type { HighCardinality }

import { MAX_TABLE_DOCS } from './term-table.ts'

const NO_DOCS: readonly number[] = []

/** Most documents of one segment. */
export const MAX_SEGMENT_DOCS = MAX_TABLE_DOCS

/** The segment that is being written: its frames on disk, its index in memory. */
export class Tail {
  readonly number: number
  readonly file: SegmentFile
  readonly stored: StoredBlocks
  readonly high: HighCardinality
  readonly blocks: BlockRef[] = []
  readonly dead = new DeadDocuments(0)
  readonly seqs = new NumberRuns()
  readonly versions = new Map<number, number>()
  readonly minutes = new RunningMinuteCounts()
  index: TailIndex
  count = 0
  /** Offset behind the last acknowledged frame. */
  end = 0
  minTimestampMs = Number.NaN
  maxTimestampMs = Number.NaN
  /** See `SealedSegment`. */
  idsTellTimes = true
  /** Numbers of the segments that a merged one takes the place of. */
  replaces: readonly number[] = []
  readonly identity = undefined
  /** Takes in a piece of the terms that the index lacks; false when it has all of them. Absent: it has. */
  takeTerms: (() => boolean) | undefined
  /** Set once the same documents, numbered alike, are in a sealed segment. */
  sealed: SealedSegment | undefined
  readonly #context: SegmentContext
  #ids: Buffer[] = []
  /** Documents by the hash of their id, of the first blocks; made as it is asked for. */
  #byIdHash = new Map<number, number[]>()
  #hashedBlocks = 0

  constructor(context: SegmentContext, number: number, file: SegmentFile, high: HighCardinality, expectedTerms = 0) {
    this.#context = context
    this.number = number
    this.file = file
    this.high = high
    this.index = new TailIndex(high, expectedTerms)
    this.stored = createStoredBlocks(file, nextCacheName(), context.cache, () => this.blocks)
  }

  /** Takes over a durable batch whose events are in the index: its blocks, the ids of each block. */
  append(blocks: readonly BlockRef[], ids: readonly Buffer[], events: IndexEvents): void {
    for (const [k, block] of blocks.entries()) {
      this.blocks.push(block)
      this.#ids.push(ids[k]!)
      this.count += block.docs
    }
    const slot = this.#context.slotOf('timestamp')?.number
    if (slot === undefined) return
    for (let k = 0; k < events.numberEnd; k++) if (events.numberSlots[k] === slot) this.#widenTimes(events.numbers[k]!)
  }

  #widenTimes(ms: number): void {
    if (!(ms >= this.minTimestampMs)) this.minTimestampMs = ms
    if (!(ms <= this.maxTimestampMs)) this.maxTimestampMs = ms
  }

  storedId(doc: number): StoredId {
    const k = blockIndexOf(this.blocks, doc)
    const block = this.blocks[k]!
    return idAt(block, this.#ids[k]!, doc - block.firstDoc)
  }

  isLive(doc: number): boolean {
    return !this.dead.has(doc)
  }

  toldTimes(): undefined {
    return undefined
  }

  get liveCount(): number {
    return this.count - this.dead.count
  }

  *idBlocks(): Generator<readonly [ref: BlockRef, ids: Buffer], void, undefined> {
    for (let k = 0; k < this.blocks.length; k++) yield [this.blocks[k]!, this.#ids[k]!]
  }

  docsOfIdHash(hash: number): readonly number[] {
    for (; this.#hashedBlocks < this.blocks.length; this.#hashedBlocks++) {
      const ref = this.blocks[this.#hashedBlocks]!
      const ids = this.#ids[this.#hashedBlocks]!
      forEachId(ref, ids, (k, start, end) => this.#noteHash(idHash(ids, start, end), ref.firstDoc + k))
    }
    return this.#byIdHash.get(hash) ?? NO_DOCS
  }

  #noteHash(hash: number, doc: number): void {
    const docs = this.#byIdHash.get(hash)
    if (docs === undefined) this.#byIdHash.set(hash, [doc])
    else docs.push(doc)
  }

  get memoryBytes(): number {
    return this.index.sizeBytes + 16 * this.count
  }

  /** Lets go of what the sealed segment now tells. */
  becomeSealed(sealed: SealedSegment): void {
    this.sealed = sealed
    this.release()
    this.index = new TailIndex(this.high)
  }

  /** Gives the memory of index and ids back. Nobody may read them any more. */
  release(): void {
    this.index.release()
    this.#ids = []
    this.#byIdHash = new Map()
  }
}

/** The first `size` documents of the tail, as one query sees them; goes on when the tail is sealed meanwhile. */
export class TailView implements Segment {
  readonly bareMember = MESSAGE_MEMBER
  readonly size: number
  readonly minTimestampMs: number
  readonly maxTimestampMs: number
  readonly #tail: Tail
  readonly #context: SegmentContext
  /** Made once for each query that shares this view. */
  readonly #columns = new Map<string, Column | undefined>()
  readonly #deadThen: DeadDocuments | undefined
  #counts: { readonly dead: number; readonly rows: readonly MinuteCount[] | undefined } | undefined

  /** `dead`: instead of what the tail says of its documents. */
  constructor(context: SegmentContext, tail: Tail, size = tail.count, dead?: DeadDocuments) {
    this.#context = context
    this.#tail = tail
    this.#deadThen = dead
    this.size = size
    this.minTimestampMs = tail.minTimestampMs
    this.maxTimestampMs = tail.maxTimestampMs
  }

  get #dead(): DeadDocuments {
    return this.#deadThen ?? this.#tail.sealed?.dead ?? this.#tail.dead
  }

  get liveCount(): number {
    return this.size - this.#dead.countBelow(this.size)
  }

  isLive(doc: number): boolean {
    return !this.#dead.has(doc)
  }

  *preparePostings(field: string): Generator<void, void, undefined> {
    const { takeTerms } = this.#tail
    if (takeTerms !== undefined && this.#hasTerms(field)) while (takeTerms()) yield
  }

  /** Whether documents may hold values of the field that no column tells. */
  #hasTerms(field: string): boolean {
    const slot = this.#context.slotOf(field)
    if (slot?.kind === 'text') return true
    if (slot?.kind !== 'keyword') return false
    const { index, high } = this.#tail
    const column = index.keywords[slot.number]
    return column === undefined ? slot.mapping.type === 'flat_object' || slot.number < 0 || high.has(slot.number) : column.isPartial
  }

  postings(field: string, term: string): Uint32Array | undefined {
    for (const _piece of this.preparePostings(field));
    if (this.#tail.sealed !== undefined) return this.#below(this.#tail.sealed.postings(field, term))
    const slot = this.#context.slotOf(field)
    if (slot === undefined) return new Uint32Array(0)
    if (slot.kind === 'none') return undefined
    if (slot.kind === 'number') return numberPostings(slot.mapping, this.column(field), term)
    return this.#tail.index.postings(slot, term, this.size)
  }

  mayHoldPair(field: string, first: string, second: string): boolean {
    if (this.#tail.sealed !== undefined) return this.#tail.sealed.mayHoldPair(field, first, second)
    return mayHoldPair(this.#context, this.#tail.index.pairs, field, first, second)
  }

  #below<D extends Uint32Array | undefined>(docs: D): D {
    const end = docs?.findIndex(doc => doc >= this.size) ?? -1
    return end < 0 ? docs : (docs?.subarray(0, end) as D)
  }

  column(field: string): Column | undefined {
    if (!this.#columns.has(field)) this.#columns.set(field, this.#columnNow(field))
    return this.#columns.get(field)
  }

  #columnNow(field: string): Column | undefined {
    if (this.#tail.sealed !== undefined) return this.#cut(this.#tail.sealed.column(field))
    const slot = this.#context.slotOf(field)
    if (slot === undefined) return emptyColumn('keyword', this.size)
    if (slot.kind !== 'keyword' && slot.kind !== 'number') return undefined
    const { index, high } = this.#tail
    if (index.has(slot)) return index.column(slot, this.size)
    return slot.mapping.type === 'flat_object' || slot.number < 0 || high.has(slot.number) ? undefined : emptyColumn(slot.kind, this.size)
  }

  #cut(column: Column | undefined): Column | undefined {
    if (column?.kind === 'number') return { kind: 'number', values: column.values.subarray(0, this.size) }
    return column === undefined ? undefined : { ...column, codes: column.codes.subarray(0, this.size) }
  }

  counts(): readonly MinuteCount[] | undefined {
    const dead = this.#dead.count
    if (this.#counts?.dead !== dead) this.#counts = { dead, rows: this.#countNow() }
    return this.#counts.rows
  }

  #countNow(): readonly MinuteCount[] | undefined {
    const columns = countedColumns(field => this.column(field))
    const known = this.#dead.count === 0 ? this.#tail.minutes.upTo(columns, this.size) : undefined
    return known ?? countByMinute(columns, this.size, doc => this.isLive(doc))
  }

  id(doc: number): string {
    const { bytes, isUuid } = this.#tail.sealed?.checkedId(doc) ?? this.#tail.storedId(doc)
    return idText(bytes, isUuid)
  }

  docsOf(ids: Iterable<string>): Uint32Array {
    return this.#below(docsWithIds(this.#tail.sealed ?? this.#tail, ids))
  }

  seqNo(doc: number): number {
    return this.#tail.seqs.at(doc)
  }

  version(doc: number): number {
    return this.#tail.versions.get(doc) ?? 1
  }

  source(doc: number): Uint8Array {
    try {
      return this.#tail.sealed?.source(doc) ?? this.#tail.stored.source(doc)
    } catch (error) {
      throw this.#damageAt(doc, error)
    }
  }

  text(member: string, doc: number): Uint8Array | undefined {
    try {
      if (this.#tail.sealed !== undefined) return this.#tail.sealed.text(member, doc)
      return member === MESSAGE_MEMBER ? this.#tail.stored.message(doc) : undefined
    } catch (error) {
      throw this.#damageAt(doc, error)
    }
  }

  bareSource(doc: number): Uint8Array {
    try {
      return this.#tail.sealed?.bareSource(doc) ?? this.#tail.stored.bareSource(doc)
    } catch (error) {
      throw this.#damageAt(doc, error)
    }
  }

  pick(doc: number, pick: MemberPick): Uint8Array | undefined {
    try {
      return (this.#tail.sealed ?? this.#tail.stored).pick(doc, pick)
    } catch (error) {
      throw this.#damageAt(doc, error)
    }
  }

  #damageAt(doc: number, error: unknown): unknown {
    return damageOf(this, this.#tail.file.path, () => this.#tail.stored.placeOf(doc), error)
  }
}
