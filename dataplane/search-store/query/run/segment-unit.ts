/** A segment within a running search. */
import { parseBigInts, parseWritten } from '../../json/exact-numbers.ts'
import type { IndexMapping } from '../../mapping/field-types.ts'
import type { Segment } from '../../storage/index-storage.ts'
import type { Condition } from '../bind/condition.ts'

/** One index of a search, with the query bound to its fields. */
export interface BoundIndex {
  readonly index: string
  readonly mapping: IndexMapping
  /** The query, and the filter of the alias through which the index was named. */
  readonly condition: Condition
  /** The query alone: what highlights mark. */
  readonly query: Condition
}

export interface SegmentUnit {
  /** Orders hits that sort alike: indices as named, then arrival. */
  readonly ordinal: number
  readonly bound: BoundIndex
  readonly segment: Segment
}

const decoder = new TextDecoder()

export function readDocument(segment: Segment, doc: number): unknown {
  return segment.parsed === undefined ? parseWritten(decoder.decode(segment.source(doc))) : segment.parsed(doc)
}

/** The document with whole numbers beyond 2^53 as `bigint`. */
export function readExactDocument(segment: Segment, doc: number): unknown {
  return parseBigInts(sourceText(segment, doc))
}

export function sourceText(segment: Segment, doc: number): string {
  return decoder.decode(segment.source(doc))
}
