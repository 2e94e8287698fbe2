/** Indices: create, delete, show, mapping, settings, refresh, flush, statistics. */
import { isJsonObject } from '../../../json/is-json-object.ts'
import { ApiError, illegalArgument, indexNotFound, unsupported, validationError } from '../../api-error.ts'
import type { CatalogIndex } from '../../catalog/catalog.ts'
import { shownTimestampField } from '../../catalog/data-stream.ts'
import type { ResolvedIndex } from '../../catalog/resolve.ts'
import { nestSettings, parseSettings, refuseUndone, totalFieldsLimit } from '../../catalog/settings.ts'
import { parseBlueprint } from '../../catalog/template.ts'
import { type JsonObject, readObject, refuseUnknown } from '../../json/json-reader.ts'
import { DocumentRejected } from '../../mapping/document-rejected.ts'
import { openMapping } from '../../mapping/mapping.ts'
import { mappingConfigOf } from '../../mapping/mapping-config.ts'
import { refuseUndoneMappings } from '../../mapping/undone.ts'
import { isObjectType, writtenFields } from '../../mapping/written-fields.ts'
import { Turns } from '../../turns.ts'
import { listingReply } from '../answer/listing.ts'
import { acknowledged, ok, type Reply } from '../answer/reply.ts'
import { CREATED_VERSION, NODE_ID, OPENSEARCH_VERSION } from '../node-identity.ts'
import { readMetrics } from '../request/did-you-mean.ts'
import {
  booleanParameter,
  INDEX_PARAMETERS,
  NODE_PARAMETERS,
  resolveChanged,
  resolveIndices,
  resolveOptions,
  resolveShown,
} from '../request/index-parameters.ts'
import { createNameMatcher } from '../request/name-matcher.ts'
import { missingBody } from '../request/request-body.ts'
import { type Call, type Method, type Route, routes } from '../route.ts'
import { showAlias } from './alias-routes.ts'
import { INDEX_METRICS, statsOf } from './index-stats.ts'

const PARAMETERS: readonly string[] = [...INDEX_PARAMETERS, ...NODE_PARAMETERS]
const SHOW_PARAMETERS: readonly string[] = [...PARAMETERS, 'flat_settings', 'include_defaults', 'include_type_name', 'features']

const STATS_PARAMETERS: readonly string[] = [...PARAMETERS, 'level', 'include_segment_file_sizes', 'forbid_closed_indices']

/** For one set of indices, or for all of them. */
const onAny = (methods: readonly Method[], operation: string, parameters: readonly string[], handle: Route['handle']) =>
  routes(methods, [`/${operation}`, `/:index/${operation}`], parameters, handle)

export const INDEX_ROUTES: readonly Route[] = [
  ...onAny(['GET', 'POST'], '_refresh', PARAMETERS, touched),
  ...onAny(['GET', 'POST'], '_flush', [...PARAMETERS, 'force', 'wait_if_ongoing'], touched),
  ...onAny(['POST'], '_forcemerge', [...PARAMETERS, 'max_num_segments', 'only_expunge_deletes', 'flush', 'wait_for_completion'], touched),
  ...onAny(['POST'], '_cache/clear', [...PARAMETERS, 'query', 'fielddata', 'request', 'fields'], touched),
  ...onAny(['GET'], '_mapping', SHOW_PARAMETERS, showMappings),
  ...onAny(['GET'], '_mappings', SHOW_PARAMETERS, showMappings),
  ...routes(['PUT', 'POST'], ['/:index/_mapping'], [...PARAMETERS, 'write_index_only', 'include_type_name'], putMapping),
  ...onAny(['GET'], '_mapping/field/:fields', SHOW_PARAMETERS, showFieldMappings),
  ...onAny(['GET'], '_settings', SHOW_PARAMETERS, showSettings),
  ...onAny(['GET'], '_settings/:name', SHOW_PARAMETERS, showSettings),
  ...onAny(['PUT'], '_settings', [...PARAMETERS, 'flat_settings', 'preserve_existing'], putSettings),
  ...onAny(['GET'], '_stats', STATS_PARAMETERS, showStats),
  ...onAny(['GET'], '_stats/:metric', STATS_PARAMETERS, showStats),
  ...routes(['PUT'], ['/:index'], [...PARAMETERS, 'include_type_name'], createIndex),
  ...routes(['DELETE'], ['/:index'], PARAMETERS, deleteIndices),
  ...onAny(['POST'], '_close', [...PARAMETERS, 'wait_for_completion', 'task_execution_timeout'], call => setClosed(call, true)),
  ...onAny(['POST'], '_open', [...PARAMETERS, 'wait_for_completion', 'task_execution_timeout'], call => setClosed(call, false)),
  ...routes(['GET'], ['/_resolve/index/:name'], PARAMETERS, resolveNames),
  ...routes(['GET', 'HEAD'], ['/:index'], SHOW_PARAMETERS, showIndices),
]

async function createIndex(call: Call): Promise<Reply> {
  const name = call.path['index']!
  const body = call.json()
  refuseUnknown(body, 'create index', ['settings', 'mappings', 'aliases'])
  await call.deps.catalog.create(name, parseBlueprint(body))
  return ok({ acknowledged: true, shards_acknowledged: true, index: name })
}

async function deleteIndices(call: Call): Promise<Reply> {
  const expression = call.path['index']!
  const { catalog } = call.deps
  const { ignoreUnavailable, allowNoIndices } = resolveOptions(call.query)
  for (const part of expression.split(','))
    if (!(part.includes('*') || ignoreUnavailable) && catalog.find(part) === undefined && catalog.isAlias(part))
      throw illegalArgument(`The provided expression [${part}] matches an alias, specify the corresponding concrete indices instead.`)
  const known = catalog.indices.map(index => index.name)
  const isNamed = createNameMatcher(expression.split(',').map(part => part.replace(/^-/, '')))
  const named = new Set(
    resolveShown(call, { expand: 'open,closed', expression, withStreams: false })
      .map(({ index }) => index.name)
      .filter(isNamed),
  )
  for (const part of allowNoIndices ? [] : expression.split(',')) if (!known.some(createNameMatcher([part]))) throw indexNotFound(part)
  await catalog.delete(known.filter(name => named.has(name)))
  return acknowledged()
}

/** The documents stay; they are neither read nor written while the index is closed. */
function setClosed(call: Call, isClosed: boolean): Reply {
  if (!booleanParameter(call.query, 'wait_for_completion', true)) throw unsupported('parameter [wait_for_completion] false')
  const names = resolveChanged(call, { expand: isClosed ? 'open' : 'closed', withStreams: false }).map(({ index }) => index.name)
  call.deps.catalog.setClosed(names, isClosed)
  const done = { acknowledged: true, shards_acknowledged: true }
  return ok(isClosed ? { ...done, indices: Object.fromEntries(names.map(name => [name, { closed: true }])) } : done)
}

/** `_resolve/index`: which indices, aliases and data streams names and patterns stand for. */
function resolveNames(call: Call): Reply {
  const expression = call.path['name']!
  const resolved = resolveShown(call, { expression })
  const isNamed = createNameMatcher(expression.split(','))
  const aliases = new Map<string, string[]>()
  for (const { name, aliases: own } of call.deps.catalog.indices)
    for (const alias of own.keys()) if (isNamed(alias)) aliases.set(alias, [...(aliases.get(alias) ?? []), name])
  const byName = <T>(entries: Iterable<readonly [string, T]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return ok({
    indices: resolved
      .filter(({ index }) => isNamed(index.name))
      .map(({ index: { name, aliases: own, isClosed, isHidden, dataStream } }) => ({
        name,
        ...(own.size > 0 && { aliases: [...own.keys()].sort() }),
        attributes: [isClosed ? 'closed' : 'open', ...(isHidden ? ['hidden'] : [])],
        ...(dataStream !== undefined && { data_stream: dataStream.name }),
      })),
    aliases: byName(aliases).map(([name, indices]) => ({ name, indices: indices.sort() })),
    data_streams: call.deps.catalog.streams
      .filter(({ name }) => isNamed(name))
      .map(({ name, indices, timestampField }) => ({ name, backing_indices: indices, timestamp_field: timestampField })),
  })
}

/** A member for each index, worked out when it is its turn. */
function* showEach(indices: readonly ResolvedIndex<CatalogIndex>[], show: (index: CatalogIndex) => unknown): Generator<[string, unknown]> {
  for (const { index } of indices) yield [index.name, show(index)]
}

function showIndices(call: Call): Reply | Promise<Reply> {
  const resolved = resolveShown(call)
  if (resolved.length === 0 && call.method === 'HEAD') throw indexNotFound(call.path['index']!)
  const isHuman = booleanParameter(call.query, 'human')
  const show = (index: CatalogIndex) => ({
    aliases: Object.fromEntries(Array.from(index.aliases, ([name, config]) => [name, showAlias(config)])),
    mappings: mappingsOf(index),
    settings: nestSettings({ ...flatSettings(index), ...(isHuman && humanSettings(index)) }),
    ...(index.dataStream !== undefined && { data_stream: index.dataStream.name }),
  })
  return call.method === 'HEAD' ? ok({}) : listingReply(call, { members: showEach(resolved, show) })
}

/** Writes are durable and visible when they are answered: there is nothing left to do. */
function touched(call: Call): Reply {
  if (booleanParameter(call.query, 'force') && !booleanParameter(call.query, 'wait_if_ongoing', true))
    throw validationError('wait_if_ongoing must be true for a force flush')
  const count = resolveIndices(call).length
  return ok({ _shards: { total: count, successful: count, failed: 0 } })
}

const mappingsOf = ({ storage, dataStream }: CatalogIndex): JsonObject => ({
  ...(dataStream !== undefined && shownTimestampField(dataStream)),
  ...storage.mapping.toJson(),
})

function showMappings(call: Call): Promise<Reply> {
  return listingReply(call, { members: showEach(resolveShown(call), index => ({ mappings: mappingsOf(index) })) })
}

async function putMapping(call: Call): Promise<Reply> {
  if (call.body.length === 0 && !call.query.has('source')) throw missingBody()
  const mappings = call.json()
  if (mappings['_doc'] !== undefined) throw illegalArgument('Types cannot be provided in put mapping requests')
  for (const key of Object.keys(mappings))
    if (key !== 'properties') {
      if (['dynamic', 'dynamic_templates', 'date_detection', 'numeric_detection', '_source', '_meta', '_routing'].includes(key))
        throw unsupported(`changing [${key}] of an existing mapping`)
      throw new ApiError(400, 'mapper_parsing_exception', `Root mapping definition has unsupported parameters: [${key}]`)
    }
  const properties = readObject(mappings['properties'] ?? {}, 'properties')
  refuseUndoneMappings({ properties })
  const turns = new Turns()
  const isPattern = call.path['index']!.includes('*')
  const resolved = resolveChanged(call).map(({ index }) => index)
  // A pattern stands for the indices that work: one that could not be opened keeps no other from its fields.
  const changed = isPattern ? resolved.filter(({ storage }) => storage.problem === undefined) : resolved
  // All are changed, or none.
  const steps = changed.length > 1 ? [checkMappingOf, putMappingOf] : [putMappingOf]
  for (const step of steps)
    for (const index of changed) {
      await step(index, properties)
      if (turns.isDue()) await turns.next()
    }
  return acknowledged()
}

const putMappingOf = (index: CatalogIndex, properties: JsonObject): Promise<void> => asRefusal(() => index.storage.putMapping(properties))

/** Throws as `putMappingOf` does, and changes nothing. */
function checkMappingOf({ storage, settings }: CatalogIndex, properties: JsonObject): Promise<void> {
  return asRefusal(async () => {
    if (storage.problem !== undefined) await storage.putMapping(properties)
    const copy = openMapping(mappingConfigOf(storage.mapping.toJson(), totalFieldsLimit(settings)))
    try {
      copy.put(properties)
    } finally {
      copy.release()
    }
  })
}

async function asRefusal(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (error instanceof DocumentRejected) throw new ApiError(400, error.type, error.message)
    if (error instanceof TypeError) throw new ApiError(400, 'mapper_parsing_exception', error.message)
    throw error
  }
}

function showFieldMappings(call: Call): Promise<Reply> {
  if (booleanParameter(call.query, 'include_defaults')) throw unsupported('parameter [include_defaults]')
  const isWanted = createNameMatcher(call.path['fields']!.split(','))
  const show = ({ storage }: CatalogIndex) => {
    const shown = [...writtenFields(storage.mapping)].filter(({ path, json }) => isWanted(path) && !isObjectType(json))
    return { mappings: Object.fromEntries(shown.map(({ path, name, json }) => [path, { full_name: path, mapping: { [name]: json } }])) }
  }
  const resolved = resolveShown(call)
  // As OpenSearch has it, which answers 200 for a field that is nowhere.
  return listingReply(call, { ...(resolved.length === 0 && { status: 404 }), members: showEach(resolved, show) })
}

/** Settings as shown: one shard and no replicas, also where more were asked for. */
export function flatSettings(index: CatalogIndex): Record<string, string | readonly string[]> {
  return {
    ...index.settings,
    'index.creation_date': String(index.createdAtMs),
    'index.number_of_shards': '1',
    'index.number_of_replicas': '0',
    'index.uuid': index.uuid,
    'index.version.created': CREATED_VERSION,
    'index.provided_name': index.providedName ?? index.name,
  }
}

const humanSettings = ({ createdAtMs }: CatalogIndex) => ({
  'index.creation_date_string': new Date(createdAtMs).toISOString(),
  'index.version.created_string': OPENSEARCH_VERSION,
})

function showSettings(call: Call): Promise<Reply> {
  if (booleanParameter(call.query, 'include_defaults')) throw unsupported('parameter [include_defaults]')
  const isFlat = call.query.has('flat_settings') && call.query.get('flat_settings') !== 'false'
  const isWanted = createNameMatcher((call.path['name'] ?? '*').split(','))
  const show = (index: CatalogIndex) => {
    const settings = Object.fromEntries(Object.entries(flatSettings(index)).filter(([name]) => isWanted(name)))
    return { settings: isFlat ? settings : nestSettings(settings) }
  }
  return listingReply(call, { members: showEach(resolveShown(call, { expand: 'open,closed' }), show) })
}

const FIXED_SETTINGS = ['index.number_of_shards', 'index.uuid', 'index.creation_date', 'index.provided_name', 'index.version.created']

function putSettings(call: Call): Reply {
  const body = call.json()
  const given = body['settings'] ?? body
  const settings = parseSettings(given)
  // A setting that is null is one that is to be as it was.
  if (isJsonObject(given) && Object.keys(given).length === 0) throw validationError('no settings to update')
  const names = resolveChanged(call, { expand: 'open,closed' }).map(({ index }) => index.name)
  const fixed = FIXED_SETTINGS.filter(name => settings[name] !== undefined)
  if (fixed.length > 0)
    throw illegalArgument(`Can't update non dynamic settings [[${fixed.join(', ')}]] for open indices [[${names.join(', ')}]]`)
  refuseUndone(settings)
  call.deps.catalog.updateSettings(names, settings, booleanParameter(call.query, 'preserve_existing'))
  return acknowledged()
}

const STATS_LEVELS = new Set(['cluster', 'indices', 'shards'])

function showStats(call: Call): Reply | Promise<Reply> {
  const metrics = readMetrics(
    call.path['metric'],
    INDEX_METRICS,
    `${call.path['index'] === undefined ? '' : `/${call.path['index']}`}/_stats/${call.path['metric'] ?? ''}`,
  )
  if (booleanParameter(call.query, 'include_segment_file_sizes')) throw unsupported('parameter [include_segment_file_sizes]')
  const level = call.query.get('level') ?? 'indices'
  if (!STATS_LEVELS.has(level))
    throw illegalArgument(`level parameter must be one of [cluster] or [indices] or [shards] but was [${level}]`)
  const allowClosed = !booleanParameter(call.query, 'forbid_closed_indices', true)
  const resolved = allowClosed ? resolveShown(call) : resolveIndices(call)
  const indices = resolved.map(({ index }) => index)
  const both = (list: readonly CatalogIndex[]): Record<string, unknown> => ({
    primaries: statsOf(list, metrics),
    total: statsOf(list, metrics),
  })
  const head = { _shards: { total: indices.length, successful: indices.length, failed: 0 }, _all: both(indices) }
  if (level === 'cluster') return ok(head)
  const shardOf = (index: CatalogIndex) => ({
    routing: { state: 'STARTED', primary: true, node: NODE_ID, relocating_node: null },
    commit: { id: index.uuid, generation: 1, user_data: {}, num_docs: index.storage.docCount },
    ...statsOf([index], metrics),
  })
  const members = showEach(resolved, index => ({
    ...{ uuid: index.uuid, ...both([index]) },
    ...(level === 'shards' && { shards: { 0: [shardOf(index)] } }),
  }))
  return listingReply(call, { head, under: 'indices', members })
}
