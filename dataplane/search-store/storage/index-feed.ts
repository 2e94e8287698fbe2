/** Messages that keep a copy of an index in another process up to date with the committed state. */
import type { DocumentRow } from './document-table/document-database.ts'

/** A message to a copy: JSON, and bytes beside it. */
export interface FeedMessage {
  readonly head: FeedHead
  readonly bytes: readonly Uint8Array[]
}

export type FeedHead = LogFeedHead | TableFeedHead | RedFeedHead

/** An index that could not be opened. */
export interface RedFeedHead {
  readonly kind: 'red'
  readonly name: string
  readonly uuid: string
  readonly problem: string
}

export interface LogFeedHead {
  readonly kind: 'log'
  readonly name: string
  readonly uuid: string
  /** Where the segments are. */
  readonly dir: string
  /** Absent: as before. */
  readonly mappings?: Record<string, unknown>
  readonly sealed: SealedNews
  readonly tail: TailExtent
  /** Segments of which documents died since the last message; the bytes hold all their dead, so many bytes each. */
  readonly dead: readonly (readonly [segment: number, bytes: number])[]
}

/** Numbers of the sealed segments, in order of arrival: the first `keep` of those that were told before, then `add`. There may be thousands. */
export interface SealedNews {
  readonly keep: number
  readonly add: readonly number[]
}

export interface TailExtent {
  readonly number: number
  /** Offset behind the last durable frame. */
  readonly end: number
  readonly count: number
  /** Offset behind the last record of the index log that counts; 0: there is none. */
  readonly logEnd: number
}

export interface TableFeedHead {
  readonly kind: 'table'
  readonly name: string
  readonly uuid: string
  readonly mappings?: Record<string, unknown>
  /** The copy begins anew. */
  readonly isFirst: boolean
  /** The messages since the last such one count from here on. */
  readonly isLast: boolean
  /** Changed documents in order, the bytes hold their sources; a size of −1: deleted. */
  readonly rows: readonly (Omit<DocumentRow, 'source'> & { readonly bytes: number })[]
}

/** Tells one copy of an index the changes that it does not know yet. */
export interface IndexFeed {
  /** Set for a log index, whose copy has work with what was committed. */
  readonly isOfLog?: boolean
  /** Messages that bring the copy up to date; none when it is. To be read to the end before the next call. */
  next(): Iterable<FeedMessage>
  /** The copy has lost its state: the next messages tell it everything. */
  reset(): void
  close(): void
}
