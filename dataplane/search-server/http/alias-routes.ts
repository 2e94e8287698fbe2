/** Aliases: `_aliases`, `_alias`. */
import { ApiError, illegalArgument, indexNotFound } from '../api-error.ts'
import { type AliasConfig, parseAlias } from '../catalog/alias.ts'
import type { AliasChange, Catalog, CatalogIndex } from '../catalog/catalog.ts'
import { STRICT } from '../catalog/resolve.ts'
import { type JsonObject, readArray, readObject, readSingleEntry, readStrings, refuseUnknown } from '../query/json-reader.ts'
import { wildcardPattern } from '../query/term-pattern.ts'
import { INDEX_PARAMETERS, NODE_PARAMETERS, resolveIndices } from './index-parameters.ts'
import { acknowledged, ok, type Reply } from './reply.ts'
import type { Call, Method, Route } from './route.ts'

const PARAMETERS = [...INDEX_PARAMETERS, ...NODE_PARAMETERS]

function routes(methods: readonly Method[], patterns: readonly string[], handle: Route['handle']): readonly Route[] {
  return patterns.map(pattern => ({ methods, pattern, body: 'query', parameters: PARAMETERS, handle }))
}

export const ALIAS_ROUTES: readonly Route[] = [
  ...routes(['POST'], ['/_aliases'], changeAliases),
  ...routes(
    ['GET', 'HEAD'],
    ['/_alias', '/_aliases', '/_alias/{name}', '/{index}/_alias', '/{index}/_alias/{name}', '/{index}/_aliases'],
    showAliases,
  ),
  ...routes(['PUT', 'POST'], ['/{index}/_alias/{name}', '/{index}/_aliases/{name}'], putAlias),
  ...routes(['DELETE'], ['/{index}/_alias/{name}', '/{index}/_aliases/{name}'], deleteAlias),
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
  const changes = actions.flatMap(item => {
    const [action, value] = readSingleEntry(item, 'actions')
    const content = readObject(value, action)
    if (action === 'remove_index') {
      removedIndices.push(...indicesOf(catalog, content).map(index => index.name))
      return []
    }
    if (action === 'add') return additions(catalog, content)
    if (action === 'remove') return removals(catalog, content)
    throw new ApiError(400, 'parsing_exception', `[aliases] unknown action [${action}]`)
  })
  catalog.changeAliases(changes)
  if (removedIndices.length > 0) await catalog.delete(removedIndices)
  return acknowledged()
}

/** `index` or `indices`, `alias` or `aliases`. */
function namesOf(content: JsonObject, one: string, many: string): readonly string[] {
  const value = content[one] ?? content[many]
  if (value === undefined) throw illegalArgument(`One of [${one}] or [${many}] is required`)
  const names = readStrings(value, one)
  if (names.length === 0 || names.some(name => name === '')) throw illegalArgument(`[${one}] can't be empty string`)
  return names
}

/** The indices themselves, not those that an alias of the name stands for. */
function indicesOf(catalog: Catalog, content: JsonObject): readonly CatalogIndex[] {
  const expression = namesOf(content, 'index', 'indices').join(',')
  const indices = catalog.resolve(expression, STRICT).map(({ index }) => index)
  if (indices.length === 0) throw indexNotFound(expression)
  return indices
}

const ADD_KEYS = [
  'index',
  'indices',
  'alias',
  'aliases',
  'filter',
  'routing',
  'index_routing',
  'search_routing',
  'is_write_index',
  'is_hidden',
  'must_exist',
]

function additions(catalog: Catalog, content: JsonObject): readonly AliasChange[] {
  refuseUnknown(content, 'add', ADD_KEYS)
  const { index: _index, indices: _indices, alias: _alias, aliases: _aliases, must_exist: _mustExist, ...config } = content
  const aliases = namesOf(content, 'alias', 'aliases').map(alias => ({ alias, config: parseAlias(alias, config) }))
  return indicesOf(catalog, content).flatMap(index => aliases.map((each): AliasChange => ({ action: 'add', index: index.name, ...each })))
}

function removals(catalog: Catalog, content: JsonObject): readonly AliasChange[] {
  refuseUnknown(content, 'remove', ['index', 'indices', 'alias', 'aliases', 'must_exist'])
  const patterns = namesOf(content, 'alias', 'aliases')
  const changes = matchingAliases(indicesOf(catalog, content), patterns)
  if (changes.length === 0 && content['must_exist'] !== false && content['must_exist'] !== 'false') throw aliasesNotFound(patterns)
  return changes
}

function matchingAliases(indices: readonly CatalogIndex[], patterns: readonly string[]): readonly AliasChange[] {
  const tests = patterns.map(pattern => wildcardPattern(pattern === '_all' ? '*' : pattern, false))
  return indices.flatMap(index =>
    [...index.aliases.keys()]
      .filter(alias => tests.some(test => test.test(alias)))
      .map((alias): AliasChange => ({ action: 'remove', index: index.name, alias, config: {} })),
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
  const indices = resolveIndices(call).map(({ index }) => index)
  if (indices.length === 0) throw indexNotFound(call.path['index']!)
  call.deps.catalog.changeAliases(indices.map(index => ({ action: 'add', index: index.name, alias, config })))
  return acknowledged()
}

function deleteAlias(call: Call): Reply {
  const patterns = call.path['name']!.split(',')
  const changes = matchingAliases(
    resolveIndices(call).map(({ index }) => index),
    patterns,
  )
  if (changes.length === 0) throw aliasesNotFound(patterns)
  call.deps.catalog.changeAliases(changes)
  return acknowledged()
}

function showAliases(call: Call): Reply {
  const names = call.path['name']?.split(',')
  const tests = names?.map(name => wildcardPattern(name === '_all' ? '*' : name, false))
  const seen = new Set<string>()
  const shown: Record<string, unknown> = {}
  for (const { index } of resolveIndices(call)) {
    const aliases = [...index.aliases].filter(([alias]) => tests === undefined || tests.some(test => test.test(alias)))
    for (const [alias] of aliases) seen.add(alias)
    if (tests === undefined || aliases.length > 0)
      shown[index.name] = { aliases: Object.fromEntries(aliases.map(([alias, config]) => [alias, showAlias(config)])) }
  }
  const missing = (names ?? []).filter(name => !name.includes('*') && name !== '_all' && !seen.has(name))
  if (missing.length === 0) return ok(shown)
  const error = missing.length === 1 ? `alias [${missing[0]}] missing` : `aliases [${missing.join(',')}] missing`
  return { status: 404, body: { error, status: 404, ...shown } }
}
