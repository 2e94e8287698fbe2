/** Cuts a search into tokens. */
import type { Place, SearchProblem } from './expression.ts'
import { unescapeQuoted } from './spelling.ts'

export type Token = Place &
  (
    | { readonly kind: 'open' | 'close' | 'and' | 'or' | 'not' }
    /** A field with its colon; a value stands right behind it. */
    | { readonly kind: 'field'; readonly name: string }
    /** `text` without escapes, `pattern` with them; `isWild` where an unescaped `*` or `?` stands in it. */
    | { readonly kind: 'word'; readonly text: string; readonly pattern: string; readonly isWild: boolean }
    | { readonly kind: 'phrase'; readonly text: string }
    | { readonly kind: 'compare'; readonly operator: '>' | '>=' | '<' | '<=' }
    | { readonly kind: 'range'; readonly from: string; readonly to: string; readonly includesFrom: boolean; readonly includesTo: boolean }
  )

/** Thrown by the lexer and the parser, caught by `parseSearch`. */
export class SearchError extends Error {
  readonly problem: SearchProblem
  constructor(problem: SearchProblem) {
    super(problem.message)
    this.problem = problem
  }
}

const WORDS: Readonly<Record<string, 'and' | 'or' | 'not'>> = { AND: 'and', OR: 'or', NOT: 'not' }
const SPACE = /\s/
/** Signs that end a word. A colon ends one only behind the name of a field. */
const ENDS_WORD = /[\s()"]/
/** Names of fields begin with a letter, so that `12:30:05` is text. What else stands in a name has a backslash before it. */
const FIELD = /^((?:[\p{L}_@]|\\.)(?:[\p{L}\p{N}_@.\-/]|\\.)*):/su
/** Characters of a name. */
export const MAX_FIELD_LENGTH = 500
const RANGE = /^([[{])\s*("(?:[^"\\]|\\.)*"|[^\s\]}"]+)\s+TO\s+("(?:[^"\\]|\\.)*"|[^\s\]}"]+)\s*([\]}])/

export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    if (SPACE.test(text[at]!)) {
      at++
      continue
    }
    const token = readToken(text, at, isValuePlace(tokens, at))
    tokens.push(token)
    at = token.end
  }
  return tokens
}

/** Whether a value of the field before is expected at this place. */
function isValuePlace(tokens: readonly Token[], at: number): boolean {
  const last = tokens.at(-1)
  return (last?.kind === 'field' || last?.kind === 'compare') && last.end === at
}

function readToken(text: string, at: number, isValue: boolean): Token {
  const char = text[at]!
  if (char === '(') return { kind: 'open', at, end: at + 1 }
  if (char === ')') return { kind: 'close', at, end: at + 1 }
  if (char === '"') return readPhrase(text, at)
  if (isValue && (char === '>' || char === '<')) {
    const operator = text[at + 1] === '=' ? (`${char}=` as const) : char
    return { kind: 'compare', operator, at, end: at + operator.length }
  }
  if (isValue && (char === '[' || char === '{')) return readRange(text, at)
  if (!isValue && (char === '-' || char === '!') && at + 1 < text.length && !SPACE.test(text[at + 1]!))
    return { kind: 'not', at, end: at + 1 }
  if (!isValue) {
    const field = FIELD.exec(text.slice(at, at + 2 * MAX_FIELD_LENGTH + 1))
    // An address such as https://example.com is text.
    if (field !== null && !text.startsWith('//', at + field[0].length))
      return { kind: 'field', name: field[1]!.replace(/\\(.)/gsu, '$1'), at, end: at + field[0].length }
  }
  return readWord(text, at, isValue)
}

function readWord(text: string, at: number, isValue: boolean): Token {
  let end = at
  let plain = ''
  let pattern = ''
  let isWild = false
  while (end < text.length && !ENDS_WORD.test(text[end]!)) {
    const char = text[end]!
    if (char === '\\' && end + 1 < text.length) {
      plain += text[end + 1]
      pattern += text.slice(end, end + 2)
      end += 2
      continue
    }
    if (char === '*' || char === '?') isWild = true
    plain += char
    pattern += char
    end++
  }
  const keyword = Object.hasOwn(WORDS, pattern) && !isValue ? WORDS[pattern] : undefined
  if (keyword !== undefined) return { kind: keyword, at, end }
  return { kind: 'word', text: plain, pattern, isWild, at, end }
}

function readPhrase(text: string, at: number): Token {
  let end = at + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' && end + 1 < text.length ? 2 : 1
  if (end >= text.length)
    throw new SearchError({ at, end: text.length, message: 'The quote that begins here is not closed.', instead: `${text.slice(at)}"` })
  return { kind: 'phrase', text: unescapeQuoted(text.slice(at + 1, end)), at, end: end + 1 }
}

function readRange(text: string, at: number): Token {
  const match = RANGE.exec(text.slice(at, at + 1000))
  if (match === null)
    throw new SearchError({ at, end: text.length, message: 'A range has two ends with TO between them.', instead: '[100 TO 500]' })
  const bound = (raw: string): string => (raw.startsWith('"') ? unescapeQuoted(raw.slice(1, -1)) : raw.replace(/\\(.)/g, '$1'))
  return {
    kind: 'range',
    from: bound(match[2]!),
    to: bound(match[3]!),
    includesFrom: match[1] === '[',
    includesTo: match[4] === ']',
    at,
    end: at + match[0].length,
  }
}
