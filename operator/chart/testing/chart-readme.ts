/** The table of the chart's values: names, defaults and comments from values.yaml, types from values.schema.json. */
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'

export interface ChartValue {
  /** Such as `image.tag`. */
  readonly path: string
  /** As JSON. */
  readonly default: string
  readonly description: string
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
}

const MARKED = /(<!-- values -->\n)[\s\S]*?(<!-- \/values -->)/

export function chartReadme(readme: string, values: string, schema: string): string {
  if (!MARKED.test(readme)) throw new Error('README.md of the chart has no <!-- values --> … <!-- /values -->')
  const root = JSON.parse(schema) as Schema
  const rows = chartValues(values).map(
    value => `| \`${value.path}\` | ${typeAt(root, value.path)} | \`${value.default}\` | ${value.description} |`,
  )
  const table = ['| value | type | default | |', '|---|---|---|---|', ...rows].join('\n')
  return readme.replace(MARKED, (_all, begin: string, end: string) => `${begin}${table}\n${end}`)
}

/** Every value with a comment of its own, in the order of the file. A map whose members have comments is not one itself. */
function chartValues(values: string): readonly ChartValue[] {
  const document = parseDocument(values)
  if (!isMap(document.contents)) throw new Error('values.yaml: expected a map')
  return valuesOf(document.contents, '')
}

function valuesOf(map: YAMLMap, prefix: string): readonly ChartValue[] {
  return map.items.flatMap((pair, index) => {
    const path = `${prefix}${(pair.key as { readonly value: string }).value}`
    const members = isMap(pair.value) && !pair.value.flow ? pair.value : undefined
    const comment = commentOf(pair, index === 0 ? map : undefined)
    if (members !== undefined && comment === undefined) return valuesOf(members, `${path}.`)
    if (comment === undefined) throw new Error(`values.yaml: expected a comment above ${path}`)
    return [
      { path, default: JSON.stringify(isScalar(pair.value) ? pair.value.value : (pair.value as YAMLMap).toJSON()), description: comment },
    ]
  })
}

/** The comment of the first member belongs to its map. */
function commentOf(pair: Pair, map: YAMLMap | undefined): string | undefined {
  const comment = (pair.key as { readonly commentBefore?: string | null }).commentBefore ?? map?.commentBefore
  return comment
    ?.split('\n')
    .map(line => line.trim())
    .join(' ')
}

function typeAt(root: Schema, path: string): string {
  const schema = path.split('.').reduce<Schema | undefined>((node, name) => node?.properties?.[name], root)
  if (schema === undefined) throw new Error(`values.schema.json does not know ${path}`)
  if (schema.enum !== undefined) return schema.enum.map(value => `\`${value}\``).join(', ')
  const type = [schema.type ?? 'any'].flat().join(' or ')
  if (schema.minimum === undefined) return type
  return schema.maximum === undefined ? `${type} from ${schema.minimum}` : `${type} from ${schema.minimum} to ${schema.maximum}`
}
