/** JSON schemas of Kubernetes' own kinds and of ours, as kubeconform reads them. Stricter than the API server: unknown fields are errors. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildCustomResourceDefinition, KINDS } from '../../operator/api/crd.ts'
import { API_GROUP, API_VERSION } from '../../operator/api/names.ts'
import { CACHE_DIR } from '../real/place.ts'
import { downloadModule } from './chart-tools.ts'

export const KUBERNETES_VERSION = '1.34.4'

type Json = Readonly<Record<string, unknown>>

interface Definition extends Json {
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly version: string; readonly kind: string }[]
}

/** Directory of the schemas of Kubernetes' own kinds; made once. Throws `Unavailable`. */
export async function kubernetesSchemas(limitMs: number): Promise<string> {
  const directory = join(CACHE_DIR, `kubernetes-schemas-${KUBERNETES_VERSION}`)
  if (existsSync(directory)) return directory
  const module = await downloadModule(`k8s.io/kubernetes@v${KUBERNETES_VERSION}`, limitMs)
  const swagger = JSON.parse(readFileSync(join(module, 'api/openapi-spec/swagger.json'), 'utf8')) as {
    readonly definitions: Readonly<Record<string, Definition>>
  }
  mkdirSync(CACHE_DIR, { recursive: true })
  const unfinished = mkdtempSync(join(CACHE_DIR, 'kubernetes-schemas-'))
  for (const [name, text] of kubernetesFiles(swagger.definitions)) writeFileSync(join(unfinished, name), text)
  renameSync(unfinished, directory)
  return directory
}

/** Writes the schemas of our own kinds. */
export function writeOwnSchemas(directory: string): void {
  for (const kind of KINDS) {
    const { spec } = buildCustomResourceDefinition(kind) as unknown as {
      readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Json } }] }
    }
    const schema = closed(spec.versions[0].schema.openAPIV3Schema) as { readonly properties: Json }
    const whole = { ...schema, properties: { ...schema.properties, metadata: { type: 'object' } } }
    writeFileSync(join(directory, fileName(API_GROUP, API_VERSION, kind.kind)), JSON.stringify(whole))
  }
}

function kubernetesFiles(definitions: Readonly<Record<string, Definition>>): readonly (readonly [name: string, text: string])[] {
  const all = Object.fromEntries(Object.entries(definitions).map(([name, node]) => [name, isLoose(name) ? LOOSE : closed(node)]))
  return Object.entries(definitions).flatMap(([name, node]) => {
    const kinds = node['x-kubernetes-group-version-kind'] ?? []
    // Options of requests stand for every group.
    if (kinds.length !== 1) return []
    const { group, version, kind } = kinds[0]!
    const used = Object.fromEntries([...closure(name, all)].map(used => [used, all[used]]))
    return [[fileName(group, version, kind), JSON.stringify({ $ref: `#/definitions/${name}`, definitions: used })] as const]
  })
}

/** As kubeconform names it: kind, first part of the group, version. */
function fileName(group: string, version: string, kind: string): string {
  return `${[kind, ...(group === '' ? [] : [group.split('.')[0]]), version].join('-').toLowerCase()}.json`
}

const LOOSE = { type: ['string', 'number'] }
const isLoose = (name: string) => name.endsWith('.api.resource.Quantity') || name.endsWith('.IntOrString')

function closure(name: string, all: Json, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const [, other] of JSON.stringify(all[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) closure(other!, all, seen)
  return seen
}

/** The node without Kubernetes' own keywords; an object that names its fields takes no others. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const given = node as Json
  if (given['format'] === 'int-or-string' || given['x-kubernetes-int-or-string'] === true) return LOOSE
  const { properties } = given
  const names = Object.keys(given).filter(name => name !== 'properties' && !name.startsWith('x-kubernetes-'))
  const rest = Object.fromEntries(names.map(name => [name, closed(given[name])]))
  if (typeof properties !== 'object' || properties === null) return rest
  const fields = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, closed(field)]))
  const isOpen = 'additionalProperties' in given || given['x-kubernetes-preserve-unknown-fields'] === true
  return { ...rest, properties: fields, ...(isOpen ? {} : { additionalProperties: false }) }
}
