import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { settledWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, isOwnCluster, openClusterSuite, untilReady } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'

export const needs = ['kubernetes']

/** Longer than the operator gathers changes before it looks at them. */
const QUIET_MS = 3000

/** Everything that may be empty, empty. */
const EMPTY = {
  collector: { resources: {}, service: { annotations: {} } },
  gateway: {
    enabled: true,
    adminTenants: [],
    resources: { requests: {}, limits: {} },
    service: {},
    ingress: { host: 'a.example', annotations: {} },
  },
  dashboard: { enabled: true, allowFrom: [], ingress: { host: 'b.example' } },
  bridge: {},
  stream: {},
  features: {},
  ticketing: { anomaly: {}, routeSelector: { matchLabels: {}, matchExpressions: [] } },
  agent: {},
  networkPolicy: { allowFrom: [] },
  monitoring: { labels: {} },
  podTemplate: {
    ...{ labels: {}, annotations: {}, nodeSelector: {}, tolerations: [], affinity: {}, securityContext: {}, imagePullSecrets: [] },
    ...{
      topologySpreadConstraints: [],
      hostAliases: [],
      dnsConfig: {},
      serviceAccount: { annotations: {} },
      env: [],
      envFrom: [],
      volumes: [],
    },
  },
}

/** Empty ones within, and texts that are. */
const HOLLOW = {
  collector: { service: { annotations: { 'cloud.example/note': '' } } },
  dashboard: { enabled: true, allowFrom: [{}], ingress: { host: '*.example', annotations: { note: '' } } },
  networkPolicy: { allowFrom: [{}] },
  podTemplate: {
    ...{
      labels: { team: '' },
      annotations: { note: '' },
      nodeSelector: { pool: '' },
      tolerations: [{ operator: 'Exists' }, { key: '', operator: 'Exists' }],
    },
    ...{ affinity: { nodeAffinity: {}, podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } },
    securityContext: { supplementalGroups: [], runAsGroup: 0, fsGroup: 0 },
    ...{ dnsConfig: { nameservers: [], searches: [], options: [] }, serviceAccount: { annotations: { note: '' } } },
    env: [
      { name: 'NO_PROXY', value: '' },
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ],
    envFrom: [{ configMapRef: { name: 'kube-root-ca.crt' } }],
    volumes: [{ name: 'authority', mountPath: '/etc/authority', configMap: { name: 'kube-root-ca.crt' } }],
  },
}

/** Fields that it lacks, beside `inputsHash`. */
interface OlderCrd {
  readonly spec?: readonly string[]
  readonly status?: readonly string[]
}

describe('Odd specs on a real API server', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  let operator: OperatorProcess
  before(async () => {
    suite = await openClusterSuite('odd')
    operator = await suite.startOperator()
  })
  after(() => suite.close())

  const writesSince = (startMs: number) => settledWrites(startMs, suite.namespace, QUIET_MS)

  /** The own CRD is in force again once it resolves; `act` may put it back before. */
  const underOlderCrd = async (lacking: OlderCrd, act: (putBack: () => Promise<unknown>) => Promise<void>) => {
    const { objects } = suite
    const crd = 'logpipelines.logpipeline.dev'
    const { spec } = await objects.get('CustomResourceDefinition', crd)
    const [version] = structuredClone(spec.versions)
    const { properties } = version.schema.openAPIV3Schema
    for (const field of ['inputsHash', ...(lacking.status ?? [])]) delete properties.status.properties[field]
    for (const field of lacking.spec ?? []) delete properties.spec.properties[field]
    // The API server takes a moment to go by another CRD.
    const untilInputsHash = (what: string, isKept: boolean) =>
      until(what, async () => {
        const probe = await objects.apply({ ...suite.pipeline('probe'), spec: { mode: 'AllInOne', paused: true } })
        const status = { conditions: [], inputsHash: 'x' }
        return ((await objects.patch('LogPipeline', probe.metadata.name, { status }, 'status')).status.inputsHash !== undefined) === isKept
      })
    const putBack = () => objects.patch('CustomResourceDefinition', crd, { spec: { versions: spec.versions } })
    await objects.patch('CustomResourceDefinition', crd, { spec: { versions: [version] } })
    try {
      await untilInputsHash('the older CRD is in force', false)
      await act(putBack)
    } finally {
      await suite.installOwnCrds()
      await putBack()
      await untilInputsHash('the own CRD is in force', true)
    }
  }

  const settingOf = (deployment: ClusterObject, setting: string): string | undefined =>
    deployment.spec.template.spec.containers[0].env.find(({ name }: ClusterObject) => name === setting)?.value

  // The first one: an API server that is busy ends the watch before the pipeline is there.
  it('with a field that the CRD has since a moment ago are acted on as a whole: a watch that began before leaves the field out', async function () {
    if (!isOwnCluster()) this.skip()
    const newer = suite.pipeline('newer', { logLevel: 'debug' })
    await underOlderCrd({ spec: ['logLevel'] }, async putBack => {
      await operator.stop()
      operator = await suite.startOperator()
      await untilReady(operator)
      await putBack()
      // The API server ends the watch a second later.
      await until('the field is known', () => suite.objects.apply(newer))
    })
    await suite.objects.condition('LogPipeline', 'newer', 'Ready', 'True')
    const deployment = await suite.objects.get('Deployment', 'newer-collector')
    expect(settingOf(deployment, 'LOG_LEVEL')).to.equal('debug')
    expect(deployment.metadata.generation, 'from the first on').to.equal(1)
  })

  for (const [name, spec] of [
    ['empty', EMPTY],
    ['hollow', HOLLOW],
  ] as const)
    it(`settle, ${name} as they are: an operator that starts again writes nothing`, async () => {
      await suite.ready(name, spec)
      await writesSince(Date.now())
      const startMs = Date.now()
      await operator.stop()
      operator = await suite.startOperator()
      await untilReady(operator)
      expect(await writesSince(startMs)).to.deep.equal([])
    })

  const REFUSED: readonly (readonly [what: string, podTemplate: object, said: string])[] = [
    ['an unknown field', { affinity: { nodeAfinity: {} } }, 'nodeAfinity'],
    ['a list in place of an object', { affinity: { nodeAffinity: [] } }, 'nodeAffinity'],
    ['a Secret twice', { imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, 'imagePullSecrets'],
    ['a label that is none', { labels: { 'a b': 'c' } }, 'a b'],
    ['a toleration that is none', { tolerations: [{ effect: 'NoSchedule', tolerationSeconds: 1 }] }, 'tolerations'],
  ]
  for (const [index, [what, podTemplate, said]] of REFUSED.entries())
    it(`that Kubernetes refuses are stalled, say what, and hold up no other part: ${what}`, async () => {
      const { objects } = suite
      const name = `refused-${index}`
      await objects.apply(suite.pipeline(name, { podTemplate }))
      const stalled = await objects.condition('LogPipeline', name, 'Stalled', 'True')
      expect(conditionOf(stalled, 'ObjectsApplied')).to.include({ status: 'False', reason: 'Invalid' })
      expect(conditionOf(stalled, 'ObjectsApplied').message).to.contain(said)
      expect(await objects.get('NetworkPolicy', `${name}-agent`)).not.to.equal(undefined)
      await suite.ready(name)
    })

  it('with limits below the requests that are usual are taken', async () => {
    const limits = { cpu: '100m', memory: '64Mi' }
    await suite.ready('small', { collector: { resources: { limits } }, bridge: { resources: { limits } } })
    const [{ resources }] = (await suite.objects.get('Deployment', 'small-collector')).spec.template.spec.containers
    expect(resources).to.deep.equal({ requests: limits, limits })
  })

  it('with an autoscaler where nothing ran before begin to run', async () => {
    const { objects } = suite
    await suite.ready('woken', { collector: { replicas: 0 } })
    expect((await objects.get('Deployment', 'woken-collector')).spec.replicas).to.equal(0)
    await objects.apply(suite.pipeline('woken', { collector: { autoscaling: { minReplicas: 2, maxReplicas: 4 } } }))
    await objects.until('pods', 'Deployment', 'woken-collector', ({ spec }) => spec.replicas === 2)
    await objects.condition('LogPipeline', 'woken', 'Ready', 'True')
    // Its autoscaler changes its status later, too: under an older CRD, below, the prefix of its topics would be lost to others.
    await objects.remove('LogPipeline', 'woken')
  })

  it('under a CRD of an older release, which knows fewer fields of the status, are told with those, and keep their topics', async function () {
    if (!isOwnCluster()) this.skip()
    const rawTopic = async () => settingOf(await suite.objects.get('Deployment', 'kept-collector'), 'RAW_TOPIC')
    await suite.ready('kept')
    const topic = await rawTopic()
    expect(topic).to.match(new RegExp(`^${suite.namespace}[.]kept[.]`))
    await underOlderCrd({ status: ['topicPrefix'] }, async () => {
      const { status } = await suite.ready('older')
      expect(status).not.to.have.property('inputsHash')
      await suite.ready('older', { logLevel: 'debug' })
      await suite.ready('kept', { logLevel: 'debug' })
      expect(await rawTopic(), 'one that runs keeps its topics').to.equal(topic)
    })
    await suite.ready('kept')
    expect(await rawTopic(), 'then, too').to.equal(topic)
  })

  it('deleted and applied again at once are never told as somebody else’s', async () => {
    const { objects } = suite
    await suite.ready('again')
    const { uid } = (await objects.get('LogPipeline', 'again')).metadata
    await objects.remove('LogPipeline', 'again')
    await objects.apply(suite.pipeline('again'))
    const seen = new Set<string>()
    const isReady = async () => {
      const pipeline = await objects.get('LogPipeline', 'again')
      for (const { type, status, reason } of pipeline.status?.conditions ?? []) seen.add(`${type} ${status} ${reason}`)
      return pipeline.metadata.uid !== uid && conditionOf(pipeline, 'Ready')?.status === 'True'
    }
    await until('it is Ready', isReady, 60_000)
    expect([...seen].filter(condition => /Stalled True|ForeignObject/.test(condition))).to.deep.equal([])
    for (const { metadata } of await objects.list('Deployment', 'app.kubernetes.io/instance=again'))
      expect(metadata.ownerReferences.map((owner: { readonly uid: string }) => owner.uid)).not.to.include(uid)
  })
})
