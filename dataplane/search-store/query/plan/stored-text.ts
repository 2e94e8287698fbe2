/** Tests the words of a text that stands apart from its document. The answer is exact, and the document is not read. */
import { AsciiPhrase } from '../../analysis/ascii-phrase.ts'
import { analyze, tokens } from '../../analysis/standard-analyzer.ts'
import type { TermPattern } from '../../analysis/term-pattern.ts'
import type { Condition } from '../bind/condition.ts'
import { holdsPhrase } from '../run/matches.ts'

/** Takes a JSON string's bytes without the quotes. */
export type TextTest = (text: Uint8Array) => boolean

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The string itself. */
export const textOf = (json: Uint8Array): string => JSON.parse(`"${decoder.decode(json)}"`) as string

/** Longer phrases are looked for by a search that is linear in the text. */
export const MAX_WORDS = 16

const PLAIN_WORD = /^[a-z0-9]+$/

export function phraseInText({
  words,
  slop,
  lastIsPrefix,
}: Pick<Extract<Condition, { op: 'phrase' }>, 'words' | 'slop' | 'lastIsPrefix'>): TextTest {
  const exact: TextTest = text => holdsPhrase(analyze(textOf(text)), words, slop, lastIsPrefix)
  if (slop > 0 || words.length === 0 || words.length > MAX_WORDS) return exact
  // Words beyond ASCII are no bytes of a text within it.
  const phrase = new AsciiPhrase(
    words.map(word => encoder.encode(word)),
    lastIsPrefix,
  )
  return text => phrase.isIn(text) ?? exact(text)
}

export function patternInText({ pattern }: Extract<Condition, { op: 'pattern' }>): TextTest {
  const { wholePrefix } = pattern
  // A word that begins so: a phrase of one word that is not finished. Words of texts are in lower case.
  if (wholePrefix !== undefined && PLAIN_WORD.test(wholePrefix)) return phraseInText({ words: [wholePrefix], slop: 0, lastIsPrefix: true })
  const mayHold = literalTest(pattern) ?? (() => true)
  return text => {
    if (!mayHold(text)) return false
    for (const { term } of tokens(textOf(text))) if (pattern.test(term)) return true
    return false
  }
}

const MIN_LITERAL = 2
/** Characters of it that are looked for: more tell hardly more, and cost time where they repeat. */
const MAX_LITERAL = 16

/** A term that fits holds the pattern's literal part, in upper or lower case; undefined where that part is too short to tell. */
export function literalTest({ literal }: TermPattern): TextTest | undefined {
  if (literal.length < MIN_LITERAL || !/^[A-Za-z0-9]+$/.test(literal)) return undefined
  const regex = new RegExp(`${literal.slice(0, MAX_LITERAL)}|\\\\u|[\\u0080-\\u00ff]`, 'i')
  return json => regex.test(asBuffer(json).toString('latin1'))
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
