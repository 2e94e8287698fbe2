/** Index templates: what new indices of matching names start with. */

import { wildcardPattern } from '../analysis/term-pattern.ts'
import { ApiError, illegalArgument, unsupported } from '../api-error.ts'
import { isObject, type JsonObject, readInteger, readObject, readStrings, refuseUnknown } from '../json/json-reader.ts'
import { DocumentRejected } from '../mapping/document-rejected.ts'
import { createMapping } from '../mapping/mapping.ts'
import { mappingConfigOf } from '../mapping/mapping-config.ts'
import { refuseUndoneMappings } from '../mapping/undone.ts'
import { type AliasConfig, parseAliases } from './alias.ts'
import { parseSettings, refuseUndone, type Settings, totalFieldsLimit } from './settings.ts'

export interface IndexTemplate {
  readonly patterns: readonly string[]
  /** The highest that matches wins (composable); all that match apply in this order (legacy). */
  readonly priority: number
  readonly settings: Settings
  readonly mappings: JsonObject
  readonly aliases: Readonly<Record<string, AliasConfig>>
  readonly version?: number
  readonly meta?: JsonObject
}

/** The mapping and settings with which an index starts. */
export interface IndexBlueprint {
  readonly settings: Settings
  readonly mappings: JsonObject
  readonly aliases: Readonly<Record<string, AliasConfig>>
}

export function readMappings(value: unknown): JsonObject {
  const mappings = readObject(value ?? {}, 'mappings')
  const [only, ...others] = Object.keys(mappings)
  // The single type of old clients.
  return only === '_doc' && others.length === 0 ? readObject(mappings['_doc'], 'mappings._doc') : mappings
}

/** Throws 400 where the mapping could not be used. */
export function checkMappings(mappings: JsonObject, settings: Settings): void {
  refuseUndoneMappings(mappings)
  try {
    createMapping(mappingConfigOf(mappings, totalFieldsLimit(settings))).release()
  } catch (error) {
    if (!(error instanceof DocumentRejected || error instanceof TypeError || error instanceof SyntaxError)) throw error
    throw new ApiError(400, 'mapper_parsing_exception', `Failed to parse mapping [_doc]: ${error.message}`)
  }
}

export function parseBlueprint(content: JsonObject): IndexBlueprint {
  const settings = parseSettings(content['settings'])
  refuseUndone(settings)
  const mappings = readMappings(content['mappings'])
  checkMappings(mappings, settings)
  return { settings, mappings, aliases: parseAliases(content['aliases']) }
}

const COMPOSABLE_KEYS = ['index_patterns', 'template', 'priority', 'version', '_meta', 'composed_of', 'data_stream', 'allow_auto_create']

export function parseComposableTemplate(body: JsonObject): IndexTemplate {
  refuseUnknown(body, 'index_template', COMPOSABLE_KEYS)
  if (body['data_stream'] !== undefined) throw unsupported('index template member [data_stream]')
  if (Array.isArray(body['composed_of']) && body['composed_of'].length > 0) throw unsupported('index template member [composed_of]')
  const template = readObject(body['template'] ?? {}, 'template')
  refuseUnknown(template, 'template', ['settings', 'mappings', 'aliases'])
  return {
    ...readCommon(body),
    priority: body['priority'] === undefined ? 0 : readInteger(body['priority'], 'priority', 0),
    ...parseBlueprint(template),
  }
}

export function parseLegacyTemplate(body: JsonObject): IndexTemplate {
  refuseUnknown(body, 'template', ['index_patterns', 'order', 'version', 'settings', 'mappings', 'aliases'])
  return {
    ...readCommon(body),
    priority: body['order'] === undefined ? 0 : readInteger(body['order'], 'order', Number.MIN_SAFE_INTEGER),
    ...parseBlueprint(body),
  }
}

function readCommon(body: JsonObject): { patterns: readonly string[]; version?: number; meta?: JsonObject } {
  if (body['index_patterns'] === undefined) throw illegalArgument('Required [index_patterns]')
  const patterns = readStrings(body['index_patterns'], 'index_patterns')
  if (patterns.length === 0) throw illegalArgument('index patterns are missing')
  return {
    patterns,
    ...(body['version'] !== undefined && { version: readInteger(body['version'], 'version', Number.MIN_SAFE_INTEGER) }),
    ...(isObject(body['_meta']) && { meta: body['_meta'] }),
  }
}

/** The start of a new index by the templates. */
export function blueprintFor(
  name: string,
  composable: ReadonlyMap<string, IndexTemplate>,
  legacy: ReadonlyMap<string, IndexTemplate>,
): IndexBlueprint {
  const matching = (templates: ReadonlyMap<string, IndexTemplate>): readonly IndexTemplate[] =>
    [...templates.values()].filter(template => template.patterns.some(pattern => wildcardPattern(pattern, false).test(name)))
  const best = matching(composable).toSorted((a, b) => b.priority - a.priority)[0]
  if (best !== undefined) return best
  return matching(legacy)
    .toSorted((a, b) => a.priority - b.priority)
    .reduce<IndexBlueprint>(mergeBlueprints, { settings: {}, mappings: {}, aliases: {} })
}

/** Where both have a member, that of `over` wins. */
export function mergeBlueprints(base: IndexBlueprint, over: IndexBlueprint): IndexBlueprint {
  return {
    settings: { ...base.settings, ...over.settings },
    mappings: mergeObjects(base.mappings, over.mappings),
    aliases: { ...base.aliases, ...over.aliases },
  }
}

function mergeObjects(base: JsonObject, over: JsonObject): JsonObject {
  const entries = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    const before = entries.get(key)
    if (key === 'dynamic_templates' && Array.isArray(before) && Array.isArray(value)) entries.set(key, [...value, ...before])
    else entries.set(key, isObject(before) && isObject(value) ? mergeObjects(before, value) : value)
  }
  return Object.fromEntries(entries)
}
