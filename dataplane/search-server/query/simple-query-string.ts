/** The simple query-string language: `timeout + ("disk full" | oom*) -debug`. It never refuses a text: what makes no sense is left out. */
import { ApiError } from '../api-error.ts'
import { MAX_CLAUSES, MAX_QUERY_DEPTH, type Query } from './query.ts'
import { boolOf, leafQuery, type StringQueryOptions } from './string-leaf.ts'

type Operation = 'and' | 'or'

interface Group {
  readonly clauses: Query[]
  operation: Operation | undefined
  /** Written before the next clause. */
  pending: Operation | undefined
  negations: number
  top: Query | undefined
}

const newGroup = (): Group => ({ clauses: [], operation: undefined, pending: undefined, negations: 0, top: undefined })

export function parseSimpleQueryString(text: string, options: StringQueryOptions): Query {
  const parser = new SimpleQueryStringParser(text, options)
  const query = parser.parse()
  if (query === undefined) return { kind: 'match_none', boost: 1 }
  const minimum = options.minimumShouldMatch
  const withMinimum =
    query.kind === 'bool' && minimum !== undefined && query.should.length > 0 ? { ...query, minimumShouldMatch: minimum } : query
  return { ...withMinimum, boost: withMinimum.boost * options.boost }
}

class SimpleQueryStringParser {
  readonly #text: string
  readonly #options: StringQueryOptions
  #at = 0
  #clauses = 0

  constructor(text: string, options: StringQueryOptions) {
    this.#text = text
    this.#options = options
  }

  parse(): Query | undefined {
    return this.#group(1)
  }

  /** Reads up to the closing parenthesis, or to the end of the text. */
  #group(depth: number): Query | undefined {
    const group = newGroup()
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!
      if (char === ')' && depth > 1) break
      this.#step(char, group, depth)
    }
    return group.top
  }

  #step(char: string, group: Group, depth: number): void {
    if (/\s/.test(char) || char === ')') this.#at++
    else if (char === '(') {
      this.#at++
      if (depth >= MAX_QUERY_DEPTH) return
      const inner = this.#group(depth + 1)
      this.#at++
      this.#add(group, inner)
    } else if (char === '+' || char === '|') {
      if (group.top !== undefined) group.pending ??= char === '+' ? 'and' : 'or'
      this.#at++
    } else if (char === '-') {
      group.negations++
      this.#at++
    } else if (char === '"') this.#add(group, this.#phrase())
    else this.#add(group, this.#word())
  }

  #add(group: Group, query: Query | undefined): void {
    if (query === undefined) return
    if (++this.#clauses > MAX_CLAUSES) throw new ApiError(400, 'too_many_clauses', `maxClauseCount is set to ${MAX_CLAUSES}`)
    const branch = group.negations % 2 === 1 ? boolOf({ mustNot: [query] }) : query
    const operation = group.pending ?? this.#options.operator
    if (group.top === undefined) group.top = branch
    else {
      if (group.operation !== operation) group.clauses.splice(0, group.clauses.length, group.top)
      group.clauses.push(branch)
      group.operation = operation
      group.top = boolOf(operation === 'and' ? { must: [...group.clauses] } : { should: [...group.clauses] })
    }
    group.pending = undefined
    group.negations = 0
  }

  #phrase(): Query | undefined {
    const end = this.#text.indexOf('"', this.#at + 1)
    if (end < 0) {
      this.#at++
      return undefined
    }
    const text = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    const slop = this.#tilde() ?? this.#options.phraseSlop
    return text.trim() === '' ? undefined : leafQuery({ kind: 'phrase', text, slop }, undefined, this.#options)
  }

  #tilde(): number | undefined {
    const match = /^~(\d{1,3})/.exec(this.#text.slice(this.#at, this.#at + 5))
    if (match === null) return undefined
    this.#at += match[0].length
    return Number(match[1])
  }

  #word(): Query {
    let text = ''
    while (this.#at < this.#text.length && !/[\s+|()"]/.test(this.#text[this.#at]!)) {
      if (this.#text[this.#at] === '\\' && this.#at + 1 < this.#text.length) this.#at++
      text += this.#text[this.#at++]
    }
    if (/~\d?$/.test(text))
      throw new ApiError(400, 'illegal_argument_exception', 'fuzzy terms are not supported by the embedded search store')
    if (text.length > 1 && text.endsWith('*')) {
      const prefix = text.slice(0, -1).replace(/[*?\\]/g, '\\$&')
      return leafQuery({ kind: 'pattern', text: `${prefix}*` }, undefined, this.#options)
    }
    return leafQuery({ kind: 'words', text }, undefined, this.#options)
  }
}
