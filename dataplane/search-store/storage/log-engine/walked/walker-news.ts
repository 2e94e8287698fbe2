/** News of an index for the threads that walk documents for it. */
import type { MutableMapping } from '../../../mapping/mapping.ts'
import type { WalkerKnowledge, WalkerNews } from '../../walked-documents.ts'
import type { FieldSlots } from '../ingest/field-slots.ts'
import type { TailIndex } from '../tail/tail-index.ts'

/** Threads that walk documents are told of mappings up to so many fields. */
const MAX_TOLD_FIELDS = 2_000

export interface ToldIndex {
  readonly instance: number
  readonly mapping: MutableMapping
  readonly slots: FieldSlots
  readonly index: TailIndex
}

/** Undefined: nothing beyond what is known, or nothing for now. */
export function newsBeyond(known: WalkerKnowledge | undefined, { instance, mapping, slots, index }: ToldIndex): WalkerNews | undefined {
  // Fields of a commit under way may be taken back.
  if (mapping.mark() > 0 || mapping.paths().length > MAX_TOLD_FIELDS) return undefined
  const { revision, generation } = mapping
  // A field that is among them stays there, so that their number tells them.
  const termSlots = index.termSlots()
  const isKnown =
    known?.instance === instance &&
    known.revision === revision &&
    (known.generation < 0 || known.generation === generation) &&
    known.termFields === termSlots.length
  if (isKnown) return undefined
  return { instance, revision, generation, mapping: mapping.toJson(), termFields: termSlots.map(slot => slots.all[slot]!.path) }
}
