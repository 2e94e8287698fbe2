/** Indices: create, delete, show, mapping, settings, refresh, flush, statistics. */
import { ApiError, illegalArgument, indexNotFound, parsingError, unsupported } from '../api-error.ts'
import type { CatalogIndex } from '../catalog/catalog.ts'
import type { ResolvedIndex } from '../catalog/resolve.ts'
import { nestSettings, parseSettings, refuseUndone } from '../catalog/settings.ts'
import { parseBlueprint, readMappings } from '../catalog/template.ts'
import { type JsonObject, readObject, refuseUnknown } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
import { DocumentRejected } from '../mapping/document-rejected.ts'
import type { FieldMapping, IndexMapping } from '../mapping/field-types.ts'
import { refuseUndoneMappings } from '../mapping/undone.ts'
import { Turns } from '../turns.ts'
import { showAlias } from './alias-routes.ts'
import { booleanParameter, INDEX_PARAMETERS, NODE_PARAMETERS, resolveChanged, resolveIndices, resolveOptions } from './index-parameters.ts'
import { listingReply } from './listing.ts'
import { createNameMatcher } from './name-matcher.ts'
import { acknowledged, ok, type Reply } from './reply.ts'
import { type Call, type Method, type Route, routes } from './route.ts'
import { CREATED_VERSION } from './version.ts'

const PARAMETERS: readonly string[] = [...INDEX_PARAMETERS, ...NODE_PARAMETERS]
const SHOW_PARAMETERS: readonly string[] = [...PARAMETERS, 'flat_settings', 'include_defaults', 'include_type_name', 'features']

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
  ...routes(['GET'], ['/:index/_mapping/field/:fields'], SHOW_PARAMETERS, showFieldMappings),
  ...onAny(['GET'], '_settings', SHOW_PARAMETERS, showSettings),
  ...routes(['GET'], ['/:index/_settings/:name'], SHOW_PARAMETERS, showSettings),
  ...onAny(['PUT'], '_settings', [...PARAMETERS, 'flat_settings', 'preserve_existing'], putSettings),
  ...onAny(['GET'], '_stats', [...PARAMETERS, 'level', 'fields', 'groups', 'include_segment_file_sizes'], showStats),
  ...routes(['GET'], ['/:index/_stats/:metric'], [...PARAMETERS, 'level'], showStats),
  ...onAny(['GET', 'POST'], '_field_caps', [...PARAMETERS, 'fields', 'include_unmapped'], fieldCapabilities),
  ...routes(['PUT'], ['/:index'], [...PARAMETERS, 'include_type_name'], createIndex),
  ...routes(['DELETE'], ['/:index'], PARAMETERS, deleteIndices),
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
  for (const part of expression.split(',')) {
    if (!part.includes('*') && catalog.find(part) === undefined && catalog.isAlias(part))
      throw illegalArgument(`The provided expression [${part}] matches an alias, specify the corresponding concrete indices instead.`)
  }
  const known = catalog.indices.map(index => index.name)
  const isNamed = createNameMatcher(expression.split(',').map(part => part.replace(/^-/, '')))
  const named = new Set(
    resolveIndices(call, expression)
      .map(({ index }) => index.name)
      .filter(isNamed),
  )
  await catalog.delete(known.filter(name => named.has(name)))
  return acknowledged()
}

/** A member for each index, worked out when it is its turn. */
function* showEach(indices: readonly ResolvedIndex<CatalogIndex>[], show: (index: CatalogIndex) => unknown): Generator<[string, unknown]> {
  for (const { index } of indices) yield [index.name, show(index)]
}

function showIndices(call: Call): Reply | Promise<Reply> {
  const resolved = resolveIndices(call)
  if (resolved.length === 0 && call.method === 'HEAD') throw indexNotFound(call.path['index']!)
  const show = (index: CatalogIndex) => ({
    aliases: Object.fromEntries(Array.from(index.aliases, ([name, config]) => [name, showAlias(config)])),
    mappings: index.storage.mapping.toJson(),
    settings: settingsOf(index),
  })
  return call.method === 'HEAD' ? ok({}) : listingReply(call, { members: showEach(resolved, show) })
}

/** Writes are durable and visible when they are answered: there is nothing left to do. */
function touched(call: Call): Reply {
  const count = resolveIndices(call).length
  return ok({ _shards: { total: count, successful: count, failed: 0 } })
}

function showMappings(call: Call): Promise<Reply> {
  return listingReply(call, { members: showEach(resolveIndices(call), ({ storage }) => ({ mappings: storage.mapping.toJson() })) })
}

async function putMapping(call: Call): Promise<Reply> {
  const mappings = readMappings(call.json())
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
  for (const { index } of resolveChanged(call)) {
    // A pattern stands for the indices that work: one that could not be opened keeps no other from its fields.
    if (isPattern && index.storage.problem !== undefined) continue
    await putMappingOf(index, properties)
    if (turns.isDue()) await turns.next()
  }
  return acknowledged()
}

async function putMappingOf(index: CatalogIndex, properties: JsonObject): Promise<void> {
  try {
    await index.storage.putMapping(properties)
  } catch (error) {
    if (error instanceof DocumentRejected) throw new ApiError(400, error.type, error.message)
    if (error instanceof TypeError) throw new ApiError(400, 'mapper_parsing_exception', error.message)
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
      throw new ApiError(429, 'cluster_block_exception', `blocked by: [TOO_MANY_REQUESTS/12/disk is full: ${error.message}]`)
    throw error
  }
}

function showFieldMappings(call: Call): Promise<Reply> {
  const isWanted = createNameMatcher(call.path['fields']!.split(','))
  const show = ({ storage: { mapping } }: CatalogIndex) => {
    const showField = (path: string): [string, unknown] => {
      const name = path.slice(path.lastIndexOf('.') + 1)
      return [path, { full_name: path, mapping: { [name]: typeJson(mapping.field(path)!) } }]
    }
    return { mappings: Object.fromEntries(mapping.paths().filter(isWanted).map(showField)) }
  }
  const resolved = resolveIndices(call)
  // As OpenSearch has it, which answers 200 for a field that is nowhere.
  return listingReply(call, { ...(resolved.length === 0 && { status: 404 }), members: showEach(resolved, show) })
}

function typeJson(mapping: FieldMapping): Record<string, unknown> {
  return {
    type: mapping.type,
    ...(mapping.index === false && { index: false }),
    ...(mapping.ignoreAbove !== undefined && { ignore_above: mapping.ignoreAbove }),
    ...(mapping.fields !== undefined && {
      fields: Object.fromEntries(Object.entries(mapping.fields).map(([name, inner]) => [name, typeJson(inner)])),
    }),
  }
}

/** Settings as shown: one shard and no replicas, also where more were asked for. */
function flatSettings(index: CatalogIndex): Record<string, string | readonly string[]> {
  return {
    ...index.settings,
    'index.creation_date': String(index.createdAtMs),
    'index.number_of_shards': '1',
    'index.number_of_replicas': '0',
    'index.uuid': index.uuid,
    'index.version.created': CREATED_VERSION,
    'index.provided_name': index.name,
  }
}

const settingsOf = (index: CatalogIndex): Record<string, unknown> => nestSettings(flatSettings(index))

function showSettings(call: Call): Promise<Reply> {
  const isFlat = call.query.has('flat_settings') && call.query.get('flat_settings') !== 'false'
  const isWanted = createNameMatcher((call.path['name'] ?? '*').split(','))
  const show = (index: CatalogIndex) => {
    const settings = Object.fromEntries(Object.entries(flatSettings(index)).filter(([name]) => isWanted(name)))
    return { settings: isFlat ? settings : nestSettings(settings) }
  }
  return listingReply(call, { members: showEach(resolveIndices(call), show) })
}

const FIXED_SETTINGS = ['index.number_of_shards', 'index.uuid', 'index.creation_date', 'index.provided_name', 'index.version.created']

function putSettings(call: Call): Reply {
  const body = call.json()
  const settings = parseSettings(body['settings'] ?? body)
  const names = resolveChanged(call).map(({ index }) => index.name)
  const fixed = FIXED_SETTINGS.filter(name => settings[name] !== undefined)
  if (fixed.length > 0)
    throw illegalArgument(`Can't update non dynamic settings [[${fixed.join(', ')}]] for open indices [[${names.join(', ')}]]`)
  refuseUndone(settings)
  call.deps.catalog.updateSettings(names, settings)
  return acknowledged()
}

function statsOf(indices: readonly CatalogIndex[]): Record<string, unknown> {
  const sum = (pick: (index: CatalogIndex) => number): number => indices.reduce((total, index) => total + pick(index), 0)
  return {
    docs: { count: sum(index => index.storage.docCount), deleted: sum(index => index.storage.deletedCount) },
    store: { size_in_bytes: sum(index => index.storage.sizeBytes), reserved_in_bytes: 0 },
  }
}

function showStats(call: Call): Promise<Reply> {
  const resolved = resolveIndices(call)
  const indices = resolved.map(({ index }) => index)
  const both = (list: readonly CatalogIndex[]): Record<string, unknown> => ({ primaries: statsOf(list), total: statsOf(list) })
  return listingReply(call, {
    head: { _shards: { total: indices.length, successful: indices.length, failed: 0 }, _all: both(indices) },
    under: 'indices',
    members: showEach(resolved, index => ({ uuid: index.uuid, ...both([index]) })),
  })
}

/** Fields and their types over several indices, as dashboards ask for them. */
async function fieldCapabilities(call: Call): Promise<Reply> {
  const body = call.json()
  const wanted = body['fields'] ?? call.query.get('fields')
  if (wanted === undefined || wanted === null) throw parsingError('[fields] is required')
  const isWanted = createNameMatcher(Array.isArray(wanted) ? wanted.map(textOf) : textOf(wanted).split(','))
  if (body['index_filter'] !== undefined) throw unsupported('_field_caps parameter [index_filter]')
  const includesUnmapped = booleanParameter(call.query, 'include_unmapped')
  const turns = new Turns()
  const indices = call.deps.catalog.resolve(call.path['index'] ?? '_all', resolveOptions(call.query)).map(({ index }) => index)
  const fields = new Map<string, Map<string, Capability>>()
  for (const index of indices) {
    for (const [path, own] of capabilitiesOf(index.storage.mapping)) {
      if (!isWanted(path)) continue
      const byType = fields.get(path) ?? new Map<string, Capability>()
      fields.set(path, byType)
      const known = byType.get(own.type)
      byType.set(own.type, {
        type: own.type,
        searchable: own.searchable && known?.searchable !== false,
        aggregatable: own.aggregatable && known?.aggregatable !== false,
        indices: [...(known?.indices ?? []), index.name],
      })
    }
    if (turns.isDue()) await turns.next()
  }
  const names = indices.map(({ name }) => name)
  const members = Array.from(fields, ([path, byType]) => [path, showCapabilities(byType, includesUnmapped ? names : [])] as const)
  return listingReply(call, { head: { indices: names }, under: 'fields', members })
}

interface Capability {
  readonly type: string
  readonly searchable: boolean
  readonly aggregatable: boolean
  readonly indices: readonly string[]
}

/** Of the fields of an index, and of the objects around them. */
function* capabilitiesOf(mapping: IndexMapping): Generator<readonly [string, Omit<Capability, 'indices'>]> {
  const objects = new Set<string>()
  for (const path of mapping.paths()) {
    const { type, index, nanos, kept } = mapping.field(path)!
    const isText = type === 'text' || type === 'match_only_text'
    yield [
      path,
      { type: kept ?? (nanos === true ? 'date_nanos' : type), searchable: index !== false, aggregatable: !isText && kept === undefined },
    ]
    for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) objects.add(path.slice(0, dot))
  }
  for (const path of objects)
    if (mapping.field(path)?.type === 'object') yield [path, { type: 'object', searchable: false, aggregatable: false }]
}

/** Indices are named where there are several types; `all` also tells of those without the field. */
function showCapabilities(byType: ReadonlyMap<string, Capability>, all: readonly string[]): Record<string, unknown> {
  const mapped = new Set([...byType.values()].flatMap(({ indices }) => indices))
  const others = all.filter(name => !mapped.has(name))
  const types = [
    ...byType.values(),
    ...(others.length > 0 ? [{ type: 'unmapped', searchable: false, aggregatable: false, indices: others }] : []),
  ]
  return Object.fromEntries(types.map(({ indices, ...own }) => [own.type, types.length > 1 ? { ...own, indices } : own]))
}
