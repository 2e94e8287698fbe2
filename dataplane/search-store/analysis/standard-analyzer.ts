/** Splits texts into words as OpenSearch's standard analyzer does. */
import { JOINS, KIND } from './ascii-classes.ts'
import { isEmojiModifier, WORD_CLASS, wordClassOf } from './word-classes.ts'

/** Longer words are cut into pieces of this many UTF-16 units, as Lucene does. */
export const MAX_TOKEN_LENGTH = 255

export interface Token {
  /** Lower-cased. */
  readonly term: string
  /** UTF-16 offsets into the text. */
  readonly start: number
  readonly end: number
}

/** The terms of a text, in order, as OpenSearch's `standard` analyzer gives them. */
export function analyze(text: string): string[] {
  const terms: string[] = []
  let at = 0
  while (at < text.length) {
    const end = tokenEnd(text, at)
    if (end < 0) at = -end
    else {
      terms.push(lowerCase(text.slice(at, end)))
      at = end
    }
  }
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
  const unit = text.charCodeAt(at)
  if (unit < 0x80) {
    if (KIND[unit] === 0) return -(at + 1)
    const end = asciiWordEnd(text, at)
    if (end !== 0) return end
  }
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
    case WORD_CLASS.runExtend:
      return runEnd(text, next, at + MAX_TOKEN_LENGTH)
    case WORD_CLASS.emoji:
      return emojiEnd(text, at, next)
    default:
      return isEmojiModifier(first) ? skipExtend(text, next, at + MAX_TOKEN_LENGTH) : -next
  }
}

const UNDERSCORE = 3

/** End of a word of ASCII alone, negated when it holds nothing but underscores; 0 where what stands behind it has to be looked at closer. */
function asciiWordEnd(text: string, start: number): number {
  let at = start
  let kinds = 0
  let kind = KIND[text.charCodeAt(at)]!
  for (;;) {
    let before: number
    do {
      kinds |= kind === UNDERSCORE ? 0 : kind
      before = kind
      at++
      kind = asciiKind(text, at)
    } while (kind > 0 && at - start <= MAX_TOKEN_LENGTH)
    if (kind < 0 || at - start > MAX_TOKEN_LENGTH) return 0
    if (before === UNDERSCORE || (JOINS[text.charCodeAt(at)]! & before) === 0) break
    const after = asciiKind(text, at + 1)
    if (after < 0) return 0
    if (after !== before) break
    at++
    kind = after
  }
  return kinds === 0 ? -at : at
}

/** −1 beyond ASCII; 0 for what parts words, also behind the end. */
function asciiKind(text: string, at: number): number {
  if (at >= text.length) return 0
  const unit = text.charCodeAt(at)
  return unit < 0x80 ? KIND[unit]! : -1
}

function wordEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_TOKEN_LENGTH)
  let previous: number = WORD_CLASS.connector
  let hasWord = false
  let firstExtend: number | undefined
  let at = start
  while (at < limit) {
    const codePoint = text.codePointAt(at)!
    const wordClass = wordClassOf(codePoint)
    const next = at + (codePoint > 0xffff ? 2 : 1)
    if (next > limit) break
    if (isExtend(wordClass)) {
      if (!hasWord) firstExtend ??= at
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
  // Without a word, a mark may begin a token of its own.
  return hasWord ? at : -Math.max(firstExtend ?? at, start + 1)
}

function joins(mid: number, previous: number): boolean {
  if (previous === WORD_CLASS.letter) return mid === WORD_CLASS.midLetter || mid === WORD_CLASS.midBoth
  return previous === WORD_CLASS.digit && (mid === WORD_CLASS.midNumber || mid === WORD_CLASS.midBoth)
}

function skipExtend(text: string, from: number, limit: number): number {
  let at = from
  while (at < text.length && at < limit) {
    const codePoint = text.codePointAt(at)!
    if (!isExtend(wordClassOf(codePoint))) break
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
    if (wordClass !== WORD_CLASS.run && !isExtend(wordClass)) break
    at += codePoint > 0xffff ? 2 : 1
  }
  return Math.min(at, limit)
}

/** A flag, or pictographs joined by the zero-width joiner, with their marks. */
function emojiEnd(text: string, start: number, next: number): number {
  const limit = start + MAX_TOKEN_LENGTH
  if (isRegionalIndicator(text, start)) {
    if (!isRegionalIndicator(text, next)) return -next
    return skipExtend(text, next + 2, limit)
  }
  let end = skipExtend(text, next, limit)
  while (text[end - 1] === JOINER && end < limit && isPictograph(text, end)) end = skipExtend(text, end + charLength(text, end), limit)
  return end
}

const JOINER = '\u200d'
const isExtend = (wordClass: number): boolean => wordClass === WORD_CLASS.extend || wordClass === WORD_CLASS.runExtend
const charLength = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1)

function isRegionalIndicator(text: string, at: number): boolean {
  const codePoint = text.codePointAt(at)
  return codePoint !== undefined && codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff
}

function isPictograph(text: string, at: number): boolean {
  return at < text.length && wordClassOf(text.codePointAt(at)!) === WORD_CLASS.emoji && !isRegionalIndicator(text, at)
}

/** Characters whose lower case differs within a word, or has more than one character. */
const UNLIKE_OTHERS = /[\u03a3\u0130]/

/** Lower case character by character: no final sigma, no growing words. */
function lowerCase(word: string): string {
  if (!UNLIKE_OTHERS.test(word)) return word.toLowerCase()
  return word.replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase()
}
