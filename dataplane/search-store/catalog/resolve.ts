/** Index expressions: names, aliases, wildcards, exclusions, comma lists. */

import { wildcardPattern } from '../analysis/term-pattern.ts'
import { illegalArgument, indexNotFound } from '../api-error.ts'
import { parseQuery } from '../query/parse/parse.ts'
import type { Query } from '../query/parse/query.ts'
import type { Aliases, AliasTable } from './alias-table.ts'

export interface ResolveOptions {
  /** Names that are not there are passed over. */
  readonly ignoreUnavailable: boolean
  /** Wildcards may match nothing, and all of the expression together may. */
  readonly allowNoIndices: boolean
  /** False: wildcards stand for nothing. */
  readonly expandWildcards: boolean
}

export const STRICT: ResolveOptions = { ignoreUnavailable: false, allowNoIndices: true, expandWildcards: true }

/** The facts of an index that resolving needs. */
export interface Resolvable {
  readonly name: string
  readonly aliases: Aliases
}

/** Every name there is. */
export interface KnownNames<I extends Resolvable> {
  readonly indices: ReadonlyMap<string, I>
  readonly aliases: AliasTable
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

/** Throws 404 for a name that is not there, unless that is to be ignored, and for no index at all, unless that is allowed. Indices come in the order of their names. */
export function resolveExpression<I extends Resolvable>(
  expression: string,
  known: KnownNames<I>,
  options: ResolveOptions,
): readonly ResolvedIndex<I>[] {
  const names = namesOf(expression, known, options)
  if (names.size === 0 && !options.allowNoIndices) throw indexNotFound(expression, 'index_expression')
  const found: ResolvedIndex<I>[] = []
  for (const name of names) {
    const index = known.indices.get(name)
    if (index !== undefined) found.push({ index, filter: undefined })
  }
  for (const [index, aliases] of throughAliases(names, known)) found.push({ index, filter: filterOf(index, aliases) })
  return found.sort((a, b) => (a.index.name < b.index.name ? -1 : 1))
}

/** Indices that are reached through aliases alone, with these. */
function throughAliases<I extends Resolvable>(
  names: ReadonlySet<string>,
  { indices, aliases }: KnownNames<I>,
): ReadonlyMap<I, readonly string[]> {
  const reached = new Map<I, string[]>()
  const others = new Set<string>()
  for (const { name, aliases: own } of indices.values()) if (own.size > 0 && !names.has(name)) others.add(name)
  if (others.size === 0) return reached
  for (const alias of names)
    for (const name of aliases.indicesOf(alias)) {
      if (!others.has(name)) continue
      const index = indices.get(name)!
      const own = reached.get(index)
      if (own === undefined) reached.set(index, [alias])
      else own.push(alias)
    }
  return reached
}

/** Names of indices and aliases that an expression stands for. */
function namesOf<I extends Resolvable>(expression: string, known: KnownNames<I>, options: ResolveOptions): ReadonlySet<string> {
  const isKnown = (name: string) => known.indices.has(name) || known.aliases.has(name)
  const parts = expression.split(',').map(part => part.trim())
  if (parts.length > MAX_EXPRESSIONS) throw illegalArgument(`an index expression may name at most ${MAX_EXPRESSIONS} indices`)
  if (parts.length === 1 && ALL.has(parts[0]!)) return new Set(options.expandWildcards ? matching('_all', known) : [])
  const wildcards = parts.filter(part => part.includes('*')).length
  if (wildcards > MAX_WILDCARDS) throw illegalArgument(`an index expression may hold at most ${MAX_WILDCARDS} patterns, found ${wildcards}`)
  const names = new Set<string>()
  let seenWildcard = false
  for (const part of parts) {
    const isExclusion = part.startsWith('-') && seenWildcard
    const pattern = isExclusion ? part.slice(1) : part
    const isWild = pattern.includes('*') || pattern === '_all'
    if (isWild) seenWildcard = true
    const found = isWild ? (options.expandWildcards ? matching(pattern, known) : []) : isKnown(pattern) ? [pattern] : []
    if (isExclusion) for (const name of found) names.delete(name)
    else {
      if (found.length === 0 && (isWild ? !options.allowNoIndices : !options.ignoreUnavailable)) throw indexNotFound(pattern)
      for (const name of found) names.add(name)
    }
  }
  return names
}

function matching<I extends Resolvable>(pattern: string, { indices, aliases }: KnownNames<I>): readonly string[] {
  const all = [...indices.keys(), ...aliases.names()]
  if (pattern === '_all' || pattern === '*') return all
  const wildcard = wildcardPattern(pattern, false)
  // The usual pattern is a prefix and a star.
  const isPrefix = pattern === `${wildcard.prefix}*`
  return all.filter(name => name.startsWith(wildcard.prefix) && (isPrefix || wildcard.test(name)))
}

/** Several filtered aliases of one index show what any of them shows. */
function filterOf(index: Resolvable, aliases: readonly string[]): Query | undefined {
  const filters = aliases.map(alias => index.aliases.get(alias)!.filter)
  if (filters.some(filter => filter === undefined)) return undefined
  const queries = filters.map(filter => parseQuery(filter))
  if (queries.length === 1) return queries[0]
  return { kind: 'bool', must: [], filter: [], should: queries, mustNot: [], boost: 1 }
}
