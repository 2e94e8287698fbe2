/**
 * The language of the search box: `timeout service:orders -level:INFO duration_ms:>500`.
 * Terms beside each other must all hold; OR binds weaker than AND; NOT and `-` turn one term.
 */
import type { Expression, Parsed, Test } from './expression.ts'
import { SearchError, type Token, tokenize } from './tokens.ts'

/** Characters of a search. */
export const MAX_SEARCH_LENGTH = 4_000
/** Parentheses within each other. */
export const MAX_SEARCH_DEPTH = 20
/** Terms of a search. */
const MAX_SEARCH_TERMS = 200

export function parseSearch(text: string): Parsed {
  try {
    if (text.length > MAX_SEARCH_LENGTH)
      throw new SearchError({
        at: MAX_SEARCH_LENGTH,
        end: text.length,
        message: `The search has ${text.length} characters, and may have ${MAX_SEARCH_LENGTH}.`,
        instead: 'fewer terms',
      })
    return { ok: true, expression: new SearchParser(text).parse() }
  } catch (error) {
    if (error instanceof SearchError) return { ok: false, problem: error.problem }
    throw error
  }
}

class SearchParser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #next = 0
  #terms = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = tokenize(text)
  }

  parse(): Expression {
    if (this.#tokens.length === 0) return { kind: 'everything', at: 0, end: this.#text.length }
    const expression = this.#any(0)
    const rest = this.#tokens[this.#next]
    if (rest !== undefined) throw this.#problem(rest, 'This parenthesis closes nothing.', this.#without(rest))
    return expression
  }

  #any(depth: number): Expression {
    const parts = [this.#all(depth)]
    while (this.#accept('or') !== undefined) parts.push(this.#all(depth))
    return joined('any', parts)
  }

  #all(depth: number): Expression {
    const parts = [this.#term(depth)]
    for (;;) {
      const isJoined = this.#accept('and') !== undefined
      const token = this.#peek()
      if (!isJoined && (token === undefined || token.kind === 'or' || token.kind === 'close')) return joined('all', parts)
      parts.push(this.#term(depth))
    }
  }

  #term(depth: number): Expression {
    const token = this.#peek()
    if (token === undefined) throw this.#missing('A term is missing at the end.')
    if (++this.#terms > MAX_SEARCH_TERMS)
      throw this.#problem(token, `The search has more than ${MAX_SEARCH_TERMS} terms.`, 'fewer terms, or field:(a OR b)')
    this.#next++
    if (token.kind === 'not') {
      const part = this.#term(depth + 1)
      return { kind: 'not', part, at: token.at, end: part.end }
    }
    if (token.kind === 'open') {
      const inner = this.#group(token, depth)
      return { ...inner, at: token.at, end: this.#tokens[this.#next - 1]!.end }
    }
    if (token.kind === 'field') return this.#fieldTerm(token)
    if (token.kind === 'word' || token.kind === 'phrase') return { kind: 'text', test: textTest(token), at: token.at, end: token.end }
    if (token.kind === 'and' || token.kind === 'or') {
      const name = token.kind.toUpperCase()
      throw this.#problem(token, `A term is missing beside ${name}.`, `error ${name} timeout, or "${name}" in quotes for the word`)
    }
    throw this.#problem(token, 'A term is missing here.', this.#without(token))
  }

  #group(open: Token, depth: number): Expression {
    if (depth >= MAX_SEARCH_DEPTH)
      throw this.#problem(open, `Parentheses stand within each other more than ${MAX_SEARCH_DEPTH} times.`, 'fewer of them')
    const inner = this.#any(depth + 1)
    if (this.#accept('close') === undefined)
      throw this.#problem(open, 'The parenthesis that opens here is not closed.', `${this.#text.slice(open.at)})`)
    return inner
  }

  #fieldTerm(field: Token & { kind: 'field' }): Expression {
    const value = this.#peek()
    if (value === undefined || value.at !== field.end)
      throw this.#problem(field, `The value of ${field.name} is missing.`, `${field.name}:value, or ${field.name}:* where it has any`)
    const test = this.#value(field)
    const { end } = this.#tokens[this.#next - 1]!
    // Lucene writes "has a value" so.
    if (field.name === '_exists_' && test.kind === 'is')
      return { kind: 'field', field: test.value, test: { kind: 'exists' }, at: field.at, end }
    return { kind: 'field', field: field.name, test, at: field.at, end }
  }

  #value(field: Token & { kind: 'field' }): Test {
    const token = this.#tokens[this.#next++]!
    if (token.kind === 'word' || token.kind === 'phrase')
      return token.kind === 'word' && token.text === '*' ? { kind: 'exists' } : textTest(token)
    if (token.kind === 'compare') {
      const limit = this.#tokens[this.#next]
      if ((limit?.kind !== 'word' && limit?.kind !== 'phrase') || limit.at !== token.end)
        throw this.#problem(token, `A number or a time is missing behind ${token.operator}.`, `${field.name}:${token.operator}500`)
      this.#next++
      const bound = { value: limit.text, isIncluded: token.operator.endsWith('=') }
      return token.operator.startsWith('>') ? { kind: 'between', from: bound } : { kind: 'between', to: bound }
    }
    if (token.kind === 'range')
      return {
        kind: 'between',
        ...(token.from !== '*' && { from: { value: token.from, isIncluded: token.includesFrom } }),
        ...(token.to !== '*' && { to: { value: token.to, isIncluded: token.includesTo } }),
      }
    if (token.kind === 'open') return this.#values(field, token)
    throw this.#problem(token, `The value of ${field.name} is missing.`, `${field.name}:value`)
  }

  /** `field:(a OR "b c" OR d*)` */
  #values(field: Token & { kind: 'field' }, open: Token): Test {
    const tests: Test[] = []
    for (;;) {
      const token = this.#tokens[this.#next++]
      if (token?.kind !== 'word' && token?.kind !== 'phrase')
        throw this.#problem(token ?? open, `${field.name} has values in parentheses, with OR between them.`, `${field.name}:(one OR two)`)
      if (++this.#terms > MAX_SEARCH_TERMS)
        throw this.#problem(token, `The search has more than ${MAX_SEARCH_TERMS} terms.`, 'fewer values')
      tests.push(textTest(token))
      if (this.#accept('close') !== undefined) return tests.length === 1 ? tests[0]! : { kind: 'any', tests }
      if (this.#accept('or') === undefined) {
        const next = this.#peek()
        throw this.#problem(
          next ?? open,
          next === undefined ? 'The parenthesis that opens here is not closed.' : `OR is missing between values of ${field.name}.`,
          `${field.name}:(one OR two)`,
        )
      }
    }
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#next]
  }

  #accept(kind: Token['kind']): Token | undefined {
    const token = this.#peek()
    if (token?.kind !== kind) return undefined
    this.#next++
    return token
  }

  #without({ at, end }: Token): string {
    return `${this.#text.slice(0, at)}${this.#text.slice(end)}`.trim() || 'a word, or field:value'
  }

  #problem({ at, end }: Token, message: string, instead: string): SearchError {
    return new SearchError({ at, end, message, instead })
  }

  #missing(message: string): SearchError {
    const last = this.#tokens.at(-1)!
    return this.#problem(last, message, this.#without(last))
  }
}

function textTest(token: Token & { kind: 'word' | 'phrase' }): Test {
  if (token.kind === 'phrase') return { kind: 'is', value: token.text, isQuoted: true }
  return token.isWild ? { kind: 'like', pattern: token.pattern } : { kind: 'is', value: token.text, isQuoted: false }
}

function joined(kind: 'all' | 'any', parts: readonly Expression[]): Expression {
  if (parts.length === 1) return parts[0]!
  return { kind, parts, at: parts[0]!.at, end: parts.at(-1)!.end }
}
