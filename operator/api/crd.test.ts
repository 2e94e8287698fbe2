import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildCustomResourceDefinition, KINDS, UNSEEN_STATUS } from './crd.ts'
import { crdFiles } from './testing/crd-files.ts'
import { REFERENCE_FILE, referenceText } from './testing/reference-file.ts'

const folder = new URL('../../crds/', import.meta.url)

interface Field {
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Field>>
  readonly items?: Field
  readonly additionalProperties?: Field
}

interface VersionView {
  readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: Field; readonly status: Field } } }
}

function fieldsWithoutDescription({ description, properties = {}, items, additionalProperties }: Field, path: string): readonly string[] {
  const inner = { ...properties, ...items?.properties, ...additionalProperties?.properties }
  return [
    ...(description === undefined ? [path] : []),
    ...Object.entries(inner).flatMap(([name, field]) => fieldsWithoutDescription(field, `${path}.${name}`)),
  ]
}

describe('crds', () => {
  it('are what the code says (hack/node hack/crds.ts --write)', () => {
    const files = crdFiles()
    expect(readdirSync(folder).sort()).to.deep.equal(Object.keys(files).sort())
    for (const [name, text] of Object.entries(files)) expect(readFileSync(new URL(name, folder), 'utf8'), name).to.equal(text)
  })

  it('are explained in operator/README.md as the code says (hack/node hack/crds.ts --write)', () => {
    expect(readFileSync(REFERENCE_FILE, 'utf8')).to.equal(referenceText())
  })

  it('say of a resource that the operator has not seen that Ready is Unknown, so that nobody takes it for ready', () => {
    for (const kind of KINDS) {
      const { spec } = buildCustomResourceDefinition(kind) as unknown as { readonly spec: { readonly versions: readonly VersionView[] } }
      const { status } = spec.versions[0]!.schema.openAPIV3Schema.properties
      expect(status.default).to.deep.equal(UNSEEN_STATUS)
      expect(kind.status.parse(UNSEEN_STATUS)).to.deep.equal(UNSEEN_STATUS)
    }
  })

  it('explain every field, so that kubectl explain leaves none without a description', () => {
    for (const kind of KINDS) {
      const { spec } = buildCustomResourceDefinition(kind) as unknown as { readonly spec: { readonly versions: readonly VersionView[] } }
      const { spec: wanted, status } = spec.versions[0]!.schema.openAPIV3Schema.properties
      expect([...fieldsWithoutDescription(wanted, 'spec'), ...fieldsWithoutDescription(status, 'status')], kind.kind).to.deep.equal([])
    }
  })

  it('have the names of Decisions 1', () => {
    const names = KINDS.map(({ kind, shortNames }) => [kind, ...shortNames])
    expect(names).to.deep.equal([
      ['LogPipeline', 'lp'],
      ['TicketingRoute', 'troute'],
    ])
    for (const kind of KINDS) {
      const { spec } = buildCustomResourceDefinition(kind) as unknown as {
        readonly spec: { readonly names: object; readonly scope: string }
      }
      expect(spec.names).to.deep.include({ categories: ['observability'] })
      expect(spec.scope).to.equal('Namespaced')
    }
  })
})
