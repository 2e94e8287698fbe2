/** The simple query-string language: `timeout + ("disk full" | oom*) -debug`. It never refuses a text: what makes no sense is left out. */
import { ApiError } from '../../api-error.ts'
import { MATCH_ALL, MAX_CLAUSES, MAX_QUERY_DEPTH, type Query } from './query.ts'
import { boolOf, checkLength, leafQuery, type StringQueryOptions, withMinimum } from './string-leaf.ts'

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
  checkLength(text)
  const parser = new SimpleQueryStringParser(text, options)
  const query = parser.parse()
  if (query === undefined) return { kind: 'match_none', boost: 1 }
  const counted = withMinimum(query, options.minimumShouldMatch)
  return { ...counted, boost: counted.boost * options.boost }
}

/** Where each opening parenthesis is closed. */
function closingsOf(text: string): ReadonlyMap<number, number> {
  const closings = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '(') open.push(at)
    else if (char === ')' && open.length > 0) closings.set(open.pop()!, at)
  }
  return closings
}

class SimpleQueryStringParser {
  readonly #text: string
  readonly #options: StringQueryOptions
  readonly #closings: ReadonlyMap<number, number>
  #at = 0
  #clauses = 0

  constructor(text: string, options: StringQueryOptions) {
    this.#text = text
    this.#closings = closingsOf(text)
    this.#options = options
  }

  parse(): Query | undefined {
    return this.#group(1, this.#text.length)
  }

  #group(depth: number, end: number): Query | undefined {
    const group = newGroup()
    while (this.#at < end) this.#step(this.#text[this.#at]!, group, depth, end)
    return group.top
  }

  #step(char: string, group: Group, depth: number, end: number): void {
    if (char === '-') {
      group.negations++
      this.#at++
      return
    }
    if (/\s/.test(char) || char === ')') this.#at++
    else if (char === '(') {
      this.#parenthesis(group, depth, end)
    } else if (char === '+' || char === '|') {
      if (group.top !== undefined) group.pending ??= char === '+' ? 'and' : 'or'
      this.#at++
    } else if (char === '"') this.#phrase(group, end)
    else this.#add(group, this.#word(end))
    // A minus counts for what follows it at once.
    group.negations = 0
  }

  /** An opening one that is never closed is left out; an empty pair takes the operator before it along. */
  #parenthesis(group: Group, depth: number, end: number): void {
    const start = ++this.#at
    const close = this.#closings.get(start - 1)
    if (close === undefined || close >= end || depth >= MAX_QUERY_DEPTH) return
    if (close === start) group.pending = undefined
    else this.#add(group, this.#group(depth + 1, close))
    this.#at = close + 1
  }

  #add(group: Group, query: Query | undefined): void {
    if (query === undefined) return
    if (++this.#clauses > MAX_CLAUSES) throw new ApiError(400, 'too_many_clauses', `maxClauseCount is set to ${MAX_CLAUSES}`)
    const branch = group.negations % 2 === 1 ? boolOf({ mustNot: [query], should: [MATCH_ALL] }) : query
    const operation = group.pending ?? this.#options.operator
    if (group.top === undefined) group.top = branch
    else {
      if (group.operation !== operation) group.clauses.splice(0, group.clauses.length, group.top)
      group.clauses.push(branch)
      group.operation = operation
      group.top = boolOf(operation === 'and' ? { must: [...group.clauses] } : { should: [...group.clauses] })
    }
    group.pending = undefined
  }

  /** A quote that is never closed is left out; an empty pair takes the operator before it along. */
  #phrase(group: Group, end: number): void {
    const start = ++this.#at
    let text = ''
    let at = start
    for (; at < end && this.#text[at] !== '"'; at++) {
      if (this.#text[at] === '\\' && at + 1 < end) at++
      text += this.#text[at]
    }
    if (at >= end) return
    this.#at = at + 1
    if (at === start) {
      group.pending = undefined
      return
    }
    this.#add(group, leafQuery({ kind: 'phrase', text, slop: this.#tilde() ?? this.#options.phraseSlop }, undefined, this.#options))
  }

  #tilde(): number | undefined {
    const match = /^~(\d{1,3})/.exec(this.#text.slice(this.#at, this.#at + 5))
    if (match === null) return undefined
    this.#at += match[0].length
    return Number(match[1])
  }

  #word(end: number): Query {
    let text = ''
    /** Characters up to here came with a backslash, so that none of them is a sign. */
    let plain = 0
    while (this.#at < end && !/[\s+|()"]/.test(this.#text[this.#at]!)) {
      const isEscaped = this.#text[this.#at] === '\\' && this.#at + 1 < end
      if (isEscaped) this.#at++
      text += this.#text[this.#at++]
      if (isEscaped) plain = text.length
    }
    const fuzzy = /^(.+)~(\d{0,9})$/s.exec(text)
    if (fuzzy !== null && fuzzy[1]!.length >= plain)
      return leafQuery({ kind: 'fuzzy', text: fuzzy[1]!, fuzziness: fuzzy[2] || '2' }, undefined, this.#options)
    if (text.length > Math.max(1, plain) && text.endsWith('*')) {
      const prefix = text.slice(0, -1).replace(/[*?\\]/g, '\\$&')
      return leafQuery({ kind: 'pattern', text: `${prefix}*` }, undefined, this.#options)
    }
    return leafQuery({ kind: 'words', text }, undefined, this.#options)
  }
}
