import { parseWritten } from '../../json/exact-numbers.ts'
import type { Segment } from '../index-storage.ts'
import type { Entry } from './stage.ts'

const decoder = new TextDecoder()

/** Documents of a table at one moment. Without postings and columns: the documents themselves are quick to read. */
export function tableSegment(entries: readonly Entry[]): Segment {
  let places: ReadonlyMap<string, number> | undefined
  return {
    size: entries.length,
    liveCount: entries.length,
    minTimestampMs: Number.NEGATIVE_INFINITY,
    maxTimestampMs: Number.POSITIVE_INFINITY,
    isLive: () => true,
    postings: () => undefined,
    column: () => undefined,
    counts: () => undefined,
    id: doc => entries[doc]!.id,
    docsOf(ids) {
      places ??= new Map(entries.map(({ id }, doc) => [id, doc]))
      return Uint32Array.from([...ids].flatMap(id => places!.get(id) ?? [])).sort()
    },
    seqNo: doc => entries[doc]!.seqNo,
    version: doc => entries[doc]!.version,
    source: doc => entries[doc]!.source,
    parsed: doc => {
      const entry = entries[doc]!
      entry.parsed ??= parseWritten(decoder.decode(entry.source))
      return entry.parsed
    },
  }
}
