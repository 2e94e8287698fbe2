/** A sealed segment as queries read it. */
import { decompress } from '../../../../compression/zstd.ts'
import { DamagedSegment, damageOf } from '../../damaged-segment.ts'
import { SnapshotGone } from '../../index-copy.ts'
import type { Column, KeptResults, MinuteCount, PostingSet, Segment, TextShapes, ValueCounts } from '../../index-storage.ts'
import type { MemberPick } from '../../member-pick.ts'
import type { BlockRef } from '../format/block/block.ts'
import { MESSAGE_MEMBER } from '../format/block/message-column.ts'
import { readShapes, shapesBytes } from '../format/block/message-shapes.ts'
import { DeadDocuments } from '../format/dead-documents.ts'
import { idText } from '../format/document-id.ts'
import { numberAt } from '../format/number-runs.ts'
import type { SegmentFile } from '../format/segment-file.ts'
import {
  type ColumnEntry,
  columnOf,
  columnPostings,
  dictionaryBytes,
  type LoadedColumn,
  loadColumn,
  readDictionary,
  readPassing,
  type Span,
} from '../format/segment-index/column-codec.ts'
import { decodeBlockRefs, findDirectory, readDirectory, type SegmentDirectory } from '../format/segment-index/segment-directory.ts'
import { commonDocuments, listOf, rareCandidates } from '../format/segment-index/term-index.ts'
import { readValueCounts, tableWith } from '../format/segment-index/value-counts.ts'
import { WORD_PAIRS_BYTES, WordPairs } from '../format/segment-index/word-pairs.ts'
import { docsOfHash, docsWithIds, orderOfIds } from '../ids/id-order.ts'
import type { SegmentIdentity } from '../ids/id-run.ts'
import type { FieldSlot } from '../ingest/field-slots.ts'
import { mayHoldPair, type SegmentContext, termKey } from '../segment-context.ts'
import { countByMinute, countedColumns, withoutDead } from '../tail/minute-counts.ts'
import { emptyColumn, numberPostings } from '../tail/number-terms.ts'
import { union } from '../tail/posting-lists.ts'
import { createStoredBlocks, nextCacheName, type StoredBlocks } from './stored-blocks.ts'

/** Memory that a count by minute takes, roughly, bytes. */
const COUNT_BYTES = 120

/** A sealed segment does not know what stands where in its file. */
export class DamagedDirectory extends Error {}

/** A segment that takes no more documents; everything but a few numbers is read from its file when asked for. */
export class SealedSegment implements Segment {
  readonly bareMember = MESSAGE_MEMBER
  readonly number: number
  readonly size: number
  readonly firstSeqNo: number
  readonly nextSeqNo: number
  readonly minTimestampMs: number
  readonly maxTimestampMs: number
  readonly isTimed: boolean
  /** No other document of the index ever has the id of one of these at another time. */
  readonly idsTellTimes: boolean
  readonly replaces: readonly number[]
  /** Where its commits end; undefined where it may have none: it was sealed before 2026-11-30. */
  readonly commitsEnd: number | undefined
  readonly dead: DeadDocuments
  readonly file: SegmentFile
  readonly sizeBytes: number
  readonly #context: SegmentContext
  readonly #directorySpan: Span
  readonly #name: string
  readonly #stored: StoredBlocks

  /** `same`: of the same file, whose cache entries it shares. */
  constructor(
    context: SegmentContext,
    number: number,
    file: SegmentFile,
    sizeBytes: number,
    directorySpan: Span,
    dead?: DeadDocuments,
    same?: SealedSegment,
  ) {
    this.#name = same === undefined ? nextCacheName() : same.#name
    this.number = number
    this.file = file
    this.sizeBytes = sizeBytes
    this.#context = context
    this.#directorySpan = directorySpan
    // Not by way of the cache, which an index of thousands of segments would flush as it is opened.
    const directory = same === undefined ? readDirectory(file, directorySpan) : this.#directory()
    this.size = directory.docs
    this.firstSeqNo = directory.seqs[0]?.[1] ?? 0
    this.nextSeqNo = directory.nextSeqNo
    this.minTimestampMs = directory.minTimestampMs ?? Number.NaN
    this.maxTimestampMs = directory.maxTimestampMs ?? Number.NaN
    this.isTimed = directory.counts !== undefined
    this.idsTellTimes = directory.idsTellTimes === true
    this.replaces = directory.replaces
    this.commitsEnd = directory.commitsEnd
    this.dead = dead ?? new DeadDocuments(this.size)
    this.#stored = same === undefined ? createStoredBlocks(file, this.#name, context.cache, () => this.blocks()) : same.#stored
  }

  /** Opens a segment's file; undefined when it is not sealed. Throws DamagedDirectory. */
  static open(context: SegmentContext, number: number, file: SegmentFile, dead?: DeadDocuments): SealedSegment | undefined {
    const { sizeBytes } = file
    const span = findDirectory(file, sizeBytes)
    if (span === undefined) return undefined
    try {
      return new SealedSegment(context, number, file, sizeBytes, span, dead)
    } catch (error) {
      if (error instanceof SnapshotGone || (error instanceof Error && 'syscall' in error)) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new DamagedDirectory(`${file.path} is damaged at byte ${span[0]}, where its directory begins (${why})`, { cause: error })
    }
  }

  /** The same segment with other deletions. */
  withDead(dead: DeadDocuments): SealedSegment {
    return new SealedSegment(this.#context, this.number, this.file, this.sizeBytes, this.#directorySpan, dead, this)
  }

  get liveCount(): number {
    return this.size - this.dead.count
  }

  get kept(): KeptResults {
    const { results } = this.#context.cache
    // Deletions are never taken back, so that the same number of deletions are the same deletions.
    const name = `${this.#name}k${this.dead.count} `
    return {
      get: key => results.find(name + key),
      put: (key, value, sizeBytes) => results.put(name + key, value, sizeBytes + 2 * key.length + 100),
    }
  }

  isLive(doc: number): boolean {
    return !this.dead.has(doc)
  }

  postings(field: string, term: string): Uint32Array | undefined {
    const set = this.postingSet(field, term)
    return set && listOf(set)
  }

  postingSet(field: string, term: string): PostingSet | undefined {
    const slot = this.#context.slotOf(field)
    if (slot === undefined) return { list: new Uint32Array(0) }
    if (slot.kind === 'none') return undefined
    if (slot.kind === 'number') {
      const list = numberPostings(slot.mapping, this.column(field), term)
      return list && { list }
    }
    const entry = this.#directory().columns.get(field)
    if (entry === undefined) return this.#terms(slot, term)
    const coded = columnPostings(this.#column(field, entry), term)
    return { list: entry.isPartial ? union(coded, listOf(this.#terms(slot, term))) : coded }
  }

  mayHoldPair(field: string, first: string, second: string): boolean {
    const pairs = this.#pairs()
    return pairs === undefined || mayHoldPair(this.#context, pairs, field, first, second)
  }

  /** Undefined in segments that were sealed before pairs were kept. */
  #pairs(): WordPairs | undefined {
    const { pairs } = this.#directory()
    if (pairs === undefined) return undefined
    return this.#context.cache.get(
      `${this.#name}p`,
      () => ({ read: WordPairs.of(this.#section(pairs)) }),
      () => WORD_PAIRS_BYTES,
    ).read
  }

  textShapes(field: string): TextShapes | undefined {
    const { shapes } = this.#directory()
    if (shapes === undefined || field !== MESSAGE_MEMBER || this.#context.slotOf(field)?.kind !== 'text') return undefined
    return this.#context.cache.get(
      `${this.#name}t`,
      () => this.#reading(shapes.codes[0], () => readShapes(shapes, span => this.#section(span))),
      () => shapesBytes(shapes),
    )
  }

  #terms(slot: FieldSlot, term: string): PostingSet {
    const [lo, hi] = termKey(slot, term)
    const { terms } = this.#directory()
    const read = (length: number, position: number) => this.file.read(length, position)
    const common = this.#reading(terms.commonStarts, () => commonDocuments(terms, read, lo, hi))
    if (common !== undefined) return common
    const candidates = this.#reading(terms.rareStarts, () => rareCandidates(terms, read, hi))
    const sure = candidates.find(doc => this.#context.holds(this.source(doc), lo, hi))
    return { list: sure === undefined ? new Uint32Array(0) : Uint32Array.of(sure) }
  }

  column(field: string): Column | undefined {
    const slot = this.#context.slotOf(field)
    if (slot === undefined) return emptyColumn('keyword', this.size)
    if (slot.kind !== 'keyword' && slot.kind !== 'number') return undefined
    const directory = this.#directory()
    const entry = directory.columns.get(field)
    if (entry !== undefined) return entry.kind === slot.kind ? this.#columnOf(field, entry) : undefined
    if (slot.mapping.type === 'flat_object' || slot.number < 0 || directory.termFields.includes(field)) return undefined
    return emptyColumn(slot.kind, this.size)
  }

  passingNumbers(field: string): Float64Array | undefined {
    const entry = this.#directory().columns.get(field)
    if (entry === undefined || this.#context.slotOf(field)?.kind !== 'number' || this.#context.cache.has(`${this.#name}c${field}`))
      return undefined
    return this.#reading(entry.values[0], () => readPassing(entry, ([at, bytes]) => this.file.read(bytes, at)))
  }

  #columnOf(field: string, entry: ColumnEntry): Column | undefined {
    return columnOf(this.#column(field, entry), this.size, blocks =>
      this.#context.cache.get(
        `${this.#name}n${field}`,
        () => this.#reading(entry.values[0], () => blocks.all()),
        values => values.byteLength,
      ),
    )
  }

  #column(field: string, entry: ColumnEntry): LoadedColumn {
    return this.#context.cache.get(
      `${this.#name}c${field}`,
      () => this.#reading(entry.values[0], () => loadColumn(entry, this.#dictionary(field, entry), span => this.#section(span))),
      each => each.sizeBytes,
    )
  }

  /** The texts of a column, which tables of counts name, too. */
  #dictionary(field: string, entry: ColumnEntry): readonly string[] {
    if (entry.dictionary === undefined) return []
    return this.#context.cache.get(
      `${this.#name}y${field}`,
      () => this.#reading(entry.values[0], () => readDictionary(entry, span => this.#section(span))),
      () => dictionaryBytes(entry),
    )
  }

  counts(): readonly MinuteCount[] | undefined {
    const dead = this.dead.count
    return this.#context.cache.get(
      `${this.#name}a${dead}`,
      () => ({ rows: this.#countNow(dead) }),
      ({ rows = [] }) => 100 + COUNT_BYTES * rows.length,
    ).rows
  }

  #countNow(dead: number): readonly MinuteCount[] | undefined {
    const { counts } = this.#directory()
    if (counts === undefined) return undefined
    const rows = this.#reading(counts[0], () => JSON.parse(this.#section(counts).toString())) as [number, string, string, string, number][]
    const all = rows.map(([minuteMs, tenant, service, level, count]) => ({ minuteMs, tenant, service, level, count }))
    if (dead === 0) return all
    const gone = countByMinute(
      countedColumns(field => this.column(field)),
      this.size,
      doc => this.dead.has(doc),
    )
    return gone === undefined ? undefined : withoutDead(all, gone)
  }

  valueCounts(fields: ReadonlySet<string>): ValueCounts | undefined {
    const { valueCounts = [], columns } = this.#directory()
    const entry = this.dead.count === 0 ? tableWith(valueCounts, fields) : undefined
    if (entry === undefined) return undefined
    const dictionaryOf = (field: string) => (columns.has(field) ? this.#dictionary(field, columns.get(field)!) : [''])
    return this.#context.cache.get(
      `${this.#name}w${entry.fields.join()}`,
      () => this.#reading(entry.table[0], () => readValueCounts(entry, span => this.#section(span), dictionaryOf)),
      ({ counts, columns }) => 2 * counts.length * (14 + columns.size),
    )
  }

  id(doc: number): string {
    const { bytes, isUuid } = this.checkedId(doc)
    return idText(bytes, isUuid)
  }

  /** To show it, or to write it anew; throws where it is damaged. */
  checkedId(doc: number) {
    try {
      return this.#stored.checkedId(doc)
    } catch (error) {
      throw this.#damageOfBlock(doc, error)
    }
  }

  /** The id without a check of its bytes, for comparisons: a wrong bit costs that id alone, and not every write that looks at it. */
  storedId(doc: number) {
    try {
      return this.#stored.id(doc)
    } catch (error) {
      throw this.#damageOfBlock(doc, error)
    }
  }

  seqNo(doc: number): number {
    return numberAt(this.#directory().seqs, doc)
  }

  version(doc: number): number {
    return this.#versions().get(doc) ?? 1
  }

  #versions(): ReadonlyMap<number, number> {
    return this.#context.cache.get(
      `${this.#name}v`,
      () => new Map(this.#directory().versions),
      map => 64 + 40 * map.size,
    )
  }

  source(doc: number): Uint8Array {
    try {
      return this.#stored.source(doc)
    } catch (error) {
      throw this.#damageOfBlock(doc, error)
    }
  }

  text(member: string, doc: number): Uint8Array | undefined {
    try {
      return member === MESSAGE_MEMBER ? this.#stored.message(doc) : undefined
    } catch (error) {
      throw this.#damageOfBlock(doc, error)
    }
  }

  bareSource(doc: number): Uint8Array {
    try {
      return this.#stored.bareSource(doc)
    } catch (error) {
      throw this.#damageOfBlock(doc, error)
    }
  }

  pick(doc: number, pick: MemberPick): Uint8Array | undefined {
    try {
      return this.#stored.pick(doc, pick)
    } catch (error) {
      throw this.#damageOfBlock(doc, error)
    }
  }

  blocks(): readonly BlockRef[] {
    return this.#context.cache.get(
      `${this.#name}r`,
      () =>
        this.#reading(this.#directory().blocks[0], () =>
          decodeBlockRefs(this.#section(this.#directory().blocks), this.#directory().blockWords),
        ),
      refs => 190 * refs.length,
    )
  }

  /** Not checked, as `storedId`. */
  *idBlocks(): Generator<readonly [ref: BlockRef, ids: Buffer], void, undefined> {
    for (const ref of this.blocks()) yield [ref, this.#reading(ref.offset, () => this.file.read(ref.idsBytes, ref.offset))]
  }

  docsOfIdHash(hash: number): readonly number[] {
    const order = this.#context.cache.get(
      `${this.#name}i`,
      () => orderOfIds(this.size, this.idBlocks()),
      each => each.byteLength,
    )
    return docsOfHash(order, hash)
  }

  docsOf(ids: Iterable<string>): Uint32Array {
    return docsWithIds(this, ids)
  }

  get identity(): SegmentIdentity {
    return { number: this.number, firstSeqNo: this.firstSeqNo, docs: this.size }
  }

  toldTimes(): Float64Array | undefined {
    const column = this.idsTellTimes ? this.column('timestamp') : undefined
    if (column?.kind !== 'number') return undefined
    const { blocks } = column
    if (blocks === undefined) return column.values.some(Number.isNaN) ? undefined : column.values
    const times = new Float64Array(this.size)
    for (let block = 0; block * blocks.length < this.size; block++) blocks.read(block, times, block * blocks.length)
    return times
  }

  #directory(): SegmentDirectory {
    return this.#context.cache.get(
      `${this.#name}d`,
      () => this.#reading(this.#directorySpan[0], () => readDirectory(this.file, this.#directorySpan)),
      () => 4 * this.#directorySpan[2],
    )
  }

  #section([at, bytes, rawBytes]: Span): Buffer {
    return this.#reading(at, () => decompress(this.file.read(bytes, at), rawBytes))
  }

  #reading<T>(position: number, read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.#damageAt(() => position, error)
    }
  }

  #damageOfBlock(doc: number, error: unknown): unknown {
    return this.#damageAt(() => this.#stored.placeOf(doc), error)
  }

  #damageAt(placeOf: () => number, error: unknown): unknown {
    const damage = damageOf(this, this.file.path, placeOf, error, this.commitsEnd)
    if (damage instanceof DamagedSegment) this.#context.onDamage(this.number)
    return damage
  }
}
