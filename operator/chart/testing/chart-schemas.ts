/** JSON schemas of Kubernetes' own kinds, of other operators' and of ours, as kubeconform reads them. Stricter than the API server: unknown fields are errors. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { downloadModule } from '../../../dataplane/testing/real/go-tools.ts'
import { CACHE_DIR } from '../../../dataplane/testing/real/place.ts'
import { buildCustomResourceDefinition, KINDS } from '../../api/crd.ts'
import { CRD_FILES, type Crd, shippedCrds } from './foreign-crds.ts'

export const KUBERNETES_VERSION = '1.34.4'

type Json = Readonly<Record<string, unknown>>

interface Definition extends Json {
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly version: string; readonly kind: string }[]
}

type SchemaFile = readonly [name: string, text: string]

/** Directory of the schemas of Kubernetes' own kinds; made once. Throws `Unavailable`. */
export function kubernetesSchemas(limitMs: number): Promise<string> {
  return kept(`kubernetes-schemas-${KUBERNETES_VERSION}`, async () => {
    const module = await downloadModule(`k8s.io/kubernetes@v${KUBERNETES_VERSION}`, limitMs)
    const swagger = JSON.parse(readFileSync(join(module, 'api/openapi-spec/swagger.json'), 'utf8')) as {
      readonly definitions: Readonly<Record<string, Definition>>
    }
    return kubernetesFiles(swagger.definitions)
  })
}

/** Directory of the schemas of other operators' kinds; made once. Throws `Unavailable`. */
export function foreignSchemas(limitMs: number): Promise<string> {
  const version = createHash('sha256').update(JSON.stringify(CRD_FILES)).digest('hex').slice(0, 8)
  return kept(`foreign-schemas-${version}`, async () => {
    const crds = await shippedCrds(limitMs)
    return crds.flatMap(schemasOf)
  })
}

/** Writes the schemas of our own kinds. */
export function writeOwnSchemas(directory: string): void {
  for (const [name, text] of KINDS.flatMap(kind => schemasOf(buildCustomResourceDefinition(kind) as unknown as Crd)))
    writeFileSync(join(directory, name), text)
}

async function kept(name: string, make: () => Promise<readonly SchemaFile[]>): Promise<string> {
  const directory = join(CACHE_DIR, name)
  if (existsSync(directory)) return directory
  const files = await make()
  mkdirSync(CACHE_DIR, { recursive: true })
  const unfinished = mkdtempSync(`${directory}-`)
  for (const [file, text] of files) writeFileSync(join(unfinished, file), text)
  renameSync(unfinished, directory)
  return directory
}

function schemasOf({ spec }: Crd): readonly SchemaFile[] {
  return spec.versions.map(({ name, schema }) => {
    const whole = closed(schema.openAPIV3Schema) as { readonly properties: Json }
    const text = JSON.stringify({ ...whole, properties: { ...whole.properties, metadata: { type: 'object' } } })
    return [fileName(spec.group, name, spec.names.kind), text]
  })
}

function kubernetesFiles(definitions: Readonly<Record<string, Definition>>): readonly SchemaFile[] {
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
