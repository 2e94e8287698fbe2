import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorRequests, settledWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, openClusterSuite, untilReady } from '../testing/cluster-suite.ts'
import type { OperatorProcess } from '../testing/operator-process.ts'

export const needs = ['kubernetes']

/** Longer than the operator gathers changes before it looks at them. */
const QUIET_MS = 2000

describe('The operator on a real API server, once all is as it should be', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  let operator: OperatorProcess
  before(async () => {
    suite = await openClusterSuite('settled')
    operator = await suite.startOperator()
  })
  after(() => suite.close())

  /** Writes of the operator from now until nothing has been written for a while. */
  const writesOf = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    const startMs = Date.now()
    await act()
    return settledWrites(startMs, suite.namespace, QUIET_MS)
  }
  const settle = () => writesOf(async () => {})
  const replicasOf = async (name: string) => (await suite.objects.get('Deployment', name)).spec.replicas

  it('writes nothing when it is started again', async () => {
    const { objects, namespace } = suite
    await objects.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pagerduty', namespace }, stringData: { routingKey: 'k' } })
    const route = { severities: ['critical'], platform: 'pagerduty', credentials: { secret: { name: 'pagerduty' } } }
    await objects.apply({
      apiVersion: 'logpipeline.dev/v1alpha1',
      kind: 'TicketingRoute',
      metadata: { name: 'oncall', namespace },
      spec: route,
    })
    const autoscaling = { minReplicas: 1, maxReplicas: 3 }
    await suite.ready('shop', { collector: { autoscaling }, stream: { enabled: true }, logLevel: 'debug' })
    await objects.apply({
      apiVersion: 'logpipeline.dev/v1alpha1',
      kind: 'LogPipeline',
      metadata: { name: 'one', namespace },
      spec: { mode: 'AllInOne' },
    })
    await objects.condition('LogPipeline', 'one', 'Ready', 'True')
    await objects.condition('TicketingRoute', 'oncall', 'Ready', 'True')
    // The cluster has no metrics; its controller says so some seconds after the autoscaler was made.
    await objects.condition('LogPipeline', 'shop', 'AutoscalingReady', 'False')
    await settle()
    const startMs = Date.now()
    const writes = await writesOf(async () => {
      await operator.stop()
      operator = await suite.startOperator()
      await untilReady(operator)
    })
    expect(writes).to.deep.equal([])
    // Namespaces of suites before may still be on their way out.
    const asked = operatorRequests(startMs).filter(({ namespace: place }) => place === '' || place === namespace)
    expect(
      asked.filter(({ resource }) => resource === 'events'),
      'nor events',
    ).to.deep.equal([])
    // One list and one watch of each kind, and the look at what is served.
    expect(asked.length).to.be.below(40)
  })

  for (const [title, pause, resume] of [
    ['spec.paused', { spec: { paused: true } }, { spec: { paused: null } }],
    [
      'the annotation logpipeline.dev/paused',
      { metadata: { annotations: { 'logpipeline.dev/paused': 'true' } } },
      { metadata: { annotations: { 'logpipeline.dev/paused': null } } },
    ],
  ] as const)
    it(`changes nothing but the status while ${title} says so`, async () => {
      const { objects } = suite
      await suite.ready('halted')
      await objects.patch('LogPipeline', 'halted', pause)
      await objects.condition('LogPipeline', 'halted', 'Paused', 'True')
      const writes = await writesOf(async () => {
        await objects.patch('LogPipeline', 'halted', { spec: { logLevel: 'warn', agent: { enabled: false } } })
        await objects.remove('Deployment', 'halted-bridge')
        const down = await objects.condition('LogPipeline', 'halted', 'BridgeAvailable', 'Paused')
        expect(conditionOf(down, 'Stalled')).to.include({ status: 'True', reason: 'Paused' })
      })
      expect(new Set(writes)).to.deep.equal(new Set(['patch logpipelines/status halted 200']))
      await objects.patch('LogPipeline', 'halted', resume)
      await objects.condition('LogPipeline', 'halted', 'Ready', 'True')
      expect(await objects.get('Deployment', 'halted-agent')).to.equal(undefined)
      await objects.remove('LogPipeline', 'halted')
      await until('all is gone', async () => (await objects.list('Deployment', 'app.kubernetes.io/instance=halted')).length === 0)
    })

  it('scales the bridge by `kubectl scale lp`, and tells how many there are', async () => {
    const { kubectl, namespace, objects } = suite
    await suite.ready('scaled')
    await kubectl.run(['scale', 'lp/scaled', '--replicas=3', '--namespace', namespace])
    const done = await objects.until('three bridges', 'LogPipeline', 'scaled', ({ status }) => status.replicas === 3)
    expect(done.spec.bridge.replicas).to.equal(3)
    expect(done.status.selector).to.equal(
      'app.kubernetes.io/name=logpipeline,app.kubernetes.io/instance=scaled,app.kubernetes.io/component=bridge',
    )
    expect((await objects.get('PodDisruptionBudget', 'scaled-bridge')).spec, 'from two pods on').to.have.property('maxUnavailable')
    await objects.condition('LogPipeline', 'scaled', 'Ready', 'True')
  })

  it('leaves replicas alone that somebody scaled where the resource names none', async () => {
    const { kubectl, namespace } = suite
    await suite.ready('by-hand')
    await kubectl.run(['scale', 'deployment/by-hand-ticketing', '--replicas=2', '--namespace', namespace])
    await kubectl.run(['scale', 'deployment/by-hand-collector', '--replicas=5', '--namespace', namespace])
    await suite.ready('by-hand', { logLevel: 'debug' })
    expect([await replicasOf('by-hand-ticketing'), await replicasOf('by-hand-collector')]).to.deep.equal([2, 5])
    await suite.ready('by-hand', { collector: { replicas: 3 } })
    expect(await replicasOf('by-hand-collector'), 'a number that the resource names wins').to.equal(3)
  })

  it('leaves replicas to an autoscaler', async () => {
    const { objects } = suite
    await suite.ready('auto', { collector: { replicas: 1 } })
    await suite.ready('auto', { collector: { autoscaling: { minReplicas: 4, maxReplicas: 6 } } })
    // Without metrics it keeps to the bounds.
    await objects.until('the autoscaler scales', 'Deployment', 'auto-collector', ({ spec }) => spec.replicas === 4)
    const writes = await settle()
    await suite.ready('auto', { collector: { autoscaling: { minReplicas: 4, maxReplicas: 6 } }, logLevel: 'debug' })
    expect(await replicasOf('auto-collector')).to.equal(4)
    const managers: readonly ClusterObject[] = (await objects.get('Deployment', 'auto-collector')).metadata.managedFields
    const owners = managers.filter(({ fieldsV1 }) => fieldsV1['f:spec']?.['f:replicas'] !== undefined).map(({ manager }) => manager)
    expect(owners).to.deep.equal(['kube-controller-manager'])
    expect(writes.filter(write => write.includes('auto-collector')).length).to.be.below(4)
  })
})
