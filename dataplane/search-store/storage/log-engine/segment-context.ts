/** The parts that all segments of one index share, and terms as their keys. */
import type { IndexMapping } from '../../mapping/field-types.ts'
import type { MutableMapping } from '../../mapping/mapping.ts'
import type { IndexFiles } from './format/index-files.ts'
import { isPairWord, type WordPairs } from './format/segment-index/word-pairs.ts'
import { hashTerm } from './format/term-hash.ts'
import { DocumentWalker } from './ingest/document-walker.ts'
import { createFieldSlots, type FieldSlot, type FieldSlots } from './ingest/field-slots.ts'
import type { ByteCache } from './sealed/byte-cache.ts'

/** The parts that all segments of one index share. */
export interface SegmentContext {
  readonly files: IndexFiles
  readonly cache: ByteCache
  readonly mapping: IndexMapping
  readonly slots: FieldSlots
  /** The slot of a searchable field; undefined when the index has no such field. */
  slotOf(path: string): FieldSlot | undefined
  /** Whether a document holds the term with this key. */
  holds(source: Uint8Array, lo: number, hi: number): boolean
  /** Told of sealed segments of which a part cannot be read, by their numbers. */
  onDamage: (segment: number) => void
}

export function createSegmentContext(mapping: MutableMapping, files: IndexFiles, cache: ByteCache): SegmentContext {
  const slots = createFieldSlots(path => flatRootOf(mapping, path))
  const walker = new DocumentWalker(mapping, slots, { code: () => -1 })
  return {
    files,
    cache,
    mapping,
    slots,
    onDamage: () => undefined,
    slotOf(path) {
      const field = mapping.field(path)
      return field === undefined || field.type === 'object' ? undefined : slots.of(path, field)
    },
    holds(source, lo, hi) {
      const { events } = walker
      events.clear()
      walker.addStored(source)
      for (let k = 0; k < events.termEnd; k += 2) if (events.terms[k] === lo && events.terms[k + 1] === hi) return true
      return false
    },
  }
}

/** The flat_object that a path lies in. */
export function flatRootOf(mapping: IndexMapping, path: string): string | undefined {
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const prefix = path.slice(0, dot)
    if (mapping.field(prefix)?.type === 'flat_object') return prefix
  }
  return undefined
}

/** Whether any text of the field may hold the words next to each other. */
export function mayHoldPair({ slotOf }: SegmentContext, pairs: WordPairs, field: string, first: string, second: string): boolean {
  const slot = slotOf(field)
  if (slot?.kind !== 'text' || !isPairWord(first) || !isPairWord(second)) return true
  return pairs.mayHold(...termKey(slot, first), ...termKey(slot, second))
}

/** `[lo, hi]` of a term in a field. */
export function termKey(slot: FieldSlot, term: string): readonly [number, number] {
  const key = new Int32Array(2)
  hashTerm(slot, term, key, 0)
  return [key[0]!, key[1]!]
}
