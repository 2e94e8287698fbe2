import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { loadSettings } from '../dataplane/config/environment.ts'
import { SILENT } from '../dataplane/telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../dataplane/testing/fake-clock.ts'
import type { Condition } from './api/status.ts'
import { CACHED_KINDS, LOG_PIPELINES, SECRETS, TICKETING_ROUTES } from './controllers/kinds.ts'
import type { KubernetesObject } from './kube/object.ts'
import { keyOf, qualifiedName, type Resource } from './kube/resource.ts'
import { eventually } from './kube/testing/eventually.ts'
import { type FakeApiServer, startFakeApiServer } from './kube/testing/fake-api-server.ts'
import { type RunningOperator, start } from './main.ts'
import { EVENTS } from './runtime/event-recorder.ts'
import { LEASES } from './runtime/leader-election.ts'

const PIPELINE: KubernetesObject = {
  apiVersion: 'logpipeline.dev/v1alpha1',
  kind: 'LogPipeline',
  metadata: { name: 'shop', namespace: 'shop' },
  spec: {
    mode: 'Distributed',
    tenant: 'shop',
    bus: { bootstrapServers: ['kafka:9092'], topics: 'Managed' },
    search: { endpoint: 'https://search:9200', credentials: { secret: { name: 'search' } } },
  },
}
const SECRET: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'search', namespace: 'shop' },
  data: { username: 'dQ==', password: 'cA==' },
}
const ROUTE: KubernetesObject = {
  apiVersion: 'logpipeline.dev/v1alpha1',
  kind: 'TicketingRoute',
  metadata: { name: 'oncall', namespace: 'shop' },
  spec: {
    severities: ['critical'],
    platform: 'pagerduty',
    credentials: { secret: { name: 'pagerduty' } },
    escalation: false,
    enabled: true,
  },
}

describe('The operator', () => {
  let server: FakeApiServer
  let clock: FakeClock
  let running: RunningOperator[]

  beforeEach(async () => {
    clock = createFakeClock()
    server = await startFakeApiServer([...CACHED_KINDS.map(({ resource }) => resource), LEASES, EVENTS], clock.nowMs)
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map(stop))
    await server.stop()
  })

  const run = async (settings: Readonly<Record<string, string>> = {}) => {
    const environment = { HOST: '127.0.0.1', PORT: '0', OPERATOR_IMAGE: 'logpipeline:1', POD_NAME: 'operator-1', ...settings }
    const operator = await start({
      settings: loadSettings('operator', environment),
      access: server.access,
      log: SILENT,
      clock,
      random: () => 0,
    })
    running.push(operator)
    return operator
  }
  /** Time passes meanwhile, as closing waits for nobody but the clock. */
  const stop = async (operator: RunningOperator) => {
    running = running.filter(other => other !== operator)
    let isStopped = false
    const stopped = operator.stop().then(() => {
      isStopped = true
    })
    await passUntil('it stopped', () => isStopped)
    await stopped
  }
  const passUntil = (what: string, holds: () => boolean) =>
    eventually(what, () => {
      const is = holds()
      if (!is && clock.sleepers > 0) clock.advance(100)
      return is
    })
  const create = (resource: Resource, object: KubernetesObject) =>
    server.storage.create(qualifiedName(resource), keyOf(object.metadata), object, 'kubectl')
  const list = (name: string) => server.storage.list(name).map(({ metadata }) => metadata.name)
  const condition = (type: string, object = server.storage.get('logpipelines.logpipeline.dev', 'shop/shop')) =>
    (object['status'] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions?.find(found => found.type === type)
  /** Writes other than of leases and events. */
  const writes = () => server.writes().filter(({ resource }) => !/^(leases|events)\./.test(resource))
  /** Until nothing is written for five seconds. */
  const settle = async () => {
    let quietSince = clock.nowMs()
    let seen = -1
    await passUntil('it is quiet', () => {
      if (writes().length !== seen) quietSince = clock.nowMs()
      seen = writes().length
      return clock.nowMs() - quietSince > 5000
    })
  }
  const available = (name: string, replicas = 1) => {
    const [type] = ['deployments.apps']
    const { generation } = server.storage.get(type!, `shop/${name}`).metadata
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
    const conditions = [{ type: 'Available', status: 'True' }]
    const status = { observedGeneration: generation ?? 1, conditions, ...counts }
    server.storage.patch(type!, `shop/${name}`, { status }, 'kube-controller-manager', 'status')
  }

  it('makes the objects of a LogPipeline and says how they are, with one request for each', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    expect(list('deployments.apps')).to.deep.equal(['shop-agent', 'shop-bridge', 'shop-collector', 'shop-ticketing'])
    expect(condition('Ready')).to.include({ status: 'False' })
    expect(condition('Reconciling')).to.include({ status: 'True' })
    const made = writes().filter(({ resource }) => !resource.endsWith('/status'))
    expect(made.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)).to.have.length(
      new Set(made.map(({ url }) => url.pathname)).size,
    )
    available('shop-collector', 2)
    for (const name of ['shop-agent', 'shop-bridge', 'shop-ticketing']) available(name)
    await settle()
    expect(condition('Ready')).to.include({ status: 'True' })
  })

  it('writes nothing in a settled cluster, also after a restart', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    create(TICKETING_ROUTES, ROUTE)
    const first = await run()
    await settle()
    await stop(first)
    server.forgetRequests()
    await run()
    await settle()
    expect(writes()).to.deep.equal([])
    expect(server.writes().filter(({ resource }) => resource.startsWith('events.'))).to.deep.equal([])
  })

  it('puts back what is deleted or changed by hand', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    server.storage.delete('deployments.apps', 'shop/shop-bridge')
    server.storage.patch(
      'services',
      'shop/shop-bridge',
      { spec: { type: 'NodePort' }, metadata: { labels: { 'logpipeline.dev/tenant': 'x' } } },
      'kubectl',
    )
    await settle()
    expect(list('deployments.apps')).to.include('shop-bridge')
    expect(server.storage.get('services', 'shop/shop-bridge').metadata.labels).to.include({ 'logpipeline.dev/tenant': 'shop' })
  })

  it('leaves things alone while paused, and goes on afterwards', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    const pause = (paused: boolean) => server.storage.patch('logpipelines.logpipeline.dev', 'shop/shop', { spec: { paused } }, 'kubectl')
    pause(true)
    server.storage.delete('deployments.apps', 'shop/shop-bridge')
    await settle()
    expect(list('deployments.apps')).not.to.include('shop-bridge')
    expect(condition('Paused')).to.include({ status: 'True' })
    pause(false)
    await settle()
    expect(list('deployments.apps')).to.include('shop-bridge')
  })

  it('reports a missing Secret, and goes on when it comes; a rotation rolls its readers once', async () => {
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    expect(condition('SecretsSynced')).to.include({ status: 'False', reason: 'MissingSecret' })
    expect(condition('Stalled')).to.include({ status: 'True' })
    expect(list('deployments.apps')).to.deep.equal(['shop-collector'])
    expect(server.storage.list('events.events.k8s.io').map(event => event['reason'])).to.include('MissingSecret')
    create(SECRETS, SECRET)
    await settle()
    expect(condition('SecretsSynced')).to.include({ status: 'True' })
    expect(list('deployments.apps')).to.include('shop-bridge')
    server.forgetRequests()
    server.storage.patch('secrets', 'shop/search', { data: { password: 'cDI=' } }, 'external-secrets')
    await settle()
    const applied = writes().filter(({ resource }) => resource === 'deployments.apps')
    expect(applied.map(({ name }) => name).sort()).to.deep.equal(['shop-agent', 'shop-bridge', 'shop-ticketing'])
  })

  it('lets one pipeline that cannot be applied hold up no other, and names the permission that is missing', async () => {
    create(SECRETS, SECRET)
    create(SECRETS, { ...SECRET, metadata: { name: 'search', namespace: 'bad' } })
    create(LOG_PIPELINES, PIPELINE)
    create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: 'shop', namespace: 'bad' } })
    server.deny({ verb: 'patch', resource: 'deployments.apps', namespace: 'bad' })
    await run()
    await passUntil('the good one is made', () => list('deployments.apps').length === 4)
    const bad = () => server.storage.get('logpipelines.logpipeline.dev', 'bad/shop')
    await passUntil('it is told', () => condition('ObjectsApplied', bad())?.status === 'False')
    expect(condition('ObjectsApplied', bad())).to.include({ reason: 'Forbidden' })
    expect(condition('ObjectsApplied', bad())?.message).to.contain('verbs: ["patch"]')
    expect(condition('ObjectsApplied')).to.include({ status: 'True' })
  })

  it('tells the status of a TicketingRoute, whether or not a pipeline selects it', async () => {
    create(TICKETING_ROUTES, ROUTE)
    await run()
    const route = () => server.storage.get('ticketingroutes.logpipeline.dev', 'shop/oncall')
    await settle()
    expect(condition('Ready', route())).to.include({ status: 'True', reason: 'NotSelected' })
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await settle()
    expect(condition('Ready', route())).to.include({ status: 'False', reason: 'MissingSecret' })
    create(SECRETS, { ...SECRET, metadata: { name: 'pagerduty', namespace: 'shop' }, data: { routingKey: 'a2V5' } })
    await settle()
    expect(condition('Ready', route())).to.include({ status: 'True' })
    expect(route()['status']).to.deep.include({ pipelines: ['shop'] })
  })

  it('leaves the work to the leader, and takes over from it', async () => {
    create(SECRETS, SECRET)
    const first = await run({ POD_NAME: 'operator-1' })
    await passUntil('one leads', () => server.storage.list('leases.coordination.k8s.io').length === 1)
    await run({ POD_NAME: 'operator-2' })
    const holder = () =>
      String(
        (server.storage.get('leases.coordination.k8s.io', 'default/logpipeline-operator')['spec'] as { holderIdentity: string })
          .holderIdentity,
      )
    expect(holder()).to.match(/^operator-1_/)
    await stop(first)
    await passUntil('the other leads', () => holder().startsWith('operator-2_'))
    create(LOG_PIPELINES, PIPELINE)
    await settle()
    expect(list('deployments.apps')).to.have.length(4)
  })

  it('survives a restart of the API server', async () => {
    create(SECRETS, SECRET)
    await run()
    await settle()
    server.restart()
    create(LOG_PIPELINES, PIPELINE)
    await settle()
    expect(condition('ObjectsApplied')).to.include({ status: 'True' })
  })

  it('is ready once it has seen the cluster, and says what it lacks until then', async () => {
    const grant = server.deny({ verb: 'list', resource: 'configmaps' })
    const { port } = await run()
    const ready = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`)
      return `${response.status} ${await response.text()}`
    }
    await passUntil('it is refused', () => server.requests.some(({ resource }) => resource === 'configmaps'))
    await passUntil('it waits', () => clock.sleepers > 0)
    expect(await ready()).to.match(/^503 .*cannot list configmaps.*apiGroups: \[""\], resources: \["configmaps"\], verbs: \["list"\]/s)
    grant()
    await passUntil('it works', () => server.watches.countOf('configmaps') === 1)
    expect(await ready()).to.equal('200 [+]cache ok\n')
  })
})
