import { WORD_CLASS, wordClassOf } from './word-classes.ts'

/** Longer words are cut into pieces of this many UTF-16 units, as Lucene does. */
export const MAX_TOKEN_LENGTH = 255

export interface Token {
  /** Lower-cased. */
  readonly term: string
  /** UTF-16 offsets into the text. */
  readonly start: number
  readonly end: number
}

const EMOJI_SEQUENCE =
  /(?:\p{Regional_Indicator}{2}|\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)*)/uy

/** The terms of a text, in order, as OpenSearch's `standard` analyzer gives them. */
export function analyze(text: string): string[] {
  const terms: string[] = []
  for (const token of tokens(text)) terms.push(token.term)
  return terms
}

/** The terms with their places in the text, for highlighting and phrases. */
export function* tokens(text: string): Generator<Token, void, undefined> {
  let at = 0
  while (at < text.length) {
    const end = tokenEnd(text, at)
    if (end < 0) at = -end
    else {
      yield { term: lowerCase(text.slice(at, end)), start: at, end }
      at = end
    }
  }
}

/** End of the token that starts at `at`; when none starts there, the negated offset to go on from. */
function tokenEnd(text: string, at: number): number {
  const first = text.codePointAt(at)!
  const next = at + (first > 0xffff ? 2 : 1)
  switch (wordClassOf(first)) {
    case WORD_CLASS.letter:
    case WORD_CLASS.digit:
    case WORD_CLASS.connector:
    case WORD_CLASS.katakana:
      return wordEnd(text, at)
    case WORD_CLASS.single:
      return skipExtend(text, next, at + MAX_TOKEN_LENGTH)
    case WORD_CLASS.run:
      return runEnd(text, next, at + MAX_TOKEN_LENGTH)
    case WORD_CLASS.emoji:
      return emojiEnd(text, at, next)
    default:
      return -next
  }
}

function wordEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_TOKEN_LENGTH)
  let previous: number = WORD_CLASS.connector
  let hasWord = false
  let at = start
  while (at < limit) {
    const codePoint = text.codePointAt(at)!
    const wordClass = wordClassOf(codePoint)
    const next = at + (codePoint > 0xffff ? 2 : 1)
    if (next > limit) break
    if (wordClass === WORD_CLASS.extend) {
      at = next
      continue
    }
    if (wordClass === WORD_CLASS.letter || wordClass === WORD_CLASS.digit) {
      if (previous === WORD_CLASS.katakana) break
      hasWord = true
    } else if (wordClass === WORD_CLASS.katakana) {
      if (previous !== WORD_CLASS.katakana && previous !== WORD_CLASS.connector) break
      hasWord = true
    } else if (wordClass !== WORD_CLASS.connector) {
      if (!joins(wordClass, previous)) break
      const after = skipExtend(text, next, limit)
      if (
        after >= limit ||
        wordClassOf(text.codePointAt(after)!) !== previous ||
        after + (text.codePointAt(after)! > 0xffff ? 2 : 1) > limit
      )
        break
      at = after
      continue
    }
    previous = wordClass
    at = next
  }
  return hasWord ? at : -Math.max(at, start + 1)
}

function joins(mid: number, previous: number): boolean {
  if (previous === WORD_CLASS.letter) return mid === WORD_CLASS.midLetter || mid === WORD_CLASS.midBoth
  return previous === WORD_CLASS.digit && (mid === WORD_CLASS.midNumber || mid === WORD_CLASS.midBoth)
}

function skipExtend(text: string, from: number, limit: number): number {
  let at = from
  while (at < text.length && at < limit) {
    const codePoint = text.codePointAt(at)!
    if (wordClassOf(codePoint) !== WORD_CLASS.extend) break
    const next = at + (codePoint > 0xffff ? 2 : 1)
    if (next > limit) break
    at = next
  }
  return at
}

function runEnd(text: string, from: number, limit: number): number {
  let at = from
  while (at < text.length && at < limit) {
    const codePoint = text.codePointAt(at)!
    const wordClass = wordClassOf(codePoint)
    if (wordClass !== WORD_CLASS.run && wordClass !== WORD_CLASS.extend) break
    at += codePoint > 0xffff ? 2 : 1
  }
  return Math.min(at, limit)
}

function emojiEnd(text: string, at: number, next: number): number {
  EMOJI_SEQUENCE.lastIndex = at
  const match = EMOJI_SEQUENCE.exec(text)
  return match === null ? -next : Math.min(at + match[0].length, at + MAX_TOKEN_LENGTH)
}

const NON_ASCII = /[^\x00-\x7f]/

/** Lower case character by character: no final sigma, no growing words. */
function lowerCase(word: string): string {
  if (!NON_ASCII.test(word)) return word.toLowerCase()
  let lower = ''
  for (const character of word) lower += character === '\u0130' ? 'i' : character.toLowerCase()
  return lower
}
