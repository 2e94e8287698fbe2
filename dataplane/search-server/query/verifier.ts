import type { Segment } from '../storage/index-storage.ts'
import type { Condition } from './condition.ts'
import { matches } from './matches.ts'
import { type RawDocument, rawTest } from './raw-verdict.ts'
import { readDocument } from './segment-unit.ts'

/** Checks on a candidate what its plan left open; looks at the bytes first, parses only where these do not settle it. */
export function verifier(residual: Condition, segment: Segment): (doc: number) => boolean {
  const raw = segment.parsed === undefined ? rawTest(residual) : undefined
  const document = new SegmentDocument(segment)
  return doc => {
    document.doc = doc
    const verdict = raw === undefined ? 'unsure' : raw(document)
    if (verdict !== 'unsure') return verdict === 'yes'
    return matches(residual, { id: segment.id(doc), source: readDocument(segment, doc) })
  }
}

/** One document of a segment after the other. */
class SegmentDocument implements RawDocument {
  doc = 0
  readonly #segment: Segment

  constructor(segment: Segment) {
    this.#segment = segment
  }

  source(): Uint8Array {
    return this.#segment.source(this.doc)
  }

  text(member: string): Uint8Array | undefined {
    return this.#segment.text?.(member, this.doc)
  }
}
