/** Sets of documents of one segment: everything, a short ascending list, or a bit for each document. */
import { bitsListed, countBits } from '../../bits.ts'

export type DocSet =
  | { readonly kind: 'all' }
  | { readonly kind: 'list'; readonly docs: Uint32Array }
  | { readonly kind: 'bits'; readonly words: Uint32Array }

export const ALL_DOCS: DocSet = { kind: 'all' }
export const NO_DOCS: DocSet = { kind: 'list', docs: new Uint32Array(0) }

export const isEmpty = (set: DocSet): boolean => set.kind === 'list' && set.docs.length === 0

export const newBits = (size: number): Uint32Array => new Uint32Array((size + 31) >>> 5)

const hasBit = (words: Uint32Array, doc: number): boolean => (words[doc >>> 5]! & (1 << (doc & 31))) !== 0

export function setBit(words: Uint32Array, doc: number): void {
  words[doc >>> 5]! |= 1 << (doc & 31)
}

function toBits(set: DocSet, size: number): Uint32Array {
  const words = newBits(size)
  if (set.kind === 'bits') words.set(set.words)
  else if (set.kind === 'list') for (const doc of set.docs) setBit(words, doc)
  else {
    words.fill(0xffffffff)
    if ((size & 31) !== 0) words[words.length - 1] = 2 ** (size & 31) - 1
  }
  return words
}

export function intersect(a: DocSet, b: DocSet): DocSet {
  if (a.kind === 'all') return b
  if (b.kind === 'all') return a
  if (a.kind === 'list' && b.kind === 'list')
    return a.docs.length <= b.docs.length ? intersectLists(a.docs, b.docs) : intersectLists(b.docs, a.docs)
  if (a.kind === 'list') return filterList(a.docs, (b as { words: Uint32Array }).words)
  if (b.kind === 'list') return filterList(b.docs, a.words)
  const words = new Uint32Array(a.words.length)
  for (let at = 0; at < words.length; at++) words[at] = a.words[at]! & b.words[at]!
  return { kind: 'bits', words }
}

function filterList(docs: Uint32Array, words: Uint32Array): DocSet {
  const kept = new Uint32Array(docs.length)
  let count = 0
  for (const doc of docs) if (hasBit(words, doc)) kept[count++] = doc
  return { kind: 'list', docs: kept.subarray(0, count) }
}

function intersectLists(short: Uint32Array, long: Uint32Array): DocSet {
  const kept = new Uint32Array(short.length)
  let count = 0
  let at = 0
  for (const doc of short) {
    at = firstAtLeast(long, doc, at)
    if (at === long.length) break
    if (long[at] === doc) kept[count++] = doc
  }
  return { kind: 'list', docs: kept.subarray(0, count) }
}

/** Place of the first number ≥ `doc`, from `from` on; steps ahead by doubling, so that a rare term costs its own length. */
function firstAtLeast(docs: Uint32Array, doc: number, from: number): number {
  let step = 1
  let low = from
  let high = from
  while (high < docs.length && docs[high]! < doc) {
    low = high + 1
    high += step
    step *= 2
  }
  high = Math.min(high, docs.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (docs[middle]! < doc) low = middle + 1
    else high = middle
  }
  return low
}

export function unite(sets: readonly DocSet[], size: number): DocSet {
  if (sets.some(set => set.kind === 'all')) return ALL_DOCS
  const parts = sets.filter(set => !isEmpty(set))
  if (parts.length === 0) return NO_DOCS
  if (parts.length === 1) return parts[0]!
  const words = newBits(size)
  for (const part of parts) {
    if (part.kind === 'list') for (const doc of part.docs) setBit(words, doc)
    else if (part.kind === 'bits') for (let at = 0; at < words.length; at++) words[at]! |= part.words[at]!
  }
  return { kind: 'bits', words }
}

/** Documents in at least `atLeast` of the sets. */
export function uniteAtLeast(sets: readonly DocSet[], atLeast: number, size: number): DocSet {
  if (atLeast <= 0) return ALL_DOCS
  if (atLeast === 1) return unite(sets, size)
  if (atLeast === sets.length) return sets.reduce(intersect, ALL_DOCS)
  const seen = new Uint16Array(size)
  for (const set of sets) for (const doc of listDocs(set, size)) seen[doc]!++
  const words = newBits(size)
  for (let doc = 0; doc < size; doc++) if (seen[doc]! >= atLeast) setBit(words, doc)
  return { kind: 'bits', words }
}

export function complement(set: DocSet, size: number): DocSet {
  if (set.kind === 'all') return NO_DOCS
  if (isEmpty(set)) return ALL_DOCS
  const words = toBits(ALL_DOCS, size)
  const not = set.kind === 'bits' ? set.words : toBits(set, size)
  for (let at = 0; at < words.length; at++) words[at]! &= ~not[at]!
  return { kind: 'bits', words }
}

let everyDoc = new Uint32Array(0)

/** 0 … size − 1; shared, not to be written to. */
export function firstDocs(size: number): Uint32Array {
  if (everyDoc.length < size) everyDoc = Uint32Array.from({ length: Math.max(size, everyDoc.length * 2) }, (_none, at) => at)
  return everyDoc.subarray(0, size)
}

/** The documents in ascending order; not to be written to. They may be written into `room`. */
export function listDocs(set: DocSet, size: number, room?: Uint32Array): Uint32Array {
  if (set.kind === 'all') return firstDocs(size)
  if (set.kind === 'list') return set.docs
  return bitsListed(set.words, room)
}

export function countDocs(set: DocSet, size: number): number {
  if (set.kind === 'all') return size
  if (set.kind === 'list') return set.docs.length
  return countBits(set.words)
}

/** The same set in a form that takes little memory: an eighth of a byte for each of `size` documents at most. */
export function compact(set: DocSet, size: number): DocSet {
  return set.kind === 'list' && set.docs.length > size >>> 5 ? { kind: 'bits', words: toBits(set, size) } : set
}

/** The same set, in the form that `holds` answers fastest. */
export function quickToAsk(set: DocSet, size: number): DocSet {
  return set.kind === 'list' && set.docs.length > size >>> 6 ? { kind: 'bits', words: toBits(set, size) } : set
}

export function holds(set: DocSet, doc: number): boolean {
  if (set.kind === 'all') return true
  if (set.kind === 'bits') return hasBit(set.words, doc)
  return set.docs[firstAtLeast(set.docs, doc, 0)] === doc
}
