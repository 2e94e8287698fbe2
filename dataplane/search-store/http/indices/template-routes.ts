/** Index templates: `_index_template`, their components `_component_template`, and the older `_template`. */
import { wildcardPattern } from '../../analysis/term-pattern.ts'
import { ApiError, illegalArgument } from '../../api-error.ts'
import type { DataStream } from '../../catalog/data-stream.ts'
import { mayOverlap } from '../../catalog/overlapping-patterns.ts'
import { nestSettings, type Settings } from '../../catalog/settings.ts'
import {
  bestTemplate,
  checkMappings,
  checkTimestampField,
  composed,
  type IndexBlueprint,
  type IndexTemplate,
  matchingTemplates,
  parseComponentTemplate,
  parseComposableTemplate,
  parseLegacyTemplate,
  type TemplateKind,
  type Templates,
} from '../../catalog/template.ts'
import type { JsonObject } from '../../json/json-reader.ts'
import { acknowledged, ok, type Reply } from '../answer/reply.ts'
import { booleanParameter, NODE_PARAMETERS } from '../request/index-parameters.ts'
import { type Call, type Route, routes } from '../route.ts'

const PARAMETERS = [...NODE_PARAMETERS, 'create', 'cause', 'order', 'flat_settings', 'include_type_name']

/** How the templates of a kind are asked for, read and shown. */
interface Kind {
  readonly operation: string
  readonly parse: (body: JsonObject) => IndexTemplate
  /** Members of an answer: the list of templates, and one template in the list. */
  readonly list: string
  readonly one: string
}

const KINDS: Readonly<Record<TemplateKind, Kind>> = {
  template: { operation: '_index_template', parse: parseComposableTemplate, list: 'index_templates', one: 'index_template' },
  component_template: {
    ...{ operation: '_component_template', parse: parseComponentTemplate },
    ...{ list: 'component_templates', one: 'component_template' },
  },
  legacy_template: { operation: '_template', parse: parseLegacyTemplate, list: '', one: 'template' },
}

function routesOf(kind: TemplateKind): readonly Route[] {
  const path = `/${KINDS[kind].operation}`
  return [
    ...routes(['GET'], [path], PARAMETERS, call => show(kind, call)),
    ...routes(['PUT', 'POST'], [`${path}/:name`], PARAMETERS, call => put(kind, call)),
    ...routes(['GET', 'HEAD'], [`${path}/:name`], PARAMETERS, call => show(kind, call)),
    ...routes(['DELETE'], [`${path}/:name`], PARAMETERS, call => remove(kind, call)),
  ]
}

export const TEMPLATE_ROUTES: readonly Route[] = [
  ...routes(['POST'], ['/_index_template/_simulate_index/:name'], PARAMETERS, simulateIndex),
  ...routes(['POST'], ['/_index_template/_simulate', '/_index_template/_simulate/:name'], PARAMETERS, simulateTemplate),
  ...routesOf('template'),
  ...routesOf('component_template'),
  ...routesOf('legacy_template'),
]

function put(kind: TemplateKind, call: Call): Reply {
  const name = call.path['name']!
  if (name === '' || /[\s,#*]/.test(name) || name.startsWith('_') || name !== name.toLowerCase())
    throw new ApiError(
      400,
      'invalid_index_template_exception',
      `invalid template name [${name}]: it must be lower case, without spaces, commas, [#] or [*], and not start with [_]`,
    )
  const body = call.json()
  const template = KINDS[kind].parse(body)
  const { catalog } = call.deps
  if (booleanParameter(call.query, 'create') && catalog.templates[kind].has(name))
    throw illegalArgument(`${KINDS[kind].one.replace('_', ' ')} [${name}] already exists`)
  checkPatterns(name, template)
  checkComponents(name, template, catalog.templates)
  if (kind === 'template') {
    checkPriority(name, template, catalog.templates)
    checkStreams(name, template, call)
  }
  catalog.templates.put(kind, name, template)
  return acknowledged()
}

/** Characters that no name of an index has, each with the word for what a pattern has then. */
const NOT_IN_PATTERNS: readonly (readonly [test: (pattern: string) => boolean, problem: string])[] = [
  [pattern => pattern.startsWith('_'), "must not start with '_'"],
  [pattern => pattern.includes(' '), 'must not contain a space'],
  [pattern => pattern.includes('#'), "must not contain a '#'"],
  [pattern => pattern.includes(':'), "must not contain a ':'"],
  [pattern => /[ "\\<|,>/?]/.test(pattern), 'must not contain the following characters [ , ", *, \\, <, |, ,, >, /, ?]'],
]

/** Throws 400 for patterns that no index could fit. */
function checkPatterns(name: string, { patterns }: IndexTemplate): void {
  for (const pattern of patterns) {
    const problem = NOT_IN_PATTERNS.find(([test]) => test(pattern))?.[1]
    if (problem !== undefined)
      throw new ApiError(
        400,
        'invalid_index_template_exception',
        `index_template [${name}] invalid, cause [Validation Failed: 1: index_pattern [${pattern}] ${problem};]`,
      )
  }
}

/** Throws 400 for components that there are not, or that do not go together. */
function checkComponents(name: string, template: IndexTemplate, templates: Templates): void {
  const missing = (template.composedOf ?? []).filter(each => !templates.component_template.has(each))
  if (missing.length > 0)
    throw new ApiError(
      400,
      'invalid_index_template_exception',
      `index_template [${name}] invalid, cause [index template [${name}] specifies component templates [${missing.join(', ')}] that do not exist]`,
    )
  const { settings, mappings } = composed(template, templates)
  checkMappings(mappings, settings)
  checkTimestampField(mappings, template)
}

/** Throws 400 where another template of the same priority may fit the same name: nobody could say which of both counts. */
function checkPriority(name: string, { patterns, priority }: IndexTemplate, { template: templates }: Templates): void {
  const equal = [...templates].filter(
    ([each, other]) => each !== name && other.priority === priority && other.patterns.some(a => patterns.some(b => mayOverlap(a, b))),
  )
  if (equal.length > 0)
    throw illegalArgument(
      `index template [${name}] has index patterns [${patterns.join(', ')}] matching patterns from existing templates ` +
        `[${equal.map(([each]) => each).join(',')}] with patterns (${equal.map(([each, other]) => `${each} => [${other.patterns.join(', ')}]`).join(',')}) ` +
        `that have the same priority [${priority}], multiple index templates may not match during index creation, please use a different priority`,
    )
}

function matching(kind: TemplateKind, call: Call): readonly (readonly [string, IndexTemplate])[] {
  const patterns = (call.path['name'] ?? '*').split(',').map(pattern => wildcardPattern(pattern))
  return [...call.deps.catalog.templates[kind]].filter(([name]) => patterns.some(pattern => pattern.test(name)))
}

function show(kind: TemplateKind, call: Call): Reply {
  const found = matching(kind, call)
  const name = call.path['name']
  const isMissing = found.length === 0 && name !== undefined && !name.includes('*')
  if (kind === 'legacy_template') {
    if (isMissing) return { status: 404, body: {} }
    return ok(Object.fromEntries(found.map(([each, template]) => [each, showLegacy(template, settingsShown(call))])))
  }
  const { list, one } = KINDS[kind]
  if (isMissing) throw new ApiError(404, 'resource_not_found_exception', `${one.replace('_', ' ')} matching [${name}] not found`)
  const shown = (template: IndexTemplate) => showComposable(template, kind === 'template', settingsShown(call))
  return ok({ [list]: found.map(([each, template]) => ({ name: each, [one]: shown(template) })) })
}

type ShowSettings = (settings: Settings) => Record<string, unknown>

const settingsShown = ({ query }: Call): ShowSettings =>
  booleanParameter(query, 'flat_settings') ? settings => ({ ...settings }) : nestSettings

function showBlueprint({ settings, mappings, aliases }: IndexBlueprint, show: ShowSettings): Record<string, unknown> {
  return {
    ...(Object.keys(settings).length > 0 && { settings: show(settings) }),
    ...(Object.keys(mappings).length > 0 && { mappings }),
    ...(Object.keys(aliases).length > 0 && { aliases }),
  }
}

function showComposable(template: IndexTemplate, isOfIndices: boolean, show: ShowSettings): Record<string, unknown> {
  return {
    ...(isOfIndices && { index_patterns: template.patterns }),
    template: showBlueprint(template, show),
    ...(isOfIndices && { composed_of: template.composedOf ?? [] }),
    ...(template.isPriorityGiven && { priority: template.priority }),
    ...(template.version !== undefined && { version: template.version }),
    ...(template.meta !== undefined && { _meta: template.meta }),
    ...(template.timestampField !== undefined && { data_stream: { timestamp_field: { name: template.timestampField } } }),
  }
}

function showLegacy(template: IndexTemplate, show: ShowSettings): Record<string, unknown> {
  return {
    order: template.priority,
    ...(template.version !== undefined && { version: template.version }),
    index_patterns: template.patterns,
    settings: show(template.settings),
    mappings: template.mappings,
    aliases: template.aliases,
  }
}

function remove(kind: TemplateKind, call: Call): Reply {
  const found = matching(kind, call)
  const name = call.path['name']!
  if (found.length === 0) throw new ApiError(404, 'index_template_missing_exception', `index_template [${name}] missing`)
  if (kind === 'component_template') checkUnused(found, call)
  if (kind === 'template') checkStreamsStay(found, call)
  call.deps.catalog.templates.delete(
    kind,
    found.map(([each]) => each),
  )
  return acknowledged()
}

/** Streams that a template would no longer be there for: each has to match one of streams. */
function orphans(streams: readonly DataStream[], templates: ReadonlyMap<string, IndexTemplate>): readonly string[] {
  return streams.filter(({ name }) => bestTemplate(name, { template: templates })?.[1].timestampField === undefined).map(({ name }) => name)
}

/** Throws 400 for a template that takes streams away from those that are there. */
function checkStreams(name: string, template: IndexTemplate, { deps: { catalog } }: Call): void {
  const lost = orphans(catalog.streams, new Map([...catalog.templates.template, [name, template]]))
  if (lost.length === 0) return
  const what = template.timestampField === undefined ? ' and no data stream configuration' : ''
  throw illegalArgument(
    `composable template [${name}] with index patterns [${template.patterns.join(', ')}], priority [${template.isPriorityGiven ? template.priority : null}]` +
      `${what} would cause data streams [${lost.join(', ')}] to no longer match a data stream template`,
  )
}

/** Throws 400 for templates that streams are made from. */
function checkStreamsStay(removed: readonly (readonly [string, IndexTemplate])[], { deps: { catalog } }: Call): void {
  const names = new Set(removed.map(([name]) => name))
  const left = new Map([...catalog.templates.template].filter(([name]) => !names.has(name)))
  const lost = orphans(catalog.streams, left)
  if (lost.length > 0)
    throw illegalArgument(
      `unable to remove composable templates [${[...names].sort().join(', ')}] as they are in use by a data streams [${lost.join(', ')}]`,
    )
}

/** Throws 400 for components that an index template begins with. */
function checkUnused(components: readonly (readonly [string, IndexTemplate])[], { deps }: Call): void {
  const names = new Set(components.map(([name]) => name))
  const users = [...deps.catalog.templates.template].filter(([, { composedOf = [] }]) => composedOf.some(name => names.has(name)))
  if (users.length > 0)
    throw illegalArgument(
      `component templates [${[...names].join(', ')}] cannot be removed as they are still in use by index templates [${users.map(([name]) => name).join(', ')}]`,
    )
}

const showOverlapping = (templates: readonly (readonly [string, IndexTemplate])[]) =>
  templates.map(([name, { patterns }]) => ({ name, index_patterns: patterns }))

/** All of them, empty ones too. */
const simulated = ({ settings, mappings, aliases }: IndexBlueprint) => ({ settings: nestSettings(settings), mappings, aliases })

/** The template of the body, as if it were there. */
function withBody(call: Call, name: string): Templates {
  const { templates } = call.deps.catalog
  if (call.body.length === 0) return templates
  const template = parseComposableTemplate(call.json())
  checkComponents(name, template, templates)
  checkPriority(name, template, templates)
  return { ...templates, template: new Map([...templates.template, [name, template]]) }
}

/** The settings, mappings and aliases that a new index of the name would begin with. */
function simulateIndex(call: Call): Reply {
  const name = call.path['name']!
  const templates = withBody(call, `simulate_template_${name}`)
  const best = bestTemplate(name, templates)
  if (best === undefined) return ok({})
  const others = [...matchingTemplates(name, templates.legacy_template), ...matchingTemplates(name, templates.template)]
  return ok({
    template: simulated(composed(best[1], templates)),
    overlapping: showOverlapping(others.filter(([each]) => each !== best[0])),
  })
}

/** The same for indices of a template, which is there or in the body. */
function simulateTemplate(call: Call): Reply {
  const name = call.path['name'] ?? 'simulated'
  const templates = withBody(call, name)
  const template = templates.template.get(name)
  if (template === undefined) throw illegalArgument(`unable to simulate template [${name}] that does not exist`)
  const others = [...templates.legacy_template, ...templates.template].filter(
    ([each, { patterns }]) => each !== name && patterns.some(a => template.patterns.some(b => mayOverlap(a, b))),
  )
  return ok({ template: simulated(composed(template, templates)), overlapping: showOverlapping(others) })
}
