import { expect } from 'chai'
import { describe, it } from 'mocha'
import { z } from 'zod'
import { buildCustomResourceDefinition, KINDS } from './crd.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'

type Node = StructuralSchema & {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly additionalProperties?: Node
}

/** Every node of a schema with its path. */
function nodesOf(node: Node, path: string): readonly (readonly [string, Node])[] {
  const children = [
    ...Object.entries(node.properties ?? {}).map(([name, child]) => [`${path}.${name}`, child] as const),
    ...(node.items === undefined ? [] : [[`${path}[]`, node.items] as const]),
    ...(node.additionalProperties === undefined ? [] : [[`${path}{}`, node.additionalProperties] as const]),
  ]
  return [[path, node], ...children.flatMap(([childPath, child]) => nodesOf(child, childPath))]
}

const KEYWORDS = new Set([
  ...['type', 'description', 'properties', 'required', 'items', 'additionalProperties', 'enum', 'default', 'format', 'pattern', 'anyOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties'],
  ...['x-kubernetes-validations', 'x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields'],
  ...['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'],
])

function schemaOf(index: number): Node {
  const crd = buildCustomResourceDefinition(KINDS[index]!) as unknown as {
    readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Node } }] }
  }
  return crd.spec.versions[0].schema.openAPIV3Schema
}

for (const [index, { kind }] of KINDS.entries()) {
  describe(`schema of ${kind}`, () => {
    const nodes = nodesOf(schemaOf(index), kind)

    it('is structural: every node has a type, and only keywords that Kubernetes knows', () => {
      for (const [path, node] of nodes) {
        expect(node.type !== undefined || node['x-kubernetes-int-or-string'] === true, path).to.equal(true)
        expect(
          Object.keys(node).filter(keyword => !KEYWORDS.has(keyword)),
          path,
        ).to.deep.equal([])
        expect(node.properties !== undefined && node.additionalProperties !== undefined, path).to.equal(false)
      }
    })

    it('has no defaults for replicas, images or list items', () => {
      const withDefault = nodes.filter(([, node]) => node['default'] !== undefined).map(([path]) => path)
      for (const path of withDefault) expect(path).not.to.match(/replicas|image|\[\]|\{\}/i)
    })

    it('bounds every text and list of the spec, so that the cost of its rules is bounded', () => {
      for (const [path, node] of nodes.filter(([at]) => at.startsWith(`${kind}.spec`))) {
        if (node.type === 'string') expect(node['maxLength'] ?? node['enum'], path).not.to.equal(undefined)
        if (node.type === 'array') expect(node['maxItems'], path).to.be.a('number')
        if (node.additionalProperties !== undefined) expect(node['maxProperties'], path).to.be.a('number')
      }
    })

    it('explains every field of the spec', () => {
      const silent = nodes.filter(
        ([path, node]) => path.startsWith(`${kind}.spec`) && !/\[\]|\{\}/.test(path) && node['description'] === undefined,
      )
      expect(silent.map(([path]) => path)).to.deep.equal([])
    })
  })
}

describe('structural schema', () => {
  it('says an exclusive bound as OpenAPI 3.0 does', () => {
    expect(structuralSchema(z.number().gt(0).max(100))).to.deep.equal({ type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 100 })
  })

  it('gives an integer 64 bits and only the bounds that were meant', () => {
    expect(structuralSchema(z.int().min(1))).to.deep.equal({ type: 'integer', minimum: 1, format: 'int64' })
  })

  it('refuses alternatives', () => {
    expect(() => structuralSchema(z.union([z.string(), z.boolean()]))).to.throw('a structural schema holds no alternatives')
  })
})
