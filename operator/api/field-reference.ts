/** The fields of a custom resource as a table for people. */
import type { KindDescription } from './crd.ts'
import type { CelRule } from './schema.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

type Node = StructuralSchema & {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly items?: Node
  readonly additionalProperties?: Node
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maximum?: number
  readonly 'x-kubernetes-validations'?: readonly CelRule[]
}

/** Markdown: a table of `spec`, then the rules that concern several fields. */
export function fieldReference({ spec }: Pick<KindDescription, 'spec'>): string {
  const root = structuralSchema(spec) as Node
  const rules = rulesOf(root).map(({ message, fieldPath }) => `- ${fieldPath === undefined ? '' : `\`${fieldPath.slice(1)}\`: `}${message}`)
  const table = ['| field | value | default | |', '|---|---|---|---|', ...rows(root, '')].join('\n')
  return rules.length === 0 ? table : `${table}\n\nRules:\n\n${rules.join('\n')}`
}

/** Objects that stand in many places: their fields are explained once, in the text beside the table. */
const SHARED: Readonly<Record<string, string>> = { 'secret externalSecret keys': 'credentials', 'requests limits': 'resources' }

function rows(node: Node, prefix: string): readonly string[] {
  const { properties = {}, required = [] } = node
  return Object.entries(properties).flatMap(([name, child]) => {
    const path = `${prefix}${name}`
    const presence = child['default'] === undefined ? (required.includes(name) ? '**required**' : '') : `\`${child['default']}\``
    const rules = [
      ...rulesOf(child).filter(({ fieldPath }) => fieldPath === undefined),
      ...rulesOf(node).filter(rule => rule.fieldPath === `.${name}` && prefix !== ''),
    ]
    const isShared = sharedName(child) !== undefined
    const text = [child['description'], ...(isShared ? [] : rules.map(({ message }) => sentence(message)))].filter(Boolean).join(' ')
    return [`| \`${path}\` | ${valueText(child)} | ${presence} | ${text} |`, ...(isShared ? [] : rowsBelow(child, path))]
  })
}

/** Rows of the fields below a field, or below the items of its list. */
function rowsBelow(node: Node, path: string): readonly string[] {
  if (node.items?.properties !== undefined) return rows(node.items, `${path}[].`)
  return node.properties === undefined ? [] : rows(node, `${path}.`)
}

const rulesOf = (node: Node) => node['x-kubernetes-validations'] ?? []

const sharedName = ({ properties = {} }: Node) => SHARED[Object.keys(properties).join(' ')]

const sentence = (message: string) => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`

function valueText(node: Node): string {
  if (node.enum !== undefined) return node.enum.map(value => `\`${value}\``).join(', ')
  if (node['x-kubernetes-int-or-string'] === true) return node['pattern'] === undefined ? 'text or integer' : 'amount'
  if (node.type === 'array') return `list of ${plural(valueText(node.items!))}`
  if (node.type === 'integer' || node.type === 'number') return numberRange(node)
  if (node.type === 'boolean') return '`true`, `false`'
  if (node.type === 'string') return 'text'
  return node.additionalProperties === undefined ? (sharedName(node) ?? 'object') : `map to ${valueText(node.additionalProperties)}`
}

const plural = (value: string) => (value === 'object' ? 'objects' : value === 'text' ? 'texts' : value)

function numberRange({ type, minimum, exclusiveMinimum, maximum }: Node): string {
  const noun = type === 'integer' ? 'integer' : 'number'
  if (minimum === undefined || maximum === undefined) return noun
  return exclusiveMinimum ? `${noun} above ${minimum}, at most ${maximum}` : `${noun} from ${minimum} to ${maximum}`
}
