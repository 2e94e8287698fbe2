/**
 * The terms of a commit in words of 16 bits, for the log of the index. Documents of a commit resemble each other: a term that came a moment before is
 * named by its place in a table, and terms that follow each other as they did before are only counted.
 */
import type { WordWriter } from '../bytes/word-writer.ts'
import { lendWords } from './lent-words.ts'

const TABLE_BITS = 12
const PLACES = 1 << TABLE_BITS
/** A word of the terms begins with a count of terms that follow as they did before, which it leaves out; then it names a term by its place. */
const COUNT_AT = TABLE_BITS
const MAX_COUNT = 6
/** So many terms are left out, and none is named. */
const LEFT_OUT = 0x7000
const MAX_LEFT_OUT = 0xfff
/** So many terms are left out, and a new one stands behind. Its place follows from the term. */
const IS_NEW = 0x8000
const WORDS_OF_TERM = 5
/** After so many new terms in a row the next one is guessed by the last of these. */
const MAX_NEW = 3

/** Terms that came before: each in the place that its highest bits name. */
const table = new Int32Array(2 * PLACES)
/** Place of the term that came last behind a term and so many new ones. */
const followers = new Uint16Array((MAX_NEW + 1) * PLACES)

export function packTerms(terms: Int32Array, end: number, to: WordWriter): void {
  table.fill(0)
  followers.fill(0)
  // A count of terms that are left out may take a word of its own.
  to.reserve((WORDS_OF_TERM * end) / 2 + end / MAX_LEFT_OUT + 2)
  const { words } = to
  let at = to.length
  let before = 0
  let count = 0
  for (let k = 0; k < end; k += 2) {
    const lo = terms[k]!
    const hi = terms[k + 1]!
    const guess = followers[before]!
    if (table[2 * guess + 1] === hi && table[2 * guess] === lo) {
      before = guess
      if (++count === MAX_LEFT_OUT) {
        words[at++] = LEFT_OUT | count
        count = 0
      }
      continue
    }
    const place = hi >>> (32 - TABLE_BITS)
    if (table[2 * place + 1] === hi && table[2 * place] === lo) {
      followers[before] = place
      before = place
      if (count > MAX_COUNT) {
        words[at++] = LEFT_OUT | count
        count = 0
      }
      words[at++] = (count << COUNT_AT) | place
    } else {
      table[2 * place] = lo
      table[2 * place + 1] = hi
      before = afterNew(before)
      words[at] = IS_NEW | count
      words[at + 1] = lo
      words[at + 2] = lo >>> 16
      words[at + 3] = hi
      words[at + 4] = hi >>> 16
      at += WORDS_OF_TERM
    }
    count = 0
  }
  if (count > 0) words[at++] = LEFT_OUT | count
  to.length = at
}

/** Where the follower of a new term stands, which says nothing by itself. */
const afterNew = (before: number): number => (before < MAX_NEW * PLACES ? before + PLACES : before)

/** `end` words of 32 bits, which are lent. */
export function unpackTerms(words: Uint16Array, end: number): Int32Array<ArrayBuffer> {
  table.fill(0)
  followers.fill(0)
  const terms = lendWords(end)
  let at = 0
  let before = 0
  for (let k = 0; k < end; ) {
    const word = words[at++]!
    const isNew = word >= IS_NEW
    const isNamed = word < LEFT_OUT
    for (let left = isNamed ? word >>> COUNT_AT : word & MAX_LEFT_OUT; left > 0; left--) {
      before = followers[before]!
      terms[k++] = table[2 * before]!
      terms[k++] = table[2 * before + 1]!
    }
    if (isNamed) {
      const place = word & (PLACES - 1)
      followers[before] = place
      before = place
      terms[k++] = table[2 * place]!
      terms[k++] = table[2 * place + 1]!
    } else if (isNew) {
      const lo = words[at]! | (words[at + 1]! << 16)
      const hi = words[at + 2]! | (words[at + 3]! << 16)
      at += WORDS_OF_TERM - 1
      const place = hi >>> (32 - TABLE_BITS)
      table[2 * place] = lo
      table[2 * place + 1] = hi
      before = afterNew(before)
      terms[k++] = lo
      terms[k++] = hi
    }
  }
  return terms
}
