/** The Lucene query-string language: `level:ERROR AND (timeout OR "disk full") -debug`. */
import { ApiError, queryShardError } from '../../api-error.ts'
import { MATCH_ALL, MAX_CLAUSES, MAX_QUERY_DEPTH, type Query, type RangeBounds } from './query.ts'
import { type Token, tokenizeQueryString } from './query-string-lexer.ts'
import { boolOf, checkLength, leafQuery, type StringLeaf, type StringQueryOptions, withMinimum } from './string-leaf.ts'

type Occur = 'must' | 'should' | 'mustNot'

interface Clause {
  readonly query: Query
  occur: Occur
}

/** Throws 400 where the text cannot be read. Precedence of AND and OR is Lucene's: the last operator before a clause decides. */
export function parseQueryString(text: string, options: StringQueryOptions): Query {
  checkLength(text)
  if (text.trim() === '') return { kind: 'match_none', boost: 1 }
  const counted = withMinimum(new QueryStringParser(text, options).parse(), options.minimumShouldMatch)
  return { ...counted, boost: counted.boost * options.boost }
}

class QueryStringParser {
  readonly #text: string
  readonly #options: StringQueryOptions
  readonly #tokens: readonly Token[]
  #at = 0
  #clauses = 0

  constructor(text: string, options: StringQueryOptions) {
    this.#text = text
    this.#options = options
    this.#tokens = tokenizeQueryString(text)
  }

  parse(): Query {
    const query = this.#group(undefined, 1)
    const rest = this.#peek()
    if (rest !== undefined) throw this.#malformed(`unexpected [${rest.type}]`)
    const isNegative = query.kind === 'bool' && query.must.length + query.should.length === 0
    return isNegative ? { ...query, filter: [MATCH_ALL] } : query
  }

  #malformed(why: string): Error {
    return queryShardError(`Failed to parse query [${this.#text}]: ${why}`)
  }

  #peek(ahead = 0): Token | undefined {
    return this.#tokens[this.#at + ahead]
  }

  #accept<T extends Token['type']>(type: T): Extract<Token, { type: T }> | undefined {
    const token = this.#peek()
    if (token?.type !== type) return undefined
    this.#at++
    return token as Extract<Token, { type: T }>
  }

  #group(field: string | undefined, depth: number): Query {
    if (depth > MAX_QUERY_DEPTH) throw this.#malformed(`it is nested deeper than ${MAX_QUERY_DEPTH} levels`)
    const clauses: Clause[] = []
    let isPlain = true
    while (this.#peek() !== undefined && this.#peek()!.type !== 'close') {
      const joined = this.#conjunction()
      if (joined !== undefined && clauses.length === 0) throw this.#malformed(`it begins with [${joined}]`)
      const modifier = this.#modifier()
      if (modifier !== undefined) isPlain = false
      const query = (joined === undefined && modifier === undefined && this.#words(field)) || this.#clause(field, depth)
      this.#add(clauses, joined, modifier, query)
    }
    if (clauses.length === 0) throw this.#malformed('a clause is missing')
    const only = (occur: Occur) => clauses.filter(clause => clause.occur === occur).map(clause => clause.query)
    if (clauses.length === 1 && isPlain) return clauses[0]!.query
    return boolOf({ must: only('must'), should: only('should'), mustNot: only('mustNot') })
  }

  #conjunction(): 'and' | 'or' | undefined {
    if (this.#accept('and')) return 'and'
    return this.#accept('or') ? 'or' : undefined
  }

  #modifier(): 'plus' | 'not' | undefined {
    if (this.#accept('plus')) return 'plus'
    return this.#accept('minus') || this.#accept('not') ? 'not' : undefined
  }

  /** Lucene's own rule of how a clause and the one before it become required or optional. */
  #add(clauses: Clause[], joined: 'and' | 'or' | undefined, modifier: 'plus' | 'not' | undefined, query: Query): void {
    if (++this.#clauses > MAX_CLAUSES) throw new ApiError(400, 'too_many_clauses', `maxClauseCount is set to ${MAX_CLAUSES}`)
    const defaultAnd = this.#options.operator === 'and'
    const before = clauses.at(-1)
    if (before !== undefined && before.occur !== 'mustNot') {
      if (joined === 'and') before.occur = 'must'
      else if (joined === 'or' && defaultAnd) before.occur = 'should'
    }
    if (modifier === 'not') clauses.push({ query, occur: 'mustNot' })
    else if (defaultAnd) clauses.push({ query, occur: joined === 'or' && modifier !== 'plus' ? 'should' : 'must' })
    else clauses.push({ query, occur: modifier === 'plus' || joined === 'and' ? 'must' : 'should' })
  }

  /** Neighbouring plain words are matched together, as one text. */
  #words(field: string | undefined): Query | undefined {
    const words: string[] = []
    for (;;) {
      const token = this.#peek()
      const next = this.#peek(1)?.type
      const word = wordOf(token, words.length > 0)
      if (word === undefined) break
      if (next === 'colon' || next === 'boost' || next === 'tilde' || next === 'and' || next === 'or') break
      words.push(word)
      this.#at++
    }
    if (words.length === 0) return undefined
    return leafQuery({ kind: 'words', text: words.join(' ') }, field, this.#options)
  }

  #clause(outer: string | undefined, depth: number): Query {
    const field = this.#fieldName() ?? outer
    if (this.#accept('open')) {
      const query = this.#group(field, depth + 1)
      if (!this.#accept('close')) throw this.#malformed('a parenthesis is not closed')
      return this.#boosted(query)
    }
    if (field === '_exists_') return this.#exists()
    return this.#boosted(this.#leaf(field))
  }

  #fieldName(): string | undefined {
    const token = this.#peek()
    if (token?.type !== 'term' || this.#peek(1)?.type !== 'colon') return undefined
    if (token.wild && token.text !== '*') throw this.#malformed(`a [*] in a field name must be escaped: [${token.text}]`)
    this.#at += 2
    return token.text.replace(/\\(.)/g, '$1')
  }

  #exists(): Query {
    const token = this.#accept('term') ?? this.#accept('phrase')
    if (token === undefined) throw this.#malformed('[_exists_:] must be followed by a field name')
    return leafQuery({ kind: 'exists' }, token.text, this.#options)
  }

  #boosted(query: Query): Query {
    const boost = this.#accept('boost')
    return boost === undefined ? query : { ...query, boost: query.boost * boost.value }
  }

  #leaf(field: string | undefined): Query {
    const token = this.#peek()
    this.#at++
    switch (token?.type) {
      case 'term':
        return this.#term(token, field)
      case 'regex':
        this.#accept('tilde')
        return leafQuery({ kind: 'regex', text: token.text }, field, this.#options)
      case 'phrase':
        return leafQuery(
          { kind: 'phrase', text: token.text, slop: this.#accept('tilde')?.value ?? this.#options.phraseSlop },
          field,
          this.#options,
        )
      case 'range':
        return leafQuery({ kind: 'range', bounds: rangeBounds(token) }, field, this.#options)
      case 'compare':
        return leafQuery({ kind: 'range', bounds: { [token.operator]: token.value } }, field, this.#options)
      default:
        throw this.#malformed(token === undefined ? 'it ends where a term is expected' : `unexpected [${token.type}]`)
    }
  }

  #term(token: Extract<Token, { type: 'term' }>, field: string | undefined): Query {
    const tilde = this.#accept('tilde')
    if (tilde !== undefined) {
      if (token.wild) throw this.#malformed(`[~] behind the pattern [${token.text}]`)
      return leafQuery({ kind: 'fuzzy', text: token.text, fuzziness: tilde.value?.toString() }, field, this.#options)
    }
    if (token.wild && token.text === '*') {
      const isAny = field === undefined ? this.#options.fields.some(({ pattern }) => pattern === '*') : field === '*'
      if (isAny) return { kind: 'match_all', boost: 1 }
      return leafQuery({ kind: 'exists' }, field, this.#options)
    }
    if (token.wild && this.#options.refusesLeadingWildcard === true && /^[*?]/.test(token.text))
      throw this.#malformed(`[*] or [?] must not stand first in the pattern [${token.text}]`)
    const leaf: StringLeaf = token.wild ? { kind: 'pattern', text: token.text } : { kind: 'words', text: token.text }
    return leafQuery(leaf, field, this.#options)
  }
}

/** Beside a word in front of it a comparison is one, too. */
function wordOf(token: Token | undefined, isBesideWord: boolean): string | undefined {
  if (token?.type === 'compare') return isBesideWord ? token.raw : undefined
  return token?.type === 'term' && !token.wild && token.isBare !== true ? token.text : undefined
}

function rangeBounds(token: Extract<Token, { type: 'range' }>): RangeBounds {
  return {
    ...(token.from !== '*' && { [token.includeFrom ? 'gte' : 'gt']: token.from }),
    ...(token.to !== '*' && { [token.includeTo ? 'lte' : 'lt']: token.to }),
  }
}
