/** The API server's work on an object of a CRD before it is stored: defaults, types and bounds, CEL rules. For tests; the real one is asked too. */
import { Environment, type ParseResult } from '@marcbachmann/cel-js'
import { buildCustomResourceDefinition, KINDS } from '../crd.ts'
import type { CelRule } from '../schema.ts'

interface Node {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly items?: Node
  readonly additionalProperties?: Node
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly pattern?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-validations'?: readonly CelRule[]
}

type Json = Readonly<Record<string, unknown>>

/** Both are made once: the suite of every field admits thousands of objects. */
const schemas = new Map<string, Node>()
const parsedRules = new Map<string, ParseResult>()

/** With those functions of Kubernetes that rules use beside CEL's own. */
const cel = new Environment({ unlistedVariablesAreDyn: true })
  .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => text.match(new RegExp(pattern, 'g')) ?? [])
  .registerFunction('list.sum(): double', (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0))

/** The object with its defaults, and why it is refused: `path: reason`, empty when it is taken. `old` is what it replaces. */
export function admit<T extends object>(
  kind: string,
  object: object,
  old?: object,
): { readonly object: T; readonly problems: readonly string[] } {
  const schema = schemaOf(kind)
  const defaulted = withDefaults(schema, object)
  const problems = check(schema, defaulted, '')
  const refused =
    problems.length > 0 ? problems : applyRules(schema, defaulted, old === undefined ? undefined : withDefaults(schema, old), '')
  return { object: defaulted as T, problems: refused }
}

function schemaOf(kind: string): Node {
  const known = schemas.get(kind) ?? buildSchema(kind)
  schemas.set(kind, known)
  return known
}

function buildSchema(kind: string): Node {
  const description = KINDS.find(one => one.kind === kind)
  if (description === undefined) throw new Error(`no such kind: ${kind}`)
  const crd = buildCustomResourceDefinition(description) as unknown as {
    readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Node } }] }
  }
  const root = crd.spec.versions[0].schema.openAPIV3Schema
  const metadata: Node = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return { ...root, properties: { ...root.properties, metadata } }
}

function withDefaults(node: Node, value: unknown): unknown {
  if (Array.isArray(value)) return node.items === undefined ? value : value.map(item => withDefaults(node.items!, item))
  if (typeof value !== 'object' || value === null) return value
  const given = value as Json
  const defaults = Object.entries(node.properties ?? {}).filter(([name, child]) => child.default !== undefined && given[name] === undefined)
  const all = { ...given, ...Object.fromEntries(defaults.map(([name, child]) => [name, child.default])) }
  return Object.fromEntries(Object.entries(all).map(([name, child]) => [name, withDefaults(childOf(node, name) ?? {}, child)]))
}

const childOf = (node: Node, name: string) => node.properties?.[name] ?? node.additionalProperties

function check(node: Node, value: unknown, path: string): readonly string[] {
  const problem = problemOf(node, value)
  if (problem !== undefined) return [`${path}: ${problem}`]
  return childrenOf(node, value).flatMap(({ child, value: inner, name }) =>
    child === undefined ? [`${path}.${name}: unknown field`] : check(child, inner, `${path}.${name}`),
  )
}

/** Members of an object or list, with the schema of each; none where unknown fields are kept. */
function childrenOf(node: Node, value: unknown) {
  if (typeof value !== 'object' || value === null || node['x-kubernetes-preserve-unknown-fields']) return []
  return Object.entries(value).map(([name, inner]) => ({ name, value: inner as unknown, child: node.items ?? childOf(node, name) }))
}

function problemOf(node: Node, value: unknown): string | undefined {
  if (!isOfType(node, value)) return `expected ${node.type ?? 'integer or string'}`
  if (typeof value === 'string') return textProblem(node, value)
  if (typeof value === 'number') return numberProblem(node, value)
  if (Array.isArray(value)) return sizeProblem(value.length, node.minItems, node.maxItems)
  if (typeof value !== 'object' || value === null) return undefined
  const missing = (node.required ?? []).filter(name => (value as Json)[name] === undefined)
  return missing.length > 0 ? `expected ${missing.join(', ')}` : sizeProblem(Object.keys(value).length, undefined, node.maxProperties)
}

function isOfType(node: Node, value: unknown): boolean {
  if (node['x-kubernetes-int-or-string']) return typeof value === 'string' || Number.isInteger(value)
  if (node.type === 'array') return Array.isArray(value)
  if (node.type === 'integer') return Number.isInteger(value)
  return typeof value === node.type && value !== null && !Array.isArray(value)
}

function textProblem(node: Node, value: string): string | undefined {
  if (node.enum !== undefined && !node.enum.includes(value)) return `expected one of ${node.enum.join(', ')}`
  if (node.pattern !== undefined && !new RegExp(node.pattern).test(value)) return `expected to match ${node.pattern}`
  return sizeProblem(value.length, node.minLength, node.maxLength)
}

function numberProblem({ minimum = -Infinity, exclusiveMinimum = false, maximum = Infinity }: Node, value: number): string | undefined {
  const isLow = exclusiveMinimum ? value <= minimum : value < minimum
  return isLow || value > maximum ? `expected from ${minimum} to ${maximum}` : undefined
}

function sizeProblem(size: number, min = 0, max = Infinity): string | undefined {
  return size < min || size > max ? `expected a size from ${min} to ${max}` : undefined
}

/** Rules of a node and of all below; a rule that speaks of `oldSelf` counts only where there was a value. */
function applyRules(node: Node, value: unknown, old: unknown, path: string): readonly string[] {
  const rules = (node['x-kubernetes-validations'] ?? []).filter(({ rule }) => old !== undefined || !rule.includes('oldSelf'))
  const values = rules.length === 0 ? {} : { self: toCel(node, value), oldSelf: toCel(node, old) }
  const own = rules.filter(({ rule }) => !holds(rule, values)).map(({ message, fieldPath = '' }) => `${path}${fieldPath}: ${message}`)
  const below = childrenOf(node, value).flatMap(({ child, value: inner, name }) =>
    child === undefined ? [] : applyRules(child, inner, (old as Json | undefined)?.[name], `${path}.${name}`),
  )
  return [...own, ...below]
}

function holds(rule: string, values: Json): boolean {
  const parsed = parsedRules.get(rule) ?? cel.parse(rule)
  parsedRules.set(rule, parsed)
  return parsed(values) as boolean
}

/** CEL tells integers from other numbers by their type. */
function toCel(node: Node, value: unknown): unknown {
  if (typeof value === 'number') return node.type === 'integer' || node['x-kubernetes-int-or-string'] ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(item => toCel(node.items ?? {}, item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toCel(childOf(node, name) ?? {}, inner)]))
}
