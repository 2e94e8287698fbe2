import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../../dataplane/kube/object.ts'
import { LOG_PIPELINE_KIND, LOG_PIPELINE_SPEC } from '../api/log-pipeline.ts'
import { type StructuralSchema, structuralSchema } from '../api/structural-schema.ts'
import { gatheredFrom } from '../observed/testing/gathered-from.ts'
import { planOf } from './testing/build-pipeline.ts'
import { fixtureNames, readFixtureObjects } from './testing/golden-files.ts'

/** Fields that change no object, with the reason. */
const WITHOUT_OBJECTS: Readonly<Record<string, string>> = {
  mode: 'other fields have to change with it; the fixtures are of both modes',
  paused: 'stops the controller before it plans',
  'features.schedule': 'has one value, the schedule there is',
  'features.onlineStore.credentials.externalSecret.name':
    'is resolved as all credentials are; no fixture has an external one with a URL in it',
}

/** Fields that others need beside them, and that no fixture has: added to one. */
const COMPANIONS: readonly (readonly [fixture: string, spec: object])[] = [
  ['everything', { bus: { tls: { caSecret: { name: 'search-ca' } } } }],
  ['distributed', { bridge: { autoscaling: { maxReplicas: 6 } } }],
  ['distributed', { gateway: { enabled: true } }],
  ['distributed', { stream: { enabled: true } }],
  ['distributed', { stream: { enabled: true, autoscaling: { maxReplicas: 6 } } }],
  ['distributed', { features: { enabled: true, onlineStore: { url: 'redis://store:6379' } } }],
  [
    'everything',
    { ticketing: { llm: { credentials: { secret: undefined, externalSecret: { name: 'search' }, keys: { apiKey: 'pw' } } } } },
  ],
  [
    'everything',
    { ticketing: { encryptionKey: { secret: undefined, externalSecret: { name: 'search' }, keys: { ENCRYPTION_KEY: 'enc' } } } },
  ],
  ['everything', { ticketing: { routeSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['shop'] }] } } }],
]

type Node = StructuralSchema & {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly enum?: readonly unknown[]
  readonly minimum?: number
}
type Path = readonly (string | number)[]
type Tree = Record<string | number, unknown>

/** Texts of every form that a field may ask for; those that the CRD does not take are passed over. */
const TEXTS = ['other', '3Gi', '45m', '5 * * * *', 'https://other:9443', 'redis://other:6379', 'other:9092']

function leavesOf(node: Node, path: Path = []): readonly { readonly path: Path; readonly node: Node }[] {
  if (node.properties !== undefined) return Object.entries(node.properties).flatMap(([name, child]) => leavesOf(child, [...path, name]))
  if (node.items?.properties !== undefined) return leavesOf(node.items, [...path, 0])
  return [{ path, node }]
}

function valuesOf({ type, enum: names, items, minimum = 1, ...rest }: Node): readonly unknown[] {
  if (names !== undefined) return names
  if (rest['x-kubernetes-int-or-string'] === true) return ['3Gi', '35%', 3]
  if (type === 'boolean') return [true, false]
  if (type === 'integer' || type === 'number') return [minimum + 1, minimum, 77]
  if (type === 'string') return TEXTS
  if (type === 'array') return valuesOf(items!).map(value => [value])
  return [{ other: 'here' }, { cpu: 3 }, { nodeAffinity: { other: [] } }]
}

/** A copy in which one place has another value. */
function withValue(root: object, path: Path, value: unknown): object {
  const copy = structuredClone(root) as Tree
  let at = copy
  for (const [i, name] of path.slice(0, -1).entries()) {
    at[name] ??= typeof path[i + 1] === 'number' ? [] : {}
    at = at[name] as Tree
  }
  at[path.at(-1)!] = value
  return copy
}

function withCompanions(root: Tree, companions: object): Tree {
  const entries = Object.entries(companions).map(([name, value]) => {
    const own = root[name]
    return [name, isTree(value) && isTree(own) ? withCompanions(own, value) : value]
  })
  const all = Object.entries({ ...root, ...Object.fromEntries(entries) })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The plan for the objects of a fixture, as text; undefined when the CRD does not take them. */
function planned(objects: readonly KubernetesObject[]): string | undefined {
  let gathered: ReturnType<typeof gatheredFrom>
  try {
    gathered = gatheredFrom(objects)
  } catch {
    return undefined
  }
  const { objects: desired, held } = planOf({ gathered, settings: { image: 'logpipeline:0.1.0' } })
  return JSON.stringify([desired, held])
}

function changePipeline(objects: readonly KubernetesObject[], change: (pipeline: object) => object): readonly KubernetesObject[] {
  return objects.map(object => (object.kind === LOG_PIPELINE_KIND ? (change(object) as KubernetesObject) : object))
}

const BASES = [
  ...fixtureNames()
    .toReversed()
    .map(name => [name, {}] as const),
  ...COMPANIONS,
].map(([name, spec]) => {
  const objects = changePipeline(readFixtureObjects(name), pipeline => withCompanions(pipeline as Tree, { spec }))
  const before = planned(objects)
  if (before === undefined) throw new Error(`${name}: the CRD does not take ${JSON.stringify(spec)}`)
  return { objects, before }
})

function changesSomething(path: Path, node: Node): boolean {
  return BASES.some(({ objects, before }) => {
    return valuesOf(node).some(value => {
      const after = planned(changePipeline(objects, pipeline => withValue(pipeline, ['spec', ...path], value)))
      return after !== undefined && after !== before
    })
  })
}

describe('a field of a LogPipeline', function () {
  this.timeout(60_000)

  it('changes the objects that are made of some fixture, or stands in the list of those that change none', () => {
    const leaves = leavesOf(structuralSchema(LOG_PIPELINE_SPEC) as Node)
    expect(leaves).to.have.length.above(100)
    const without = leaves.filter(({ path, node }) => !changesSomething(path, node)).map(({ path }) => path.join('.'))
    expect(without, 'a builder in operator/desired has to use each other field, or WITHOUT_OBJECTS says why none does').to.deep.equal(
      Object.keys(WITHOUT_OBJECTS),
    )
  })
})
