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
  'features.schedule': 'says the one schedule there is, in whichever form',
}

const ONE_POD = 'the one pod has allInOne.resources'
const NEEDS_KAFKA = 'counts for stream jobs alone, which mode AllInOne refuses'

/** Fields that mode AllInOne takes and that change none of its objects, with the reason. */
const WITHOUT_EFFECT_IN_ALL_IN_ONE: Readonly<Record<string, string>> = {
  mode: WITHOUT_OBJECTS['mode']!,
  paused: WITHOUT_OBJECTS['paused']!,
  'collector.resources.requests': ONE_POD,
  'collector.resources.limits': ONE_POD,
  'gateway.resources.requests': ONE_POD,
  'gateway.resources.limits': ONE_POD,
  'bridge.resources.requests': ONE_POD,
  'bridge.resources.limits': ONE_POD,
  'stream.enabled': 'mode AllInOne takes false alone',
  'stream.replicas': NEEDS_KAFKA,
  'stream.autoscaling.maxReplicas': NEEDS_KAFKA,
  'stream.resources.requests': NEEDS_KAFKA,
  'stream.resources.limits': NEEDS_KAFKA,
  'features.schedule': WITHOUT_OBJECTS['features.schedule']!,
  'features.resources.requests': ONE_POD,
  'features.resources.limits': ONE_POD,
  'ticketing.resources.requests': ONE_POD,
  'ticketing.resources.limits': ONE_POD,
  'agent.resources.requests': ONE_POD,
  'agent.resources.limits': ONE_POD,
  'dashboard.resources.requests': ONE_POD,
  'dashboard.resources.limits': ONE_POD,
}

/** Takes from the fixture with every field those that mode AllInOne refuses. */
const AS_ALL_IN_ONE = {
  mode: 'AllInOne',
  bus: undefined,
  stream: undefined,
  collector: { autoscaling: undefined },
  gateway: { autoscaling: undefined },
  bridge: { autoscaling: undefined },
  ticketing: { replicas: undefined },
  dashboard: { replicas: undefined },
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
  ...[
    { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'authority', key: 'token' } } }] },
    { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'place', key: 'region' } } }] },
    { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] },
    { volumes: [{ name: 'notes', mountPath: '/etc/notes', configMap: { name: 'place' } }] },
  ].map(podTemplate => ['everything', { podTemplate }] as const),
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
const TEXTS = ['other', '3Gi', '45m', '5 * * * *', 'https://other:9443', 'redis://other:6379', 'other:9092', '/other']

interface Leaf {
  readonly path: Path
  readonly node: Node
}

function leavesOf(node: Node, path: Path = []): readonly Leaf[] {
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

function basesFrom(all: readonly (readonly [fixture: string, spec: object])[]) {
  return all.map(([name, spec]) => {
    const objects = changePipeline(readFixtureObjects(name), pipeline => withCompanions(pipeline as Tree, { spec }))
    const before = planned(objects)
    if (before === undefined) throw new Error(`${name}: the CRD does not take ${JSON.stringify(spec)}`)
    return { objects, before }
  })
}

type Bases = ReturnType<typeof basesFrom>

/** Tries values that a field may have. */
function effectOf({ path, node }: Leaf, bases: Bases): 'refused' | 'none' | 'some' {
  let effect: 'refused' | 'none' = 'refused'
  for (const { objects, before } of bases)
    for (const value of valuesOf(node)) {
      const after = planned(changePipeline(objects, pipeline => withValue(pipeline, ['spec', ...path], value)))
      if (after === undefined) continue
      if (after !== before) return 'some'
      effect = 'none'
    }
  return effect
}

describe('a field of a LogPipeline', function () {
  this.timeout(60_000)
  const leaves = leavesOf(structuralSchema(LOG_PIPELINE_SPEC) as Node)
  const namesOf = (found: readonly Leaf[]) => found.map(({ path }) => path.join('.'))

  it('changes the objects that are made of some fixture, or stands in the list of those that change none', () => {
    const ofFixtures = fixtureNames()
      .toReversed()
      .map(name => [name, {}] as const)
    const bases = basesFrom([...ofFixtures, ...COMPANIONS])
    expect(leaves).to.have.length.above(100)
    const without = leaves.filter(leaf => effectOf(leaf, bases) !== 'some')
    expect(
      namesOf(without),
      'a builder in operator/desired has to use each other field, or WITHOUT_OBJECTS says why none does',
    ).to.deep.equal(Object.keys(WITHOUT_OBJECTS))
  })

  it('that mode AllInOne takes changes its objects, too, or stands in the list of those that have no effect there', () => {
    const bases = basesFrom([
      ['all-in-one', {}],
      ['all-in-one', { features: { enabled: true, onlineStore: { url: 'redis://store:6379' } } }],
      ['everything', AS_ALL_IN_ONE],
    ])
    const without = leaves.filter(leaf => effectOf(leaf, bases) === 'none')
    expect(namesOf(without), 'operator/desired/all-in-one.ts has to use each other field').to.deep.equal(
      Object.keys(WITHOUT_EFFECT_IN_ALL_IN_ONE),
    )
  })
})
