/** Dynamic templates: which mapping a new field gets. */
import { textOf } from '../json/text-of.ts'
import { objectOf } from './mapping-config.ts'
import { regexPattern, simplePattern } from './name-patterns.ts'

/** Kinds of JSON values that bring a new field. */
const DYNAMIC_KINDS = ['string', 'long', 'double', 'boolean', 'date', 'object'] as const
export type DynamicKind = (typeof DYNAMIC_KINDS)[number]

/** Picks the mapping for a new field, as OpenSearch's JSON has it. */
export type DynamicRule = (name: string, path: string, kind: DynamicKind) => Record<string, unknown> | undefined

const DEFAULTS: Readonly<Record<DynamicKind, Record<string, unknown>>> = {
  string: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } },
  long: { type: 'long' },
  double: { type: 'float' },
  boolean: { type: 'boolean' },
  date: { type: 'date' },
  object: { type: 'object' },
}

export function createDynamicRule(templates: readonly Readonly<Record<string, unknown>>[]): DynamicRule {
  const rules = templates.map(compileTemplate)
  return (name, path, kind) => {
    for (const rule of rules) {
      const found = rule(name, path, kind)
      if (found !== undefined) return found
    }
    return DEFAULTS[kind]
  }
}

function compileTemplate(template: Readonly<Record<string, unknown>>): DynamicRule {
  const [label = ''] = Object.keys(template)
  const rule = objectOf(template[label], `dynamic_templates.${label}`)
  const mapping = objectOf(rule['mapping'] ?? {}, `dynamic_templates.${label}.mapping`)
  const wanted = rule['match_mapping_type']
  const isRegex = rule['match_pattern'] === 'regex'
  const tests = [
    nameTest(rule['match'], isRegex, true, (name, _path) => name),
    nameTest(rule['unmatch'], isRegex, false, (name, _path) => name),
    nameTest(rule['path_match'], false, true, (_name, path) => path),
    nameTest(rule['path_unmatch'], false, false, (_name, path) => path),
  ]
  return (name, path, kind) => {
    if (wanted !== undefined && wanted !== '*' && wanted !== kind) return undefined
    if (!tests.every(test => test(name, path))) return undefined
    return fillIn(mapping, name, kind) as Record<string, unknown>
  }
}

function nameTest(pattern: unknown, isRegex: boolean, expected: boolean, pick: (name: string, path: string) => string) {
  if (pattern === undefined) return () => true
  const fits = (Array.isArray(pattern) ? pattern : [pattern]).map(each => (isRegex ? regexPattern : simplePattern)(textOf(each)))
  return (name: string, path: string) => fits.some(each => each(pick(name, path))) === expected
}

const DYNAMIC_TYPE: Readonly<Record<DynamicKind, string>> = {
  string: 'text',
  long: 'long',
  double: 'double',
  boolean: 'boolean',
  date: 'date',
  object: 'object',
}

/** Replaces `{name}` and `{dynamic_type}` in a template's mapping; without a type the kind's own is meant. */
function fillIn(mapping: Record<string, unknown>, name: string, kind: DynamicKind): unknown {
  const text = JSON.stringify({ type: DYNAMIC_TYPE[kind], ...mapping })
  if (!text.includes('{name}') && !text.includes('{dynamic_type}')) return JSON.parse(text)
  const quoted = JSON.stringify(name).slice(1, -1)
  return JSON.parse(text.replaceAll('{name}', quoted).replaceAll('{dynamic_type}', DYNAMIC_TYPE[kind]))
}
