/** Index expressions: names, aliases, wildcards, exclusions, comma lists. */
import { illegalArgument, indexNotFound } from '../api-error.ts'
import { parseQuery } from '../query/parse.ts'
import type { Query } from '../query/query.ts'
import { wildcardPattern } from '../query/term-pattern.ts'
import type { AliasConfig } from './alias.ts'

export interface ResolveOptions {
  /** Names that are not there are passed over. */
  readonly ignoreUnavailable: boolean
  /** Wildcards may match nothing. */
  readonly allowNoIndices: boolean
  /** False: wildcards stand for nothing. */
  readonly expandWildcards: boolean
}

export const STRICT: ResolveOptions = { ignoreUnavailable: false, allowNoIndices: true, expandWildcards: true }

/** What resolving needs to know of an index. */
export interface Resolvable {
  readonly name: string
  readonly aliases: Readonly<Record<string, AliasConfig>>
}

export interface ResolvedIndex<I extends Resolvable> {
  readonly index: I
  /** Set when it was reached through filtered aliases alone. */
  readonly filter: Query | undefined
}

const MAX_EXPRESSIONS = 10_000
/** Patterns of one expression: each is held against every name that there is. */
const MAX_WILDCARDS = 100
const ALL = new Set(['', '*', '_all'])

/** Throws 404 for a name that is not there, unless that is to be ignored. Indices come in the order of their names. */
export function resolveExpression<I extends Resolvable>(
  expression: string,
  indices: readonly I[],
  options: ResolveOptions,
): readonly ResolvedIndex<I>[] {
  const names = namesOf(expression, indices, options)
  return indices
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(index => {
      if (names.has(index.name)) return [{ index, filter: undefined }]
      const aliases = Object.keys(index.aliases).filter(alias => names.has(alias))
      return aliases.length === 0 ? [] : [{ index, filter: filterOf(index, aliases) }]
    })
}

/** Names of indices and aliases that an expression stands for. */
function namesOf(expression: string, indices: readonly Resolvable[], options: ResolveOptions): ReadonlySet<string> {
  const known = new Set(indices.flatMap(index => [index.name, ...Object.keys(index.aliases)]))
  const parts = expression.split(',').map(part => part.trim())
  if (parts.length > MAX_EXPRESSIONS) throw illegalArgument(`an index expression may name at most ${MAX_EXPRESSIONS} indices`)
  if (parts.length === 1 && ALL.has(parts[0]!)) return options.expandWildcards ? known : new Set()
  const wildcards = parts.filter(part => part.includes('*')).length
  if (wildcards > MAX_WILDCARDS) throw illegalArgument(`an index expression may hold at most ${MAX_WILDCARDS} patterns, found ${wildcards}`)
  const names = new Set<string>()
  let seenWildcard = false
  for (const part of parts) {
    const isExclusion = part.startsWith('-') && seenWildcard
    const pattern = isExclusion ? part.slice(1) : part
    const isWild = pattern.includes('*') || pattern === '_all'
    if (isWild) seenWildcard = true
    const found = isWild ? (options.expandWildcards ? matching(pattern, known) : []) : known.has(pattern) ? [pattern] : []
    if (isExclusion) for (const name of found) names.delete(name)
    else {
      if (found.length === 0 && (isWild ? !options.allowNoIndices : !options.ignoreUnavailable)) throw indexNotFound(pattern)
      for (const name of found) names.add(name)
    }
  }
  return names
}

function matching(pattern: string, known: ReadonlySet<string>): readonly string[] {
  if (pattern === '_all') return [...known]
  const wildcard = wildcardPattern(pattern, false)
  return [...known].filter(name => wildcard.test(name))
}

/** Several filtered aliases of one index show what any of them shows. */
function filterOf(index: Resolvable, aliases: readonly string[]): Query | undefined {
  const filters = aliases.map(alias => index.aliases[alias]!.filter)
  if (filters.some(filter => filter === undefined)) return undefined
  const queries = filters.map(filter => parseQuery(filter))
  if (queries.length === 1) return queries[0]
  return { kind: 'bool', must: [], filter: [], should: queries, mustNot: [], boost: 1 }
}
