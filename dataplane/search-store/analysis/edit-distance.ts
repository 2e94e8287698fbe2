/** Terms that differ from a word by a few insertions, deletions, replacements and swaps of neighbours. */
import { spendWork } from '../query/budget/work-in-hand.ts'
import type { TermPattern } from './term-pattern.ts'

export interface FuzzyOptions {
  readonly edits: number
  /** Characters at the beginning that must be the same. */
  readonly prefixLength: number
  /** Whether a swap of two neighbours is one edit. */
  readonly transpositions: boolean
}

export function fuzzyPattern(word: string, { edits, prefixLength, transpositions }: FuzzyOptions): TermPattern {
  const wanted = Array.from(word, char => char.codePointAt(0)!)
  // As in Lucene.
  if (edits === 0 || prefixLength >= wanted.length) return { prefix: word, literal: word, test: term => term === word }
  const prefix = String.fromCodePoint(...wanted.slice(0, prefixLength))
  const rest = wanted.slice(prefixLength)
  const width = rest.length + 1
  /** The last three lines of the table of distances. */
  let lines: [Uint16Array, Uint16Array, Uint16Array] = [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)]

  /** Whether the rest of a term is near enough; only distances near the diagonal can be. */
  const isNear = (codes: readonly number[]): boolean => {
    if (Math.abs(codes.length - rest.length) > edits) return false
    spendWork(codes.length * (2 * edits + 1))
    const [first] = lines
    for (let at = 0; at < width; at++) first[at] = at
    for (let row = 1; row <= codes.length; row++) {
      const [before, own, beforeThat] = lines
      const low = Math.max(1, row - edits)
      const high = Math.min(rest.length, row + edits)
      own.fill(edits + 1)
      if (row <= edits) own[0] = row
      let least = own[0]!
      for (let at = low; at <= high; at++) {
        const isSame = codes[row - 1] === rest[at - 1]
        let distance = Math.min(before[at]! + 1, own[at - 1]! + 1, before[at - 1]! + (isSame ? 0 : 1))
        const isSwapped = transpositions && row > 1 && at > 1 && codes[row - 1] === rest[at - 2] && codes[row - 2] === rest[at - 1]
        if (isSwapped) distance = Math.min(distance, beforeThat[at - 2]! + 1)
        own[at] = distance
        least = Math.min(least, distance)
      }
      if (least > edits) return false
      lines = [own, beforeThat, before]
    }
    return lines[0][rest.length]! <= edits
  }

  const maxLength = 2 * (word.length + 2 * edits)
  return {
    prefix,
    literal: prefix,
    test: term => {
      if (!term.startsWith(prefix) || term.length > maxLength) return false
      return isNear(Array.from(term.slice(prefix.length), char => char.codePointAt(0)!))
    },
  }
}
