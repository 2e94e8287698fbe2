/** The searchable fields of an index, numbered. */

import type { FieldMapping } from '../../../mapping/field-types.ts'
import { isNumberType } from '../../../mapping/values.ts'
import type { MessageShapes } from '../format/block/message-shapes.ts'
import type { WordPairs } from '../format/segment-index/word-pairs.ts'
import { fieldSeeds, type Seeds } from '../format/term-hash.ts'

/** How a field's values are indexed. */
export type SlotKind = 'text' | 'keyword' | 'number' | 'none'

/** One searchable field of an index: what the walker needs to index a value without looking at the mapping again. */
export interface FieldSlot extends Seeds {
  /** Dense number within the index; the same for as long as the process runs. −1: one of too many, never has a column. */
  readonly number: number
  readonly path: string
  readonly kind: SlotKind
  readonly mapping: FieldMapping
  /** Longer keyword values are not indexed; Infinity without a limit. */
  readonly ignoreAbove: number
  /** Longer values are refused, UTF-8 bytes: below a flat_object a term holds the path, too. */
  readonly maxBytes: number
  /** Multi-fields, and for a leaf of a flat_object the flat_object itself. */
  readonly also: readonly FieldSlot[]
}

/** Gives keyword values dictionary codes. */
export interface KeywordCoder {
  /** The code of a value, made where new; −1: the field has too many, index the term instead. `bytes` is the value in UTF-8, without escapes. */
  code(slot: FieldSlot, lo: number, hi: number, bytes: Uint8Array, start: number, end: number): number
  /** Changes whenever a value that has a code has none from now on; absent: never. */
  readonly revision?: number
  /** Takes in neighbours among the words of texts; absent: nobody asks. */
  readonly pairs?: WordPairs
  /** Takes in the words of messages; absent: nobody asks. */
  readonly shapes?: MessageShapes
}

const KIND_OF: Readonly<Record<string, SlotKind>> = {
  text: 'text',
  match_only_text: 'text',
  keyword: 'keyword',
  flat_object: 'keyword',
  boolean: 'number',
  date: 'number',
}

/** Largest term in UTF-8 bytes, as in Lucene. */
const MAX_TERM_BYTES = 32_766

/** Leaves of flat_objects are not bounded by the mapping: those beyond have no number. */
const MAX_FLAT_SLOTS = 8192
/** Leaves without a number are remembered until there are so many, then forgotten together. */
const MAX_PASSING_SLOTS = 16_384

/** The fields of one index by path, numbered as they appear. */
export interface FieldSlots {
  of(path: string, mapping: FieldMapping): FieldSlot
  find(path: string): FieldSlot | undefined
  /** Gives the field a number also where there are too many already. */
  reserve(path: string): void
  readonly all: readonly FieldSlot[]
  /** Drops what was derived from the mapping; numbers are kept. */
  invalidate(): void
  /** Drops what was derived from one field. */
  forget(path: string, mapping: FieldMapping): void
}

export function createFieldSlots(flatRootOf: (path: string) => string | undefined): FieldSlots {
  const numbers = new Map<string, number>()
  const all: FieldSlot[] = []
  let byPath = new Map<string, FieldSlot>()
  /** Slots without a number. */
  let passing = new Map<string, FieldSlot>()

  function create(path: string, mapping: FieldMapping): FieldSlot {
    const isFlat = flatRootOf(path) !== undefined
    const number = numbers.get(path) ?? (isFlat && numbers.size >= MAX_FLAT_SLOTS ? -1 : numbers.size)
    if (number < 0) return pass(build(number, path, mapping))
    numbers.set(path, number)
    const slot = build(number, path, mapping)
    byPath.set(path, slot)
    all[number] = slot
    return slot
  }

  function pass(slot: FieldSlot): FieldSlot {
    if (passing.size >= MAX_PASSING_SLOTS) passing = new Map()
    passing.set(slot.path, slot)
    return slot
  }

  function build(number: number, path: string, mapping: FieldMapping): FieldSlot {
    const flatRoot = flatRootOf(path)
    return {
      ...fieldSeeds(path),
      number,
      path,
      kind: mapping.index === false ? 'none' : isNumberType(mapping.type) ? 'number' : (KIND_OF[mapping.type] ?? 'none'),
      mapping,
      ignoreAbove: mapping.ignoreAbove ?? Number.POSITIVE_INFINITY,
      maxBytes: flatRoot === undefined || flatRoot === path ? MAX_TERM_BYTES : MAX_TERM_BYTES - Buffer.byteLength(`${flatRoot}.${path}=`),
      also: alsoOf(path, mapping),
    }
  }

  function alsoOf(path: string, mapping: FieldMapping): FieldSlot[] {
    const also = Object.entries(mapping.fields ?? {}).map(([name, field]) => of(`${path}.${name}`, field))
    const flatRoot = flatRootOf(path)
    if (flatRoot !== undefined && flatRoot !== path) also.push(of(flatRoot, { type: 'flat_object' }))
    return also
  }

  function of(path: string, mapping: FieldMapping): FieldSlot {
    return byPath.get(path) ?? passing.get(path) ?? create(path, mapping)
  }

  function reserve(path: string): void {
    if (numbers.has(path)) return
    passing.delete(path)
    numbers.set(path, numbers.size)
  }

  function invalidate(): void {
    byPath = new Map()
    passing = new Map()
  }

  return {
    of,
    find: path => byPath.get(path),
    reserve,
    all,
    invalidate,
    forget(path, { type, fields }) {
      // Its leaves are not listed anywhere.
      if (type === 'flat_object') invalidate()
      byPath.delete(path)
      for (const name in fields) byPath.delete(`${path}.${name}`)
    },
  }
}
