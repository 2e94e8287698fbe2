/** Splits the Lucene query-string language into tokens. */
import { queryShardError } from '../../api-error.ts'

export type Token =
  | { readonly type: 'and' | 'or' | 'not' | 'plus' | 'minus' | 'open' | 'close' | 'colon' }
  /** `wild` when it holds an unescaped `*` or `?`; `text` then keeps its escapes. `isBare`: an operator before a space. */
  | { readonly type: 'term'; readonly text: string; readonly wild: boolean; readonly isBare?: true }
  | { readonly type: 'phrase' | 'regex'; readonly text: string }
  | { readonly type: 'boost'; readonly value: number }
  | { readonly type: 'tilde'; readonly value: number | undefined }
  | { readonly type: 'range'; readonly from: string; readonly to: string; readonly includeFrom: boolean; readonly includeTo: boolean }
  /** `raw` is the whole of it, which is a word beside other words. */
  | { readonly type: 'compare'; readonly operator: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: string; readonly raw: string }

const SINGLE: Readonly<Record<string, Token>> = {
  '(': { type: 'open' },
  ')': { type: 'close' },
  ':': { type: 'colon' },
  '+': { type: 'plus' },
  '-': { type: 'minus' },
  '!': { type: 'not' },
}

const WORDS: Readonly<Record<string, Token>> = {
  AND: { type: 'and' },
  OR: { type: 'or' },
  NOT: { type: 'not' },
}

const SPACE = /[\s\u3000]/
/** Lucene takes such an operator for a word. */
const BARE = /^[+\-!][\s\u3000]$/
const ENDS_TERM = /[\s\u3000!():^[\]"{}~/]/

export function tokenizeQueryString(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at]!
    if (SPACE.test(char)) at++
    else {
      const [token, next] = readToken(text, at)
      tokens.push(token)
      at = next
    }
  }
  return tokens
}

function readToken(text: string, at: number): readonly [Token, number] {
  const char = text[at]!
  if (text.startsWith('&&', at)) return [{ type: 'and' }, at + 2]
  if (text.startsWith('||', at)) return [{ type: 'or' }, at + 2]
  if (BARE.test(text.slice(at, at + 2))) return [{ type: 'term', text: char, wild: false, isBare: true }, at + 2]
  if (Object.hasOwn(SINGLE, char)) return [SINGLE[char]!, at + 1]
  if (char === '"') return readPhrase(text, at)
  if (char === '[' || char === '{') return readRange(text, at)
  if (char === '^') return readBoost(text, at)
  if (char === '~') return readTilde(text, at)
  if (char === '/') return readRegex(text, at)
  return readTerm(text, at)
}

function malformed(text: string, why: string): Error {
  return queryShardError(`Failed to parse query [${text}]: ${why}`)
}

function readPhrase(text: string, start: number): readonly [Token, number] {
  let at = start + 1
  let value = ''
  while (at < text.length && text[at] !== '"') {
    const [char, next] = text[at] === '\\' && at + 1 < text.length ? readEscape(text, at) : [text[at]!, at + 1]
    value += char
    at = next
  }
  if (at >= text.length) throw malformed(text, 'a quote is not closed')
  return [{ type: 'phrase', text: value }, at + 1]
}

/** A backslash stands for itself in it, but before a slash. */
function readRegex(text: string, start: number): readonly [Token, number] {
  let value = ''
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '/') return [{ type: 'regex', text: value }, at + 1]
    if (text[at] === '\\' && at + 1 < text.length) {
      if (text[at + 1] !== '/') value += '\\'
      at++
    }
    value += text[at]
  }
  throw malformed(text, 'a regular expression is not closed; a [/] that begins none is written [\\/]')
}

function readRange(text: string, start: number): readonly [Token, number] {
  const match = /^([[{])\s*("(?:[^"\\]|\\.)*"|[^\s\]}]+)\s+TO\s+("(?:[^"\\]|\\.)*"|[^\s\]}]+)\s*([\]}])/.exec(
    text.slice(start, start + 2000),
  )
  if (match === null) throw malformed(text, 'a range must read [from TO to]')
  const bound = (raw: string): string => (raw.startsWith('"') ? raw.slice(1, -1) : raw).replace(/\\(.)/g, '$1')
  return [
    { type: 'range', from: bound(match[2]!), to: bound(match[3]!), includeFrom: match[1] === '[', includeTo: match[4] === ']' },
    start + match[0].length,
  ]
}

function readBoost(text: string, start: number): readonly [Token, number] {
  const match = /^\^(\d{1,9}(?:\.\d{1,9})?)/.exec(text.slice(start, start + 24))
  if (match === null) throw malformed(text, '[^] must be followed by a number')
  return [{ type: 'boost', value: Number(match[1]) }, start + match[0].length]
}

function readTilde(text: string, start: number): readonly [Token, number] {
  const match = /^~(\d{1,4}(?:\.\d{1,9})?)?/.exec(text.slice(start, start + 20))!
  return [{ type: 'tilde', value: match[1] === undefined ? undefined : Number(match[1]) }, start + match[0].length]
}

/** The character that a backslash at `at` stands for, and where the text goes on: `\\u0041` is a letter, any other character itself. */
function readEscape(text: string, at: number): readonly [string, number] {
  if (text[at + 1] !== 'u') return [text[at + 1]!, at + 2]
  const digits = text.slice(at + 2, at + 6)
  if (!/^[\da-fA-F]{4}$/.test(digits)) throw malformed(text, '[\\u] must be followed by four hexadecimal digits')
  return [String.fromCharCode(Number.parseInt(digits, 16)), at + 6]
}

const WILD = /[*?\\]/

/** A word that begins with `<` or `>` compares; such a sign alone is a word. */
function comparison(text: string): Token | undefined {
  const [, sign, equals, value] = /^([<>])(=?)(.*)$/s.exec(text) ?? []
  if (sign === undefined || text.length === 1) return undefined
  const isInclusive = equals === '=' && value !== ''
  const operator = sign === '>' ? (isInclusive ? 'gte' : 'gt') : isInclusive ? 'lte' : 'lt'
  return { type: 'compare', operator, value: isInclusive ? value! : text.slice(1), raw: text }
}

function readTerm(text: string, start: number): readonly [Token, number] {
  let at = start
  let plain = ''
  let raw = ''
  let wild = false
  while (at < text.length && !ENDS_TERM.test(text[at]!)) {
    if (text[at] === '\\') {
      if (at + 1 >= text.length) throw malformed(text, 'it ends with an escape')
      const [char, next] = readEscape(text, at)
      raw += next === at + 2 ? text.slice(at, next) : WILD.test(char) ? `\\${char}` : char
      plain += char
      at = next
      continue
    }
    if (text[at] === '*' || text[at] === '?') wild = true
    plain += text[at]
    raw += text[at++]
  }
  if (at === start) throw malformed(text, `unexpected [${text[at]}]`)
  if (Object.hasOwn(WORDS, raw)) return [WORDS[raw]!, at]
  const compared = wild ? undefined : comparison(plain)
  return [compared ?? { type: 'term', text: wild ? raw : plain, wild }, at]
}
