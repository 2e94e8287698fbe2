import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type PodFate, readyStatus, waitingStatus } from '../../dataplane/testing/cluster/fake-kubelet.ts'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { type ClusterSuite, openClusterSuite } from '../testing/cluster-suite.ts'

export const needs = ['kubernetes']

describe('Status of a LogPipeline on a real API server', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  /** By name of the Deployment. */
  const fates = new Map<string, PodFate>()
  before(async () => {
    suite = await openClusterSuite('status')
    suite.kubelet.fate = pod => {
      const { 'app.kubernetes.io/instance': name, 'app.kubernetes.io/component': component } = pod.metadata.labels ?? {}
      return (fates.get(`${name}-${component}`) ?? readyStatus)(pod)
    }
    await suite.startOperator()
  })
  after(() => suite.close())

  const eventsOf = async (name: string): Promise<readonly ClusterObject[]> =>
    (await suite.objects.list('Event')).filter(({ regarding }) => regarding.kind === 'LogPipeline' && regarding.name === name)

  it('is there from the first sight on, speaks of the newest generation in each condition, and kubectl can wait for it', async () => {
    const { kubectl, namespace, objects } = suite
    await kubectl.run(['apply', '--filename=-'], JSON.stringify(suite.pipeline('shop')))
    await kubectl.run(['wait', '--for=condition=Ready', 'lp/shop', '--timeout=60s', '--namespace', namespace])
    const { status } = await objects.get('LogPipeline', 'shop')
    const types = status.conditions.map(({ type }: ClusterObject) => type)
    expect(types).to.include.members(['Ready', 'Reconciling', 'Stalled', 'Paused', 'SecretsSynced', 'BusReady', 'SearchReady'])
    expect(types).to.include.members(['CollectorAvailable', 'BridgeAvailable', 'TicketingAvailable', 'AgentAvailable', 'ObjectsApplied'])
    for (const { type, observedGeneration } of status.conditions) expect(observedGeneration, type).to.equal(1)
    await objects.patch('LogPipeline', 'shop', { spec: { logLevel: 'debug' } })
    await kubectl.run(['wait', '--for=jsonpath={.status.observedGeneration}=2', 'lp/shop', '--timeout=60s', '--namespace', namespace])
    const { status: next } = await objects.condition('LogPipeline', 'shop', 'Ready', 'True')
    for (const { type, observedGeneration } of next.conditions) expect(observedGeneration, type).to.equal(2)
    const table = await kubectl.run(['get', 'lp', 'shop', '--namespace', namespace])
    expect(table).to.match(/^NAME +MODE +TENANT +READY +REASON +AGE\nshop +Distributed +shop +True +Ready +\d+s\n$/)
    expect(await kubectl.run(['describe', 'lp', 'shop', '--namespace', namespace])).to.match(
      /Normal +Ready +.*logpipeline.dev\/logpipeline-operator/,
    )
  })

  const TROUBLES: readonly (readonly [title: string, fate: PodFate, reason: string, message: RegExp])[] = [
    [
      'ImagePullBackOff',
      waitingStatus('ImagePullBackOff', 'Back-off pulling image "registry.example/none:1"'),
      'ImagePullBackOff',
      /^bridge: 1 of 1 pods are ready; 1 of the newest version; pod pods-bridge-\S+: Back-off pulling image "registry.example\/none:1"; expected an image that the nodes can pull: spec\.image, spec\.podTemplate\.imagePullSecrets$/,
    ],
    [
      'CrashLoopBackOff',
      ended(137, 'OOMKilled', 4),
      'CrashLooping',
      /pod pods-bridge-\S+: ended 4 times, the last time OOMKilled, exit code 137$/,
    ],
    [
      'CrashLoopBackOff with a last word',
      ended(78, 'Error', 2, 'BUS_BROKERS: expected brokers\n'),
      'CrashLooping',
      /ended 2 times, the last time exit code 78: BUS_BROKERS: expected brokers$/,
    ],
    ['Unschedulable', () => undefined, 'Unschedulable', /pod pods-bridge-\S+: no nodes available to schedule pods$/],
    [
      'CreateContainerConfigError',
      waitingStatus('CreateContainerConfigError', 'secret "x" not found'),
      'CreateContainerConfigError',
      /: secret "x" not found$/,
    ],
  ]
  for (const [index, [title, fate, reason, message]] of TROUBLES.entries())
    it(`says of a new version that does not come up: ${title}`, async () => {
      const { objects } = suite
      if (index === 0) await suite.ready('pods')
      fates.set('pods-bridge', pod => (pod.metadata.annotations?.['try'] === String(index) ? fate(pod) : readyStatus(pod)))
      await objects.apply(suite.pipeline('pods', { podTemplate: { annotations: { try: String(index) } } }))
      // The Deployment counts the new pod later than the pod says what it lacks.
      const rolling = await objects.until(`BridgeAvailable is ${reason}: ${message}`, 'LogPipeline', 'pods', pipeline => {
        const bridge = conditionOf(pipeline, 'BridgeAvailable')
        return bridge?.observedGeneration === pipeline.metadata.generation && bridge.reason === reason && message.test(bridge.message)
      })
      expect(conditionOf(rolling, 'BridgeAvailable').status, 'the old one still serves').to.equal('True')
      const told = await objects.condition('LogPipeline', 'pods', 'Ready', reason)
      expect(conditionOf(told, 'Ready').status).to.equal('False')
      expect(conditionOf(told, 'Reconciling')).to.include({ status: 'True', reason })
      expect(told.status.components.bridge).to.include({ desired: 1, ready: 1, updated: 1 })
      expect(told.status.components.bridge.message).to.match(new RegExp(`^${reason}: pod pods-bridge-`))
      fates.delete('pods-bridge')
      await objects.condition('LogPipeline', 'pods', 'Ready', 'True')
    })

  it('is Stalled once there is no progress within the deadline, and says why; ready again when that is mended', async () => {
    const { objects, namespace } = suite
    await suite.ready('slow')
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'slow-bridge', namespace } }
    await objects.apply({ ...deployment, spec: { progressDeadlineSeconds: 2 } })
    fates.set('slow-bridge', waitingStatus('ContainerCreating', ''))
    await objects.apply(suite.pipeline('slow', { logLevel: 'debug' }))
    const stalled = await objects.condition('LogPipeline', 'slow', 'Stalled', 'True')
    expect(conditionOf(stalled, 'Stalled').message).to.match(/no progress within the deadline$/)
    fates.delete('slow-bridge')
    await objects.condition('LogPipeline', 'slow', 'Ready', 'True')
  })

  it('is written, too, once all workloads are gone and none may be made', async () => {
    const { objects: beside, name } = await suite.namespaceBeside()
    await beside.apply({ ...suite.pipeline('bare'), metadata: { name: 'bare', namespace: name } })
    const { status } = await beside.condition('LogPipeline', 'bare', 'Ready', 'True')
    expect(Object.keys(status.components)).to.include('bridge')
    const spec = { hard: { 'count/deployments.apps': '0' } }
    await beside.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none', namespace: name }, spec })
    await beside.until('the quota is in force', 'ResourceQuota', 'none', quota => quota.status?.hard !== undefined)
    for (const { metadata } of await beside.list('Deployment')) await beside.remove('Deployment', metadata.name)
    const bare = await beside.until('all are gone', 'LogPipeline', 'bare', ({ status }) => status.components === undefined)
    expect(conditionOf(bare, 'Ready')).to.include({ status: 'False', reason: 'QuotaExceeded' })
    expect(conditionOf(bare, 'BridgeAvailable')).to.include({ status: 'False', reason: 'QuotaExceeded' })
  })

  it('says of a roll-out that somebody paused how it goes on', async () => {
    const { kubectl, objects, namespace } = suite
    await suite.ready('paused-by-hand')
    const rollout = (action: string) => kubectl.run(['rollout', action, 'deployment/paused-by-hand-bridge', '--namespace', namespace])
    await rollout('pause')
    await objects.apply(suite.pipeline('paused-by-hand', { logLevel: 'debug' }))
    const stalled = await objects.condition('LogPipeline', 'paused-by-hand', 'Stalled', 'RolloutPaused')
    expect(conditionOf(stalled, 'BridgeAvailable').message).to.contain('`kubectl rollout resume deployment paused-by-hand-bridge ')
    await rollout('resume')
    await objects.condition('LogPipeline', 'paused-by-hand', 'Ready', 'True')
  })

  it('tells of a quota that keeps pods from being made', async () => {
    const { objects, namespace } = suite
    const { objects: beside, name } = await suite.namespaceBeside()
    await beside.apply({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few', namespace: name },
      spec: { hard: { pods: '1' } },
    })
    await beside.apply({ ...suite.pipeline('many'), metadata: { name: 'many', namespace: name } })
    const { status } = await beside.condition('LogPipeline', 'many', 'Ready', 'FailedCreate')
    expect(conditionOf({ status }, 'Ready').message).to.contain('exceeded quota: few')
    expect((await objects.list('LogPipeline')).map(({ metadata }) => metadata.namespace)).to.include(namespace)
  })

  it('says that an autoscaler has no metrics, and which field asked for it; the pods serve all the same', async () => {
    const { objects } = suite
    await objects.apply(suite.pipeline('scaled', { collector: { autoscaling: { maxReplicas: 3 } } }))
    const scaled = await objects.condition('LogPipeline', 'scaled', 'AutoscalingReady', 'FailedGetResourceMetric')
    expect(conditionOf(scaled, 'AutoscalingReady').message).to.match(/^spec\.collector\.autoscaling: .*the cluster has no metrics-server/)
    await objects.condition('LogPipeline', 'scaled', 'Ready', 'True')
  })

  it('is Stalled where pods are refused whatever time passes, and names the field', async () => {
    const { objects } = suite
    await objects.apply(suite.pipeline('refused', { podTemplate: { runtimeClassName: 'nowhere' } }))
    const refused = await objects.condition('LogPipeline', 'refused', 'Stalled', 'FailedCreate')
    expect(conditionOf(refused, 'Ready').message).to.contain('spec.podTemplate.runtimeClassName: expected a RuntimeClass of the cluster')
    await objects.apply(suite.pipeline('refused'))
    await objects.condition('LogPipeline', 'refused', 'Ready', 'True')
  })

  it('says where to look when the pod of mode AllInOne is refused, and is well once it is not', async () => {
    const { objects: beside, name: namespace } = await suite.namespaceBeside()
    const quota = (pods: string) => ({
      ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none', namespace } },
      spec: { hard: { pods } },
    })
    await beside.apply(quota('0'))
    await beside.apply({ ...suite.pipeline('small'), metadata: { name: 'small', namespace }, spec: { mode: 'AllInOne' } })
    const refused = await beside.condition('LogPipeline', 'small', 'Ready', 'FailedCreate')
    expect(conditionOf(refused, 'Ready').message).to.contain(`kubectl describe statefulset small --namespace ${namespace}`)
    const events = (await beside.list('Event')).filter(({ regarding, reason }) => regarding?.name === 'small' && reason === 'FailedCreate')
    expect(
      events.some(({ note }) => note.includes('exceeded quota: none')),
      'what the message sends its reader to',
    ).to.equal(true)
    await beside.apply(quota('1'))
    await beside.condition('LogPipeline', 'small', 'Ready', 'True')
  })

  it('makes an event of each transition, and none of anything else', async () => {
    const { objects } = suite
    await suite.ready('told')
    const notes = async () => (await eventsOf('told')).map(({ type, reason, note }) => `${type} ${reason} ${note.split(':')[0]}`)
    await until('Ready is told', async () => (await notes()).includes('Normal Ready Ready is True'))
    // Events come after the status that they tell of, those of the components on a busy machine after that of Ready.
    await until('no more are told', async () => {
      const { length } = await notes()
      await sleep(1_000)
      return (await notes()).length === length
    })
    const first = await notes()
    expect(new Set(first), 'none twice').to.have.property('size', first.length)
    await objects.patch('LogPipeline', 'told', { metadata: { annotations: { seen: 'yes' } } })
    await objects.remove('Service', 'told-bridge')
    await objects.until('it is back', 'Service', 'told-bridge', () => true)
    await sleep(1500)
    expect(await notes()).to.have.members(first)
    fates.set('told-bridge', unschedulable)
    await objects.condition('LogPipeline', 'told', 'BridgeAvailable', 'False')
    fates.delete('told-bridge')
    await objects.condition('LogPipeline', 'told', 'Ready', 'True')
    await until('both are told', async () => (await notes()).filter(note => note.includes('BridgeAvailable')).length === 2)
    const added = (await notes()).filter(note => note.includes('BridgeAvailable'))
    expect(added).to.have.members(['Warning Unschedulable BridgeAvailable is False', 'Normal Available BridgeAvailable is True'])
  })
})

function ended(exitCode: number, reason: string, restarts: number, message = ''): PodFate {
  return pod => {
    const status = waitingStatus('CrashLoopBackOff', 'back-off 40s restarting failed container', restarts)(pod) as ClusterObject
    const lastState = { terminated: { exitCode, reason, ...(message === '' ? {} : { message }) } }
    return { ...status, containerStatuses: status.containerStatuses.map((container: object) => ({ ...container, lastState })) }
  }
}

function unschedulable(): object {
  const message = '0/3 nodes are available: 3 Insufficient memory.'
  const conditions = [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message },
    { type: 'ContainersReady', status: 'False' },
    { type: 'Ready', status: 'False' },
  ]
  return { phase: 'Pending', conditions }
}
