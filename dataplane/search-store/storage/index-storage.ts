/**
 * The seam between queries and storage. Two implementations: the log engine (append-mostly, large) and
 * the document tables (small, mutable, SQLite). Queries know only these interfaces.
 */

import type { RejectionCause } from '../mapping/document-rejected.ts'
import type { IndexMapping } from '../mapping/field-types.ts'
import type { FrozenIndex } from './frozen-index.ts'
import type { IndexFeed } from './index-feed.ts'
import type { MemberPick } from './member-pick.ts'
import type { PinnedFile } from './pinned-file.ts'
import type { WalkedDocuments, WalkerKnowledge, WalkerNews } from './walked-documents.ts'

export interface WriteCondition {
  readonly ifSeqNo?: number
  readonly ifPrimaryTerm?: number
}

interface ToldTime {
  /** No other document of the index ever has this id at another `timestamp`, the first member of the document. Absent: that is not known. */
  readonly idTellsTime?: boolean
}

export type WriteOp =
  | ({ readonly action: 'index' | 'create'; readonly id: string; readonly source: Uint8Array } & WriteCondition & ToldTime)
  | ({
      readonly action: 'update'
      readonly id: string
      /** JSON of the partial document, merged deeply into the stored one. */
      readonly partial: Uint8Array
      /** JSON of the document to insert when there is none. Without it a missing document is `document_missing_exception`. */
      readonly upsert?: Uint8Array
      /** A document that stays as it is gets a new version nevertheless. Default: it does not. */
      readonly isWrittenUnchanged?: boolean
    } & WriteCondition &
      ToldTime)
  | ({ readonly action: 'delete'; readonly id: string } & WriteCondition)

/** Documents to be created, as they stand in the memory of a bulk: what many writes come as without an object for each. */
export interface Creations {
  readonly bytes: Buffer
  /** For each document where its id begins, where the document begins, behind the id, and where it ends. */
  readonly places: Uint32Array
  readonly count: number
  /** No other document of the index ever has the id of one of these at another `timestamp`, their first member. Absent: that is not known. */
  readonly idsTellTimes?: boolean
  /** The same documents as another thread has walked them. */
  readonly walked?: WalkedDocuments
}

export interface WriteError {
  /** OpenSearch's exception name, e.g. `version_conflict_engine_exception`, `mapper_parsing_exception`. */
  readonly type: string
  readonly reason: string
  readonly status: 400 | 404 | 409 | 429 | 503 | 507
  /** The reason beneath a refusal of the document itself. */
  readonly causedBy?: RejectionCause | undefined
}

export type WriteOutcome =
  | { readonly result: 'created' | 'updated' | 'deleted' | 'noop' | 'not_found'; readonly seqNo: number; readonly version: number }
  | { readonly error: WriteError }

export interface StoredDocument {
  readonly id: string
  readonly seqNo: number
  readonly version: number
  /** JSON bytes. */
  readonly source: Uint8Array
}

/** A part of an index that cannot be read. */
export interface Damage {
  readonly text: string
  /** The uuid of the index, where it is known. */
  readonly uuid?: string | undefined
  /** The number of a sealed segment. */
  readonly segment?: number | undefined
}

/** An index, as queries read it. */
export interface ReadableIndex {
  readonly name: string
  readonly uuid: string
  readonly mapping: IndexMapping
  /** Why the index could not be opened, where it could not. It then holds nothing, and requests for it are answered 503. */
  readonly problem?: string
  /** Parts that cannot be read, whose documents the segments lack. Absent: nothing is known to be damaged. */
  readonly damage?: readonly Damage[]
  /** A snapshot for one query: later writes do not change what these answer (deletions may show). */
  segments(): readonly Segment[]
}

/** The storage of one index. All of it lives in one thread. */
export interface IndexStorage extends ReadableIndex {
  /** Its documents are in this thread's memory. Absent: they are in files. */
  readonly isTable?: boolean
  readonly createdAtMs: number
  /** Applies the operations in order; resolves once durable. What is resolved is visible to `get` and to new `segments()`. */
  apply(ops: readonly WriteOp[]): Promise<readonly WriteOutcome[]>
  /** The same for creations: the errors of those that were not made, by their position. Absent: they go through `apply`. */
  create?(creations: Creations): Promise<ReadonlyMap<number, WriteError>>
  /** News for a thread that walks documents for the index and has `known`; undefined: none, or none now. Absent: no thread can. */
  newsFor?(known: WalkerKnowledge | undefined): WalkerNews | undefined
  get(id: string): StoredDocument | undefined
  /**
   * The results of `show` for documents by id, in the order asked for; undefined where there is none. Each is shown as it is read, and not held
   * on to: its source may be a part of something larger. Others run meanwhile, however many there are. Ends when `show` throws.
   */
  getMany<T>(ids: readonly string[], show: (document: StoredDocument, at: number) => T | Promise<T>): Promise<readonly (T | undefined)[]>
  /** Merges a `properties` object into the mapping, durably. Throws DocumentRejected where a field would change its type. */
  putMapping(properties: Readonly<Record<string, unknown>>): Promise<void>
  /** For one copy of the index elsewhere. */
  feed(): IndexFeed
  /** The index as it is now, without later writes; its files go into `dir`, which is made. */
  freeze(dir: string): FrozenIndex
  /** Gives its files second names in `dir`, which is made: the index as a crash at this moment would leave it. Absent: it has no files of its own. */
  pin?(dir: string): readonly PinnedFile[]
  /** To be called now and then, where there is housekeeping to do. */
  maintain?(): Promise<void>
  /** A part of the sealed segment could not be read by another process: `maintain` makes it anew where its documents are whole. */
  noteDamage?(segment: number): void
  readonly docCount: number
  readonly deletedCount: number
  readonly sizeBytes: number
  close(): Promise<void>
  /** Closes and removes everything of it from disk. */
  destroy(): Promise<void>
}

/** A run of documents of one index. Documents are numbered 0 … size − 1 in order of arrival. */
export interface Segment {
  /** Among the files of its index; absent: it has no file of its own, or is still written to. */
  readonly number?: number
  readonly size: number
  readonly liveCount: number
  /** Bounds of the `timestamp` field, ms; NaN when no document has one. */
  readonly minTimestampMs: number
  readonly maxTimestampMs: number
  /** Whether every document has a timestamp; absent: where there are `counts`. */
  readonly isTimed?: boolean
  isLive(doc: number): boolean
  /**
   * The documents (live or not, ascending) whose `field` holds exactly `term`: for keyword, boolean and numeric fields the value as text,
   * for text fields one token of the standard analyzer, for flat_object sub-fields the leaf's text.
   * `undefined`: this segment has no inverted index for the field, look at the documents instead.
   */
  postings(field: string, term: string): Uint32Array | undefined
  /** The same as bits, where the segment has them so. Absent: `postings` has the answer. */
  postingSet?(field: string, term: string): PostingSet | undefined
  /** Makes postings of the field ready, piece by piece: without it `postings` does so at once. Absent: they are. */
  preparePostings?(field: string): Generator<void, void, undefined>
  /** False: no text of the field, in any document, holds the two words next to each other. Absent: not known. */
  mayHoldPair?(field: string, first: string, second: string): boolean
  /** Which texts of the field have the same words in the same order; absent or undefined when not known. */
  textShapes?(field: string): TextShapes | undefined
  /** Values of a field over all documents; undefined: no column, look at the documents instead. */
  column(field: string): Column | undefined
  /** The numbers of such a column for one look at all of them, until the next call; absent or undefined: `column` has them at hand, or none has. */
  passingNumbers?(field: string): Float64Array | undefined
  /** Documents by minute, tenant, service and level, kept at insert; undefined when not kept or no longer exact. */
  counts(): readonly MinuteCount[] | undefined
  /** Documents by the values of these keyword fields, and maybe more, together; absent or undefined when not kept or no longer exact. */
  valueCounts?(fields: ReadonlySet<string>): ValueCounts | undefined
  id(doc: number): string
  /** The documents (live or not, ascending) with these ids; absent: ask each document. */
  docsOf?(ids: Iterable<string>): Uint32Array
  seqNo(doc: number): number
  version(doc: number): number
  /** JSON bytes; reading neighbours together is cheaper than at random. */
  source(doc: number): Uint8Array
  /**
   * The text of a top-level member as it stands in the JSON, without its quotes, where it is one string and can be read for much less than
   * the document; `undefined`: look at the document instead.
   */
  text?(member: string, doc: number): Uint8Array | undefined
  /** The member that `bareSource` leaves empty; absent: there is no such source. */
  readonly bareMember?: string
  /** As `source`, with an empty text in the place of `bareMember` where that stands apart: for less, where nobody looks at that member. */
  bareSource?(doc: number): Uint8Array
  /**
   * An object of the members that are picked, maybe of more, each as it stands in the document and in its order, for less than the document costs: valid
   * until the next call. Undefined: look at the document. Absent: always so.
   */
  pick?(doc: number, pick: MemberPick): Uint8Array | undefined
  /** The parsed document, where the segment keeps it; not to be written to. */
  parsed?(doc: number): unknown
  /** Results of queries over these documents, which hold as long as none of them is deleted; absent: nothing is kept. */
  readonly kept?: KeptResults
}

/** Documents as an ascending list, or as bits of words, the lowest first. */
export type PostingSet = { readonly list: Uint32Array } | { readonly bits: Uint32Array }

/** Results by name. They are gone when others need the room. */
export interface KeptResults {
  get<T extends object>(key: string): T | undefined
  put(key: string, value: object, sizeBytes: number): void
}

export type Column =
  /** One number per document, NaN where the document has none; dates in ms. Only for fields with at most one value a document. */
  | NumberColumn
  /** One dictionary code per document; code 0 is "no value", `dictionary[0]` is ''. */
  | { readonly kind: 'keyword'; readonly codes: Uint8Array | Uint16Array | Uint32Array; readonly dictionary: readonly string[] }

export interface NumberColumn {
  readonly kind: 'number'
  /** Unpacked when it is asked for, where there are blocks. */
  readonly values: Float64Array
  /** The same values in blocks that know their bounds; absent: they are not kept so, or a document has none. */
  readonly blocks?: NumberBlocks
}

/** Numbers of all documents, in runs of `length` documents. */
export interface NumberBlocks {
  readonly length: number
  /** Bounds by block, which some document of it has. */
  readonly least: Float64Array
  readonly greatest: Float64Array
  /** Writes the numbers of a block into `into`, from `at` on. */
  read(block: number, into: Float64Array, at: number): void
}

/** Texts are alike where they have the same words in the same order, but for words with digits or underscores, of which only the place counts. */
export interface TextShapes {
  /** By document its shape; 0: not known, look at the document. */
  readonly codes: Uint8Array | Uint16Array
  /** By shape its words, parted by spaces; `0` stands for each word with digits or underscores. */
  readonly texts: readonly string[]
  /** False: no word with digits or underscores, in any text, begins so. */
  mayStart(prefix: string): boolean
}

export interface MinuteCount {
  /** Start of the minute, ms since the epoch. */
  readonly minuteMs: number
  readonly tenant: string
  readonly service: string
  readonly level: string
  readonly count: number
}

/** Each row stands for the documents that have its values. */
export interface ValueCounts {
  /** Documents by row. */
  readonly counts: Uint32Array
  /** By field: its values by row. */
  readonly columns: ReadonlyMap<string, Extract<Column, { readonly kind: 'keyword' }>>
  /** Absent where a document has no time. */
  readonly times?: RowTimes
}

/** Times of the documents of each row, ms. */
export interface RowTimes {
  readonly first: Float64Array
  readonly last: Float64Array
  /** The document with the last time, of several the first; absent where the times are bounds that no document may have. */
  readonly newest?: Uint16Array
}
