/**
 * Looks at a document's bytes before it is parsed: most candidates of a phrase or pattern can be told apart so, at a fraction of the cost.
 * Never guesses: what the bytes do not settle is `unsure`.
 */
import { BACKSLASH, CLOSE_OBJECT, COLON, OPEN_OBJECT, QUOTE } from '../../../json/bytes.ts'
import type { Condition } from '../bind/condition.ts'
import { classOf, type Field } from '../bind/field.ts'
import { literalTest, MAX_WORDS, patternInText, phraseInText, type TextTest } from './stored-text.ts'

/** A document before it is parsed. */
export interface RawDocument {
  source(): Uint8Array
  /** As `source`, for who looks at one top-level member alone: the text of others may be left empty. */
  sourceOf(member: string): Uint8Array
  /** The text of a top-level member as in the JSON, without its quotes, where it is one string and stands apart. */
  text(member: string): Uint8Array | undefined
}

export type Verdict = 'yes' | 'no' | 'unsure'
export type RawTest = (document: RawDocument) => Verdict

/** For a condition on one field; undefined where bytes never settle it. */
export function rawTest(condition: Condition): RawTest | undefined {
  // The bytes are not what the index has.
  if ('field' in condition && condition.field.normalizer !== undefined) return undefined
  switch (condition.op) {
    case 'terms':
      return flatTermsTest(condition)
    case 'phrase':
      return withStoredText(condition.field, phraseInText(condition), phraseTest(condition))
    case 'pattern':
      return withStoredText(condition.field, patternInText(condition), patternTest(condition))
    case 'exists':
      return withStoredText(condition.field, () => true, existsTest(condition))
    default:
      return undefined
  }
}

type SourceTest = (source: Uint8Array) => Verdict

/** Asks the text that stands apart, which is sure, and where there is none the document's bytes. */
function withStoredText(field: Field, textTest: TextTest, sourceTest: SourceTest | undefined): RawTest | undefined {
  const [member, ...below] = field.sourcePath
  if (member === undefined || below.length > 0 || classOf(field) !== 'text')
    return sourceTest === undefined
      ? undefined
      : document => sourceTest(member === undefined ? document.source() : document.sourceOf(member))
  return document => {
    const text = document.text(member)
    if (text !== undefined) return textTest(text) ? 'yes' : 'no'
    return sourceTest === undefined ? 'unsure' : sourceTest(document.source())
  }
}

/**
 * For values of a flat_object, of which nothing is indexed: where a term is not among the bytes, and nothing is escaped there, no value is the term.
 * That of a number is what was written, too. Bytes that are no UTF-8 are read as U+FFFD.
 */
function flatTermsTest({ field, terms, isExact }: Extract<Condition, { op: 'terms' }>): RawTest | undefined {
  const [member, ...below] = field.sourcePath
  if (classOf(field) !== 'flat' || member === undefined || below.length > 0 || isExact === true) return undefined
  if (terms.size > MAX_WORDS || ![...terms].every(term => term.isWellFormed() && !term.includes('\ufffd'))) return undefined
  const wanted = [...terms].map(term => Buffer.from(term))
  return document => {
    const bytes = asBuffer(document.sourceOf(member))
    return bytes.includes(BACKSLASH) || wanted.some(term => bytes.includes(term)) ? 'unsure' : 'no'
  }
}

const isPlain = (text: string): boolean => /^[a-z0-9]+$/.test(text)

/** For text of ASCII letters and digits alone; the words of anything else are too subtle for bytes. */
function phraseTest({ field, words, slop, lastIsPrefix }: Extract<Condition, { op: 'phrase' }>): SourceTest | undefined {
  if (slop > 0 || lastIsPrefix || words.length > MAX_WORDS || field.sourcePath.length !== 1 || !words.every(isPlain)) return undefined
  const readText = topLevelString(field)
  return source => {
    const text = readText(source)
    return typeof text === 'string' ? phraseInSource(text.toLowerCase(), words) : verdictWithout(text)
  }
}

/** In a name: the bytes of a document may spell it in another way. */
const SLASH = 0x2f
const ABSENT = Symbol('absent')

/** A document without the member is no match; one whose bytes do not tell is parsed. */
const verdictWithout = (text: typeof ABSENT | undefined): Verdict => (text === ABSENT ? 'no' : 'unsure')

/**
 * The text of a top-level member, where it stands in the bytes just as it is: once, as a string of ASCII without escapes, before any
 * nested object. The key cannot be found inside of a string: its quotes would be escaped there. `ABSENT`: no member, at any depth, is named so.
 */
function topLevelString(field: Field): (source: Uint8Array) => string | typeof ABSENT | undefined {
  const name = JSON.stringify(field.sourcePath[0])
  const bytes = Buffer.from(name)
  const isPlainName = bytes.every(byte => byte < 128 && byte !== BACKSLASH && byte !== SLASH)
  return source => {
    if (last?.source !== source) {
      const alone = isPlainName ? textAlone(bytes, source) : undefined
      if (alone !== undefined) return alone
      last = lookAt(source)
    }
    if (last.name !== name) {
      last.text = isPlainName ? textNamed(bytes, last) : undefined
      last.name = name
    }
    return last.text
  }
}

/** The text of the member of an object that has no other, as in `textNamed`; undefined where the object is something else. */
function textAlone(name: Buffer, source: Uint8Array): string | typeof ABSENT | undefined {
  if (source[0] !== OPEN_OBJECT) return undefined
  if (source.length === 2) return source[1] === CLOSE_OBJECT ? ABSENT : undefined
  const start = name.length + 3
  const end = source.length - 2
  if (source[start - 1] !== QUOTE || source[start - 2] !== COLON || source[end] !== QUOTE || source[end + 1] !== CLOSE_OBJECT)
    return undefined
  for (let at = 0; at < name.length; at++) if (source[at + 1] !== name[at]) return undefined
  for (let at = start; at < end; at++) {
    const byte = source[at]!
    if (byte === QUOTE || byte === BACKSLASH || byte > 127) return undefined
  }
  return asBuffer(source).toString('latin1', start, end)
}

/** A source that is looked at, for several conditions in turn. */
interface LookedAt {
  readonly source: Uint8Array
  readonly bytes: Buffer
  readonly isEscaped: boolean
  /** Where the first nested object begins; below 0: none does. */
  readonly nested: number
  /** The last member that was asked for, as it stands in JSON, and its text. */
  name: string | undefined
  text: string | typeof ABSENT | undefined
}

let last: LookedAt | undefined

function lookAt(source: Uint8Array): LookedAt {
  const bytes = asBuffer(source)
  return { source, bytes, isEscaped: bytes.includes(ESCAPED_ASCII), nested: bytes.indexOf(0x7b, 1), name: undefined, text: undefined }
}

const asBuffer = (source: Uint8Array): Buffer =>
  source instanceof Buffer ? source : Buffer.from(source.buffer, source.byteOffset, source.length)

function textNamed(name: Buffer, { bytes, isEscaped, nested }: LookedAt): string | typeof ABSENT | undefined {
  if (isEscaped) return undefined
  const at = bytes.indexOf(name)
  if (at < 0) return ABSENT
  const start = at + name.length + 2
  if (bytes[start - 2] !== 0x3a || bytes[start - 1] !== 0x22) return undefined
  if ((nested >= 0 && nested < at) || bytes.indexOf(name, start) >= 0) return undefined
  const text = bytes.toString('latin1', start, bytes.indexOf(0x22, start))
  return UNCERTAIN.test(text) ? undefined : text
}

/** An escape of ASCII, which may spell the key a second time. */
const ESCAPED_ASCII = '\\u00'

/** An escape, or a character beyond ASCII. */
const UNCERTAIN = /[\\\u0080-\u00ff]/

const isWordCode = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f

/** `text` in lower case. */
function phraseInSource(text: string, words: readonly string[]): Verdict {
  let verdict: Verdict = 'no'
  const first = words[0]!
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, at + 1)) {
    const found = phraseAt(text, at, words)
    if (found === 'yes') return 'yes'
    if (found === 'unsure') verdict = 'unsure'
  }
  return verdict
}

/** Sure only between spaces: other punctuation may join words (`1,5`, `a.b`) or part them. */
function phraseAt(text: string, start: number, words: readonly string[]): Verdict {
  let isSure = start === 0 || text.charCodeAt(start - 1) === 0x20
  let at = start
  for (const [place, word] of words.entries()) {
    if (place > 0) {
      const gapStart = at
      while (at < text.length && !isWordCode(text.charCodeAt(at))) {
        if (text.charCodeAt(at) !== 0x20) isSure = false
        at++
      }
      if (at === gapStart) isSure = false
      if (!text.startsWith(word, at)) return 'no'
    }
    at += word.length
  }
  if (at < text.length && text.charCodeAt(at) !== 0x20) isSure = false
  return isSure ? 'yes' : 'unsure'
}

function patternTest({ field, pattern }: Extract<Condition, { op: 'pattern' }>): SourceTest | undefined {
  const fieldClass = classOf(field)
  if (fieldClass !== 'text' && fieldClass !== 'keyword' && fieldClass !== 'flat') return undefined
  const mayHold = literalTest(pattern)
  const settle = keywordTest(field, text => pattern.test(text))
  if (mayHold === undefined) return settle
  return source => (mayHold(source) ? (settle?.(source) ?? 'unsure') : 'no')
}

function existsTest({ field }: Extract<Condition, { op: 'exists' }>): SourceTest | undefined {
  return keywordTest(field, () => true)
}

/** Tests a keyword that a document has once, as one string. Any other document is `unsure` and has to be parsed. */
function keywordTest(field: Field, test: (text: string) => boolean): SourceTest | undefined {
  if (field.type !== 'keyword' || field.sourcePath.length !== 1) return undefined
  const readText = topLevelString(field)
  return source => {
    const text = readText(source)
    if (typeof text !== 'string') return verdictWithout(text)
    return text === '' || text.length > field.ignoreAbove ? 'unsure' : test(text) ? 'yes' : 'no'
  }
}
