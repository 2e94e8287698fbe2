/** Index expressions: names, aliases, wildcards, exclusions, comma lists. */

import { wildcardPattern } from '../analysis/term-pattern.ts'
import { illegalArgument, indexClosed, indexNotFound } from '../api-error.ts'
import { parseQuery } from '../query/parse/parse.ts'
import type { Query } from '../query/parse/query.ts'
import type { Aliases, AliasTable } from './alias-table.ts'

export interface ResolveOptions {
  /** Names that are not there are passed over. */
  readonly ignoreUnavailable: boolean
  /** Wildcards may match nothing, and all of the expression together may. */
  readonly allowNoIndices: boolean
  /** Indices that wildcards stand for; none of them: wildcards stand for nothing. */
  readonly expand: Expansion
  /** Whether data streams count; their indices by their own names always do. */
  readonly withStreams?: boolean
  /** Whether closed indices may be named; they are an error otherwise, or passed over with `ignoreUnavailable`. */
  readonly allowClosed: boolean
}

export interface Expansion {
  readonly open: boolean
  readonly closed: boolean
  readonly hidden: boolean
}

export const OPEN: Expansion = { open: true, closed: false, hidden: false }

export const STRICT: ResolveOptions = { ignoreUnavailable: false, allowNoIndices: true, expand: OPEN, allowClosed: false }

/** The facts of an index that resolving needs. */
export interface Resolvable {
  readonly name: string
  readonly aliases: Aliases
  readonly isClosed: boolean
  /** Wildcards pass it over. */
  readonly isHidden: boolean
}

/** Every name there is. */
export interface KnownNames<I extends Resolvable> {
  readonly indices: ReadonlyMap<string, I>
  readonly aliases: AliasTable
  /** Data streams, each with the names of its indices. */
  readonly streams: AliasTable
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
  const { names, excluded } = namesOf(expression, known, options)
  if (names.size === 0 && !options.allowNoIndices) throw indexNotFound(expression, 'index_expression')
  const found: ResolvedIndex<I>[] = []
  for (const name of names) {
    const index = known.indices.get(name)
    if (index !== undefined) found.push({ index, filter: undefined })
  }
  const named = new Set(expression.split(',').map(part => part.trim()))
  for (const [index, aliases] of throughAliases(names, known)) {
    const isMeant = !index.isClosed || options.expand.closed || aliases.some(alias => named.has(alias))
    if (isMeant && !excluded.has(index.name)) found.push({ index, filter: filterOf(index, aliases) })
  }
  return withoutClosed(found, options).sort((a, b) => (a.index.name < b.index.name ? -1 : 1))
}

/** Throws 400 for a closed index that the request cannot be about. */
function withoutClosed<I extends Resolvable>(
  found: ResolvedIndex<I>[],
  { allowClosed, ignoreUnavailable }: ResolveOptions,
): ResolvedIndex<I>[] {
  if (allowClosed || found.every(({ index }) => !index.isClosed)) return found
  if (!ignoreUnavailable) throw indexClosed(found.find(({ index }) => index.isClosed)!.index.name)
  return found.filter(({ index }) => !index.isClosed)
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

interface Names {
  /** Names of indices and of aliases. */
  readonly names: ReadonlySet<string>
  /** Indices that no alias named before leads to. */
  readonly excluded: ReadonlySet<string>
}

/** The names that an expression stands for. */
function namesOf<I extends Resolvable>(expression: string, known: KnownNames<I>, options: ResolveOptions): Names {
  const { withStreams = true } = options
  const isKnown = (name: string) => known.indices.has(name) || known.aliases.has(name)
  const named = (name: string): readonly string[] => {
    if (withStreams && known.streams.has(name)) return [...known.streams.indicesOf(name)]
    return isKnown(name) ? [name] : []
  }
  const parts = expression.split(',').map(part => part.trim())
  if (parts.length > MAX_EXPRESSIONS) throw illegalArgument(`an index expression may name at most ${MAX_EXPRESSIONS} indices`)
  if (parts.length === 1 && ALL.has(parts[0]!)) return { names: new Set(matching('_all', known, options)), excluded: new Set() }
  const wildcards = parts.filter(part => part.includes('*')).length
  if (wildcards > MAX_WILDCARDS) throw illegalArgument(`an index expression may hold at most ${MAX_WILDCARDS} patterns, found ${wildcards}`)
  const names = new Set<string>()
  const excluded = new Set<string>()
  let seenWildcard = false
  for (const part of parts) {
    const isExclusion = part.startsWith('-') && seenWildcard
    const pattern = isExclusion ? part.slice(1) : part
    const isWild = pattern.includes('*') || pattern === '_all'
    if (isWild) seenWildcard = true
    const found = isWild ? matching(pattern, known, options) : named(pattern)
    const meant = excluded.size === 0 && !isExclusion ? [] : indicesOf(found, isWild || !isExclusion, known)
    if (isExclusion) {
      for (const name of [...found, ...meant]) names.delete(name)
      for (const name of meant) excluded.add(name)
    } else {
      for (const name of meant) excluded.delete(name)
      if (found.length === 0 && (isWild ? !options.allowNoIndices : !options.ignoreUnavailable)) throw indexNotFound(pattern)
      for (const name of found) names.add(name)
    }
  }
  return { names, excluded }
}

/** Indices by their names, and those that aliases among the names stand for. */
function indicesOf<I extends Resolvable>(
  names: readonly string[],
  throughAliases: boolean,
  { indices, aliases }: KnownNames<I>,
): readonly string[] {
  return names.flatMap(name => (indices.has(name) ? [name] : throughAliases ? [...aliases.indicesOf(name)] : []))
}

function matching<I extends Resolvable>(
  pattern: string,
  { indices, aliases, streams }: KnownNames<I>,
  { expand, withStreams = true }: ResolveOptions,
): readonly string[] {
  if (!(expand.open || expand.closed)) return []
  const isShown = (name: string, isHidden: boolean): boolean =>
    !isHidden || expand.hidden || (pattern.startsWith('.') && name.startsWith('.'))
  const isMeant = ({ name, isClosed, isHidden }: I): boolean => (isClosed ? expand.closed : expand.open) && isShown(name, isHidden)
  const isAliasMeant = (alias: string): boolean => {
    const own = Array.from(aliases.indicesOf(alias), name => indices.get(name)!)
    return (
      own.some(({ isClosed }) => (isClosed ? expand.closed : expand.open)) &&
      isShown(
        alias,
        own.every(index => isHiddenAlias(index, alias)),
      )
    )
  }
  const isOpenAsMeant = (name: string): boolean => (indices.get(name)!.isClosed ? expand.closed : expand.open)
  const all = [
    ...Array.from(indices.values())
      .filter(isMeant)
      .map(({ name }) => name),
    ...Array.from(aliases.names()).filter(isAliasMeant),
  ]
  const indicesOfStreams = (isNamed: (name: string) => boolean) =>
    withStreams ? [...streams.names()].filter(isNamed).flatMap(name => [...streams.indicesOf(name)].filter(isOpenAsMeant)) : []
  if (pattern === '_all' || pattern === '*') return [...all, ...indicesOfStreams(() => true)]
  const wildcard = wildcardPattern(pattern)
  // The usual pattern is a prefix and a star.
  const isPrefix = pattern === `${wildcard.prefix}*`
  const isNamed = (name: string) => name.startsWith(wildcard.prefix) && (isPrefix || wildcard.test(name))
  return [...all.filter(isNamed), ...indicesOfStreams(isNamed)]
}

const isHiddenAlias = ({ aliases }: Resolvable, alias: string): boolean => aliases.get(alias)?.is_hidden === true

/** Several filtered aliases of one index show what any of them shows. */
function filterOf(index: Resolvable, aliases: readonly string[]): Query | undefined {
  const filters = aliases.map(alias => index.aliases.get(alias)!.filter)
  if (filters.some(filter => filter === undefined)) return undefined
  const queries = filters.map(filter => parseQuery(filter))
  if (queries.length === 1) return queries[0]
  return { kind: 'bool', must: [], filter: [], should: queries, mustNot: [], boost: 1 }
}
