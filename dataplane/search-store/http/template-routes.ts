/** Index templates: `_index_template` and the older `_template`. */

import { wildcardPattern } from '../analysis/term-pattern.ts'
import { ApiError, illegalArgument } from '../api-error.ts'
import type { TemplateKind } from '../catalog/catalog.ts'
import { nestSettings } from '../catalog/settings.ts'
import { blueprintFor, type IndexTemplate, parseComposableTemplate, parseLegacyTemplate } from '../catalog/template.ts'
import { booleanParameter, NODE_PARAMETERS } from './index-parameters.ts'
import { acknowledged, ok, type Reply } from './reply.ts'
import { type Call, type Route, routes } from './route.ts'

const PARAMETERS = [...NODE_PARAMETERS, 'create', 'cause', 'order', 'flat_settings', 'include_type_name']

const OPERATION: Readonly<Record<TemplateKind, string>> = { template: '_index_template', legacy_template: '_template' }

function routesOf(kind: TemplateKind): readonly Route[] {
  const path = `/${OPERATION[kind]}`
  return [
    ...routes(['GET'], [path], PARAMETERS, call => show(kind, call)),
    ...routes(['PUT', 'POST'], [`${path}/:name`], PARAMETERS, call => put(kind, call)),
    ...routes(['GET', 'HEAD'], [`${path}/:name`], PARAMETERS, call => show(kind, call)),
    ...routes(['DELETE'], [`${path}/:name`], PARAMETERS, call => remove(kind, call)),
  ]
}

export const TEMPLATE_ROUTES: readonly Route[] = [
  ...routes(['POST'], ['/_index_template/_simulate_index/:name'], PARAMETERS, simulate),
  ...routesOf('template'),
  ...routesOf('legacy_template'),
]

function put(kind: TemplateKind, call: Call): Reply {
  const name = call.path['name']!
  if (name === '' || /[\s,#*]/.test(name) || name.startsWith('_') || name !== name.toLowerCase())
    throw illegalArgument(
      `invalid template name [${name}]: it must be lower case, without spaces, commas, [#] or [*], and not start with [_]`,
    )
  const body = call.json()
  const template = kind === 'template' ? parseComposableTemplate(body) : parseLegacyTemplate(body)
  const { catalog } = call.deps
  if (booleanParameter(call.query, 'create') && catalog.templates(kind).has(name))
    throw illegalArgument(`index template [${name}] already exists`)
  catalog.putTemplate(kind, name, template)
  return acknowledged()
}

function matching(kind: TemplateKind, call: Call): readonly (readonly [string, IndexTemplate])[] {
  const patterns = (call.path['name'] ?? '*').split(',').map(pattern => wildcardPattern(pattern, false))
  return [...call.deps.catalog.templates(kind)].filter(([name]) => patterns.some(pattern => pattern.test(name)))
}

function show(kind: TemplateKind, call: Call): Reply {
  const found = matching(kind, call)
  const name = call.path['name']
  const isMissing = found.length === 0 && name !== undefined && !name.includes('*')
  if (kind === 'legacy_template') {
    if (isMissing) return { status: 404, body: {} }
    return ok(Object.fromEntries(found.map(([each, template]) => [each, showLegacy(template)])))
  }
  if (isMissing) throw notFound(name)
  return ok({ index_templates: found.map(([each, template]) => ({ name: each, index_template: showComposable(template) })) })
}

function notFound(name: string): ApiError {
  return new ApiError(404, 'resource_not_found_exception', `index template matching [${name}] not found`)
}

function showBlueprint({ settings, mappings, aliases }: Pick<IndexTemplate, 'settings' | 'mappings' | 'aliases'>): Record<string, unknown> {
  return {
    ...(Object.keys(settings).length > 0 && { settings: nestSettings(settings) }),
    ...(Object.keys(mappings).length > 0 && { mappings }),
    ...(Object.keys(aliases).length > 0 && { aliases }),
  }
}

function showComposable(template: IndexTemplate): Record<string, unknown> {
  return {
    index_patterns: template.patterns,
    template: showBlueprint(template),
    composed_of: [],
    priority: template.priority,
    ...(template.version !== undefined && { version: template.version }),
    ...(template.meta !== undefined && { _meta: template.meta }),
  }
}

function showLegacy(template: IndexTemplate): Record<string, unknown> {
  return {
    order: template.priority,
    ...(template.version !== undefined && { version: template.version }),
    index_patterns: template.patterns,
    settings: nestSettings(template.settings),
    mappings: template.mappings,
    aliases: template.aliases,
  }
}

function remove(kind: TemplateKind, call: Call): Reply {
  const found = matching(kind, call)
  const name = call.path['name']!
  if (found.length === 0) throw new ApiError(404, 'index_template_missing_exception', `index_template [${name}] missing`)
  call.deps.catalog.deleteTemplates(
    kind,
    found.map(([each]) => each),
  )
  return acknowledged()
}

function simulate(call: Call): Reply {
  const { catalog } = call.deps
  const blueprint = blueprintFor(call.path['name']!, catalog.templates('template'), catalog.templates('legacy_template'))
  return ok({
    template: { settings: nestSettings(blueprint.settings), mappings: blueprint.mappings, aliases: blueprint.aliases },
    overlapping: [],
  })
}
