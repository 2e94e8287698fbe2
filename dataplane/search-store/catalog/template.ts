/** Index templates: what new indices of matching names start with. */

import { isJsonObject } from '../../json/is-json-object.ts'
import { wildcardPattern } from '../analysis/term-pattern.ts'
import { ApiError, illegalArgument, unsupported, validationError } from '../api-error.ts'
import { type JsonObject, readInteger, readObject, readString, readStrings, refuseUnknown } from '../json/json-reader.ts'
import { textOf } from '../json/text-of.ts'
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
  /** One that was not given counts as 0, and is not shown. */
  readonly isPriorityGiven?: boolean
  readonly settings: Settings
  readonly mappings: JsonObject
  readonly aliases: Readonly<Record<string, AliasConfig>>
  readonly version?: number
  readonly meta?: JsonObject
  /** Component templates that it begins with; later ones win. */
  readonly composedOf?: readonly string[]
  /** The field that each document of its data streams has to have; absent: it makes indices. */
  readonly timestampField?: string
}

/** All templates there are. */
export interface Templates {
  readonly template: ReadonlyMap<string, IndexTemplate>
  readonly component_template: ReadonlyMap<string, IndexTemplate>
  readonly legacy_template: ReadonlyMap<string, IndexTemplate>
}

export type TemplateKind = keyof Templates

/** The mapping and settings with which an index starts. */
export interface IndexBlueprint {
  readonly settings: Settings
  readonly mappings: JsonObject
  readonly aliases: Readonly<Record<string, AliasConfig>>
}

function readMappings(value: unknown): JsonObject {
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
    const type = error instanceof DocumentRejected ? error.type : 'mapper_parsing_exception'
    throw new ApiError(400, 'mapper_parsing_exception', `Failed to parse mapping [_doc]: ${error.message}`, {
      causedBy: { type, reason: error.message },
    })
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
  return {
    ...readCommon(body),
    priority: body['priority'] === undefined ? 0 : readPriority(body['priority']),
    ...(body['priority'] !== undefined && { isPriorityGiven: true }),
    ...readInner(body),
    ...(body['data_stream'] !== undefined && { timestampField: parseDataStream(body['data_stream']) }),
    ...(body['composed_of'] !== undefined && { composedOf: readStrings(body['composed_of'], 'composed_of') }),
  }
}

function readPriority(value: unknown): number {
  const priority = readInteger(value, 'priority', Number.MIN_SAFE_INTEGER)
  if (priority < 0) throw validationError('index template priority must be >= 0')
  return priority
}

export const DEFAULT_TIMESTAMP_FIELD = '@timestamp'

/** The timestamp field that the `data_stream` of a template names. */
function parseDataStream(value: unknown): string {
  const content = readObject(value, 'data_stream')
  refuseUnknown(content, 'data_stream', ['timestamp_field'])
  if (content['timestamp_field'] === undefined) return DEFAULT_TIMESTAMP_FIELD
  const field = readObject(content['timestamp_field'], 'data_stream.timestamp_field')
  refuseUnknown(field, 'data_stream.timestamp_field', ['name'])
  const name = readString(field['name'], 'data_stream.timestamp_field.name')
  if (name.includes('.')) throw unsupported(`a data stream timestamp field within an object, [${name}],`)
  return name
}

/** Throws 400 for a template of data streams whose timestamp field is no date. */
export function checkTimestampField(mappings: JsonObject, { timestampField }: IndexTemplate): void {
  const properties = mappings['properties']
  const field = timestampField === undefined || !isJsonObject(properties) ? undefined : properties[timestampField]
  const type = isJsonObject(field) ? textOf(field['type'] ?? 'date') : 'date'
  if (type !== 'date' && type !== 'date_nanos')
    throw illegalArgument(`data stream timestamp field [${timestampField}] is of type [${type}], but [date,date_nanos] is expected`)
}

export function parseComponentTemplate(body: JsonObject): IndexTemplate {
  refuseUnknown(body, 'component_template', ['template', 'version', '_meta', 'allow_auto_create'])
  if (body['template'] === undefined) throw illegalArgument('Required [template]')
  return { patterns: [], priority: 0, ...readVersion(body), ...readInner(body) }
}

function readInner(body: JsonObject): IndexBlueprint {
  const template = readObject(body['template'] ?? {}, 'template')
  refuseUnknown(template, 'template', ['settings', 'mappings', 'aliases'])
  return parseBlueprint(template)
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
  const patterns = body['index_patterns'] === undefined ? [] : readStrings(body['index_patterns'], 'index_patterns')
  if (patterns.length === 0) throw validationError('index patterns are missing')
  return { patterns, ...readVersion(body) }
}

function readVersion(body: JsonObject): { version?: number; meta?: JsonObject } {
  return {
    ...(body['version'] !== undefined && { version: readInteger(body['version'], 'version', Number.MIN_SAFE_INTEGER) }),
    ...(isJsonObject(body['_meta']) && { meta: body['_meta'] }),
  }
}

const NOTHING: IndexBlueprint = { settings: {}, mappings: {}, aliases: {} }

type Named = readonly [name: string, template: IndexTemplate]

export function matchingTemplates(name: string, templates: ReadonlyMap<string, IndexTemplate>): readonly Named[] {
  return [...templates].filter(([, { patterns }]) => patterns.some(pattern => wildcardPattern(pattern).test(name)))
}

/** The composable template that counts for an index; undefined where none fits its name. */
export function bestTemplate(name: string, { template }: Pick<Templates, 'template'>): Named | undefined {
  return matchingTemplates(name, template).toSorted(([, a], [, b]) => b.priority - a.priority)[0]
}

/** The start of a new index by the templates. */
export function blueprintFor(name: string, templates: Templates): IndexBlueprint {
  const best = bestTemplate(name, templates)
  if (best !== undefined) return composed(best[1], templates)
  return matchingTemplates(name, templates.legacy_template)
    .map(([, template]) => template)
    .toSorted((a, b) => a.priority - b.priority)
    .reduce<IndexBlueprint>(mergeBlueprints, NOTHING)
}

/** A template with its components before it. */
export function composed(
  template: IndexTemplate,
  { component_template: components }: Pick<Templates, 'component_template'>,
): IndexBlueprint {
  const parts = (template.composedOf ?? []).flatMap(name => components.get(name) ?? [])
  return mergeBlueprints(parts.reduce<IndexBlueprint>(mergeBlueprints, NOTHING), template)
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
    else entries.set(key, isJsonObject(before) && isJsonObject(value) ? mergeObjects(before, value) : value)
  }
  return Object.fromEntries(entries)
}
