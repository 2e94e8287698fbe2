/** Parameters that say how index expressions are read. */

import { illegalArgument } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import type { ResolvedIndex, ResolveOptions } from '../../catalog/resolve.ts'
import { readBoolean, words } from '../../json/json-reader.ts'
import type { Call } from '../route.ts'

export const INDEX_PARAMETERS: readonly string[] = ['ignore_unavailable', 'allow_no_indices', 'expand_wildcards', 'ignore_throttled']

/** Accepted everywhere and without effect on a single node whose writes are visible at once. */
export const NODE_PARAMETERS: readonly string[] = words(
  'timeout master_timeout cluster_manager_timeout local wait_for_active_shards preference routing',
)

export function booleanParameter(query: URLSearchParams, name: string, otherwise = false): boolean {
  const value = query.get(name)
  return value === null ? otherwise : readBoolean(value, name)
}

const EXPAND = new Set(['open', 'closed', 'hidden', 'all', 'none'])

/** The meaning of an index expression where the request's own parameters say nothing. */
interface Defaults {
  /** Whether the expression may stand for no index at all. */
  readonly allowsNone?: boolean
  /** The indices that wildcards stand for. */
  readonly expand?: string
  /** Whether the request may be about closed indices. */
  readonly allowClosed?: boolean
  /** Whether the request may be about data streams. */
  readonly withStreams?: boolean
}

export function resolveOptions(
  query: URLSearchParams,
  { allowsNone = true, expand = 'open', allowClosed = false, withStreams = true }: Defaults = {},
): ResolveOptions {
  const given = (query.get('expand_wildcards') ?? expand).split(',')
  for (const value of given) if (!EXPAND.has(value)) throw illegalArgument(`No valid expand wildcard value [${value}]`)
  const has = (name: string): boolean => given.includes(name) || given.includes('all')
  const isNone = given.includes('none')
  return {
    ignoreUnavailable: booleanParameter(query, 'ignore_unavailable'),
    allowNoIndices: booleanParameter(query, 'allow_no_indices', allowsNone),
    expand: { open: !isNone && has('open'), closed: !isNone && has('closed'), hidden: has('hidden') },
    allowClosed,
    withStreams,
  }
}

/** Reading an index takes one that is open. */
export function resolveIndices(call: Call): readonly ResolvedIndex<CatalogIndex>[] {
  return call.deps.catalog.resolve(call.path['index'] ?? '_all', resolveOptions(call.query))
}

interface ChangedOptions {
  /** The states of indices that wildcards stand for, as in `expand_wildcards`. */
  readonly expand?: string
  /** Whether a data stream may be named, for its indices. */
  readonly withStreams?: boolean
}

interface ShownOptions extends ChangedOptions {
  /** Default: the one of the path. */
  readonly expression?: string | undefined
}

/** For what is said of indices, closed ones included. */
export function resolveShown(
  call: Call,
  { expand = 'open', expression = call.path['index'] ?? '_all', withStreams = true }: ShownOptions = {},
): readonly ResolvedIndex<CatalogIndex>[] {
  return call.deps.catalog.resolve(expression, resolveOptions(call.query, { expand, allowClosed: true, withStreams }))
}

/** For changes of indices: a pattern that matches nothing is refused with 404 unless `allow_no_indices` is given. */
export function resolveChanged(
  call: Call,
  { expand = 'open', withStreams = true }: ChangedOptions = {},
): readonly ResolvedIndex<CatalogIndex>[] {
  return call.deps.catalog.resolve(
    call.path['index'] ?? '_all',
    resolveOptions(call.query, { allowsNone: false, expand, allowClosed: true, withStreams }),
  )
}

/** Milliseconds as whole numbers, for `took`. */
export function tookSince(startMs: number): number {
  return Math.max(0, Math.round(performance.now() - startMs))
}

/** How many documents the indices of a call hold, which they know without a query; undefined where one cannot be opened, or an alias shows a part of it. */
export function countAll(call: Call): number | undefined {
  const resolved = resolveIndices(call)
  return resolved.some(({ index, filter }) => filter !== undefined || index.storage.problem !== undefined)
    ? undefined
    : resolved.reduce((sum, { index }) => sum + index.storage.docCount, 0)
}
