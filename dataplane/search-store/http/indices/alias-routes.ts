/** Aliases: `_aliases`, `_alias`. */
import { ApiError, illegalArgument, indexNotFound, parsingError } from '../../api-error.ts'
import { type AliasConfig, parseAlias } from '../../catalog/alias.ts'
import type { AliasChange, Catalog, CatalogIndex } from '../../catalog/catalog.ts'
import { STRICT } from '../../catalog/resolve.ts'
import {
  type JsonObject,
  readArray,
  readBoolean,
  readObject,
  readSingleEntry,
  readStrings,
  refuseUnknown,
  words,
} from '../../json/json-reader.ts'
import { Turns } from '../../turns.ts'
import { listingReply } from '../answer/listing.ts'
import { acknowledged, type Reply } from '../answer/reply.ts'
import { INDEX_PARAMETERS, NODE_PARAMETERS, resolveChanged, resolveShown } from '../request/index-parameters.ts'
import { createNameMatcher } from '../request/name-matcher.ts'
import { type Call, type Route, routes } from '../route.ts'

const PARAMETERS = [...INDEX_PARAMETERS, ...NODE_PARAMETERS]

export const ALIAS_ROUTES: readonly Route[] = [
  ...routes(['POST'], ['/_aliases'], PARAMETERS, changeAliases),
  ...routes(
    ['GET', 'HEAD'],
    ['/_alias', '/_aliases', '/_alias/:name', '/:index/_alias', '/:index/_alias/:name', '/:index/_aliases'],
    PARAMETERS,
    showAliases,
  ),
  ...routes(['PUT', 'POST'], ['/:index/_alias/:name', '/:index/_aliases/:name'], PARAMETERS, putAlias),
  ...routes(['DELETE'], ['/:index/_alias/:name', '/:index/_aliases/:name'], PARAMETERS, deleteAlias),
]

export function showAlias(config: AliasConfig): Record<string, unknown> {
  return { ...config }
}

async function changeAliases(call: Call): Promise<Reply> {
  const body = call.json()
  refuseUnknown(body, '_aliases', ['actions'])
  const actions = readArray(body['actions'] ?? [], 'actions')
  if (actions.length === 0) throw illegalArgument('No action specified')
  const { catalog } = call.deps
  const removedIndices: string[] = []
  const removals: Removals[] = []
  let count = 0
  const changes = actions.flatMap(item => {
    if (count > MAX_CHANGES) return []
    const [action, value] = readSingleEntry(item, 'actions')
    const content = readObject(value, action)
    if (action === 'remove_index') {
      removedIndices.push(...indicesOf(catalog, content).map(index => index.name))
      return []
    }
    if (action !== 'add' && action !== 'remove') throw parsingError(`[aliases] unknown action [${action}]`)
    if (action === 'remove') removals.push(removalsOf(catalog, content))
    const found = action === 'add' ? additions(catalog, content) : removals.at(-1)!.changes
    count += found.length
    return found
  })
  if (changes.length === 0 && removedIndices.length === 0 && removals.every(({ mayMiss }) => !mayMiss))
    throw aliasesNotFound(removals.flatMap(({ patterns }) => patterns))
  if (removedIndices.length === 0) changeAtOnce(catalog, changes)
  else await changeAtOnce(catalog, changes, removedIndices)
  return acknowledged()
}

/** Changes of one request: all of them are one commit. */
const MAX_CHANGES = 20_000

function changeAtOnce(catalog: Catalog, changes: readonly AliasChange[], removed: readonly string[] = []): void | Promise<void> {
  if (changes.length > MAX_CHANGES)
    throw illegalArgument(
      `at most ${MAX_CHANGES} aliases of indices may be changed at once, found ${changes.length}; send several requests`,
    )
  return catalog.changeAliases(changes, removed)
}

/** `index` or `indices`, `alias` or `aliases`. */
function namesOf(content: JsonObject, one: string, many: string): readonly string[] {
  const value = content[one] ?? content[many]
  if (value === undefined) throw illegalArgument(`One of [${one}] or [${many}] is required`)
  const names = readStrings(value, one)
  if (names.length === 0) throw illegalArgument(`[${many}] can't be empty`)
  if (names.some(name => name === '')) throw illegalArgument(`[${one}] can't be empty string`)
  return names
}

/** Indices by their own names; aliases do not count. */
function indicesOf(catalog: Catalog, content: JsonObject): readonly CatalogIndex[] {
  const expression = namesOf(content, 'index', 'indices').join(',')
  const indices = catalog.resolve(expression, { ...STRICT, allowClosed: true, withStreams: false }).map(({ index }) => index)
  if (indices.length === 0) throw indexNotFound(expression)
  return indices
}

const ADD_KEYS = words(`
  index indices alias aliases filter routing index_routing search_routing is_write_index is_hidden must_exist
`)

function additions(catalog: Catalog, content: JsonObject): readonly AliasChange[] {
  refuseUnknown(content, 'add', ADD_KEYS)
  const { index: _index, indices: _indices, alias: _alias, aliases: _aliases, must_exist: _mustExist, ...config } = content
  const aliases = namesOf(content, 'alias', 'aliases').map(alias => ({ alias, config: parseAlias(alias, config) }))
  return indicesOf(catalog, content).flatMap(index => aliases.map((each): AliasChange => ({ action: 'add', index: index.name, ...each })))
}

interface Removals {
  readonly patterns: readonly string[]
  readonly changes: readonly AliasChange[]
  /** `must_exist: false`. */
  readonly mayMiss: boolean
}

/** An alias that is not there counts only where nothing else is done, or where `must_exist: true` asks for all of them: throws 404 then. */
function removalsOf(catalog: Catalog, content: JsonObject): Removals {
  refuseUnknown(content, 'remove', ['index', 'indices', 'alias', 'aliases', 'must_exist'])
  const patterns = namesOf(content, 'alias', 'aliases')
  const changes = matchingAliases(indicesOf(catalog, content), patterns)
  const mustExist = content['must_exist'] === undefined ? undefined : readBoolean(content['must_exist'], 'must_exist')
  if (mustExist === true) {
    const there = new Set(changes.map(({ alias }) => alias))
    const missing = changes.length === 0 ? patterns : patterns.filter(name => !(name.includes('*') || name === '_all' || there.has(name)))
    if (missing.length > 0) throw aliasesNotFound(missing)
  }
  return { patterns, changes, mayMiss: mustExist === false }
}

function matchingAliases(indices: readonly CatalogIndex[], patterns: readonly string[]): readonly AliasChange[] {
  const isNamed = createNameMatcher(patterns)
  return indices.flatMap(index =>
    [...index.aliases.keys()].filter(isNamed).map((alias): AliasChange => ({ action: 'remove', index: index.name, alias, config: {} })),
  )
}

function aliasesNotFound(names: readonly string[]): ApiError {
  const list = names.join(', ')
  return new ApiError(404, 'aliases_not_found_exception', `aliases [${list}] missing`, {
    details: { 'resource.type': 'aliases', 'resource.id': list },
  })
}

function putAlias(call: Call): Reply {
  const alias = call.path['name']!
  const config = parseAlias(alias, call.json())
  const indices = resolveChanged(call, { withStreams: false }).map(({ index }) => index)
  changeAtOnce(
    call.deps.catalog,
    indices.map(index => ({ action: 'add', index: index.name, alias, config })),
  )
  return acknowledged()
}

function deleteAlias(call: Call): Reply {
  const patterns = call.path['name']!.split(',')
  const changes = matchingAliases(
    resolveChanged(call, { withStreams: false }).map(({ index }) => index),
    patterns,
  )
  if (changes.length === 0) throw aliasesNotFound(patterns)
  changeAtOnce(call.deps.catalog, changes)
  return acknowledged()
}

/** Names and patterns in their order: from the first pattern on a name with a `-` takes away what it names. `plain`: those that have to be there. */
function aliasNames(names: readonly string[]): { isNamed: (alias: string) => boolean; plain: readonly string[] } {
  const steps: { readonly isExclusion: boolean; readonly test: (alias: string) => boolean }[] = []
  const plain: string[] = []
  let seenPattern = false
  for (const name of names) {
    const isPattern = name.includes('*') || name === '_all'
    seenPattern ||= isPattern
    const isExclusion = seenPattern && name.startsWith('-')
    if (!(isExclusion || isPattern)) plain.push(name)
    steps.push({ isExclusion, test: createNameMatcher([isExclusion ? name.slice(1) : name]) })
  }
  const isNamed = (alias: string): boolean => steps.reduce((isIn, { isExclusion, test }) => (test(alias) ? !isExclusion : isIn), false)
  return { isNamed, plain: plain.filter(isNamed) }
}

async function showAliases(call: Call): Promise<Reply> {
  const names = call.path['name']?.split(',')
  const { isNamed, plain } = aliasNames(names ?? ['*'])
  const turns = new Turns()
  const seen = new Set<string>()
  const shown: [string, readonly (readonly [string, AliasConfig])[]][] = []
  for (const { index } of resolveShown(call, { expand: 'all', withStreams: false })) {
    const aliases = [...index.aliases].filter(([alias]) => isNamed(alias))
    if (names !== undefined) for (const [alias] of aliases) seen.add(alias)
    if (names === undefined || aliases.length > 0) shown.push([index.name, aliases])
    if (turns.isDue()) await turns.next()
  }
  const missing = (names === undefined ? [] : plain).filter(name => !seen.has(name)).sort()
  const error = missing.length === 1 ? `alias [${missing[0]}] missing` : `aliases [${missing.join(',')}] missing`
  return listingReply(call, { ...(missing.length > 0 && { status: 404, head: { error, status: 404 } }), members: aliasMembers(shown) })
}

function* aliasMembers(shown: readonly [string, readonly (readonly [string, AliasConfig])[]][]): Generator<[string, unknown]> {
  for (const [index, aliases] of shown)
    yield [index, { aliases: Object.fromEntries(aliases.map(([alias, config]) => [alias, showAlias(config)])) }]
}
