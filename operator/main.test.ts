import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { version } from '../dataplane/config/version.ts'
import type { KubernetesObject } from '../dataplane/kube/object.ts'
import { keyOf, qualifiedName, type Resource } from '../dataplane/kube/resource.ts'
import type { FakeApiServer } from '../dataplane/kube/testing/fake-api-server.ts'
import type { JsonObject } from '../dataplane/kube/testing/field-set.ts'
import type { FakeClock } from '../dataplane/testing/fake-clock.ts'
import type { Condition } from './api/status.ts'
import { BUDGETS, LOG_PIPELINES, PODS, SECRETS, TICKETING_ROUTES } from './controllers/kinds.ts'
import type { WorkloadView } from './desired/testing/pod-view.ts'
import type { RunningOperator } from './main.ts'
import { RENEW_MS } from './runtime/leader-election.ts'
import { PIPELINE, ROUTE, SECRET } from './testing/objects.ts'
import { type OperatorHarness, startOperatorHarness } from './testing/operator-harness.ts'

/** In use after a collection. */
function heapMiB(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return (heapUsed + external + arrayBuffers) / 2 ** 20
}

/** The rest of a condition that an earlier operator wrote. */
const AVAILABLE = { status: 'True', reason: 'Available', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }

describe('The operator', () => {
  let harness: OperatorHarness
  let server: FakeApiServer
  let clock: FakeClock

  beforeEach(async () => {
    harness = await startOperatorHarness()
    server = harness.server
    clock = harness.clock
  })
  afterEach(() => harness.close())

  const run = (settings?: Readonly<Record<string, string>>) => harness.run(settings)
  const stop = (operator: RunningOperator) => harness.stop(operator)
  const passUntil = (what: string, holds: () => boolean) => harness.passUntil(what, holds)
  const settle = (quietMs?: number) => harness.settle(quietMs)
  const writes = () => harness.writes()
  const create = (resource: Resource, object: KubernetesObject) =>
    server.storage.create(qualifiedName(resource), keyOf(object.metadata), object, 'kubectl')
  const list = (name: string) => server.storage.list(name).map(({ metadata }) => metadata.name)
  const condition = (type: string, object = server.storage.get('logpipelines.logpipeline.dev', 'shop/shop')) =>
    (object['status'] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions?.find(found => found.type === type)
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

  it('runs the image of its own release where neither the resource nor a setting names one', async () => {
    create(LOG_PIPELINES, { ...PIPELINE, spec: { mode: 'AllInOne' } })
    await run({ OPERATOR_IMAGE: '' })
    await settle()
    const { spec } = server.storage.get('statefulsets.apps', 'shop/shop') as unknown as WorkloadView
    expect(spec.template.spec!.containers.map(({ image }) => image)).to.deep.equal([`logpipeline:${version}`])
  })

  it('acts on no part of a spec: a watch that began before an update of the CRD leaves out a field', async () => {
    create(SECRETS, SECRET)
    await run()
    await settle()
    server.watches.outdate(qualifiedName(LOG_PIPELINES), ({ ['status']: _status, ...object }) => {
      const { collector: _collector, ...spec } = object['spec'] as { readonly collector?: unknown }
      return { ...object, spec }
    })
    create(LOG_PIPELINES, { ...PIPELINE, spec: { ...(PIPELINE['spec'] as object), collector: { replicas: 3 } } })
    await settle()
    const { metadata, spec } = server.storage.get('deployments.apps', 'shop/shop-collector') as KubernetesObject & {
      readonly spec?: unknown
    }
    expect(spec).to.include({ replicas: 3 })
    expect(metadata.generation, 'it was right at once').to.equal(1)
    expect(server.storage.get(qualifiedName(LOG_PIPELINES), 'shop/shop')['status']).to.include({ topicPrefix: 'shop.shop.' })
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
    // Five minutes, in which silent watches are begun anew.
    await settle(300_000)
    expect(writes()).to.deep.equal([])
    expect(server.writes().filter(({ resource }) => resource.startsWith('events.'))).to.deep.equal([])
  })

  it('makes the key of ticketing once, of 32 random bytes, and touches it never again', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    const keyOf = (pipeline: string) => server.storage.get('secrets', `shop/${pipeline}-encryption-key`)
    const first = await run()
    await settle()
    const made = keyOf('shop')
    const key = atob((made['data'] as Readonly<Record<string, string>>)['ENCRYPTION_KEY']!)
    expect(Buffer.from(key, 'base64')).to.have.length(32)
    expect(made.metadata.ownerReferences!.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(['LogPipeline shop'])
    await stop(first)
    // Another pipeline finds a Secret of its user.
    create(SECRETS, { ...SECRET, metadata: { name: 'other-encryption-key', namespace: 'shop' }, data: { ENCRYPTION_KEY: 'own' } })
    create(LOG_PIPELINES, { ...PIPELINE, metadata: { ...PIPELINE.metadata, name: 'other', uid: 'other' } })
    server.storage.patch('secrets', 'shop/shop-encryption-key', { metadata: { labels: { by: 'hand' } } }, 'kubectl')
    server.storage.patch('logpipelines.logpipeline.dev', 'shop/shop', { spec: { ticketing: { replicas: 2 } } }, 'kubectl')
    await run()
    await settle()
    expect(keyOf('shop')['data']).to.deep.equal(made['data'])
    expect(keyOf('shop').metadata.labels).to.include({ by: 'hand' })
    expect(keyOf('other')['data']).to.deep.equal({ ENCRYPTION_KEY: 'own' })
  })

  it('does not make the key of ticketing anew: it warns once, holds ticketing, and goes on with the key that somebody restores', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    const first = await run()
    await settle()
    const made = server.storage.get('secrets', 'shop/shop-encryption-key')
    const levelOf = (name: string) =>
      /"name":"LOG_LEVEL","value":"(\w+)"/.exec(JSON.stringify(server.storage.get('deployments.apps', name)))?.[1]
    expect(condition('EncryptionKeyReady')).to.include({ status: 'True' })
    await stop(first)
    server.storage.delete('secrets', 'shop/shop-encryption-key')
    // The status alone remembers.
    await run()
    await settle()
    server.storage.patch('logpipelines.logpipeline.dev', 'shop/shop', { spec: { logLevel: 'debug' } }, 'kubectl')
    await settle()
    expect(server.storage.list('secrets').map(({ metadata }) => metadata.name)).to.deep.equal(['search'])
    expect(condition('Stalled')).to.include({ status: 'True', reason: 'EncryptionKeyLost' })
    expect(condition('EncryptionKeyReady')?.message).to.match(/^Secret shop-encryption-key: .*callers configured.*restore it from a backup/)
    expect(levelOf('shop/shop-ticketing'), 'pods of another version could not start').to.equal(undefined)
    expect(levelOf('shop/shop-bridge'), 'all else goes on').to.equal('debug')
    const warnings = server.storage.list('events.events.k8s.io').filter(event => event['type'] === 'Warning')
    expect(warnings.map(event => event['reason'])).to.deep.equal(['EncryptionKeyLost'])
    // As somebody restores it: without an owner.
    create(SECRETS, { ...SECRET, metadata: { name: 'shop-encryption-key', namespace: 'shop' }, data: made['data'] })
    await settle()
    expect(condition('EncryptionKeyReady')).to.include({ status: 'True' })
    expect(levelOf('shop/shop-ticketing')).to.equal('debug')
  })

  it('makes a key for a pipeline that was deleted and made anew, once that of the one before is gone', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    const name = 'shop/shop-encryption-key'
    const { apiVersion, kind } = PIPELINE
    const metadata = {
      name: 'shop-encryption-key',
      namespace: 'shop',
      ownerReferences: [{ apiVersion, kind, name: 'shop', uid: 'before' }],
    }
    create(SECRETS, { ...SECRET, metadata, data: { ENCRYPTION_KEY: 'before' } })
    await run()
    await settle()
    expect(condition('EncryptionKeyReady')).to.include({ status: 'Unknown', reason: 'Creating' })
    server.storage.delete('secrets', name)
    await settle()
    expect(server.storage.get('secrets', name)['data']).not.to.deep.equal({ ENCRYPTION_KEY: 'before' })
    expect(condition('EncryptionKeyReady')).to.include({ status: 'True' })
  })

  it('says that a PodDisruptionBudget of somebody else keeps its pods from being evicted, until that is gone', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    const { template } = server.storage.get('deployments.apps', 'shop/shop-collector')['spec'] as Record<'template', KubernetesObject>
    create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name: 'shop-collector-x', namespace: 'shop' } })
    const selector = { matchLabels: { 'app.kubernetes.io/name': 'logpipeline' } }
    create(BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'own', namespace: 'shop' },
      spec: { selector },
    })
    await passUntil('it is told', () => condition('DisruptionBudgetsReady')?.reason === 'SeveralBudgets')
    server.storage.delete('poddisruptionbudgets.policy', 'shop/own')
    await passUntil('it is well', () => condition('DisruptionBudgetsReady')?.status === 'True')
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

  it('knows its workloads by their names: neither a copy nor another label changes how many pods there are', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    const type = 'deployments.apps'
    const pods = (name: string) => (server.storage.get(type, `shop/${name}`)['spec'] as { readonly replicas?: number }).replicas
    available('shop-collector', 2)
    for (const name of ['shop-agent', 'shop-bridge', 'shop-ticketing']) available(name)
    server.storage.patch(type, 'shop/shop-bridge', { spec: { replicas: 5 } }, 'kubectl')
    available('shop-bridge', 5)
    const { metadata, ...rest } = server.storage.get(type, 'shop/shop-collector')
    const { labels = {}, annotations = {}, ownerReferences = [] } = metadata
    const copy = { name: 'shop-collector-debug', namespace: 'shop', labels, annotations, ownerReferences }
    server.storage.create(type, 'shop/shop-collector-debug', { ...rest, metadata: copy, status: {} }, 'kubectl')
    await settle()
    expect(condition('Ready')).to.include({ status: 'True' })
    server.storage.patch(type, 'shop/shop-bridge', { metadata: { labels: { 'app.kubernetes.io/component': 'mine' } } }, 'kubectl')
    server.storage.patch(qualifiedName(LOG_PIPELINES), 'shop/shop', { spec: { logLevel: 'debug' } }, 'kubectl')
    await settle()
    expect([pods('shop-collector'), pods('shop-bridge')]).to.deep.equal([2, 5])
  })

  it('puts back a status that somebody else wrote, with one write', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    create(TICKETING_ROUTES, ROUTE)
    await run()
    await settle()
    const resources = ['logpipelines', 'ticketingroutes'] as const
    const keys = { logpipelines: 'shop/shop', ticketingroutes: 'shop/oncall' } as const
    const statusOf = (plural: (typeof resources)[number]) => server.storage.get(`${plural}.logpipeline.dev`, keys[plural])['status']
    const before = resources.map(statusOf)
    server.forgetRequests()
    for (const plural of resources)
      server.storage.patch(
        `${plural}.logpipeline.dev`,
        keys[plural],
        { status: { observedGeneration: 77, conditions: [] } },
        'kubectl',
        'status',
      )
    await settle()
    const withoutTimes = (statuses: readonly unknown[]) => JSON.stringify(statuses).replace(/"lastTransitionTime":"[^"]*"/g, '')
    expect(withoutTimes(resources.map(statusOf))).to.equal(withoutTimes(before))
    expect(
      writes()
        .map(({ verb, resource }) => `${verb} ${resource}`)
        .sort(),
    ).to.deep.equal(resources.map(plural => `patch ${plural}.logpipeline.dev/status`))
  })

  it('tells of details as soon as ever where the time of day was set back', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    clock.shiftTimeOfDay(-3_600_000)
    const startMs = clock.monotonicMs!()
    available('shop-bridge')
    await passUntil('it is told', () => condition('BridgeAvailable')?.status === 'True')
    expect(clock.monotonicMs!() - startMs).to.be.below(60_000)
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

  it('keeps in the status what the topics are called before it makes anything; by a CRD that cannot keep it they have plain names', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: 'shop', namespace: 'pruned' } })
    const apply = server.storage.apply.bind(server.storage)
    server.storage.apply = (collection, key, object, by) => {
      const { topicPrefix: _, ...status } = (object['status'] ?? {}) as JsonObject
      return apply(collection, key, key.startsWith('pruned/') && by.part === 'status' ? { ...object, status } : object, by)
    }
    await run()
    await settle()
    const written = writes().filter(({ namespace }) => namespace === 'shop')
    expect(written[0]?.resource).to.equal('logpipelines.logpipeline.dev/status')
    expect(JSON.stringify(server.storage.get('deployments.apps', 'shop/shop-collector'))).to.contain('shop.shop.raw-logs')
    expect(JSON.stringify(server.storage.get('deployments.apps', 'pruned/shop-collector'))).not.to.contain('raw-logs')
    const deployments = writes().filter(({ resource, namespace }) => resource === 'deployments.apps' && namespace === 'pruned')
    expect(deployments.map(({ name }) => name)).to.deep.equal(['shop-collector'])
  })

  it('keeps the topics of a pipeline that runs when a CRD comes into force that cannot keep their prefix', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    const [name, key] = ['logpipelines.logpipeline.dev', 'shop/shop']
    const apply = server.storage.apply.bind(server.storage)
    server.storage.apply = (collection, at, object, by) => {
      const { topicPrefix: _, ...status } = (object['status'] ?? {}) as JsonObject
      return apply(collection, at, by.part === 'status' ? { ...object, status } : object, by)
    }
    for (const logLevel of ['debug', 'warn']) {
      server.storage.patch(name, key, { spec: { logLevel } }, 'kubectl', 'main')
      await settle()
      const collector = JSON.stringify(server.storage.get('deployments.apps', 'shop/shop-collector'))
      expect(collector).to.contain('shop.shop.raw-logs').and.to.contain(`"value":"${logLevel}"`)
      expect(server.storage.get(name, key)['status']).not.to.have.property('topicPrefix')
    }
  })

  it('keeps them, too, where it has written no status since its start, and where the resource said and no longer says a prefix', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    const before = await run()
    await settle()
    await stop(before)
    await run()
    await settle()
    const apply = server.storage.apply.bind(server.storage)
    server.storage.apply = (collection, at, object, by) => {
      const { topicPrefix: _, ...status } = (object['status'] ?? {}) as JsonObject
      return apply(collection, at, by.part === 'status' ? { ...object, status } : object, by)
    }
    const steps = [
      [{ logLevel: 'debug' }, 'shop.shop.raw-logs'],
      [{ logLevel: 'warn' }, 'shop.shop.raw-logs'],
      [{ bus: { bootstrapServers: ['kafka:9092'], topics: 'Managed', topicPrefix: 'moved.' } }, 'moved.raw-logs'],
      [{ bus: { bootstrapServers: ['kafka:9092'], topics: 'Managed', topicPrefix: null } }, 'moved.raw-logs'],
      [{ logLevel: 'debug' }, 'moved.raw-logs'],
    ] as const
    for (const [spec, topic] of steps) {
      server.storage.patch('logpipelines.logpipeline.dev', 'shop/shop', { spec }, 'kubectl', 'main')
      await settle()
      const collector = JSON.stringify(server.storage.get('deployments.apps', 'shop/shop-collector'))
      expect(collector, JSON.stringify(spec)).to.contain(`"value":"${topic}"`)
    }
  })

  it('takes no pipeline that keeps its topics under such a CRD for one that shares those of a third', async () => {
    create(SECRETS, SECRET)
    for (const name of ['plain', 'own']) create(LOG_PIPELINES, { ...PIPELINE, metadata: { name, namespace: 'shop' } })
    const status = { observedGeneration: 1, conditions: [{ type: 'CollectorAvailable', ...AVAILABLE }] }
    server.storage.patch('logpipelines.logpipeline.dev', 'shop/plain', { status }, 'logpipeline-operator', 'status')
    await run()
    await settle()
    const apply = server.storage.apply.bind(server.storage)
    server.storage.apply = (collection, at, object, by) => {
      const { topicPrefix: _, ...kept } = (object['status'] ?? {}) as JsonObject
      return apply(collection, at, by.part === 'status' ? { ...object, status: kept } : object, by)
    }
    for (const name of ['own', 'plain']) {
      server.storage.patch('logpipelines.logpipeline.dev', `shop/${name}`, { spec: { logLevel: 'debug' } }, 'kubectl', 'main')
      await settle()
    }
    const exclusive = (name: string) => condition('TopicsExclusive', server.storage.get('logpipelines.logpipeline.dev', `shop/${name}`))
    for (const name of ['own', 'plain']) expect(exclusive(name), name).to.include({ status: 'True' })
    const bus = { bootstrapServers: ['kafka:9092'], topics: 'Managed', topicPrefix: 'shop.own.' }
    create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: 'same', namespace: 'shop' }, spec: { ...(PIPELINE['spec'] as object), bus } })
    await settle()
    expect(exclusive('same')?.message).to.contain('LogPipeline shop/own')
  })

  it('gives each pipeline topics of its own; one that ran before keeps its topics, and is told who shares them', async () => {
    const shared = { ...(PIPELINE['spec'] as object), bus: { bootstrapServers: ['kafka.shop:9092'], topics: 'Managed' } }
    const pipelines = (namespace: string) => ({ ...PIPELINE, metadata: { name: 'shop', namespace }, spec: shared })
    const topicOf = (namespace: string) => {
      const text = JSON.stringify(server.storage.get('deployments.apps', `${namespace}/shop-collector`))
      return /"name":"RAW_TOPIC","value":"([^"]*)"/.exec(text)?.[1]
    }
    const object = (namespace: string) => server.storage.get('logpipelines.logpipeline.dev', `${namespace}/shop`)
    for (const namespace of ['shop', 'old', 'older']) create(LOG_PIPELINES, pipelines(namespace))
    const conditions = [
      { type: 'CollectorAvailable', status: 'True', reason: 'Available', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ]
    const status = { observedGeneration: 1, conditions }
    for (const namespace of ['old', 'older'])
      server.storage.patch('logpipelines.logpipeline.dev', `${namespace}/shop`, { status }, 'logpipeline-operator', 'status')
    await run()
    await settle()
    expect([topicOf('shop'), topicOf('old'), topicOf('older')]).to.deep.equal(['shop.shop.raw-logs', undefined, undefined])
    expect(condition('TopicsExclusive', object('shop'))).to.include({ status: 'True' })
    expect(condition('TopicsExclusive', object('old'))?.message).to.contain('LogPipeline older/shop')
    expect(condition('TopicsExclusive', object('older'))?.message).to.contain('LogPipeline old/shop')
    server.storage.patch('logpipelines.logpipeline.dev', 'older/shop', { spec: { bus: { topicPrefix: 'new.' } } }, 'kubectl', 'main')
    await settle()
    expect([topicOf('shop'), topicOf('old'), topicOf('older')]).to.deep.equal(['shop.shop.raw-logs', undefined, 'new.raw-logs'])
    expect(condition('TopicsExclusive', object('old'))).to.include({ status: 'True' })
  })

  it('asks for the Secrets that are referred to, once for each change, and for no other', async () => {
    const gets = () => server.requests.filter(({ verb, resource }) => verb === 'get' && resource === 'secrets').map(({ name }) => name)
    create(SECRETS, SECRET)
    create(SECRETS, { ...SECRET, metadata: { name: 'foreign', namespace: 'shop' } })
    for (const name of ['shop', 'second', 'third']) create(LOG_PIPELINES, { ...PIPELINE, metadata: { name, namespace: 'shop' } })
    await run()
    await settle()
    expect(gets()).to.deep.equal(['search'])
    server.forgetRequests()
    server.storage.patch('secrets', 'shop/foreign', { data: { a: 'Yg==' } }, 'kubectl')
    server.storage.patch('secrets', 'shop/search', { metadata: { labels: { touched: 'yes' } } }, 'kubectl')
    await settle()
    expect(gets()).to.deep.equal(['search'])
    expect(writes(), 'nothing that is read of it has changed').to.deep.equal([])
    server.storage.patch('secrets', 'shop/search', { data: { password: 'cDI=' } }, 'external-secrets')
    await settle(60_000)
    expect(gets()).to.deep.equal(['search', 'search'])
    const rolled = writes().filter(({ resource, name }) => resource === 'deployments.apps' && name === 'shop-bridge')
    expect(rolled).to.have.length(1)
    const lists = server.requests.filter(({ verb, resource }) => ['list', 'watch'].includes(verb) && resource === 'secrets')
    expect(lists.every(({ headers }) => headers.accept?.includes('PartialObjectMetadata'))).to.equal(true)
  })

  it('says which right it lacks to read a Secret, holds what needs it, and goes on once it has it', async () => {
    create(SECRETS, SECRET)
    const grant = server.deny({ verb: 'get', resource: 'secrets' })
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    expect(condition('SecretsSynced')).to.include({ status: 'False', reason: 'Forbidden' })
    expect(condition('Stalled')?.message).to.match(/^spec.search.credentials.secret.name: cannot get secrets search .*verbs: \["get"\]/)
    expect(list('deployments.apps')).to.deep.equal(['shop-collector'])
    grant()
    await settle()
    expect(condition('SecretsSynced')).to.include({ status: 'True' })
    expect(list('deployments.apps')).to.have.length(4)
  })

  it('holds what it read of a Secret while the API server does not hand it out, and rolls once it does', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    await run()
    await settle()
    const away = { kind: 'status', code: 503, reason: 'ServiceUnavailable' } as const
    const heal = server.fault({ verb: 'get', resource: 'secrets' }, away, Number.POSITIVE_INFINITY)
    server.forgetRequests()
    server.storage.patch('secrets', 'shop/search', { data: { password: 'cDI=' } }, 'external-secrets')
    await settle()
    expect(writes()).to.deep.equal([])
    heal()
    await settle()
    const applied = writes().filter(({ resource }) => resource === 'deployments.apps')
    expect(applied.map(({ name }) => name).sort()).to.deep.equal(['shop-agent', 'shop-bridge', 'shop-ticketing'])
  })

  describe('of a Secret that it makes itself', () => {
    const CREDENTIALS = { ...SECRET, metadata: { name: 'pagerduty', namespace: 'shop' }, data: { routingKey: 'a2V5' } }
    const declared = () => server.storage.get('secrets', 'shop/shop-declared')['data']
    const declaredRoutes = () => JSON.stringify(server.storage.get('configmaps', 'shop/shop-ticketing')['data'])
    const rotate = (base64: string) =>
      server.storage.patch('secrets', 'shop/pagerduty', { data: { routingKey: base64 } }, 'external-secrets')
    const written = () => writes().map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)

    beforeEach(() => {
      create(SECRETS, SECRET)
      create(SECRETS, CREDENTIALS)
      create(TICKETING_ROUTES, ROUTE)
      create(LOG_PIPELINES, PIPELINE)
    })

    it('knows by the metadata that it is as it should be: idle it asks for nothing, and after a restart once for what it copies', async () => {
      const first = await run()
      await settle()
      expect(declared()).to.deep.equal({ 'pagerduty.routingKey': 'a2V5' })
      server.forgetRequests()
      // Looks at everything again.
      server.storage.patch('logpipelines.logpipeline.dev', 'shop/shop', { metadata: { labels: { touched: 'yes' } } }, 'kubectl', 'main')
      await settle(60_000)
      // Which kinds the cluster has is asked for now and then.
      const isIdle = ({ verb, resource }: { readonly verb: string; readonly resource: string }) =>
        verb === 'watch' || /^(leases|unknown)/.test(resource)
      expect(server.requests.filter(request => !isIdle(request)).map(({ verb, resource }) => `${verb} ${resource}`)).to.deep.equal([])
      await stop(first)
      server.forgetRequests()
      await run()
      await settle(60_000)
      expect(written()).to.deep.equal([])
      const gets = server.requests.filter(({ verb, resource }) => verb === 'get' && resource === 'secrets')
      expect(gets.map(({ name }) => name).sort()).to.deep.equal(['pagerduty', 'search'])
    })

    it('changes it once when credentials are rotated, puts back what somebody changes, and takes it away with the last route', async () => {
      await run()
      await settle()
      server.forgetRequests()
      rotate('bmV3')
      await settle(60_000)
      expect(declared()).to.deep.equal({ 'pagerduty.routingKey': 'bmV3' })
      expect(written()).to.deep.equal(['patch secrets shop-declared'])
      server.forgetRequests()
      server.storage.patch('secrets', 'shop/shop-declared', { data: { 'pagerduty.routingKey': 'ZXZpbA==' } }, 'kubectl')
      await settle()
      expect(declared()).to.deep.equal({ 'pagerduty.routingKey': 'bmV3' })
      expect(written()).to.deep.equal(['patch secrets shop-declared'])
      server.storage.delete('secrets', 'shop/shop-declared')
      await settle()
      expect(declared()).to.deep.equal({ 'pagerduty.routingKey': 'bmV3' })
      server.storage.delete('ticketingroutes.logpipeline.dev', 'shop/oncall')
      await settle()
      expect(list('secrets')).not.to.include('shop-declared')
    })

    it('keeps it, and the routes beside it, while credentials cannot be read after a restart, whatever keeps them from being read', async () => {
      await stop(await run().then(async operator => settle().then(() => operator)))
      const away = { kind: 'status', code: 503, reason: 'ServiceUnavailable' } as const
      for (const forbid of [
        () => server.fault({ verb: 'get', resource: 'secrets' }, away, Number.POSITIVE_INFINITY),
        () => server.deny({ verb: 'get', resource: 'secrets' }),
      ]) {
        const allow = forbid()
        rotate('a2V5Mg==')
        const blind = await run()
        await settle()
        expect(declared()).to.have.keys('pagerduty.routingKey')
        expect(declaredRoutes()).to.contain('shop/oncall')
        allow()
        await settle()
        expect(declared()).to.deep.equal({ 'pagerduty.routingKey': 'a2V5Mg==' })
        expect(declaredRoutes()).to.contain('shop/oncall')
        await stop(blind)
        rotate('a2V5')
      }
    })

    it('copies a field of 2 KiB as it is, and of one that is longer nothing', async () => {
      const longest = Buffer.alloc(2 * 1024, 'k').toString('base64')
      rotate(longest)
      await run()
      await settle()
      expect(declared()).to.deep.equal({ 'pagerduty.routingKey': longest })
      rotate(Buffer.alloc(100_000, 'k').toString('base64'))
      await settle()
      expect(list('secrets')).not.to.include('shop-declared')
      const route = server.storage.get('ticketingroutes.logpipeline.dev', 'shop/oncall')
      expect(condition('CredentialsReady', route)?.message).to.contain('at most 2048 bytes, found 100000')
    })
  })

  it('holds next to nothing of ten thousand Secrets of 32 KiB that nobody refers to', async function () {
    this.timeout(60_000)
    const data = { blob: 'x'.repeat(32 * 1024) }
    for (let n = 0; n < 10_000; n++) create(SECRETS, { ...SECRET, metadata: { name: `foreign-${n}`, namespace: `ns-${n % 100}` }, data })
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    const before = heapMiB()
    await run()
    await passUntil('the bridge is made', () => list('deployments.apps').includes('shop-bridge'))
    expect(heapMiB() - before).to.be.below(40)
  })

  it('says of mode AllInOne after ten minutes that its pod does not start, also after a restart in between, and then that it does', async () => {
    create(LOG_PIPELINES, { ...PIPELINE, spec: { mode: 'AllInOne', tenant: 'shop' } })
    const first = await run()
    const startMs = clock.nowMs()
    await passUntil('it waits', () => condition('Reconciling')?.status === 'True')
    await passUntil('six minutes', () => clock.nowMs() - startMs > 6 * 60_000)
    await stop(first)
    await run()
    await passUntil('nine minutes', () => clock.nowMs() - startMs > 9 * 60_000)
    expect(condition('Stalled')).to.include({ status: 'False' })
    await passUntil('the end', () => clock.nowMs() - startMs > 10 * 60_000 + 5000)
    expect(condition('Stalled')).to.include({ status: 'True', reason: 'ProgressDeadlineExceeded' })
    const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 1 }
    server.storage.patch('statefulsets.apps', 'shop/shop', { status: counts }, 'kube-controller-manager', 'status')
    await settle()
    expect(condition('Ready')).to.include({ status: 'True' })
    expect(condition('Stalled')).to.include({ status: 'False' })
  })

  it('gives the pod of mode AllInOne ten minutes more when it is another one, also where nothing else changes in the status', async () => {
    create(LOG_PIPELINES, { ...PIPELINE, spec: { mode: 'AllInOne', tenant: 'shop' } })
    await run()
    const startMs = clock.nowMs()
    await passUntil('eight minutes', () => clock.nowMs() - startMs > 8 * 60_000)
    const changeMs = clock.nowMs()
    server.storage.patch('logpipelines.logpipeline.dev', 'shop/shop', { spec: { image: 'logpipeline:2' } }, 'kubectl', 'main')
    await passUntil('nearly ten minutes more', () => clock.nowMs() - changeMs > 9.5 * 60_000)
    expect(condition('Stalled')).to.include({ status: 'False' })
    await passUntil('the end', () => clock.nowMs() - changeMs > 10 * 60_000 + 5000)
    expect(condition('Stalled')).to.include({ status: 'True', reason: 'ProgressDeadlineExceeded' })
  })

  for (const [title, status, expected] of [
    ['of its own', { topicPrefix: 'kept.' }, 'kept.raw-logs'],
    ['none, as an older release had', { conditions: [{ type: 'CollectorAvailable', ...AVAILABLE }] }, undefined],
    ['with a status that is spoilt', { topicPrefix: 'kept.', components: { collector: 'many' } }, 'kept.raw-logs'],
  ] as const)
    it(`does not forget the prefix of the topics (${title}) over a spec that cannot be used`, async () => {
      create(SECRETS, SECRET)
      create(LOG_PIPELINES, PIPELINE)
      const [name, key] = ['logpipelines.logpipeline.dev', 'shop/shop']
      server.storage.apply(name, key, { ...PIPELINE, status }, { manager: 'logpipeline-operator', force: true, part: 'status' })
      const change = (mode: string) => server.storage.patch(name, key, { spec: { mode } }, 'kubectl', 'main')
      change('Neither')
      await run()
      await settle()
      expect(condition('Stalled')).to.include({ status: 'True', reason: 'InvalidSpec' })
      change('Distributed')
      await settle()
      const collector = JSON.stringify(server.storage.get('deployments.apps', 'shop/shop-collector'))
      expect(/"name":"RAW_TOPIC","value":"([^"]*)"/.exec(collector)?.[1]).to.equal(expected)
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

  it('knows nothing of a leader whose Lease has another name', async () => {
    await run({ POD_NAME: 'operator-1', LEASE_NAME: 'blue' })
    await run({ POD_NAME: 'operator-2', LEASE_NAME: 'green' })
    const holders = () => server.storage.list('leases.coordination.k8s.io').map(({ metadata }) => metadata.name)
    await passUntil('both lead', () => holders().length === 2)
    expect([...holders()].sort()).to.deep.equal(['blue', 'green'])
  })

  it('asks in the given namespaces alone, and for its Lease in its own', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: 'other', namespace: 'other' } })
    await run({ WATCH_NAMESPACES: 'shop, more,shop', POD_NAMESPACE: 'ops' })
    await settle()
    const lists = server.requests.filter(({ verb, resource }) => verb === 'list' && resource === 'deployments.apps')
    expect(lists.map(({ namespace }) => namespace).sort(), 'each once').to.deep.equal(['more', 'shop'])
    const namespaces = server.requests.flatMap(({ resource, namespace }) =>
      resource === 'unknown' ? [] : [resource.startsWith('leases') ? `lease in ${namespace}` : `${namespace}`],
    )
    expect([...new Set(namespaces)].sort()).to.deep.equal(['lease in ops', 'more', 'shop'])
    expect(list('deployments.apps')).to.have.length(4)
  })

  it('lets a namespace that it may not list, as after its deletion, hold up no other; it is looked after once it may', async () => {
    for (const namespace of ['shop', 'gone']) {
      create(SECRETS, { ...SECRET, metadata: { name: 'search', namespace } })
      create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: 'shop', namespace } })
    }
    const deployments = (namespace: string) =>
      server.storage.list('deployments.apps').filter(({ metadata }) => metadata.namespace === namespace).length
    const grants = ['services', 'secrets'].map(resource => server.deny({ verb: 'list', resource, namespace: 'gone' }))
    const { port } = await run({ WATCH_NAMESPACES: 'shop,gone', POD_NAMESPACE: 'ops' })
    await passUntil('the others are looked after', () => deployments('shop') === 4)
    await settle()
    expect(writes().filter(({ namespace }) => namespace === 'gone')).to.deep.equal([])
    expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text()).to.match(
      /^\[-\]cache failed: cannot list (services|secrets) in namespace gone/,
    )
    for (const grant of grants) grant()
    await passUntil('it is listed', () => deployments('gone') === 4)
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).to.equal(200)
  })

  it('fails and asks for nothing more when another holds the Lease, whoever that is', async () => {
    create(SECRETS, SECRET)
    const operator = await run()
    await passUntil('it leads', () => server.storage.list('leases.coordination.k8s.io').length === 1)
    await settle()
    const theirs = { spec: { holderIdentity: 'other', renewTime: '2026-01-01T00:00:00.000000Z' } }
    server.storage.patch('leases.coordination.k8s.io', 'default/logpipeline-operator', theirs, 'other')
    let why = ''
    operator.failed.catch((error: Error) => {
      why = error.message
    })
    await passUntil('it fails', () => why !== '')
    expect(why).to.contain('no longer leads')
    create(LOG_PIPELINES, PIPELINE)
    await settle()
    expect(writes()).to.deep.equal([])
  })

  it('writes nothing more after a standstill in which another took over, not even the Events that wait for their turn', async function () {
    this.timeout(40_000)
    // Their Secret is missing, so each has an Event.
    for (let n = 0; n < 60; n++) create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: `p${n}`, namespace: 'shop' } })
    const operator = await run()
    let isLost = false
    operator.failed.catch(() => {
      isLost = true
    })
    const events = () => server.storage.list('events.events.k8s.io').length
    await passUntil('the others wait', () => events() >= 25)
    const before = events()
    const theirs = { spec: { holderIdentity: 'other', renewTime: '2026-01-01T00:00:00.000000Z' } }
    server.storage.patch('leases.coordination.k8s.io', 'default/logpipeline-operator', theirs, 'other')
    clock.advance(RENEW_MS)
    await passUntil('it knows that it lost', () => isLost)
    await settle()
    expect(events(), 'one may be under way').to.be.at.most(before + 1)
  })

  it('takes over from a leader that is gone without a word, and goes on with what it began', async () => {
    create(SECRETS, SECRET)
    create(LOG_PIPELINES, PIPELINE)
    const first = await run({ POD_NAME: 'operator-1' })
    let isLost = false
    first.failed.catch(() => {
      isLost = true
    })
    await passUntil('it is in the middle of it', () => list('services').length > 0)
    // As after a kill: it neither does anything more nor gives the Lease back.
    const dead = server.fault({}, { kind: 'silence' }, Number.POSITIVE_INFINITY)
    server.watches.break('silent')
    await passUntil('it knows that it lost', () => isLost)
    dead()
    await run({ POD_NAME: 'operator-2' })
    // The Lease has to run out first.
    await settle(20_000)
    expect(list('deployments.apps')).to.have.length(4)
  })

  it('keeps its lead while an event has to wait (429), and so does everything else', async () => {
    server.fault(
      { verb: 'create', resource: 'events.events.k8s.io' },
      { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfter: 20 },
    )
    create(LOG_PIPELINES, PIPELINE)
    const operator = await run()
    let isLost = false
    operator.failed.catch(() => {
      isLost = true
    })
    await passUntil('an event waits', () => server.requests.some(({ resource }) => resource === 'events.events.k8s.io'))
    const startMs = clock.nowMs()
    const renewals = () => server.writes().filter(({ resource }) => resource.startsWith('leases.')).length
    const before = renewals()
    await passUntil('it waited', () => clock.nowMs() - startMs > 19_000)
    expect(isLost).to.equal(false)
    expect(renewals() - before).to.be.at.least(8)
    await passUntil('the event is written', () => server.storage.list('events.events.k8s.io').length > 0)
  })

  it('lets one 429 hold up one pipeline alone', async function () {
    this.timeout(40_000)
    for (const namespace of ['slow', 'shop']) create(SECRETS, { ...SECRET, metadata: { name: 'search', namespace } })
    const tooMany = { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfter: 20 } as const
    server.fault({ verb: 'patch', resource: 'deployments.apps', namespace: 'slow' }, tooMany)
    create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: 'shop', namespace: 'slow' } })
    await run()
    await passUntil('it waits', () =>
      server.requests.some(({ resource, namespace }) => resource === 'deployments.apps' && namespace === 'slow'),
    )
    const startMs = clock.nowMs()
    for (let n = 0; n < 20; n++) create(LOG_PIPELINES, { ...PIPELINE, metadata: { name: `p${n}`, namespace: 'shop' } })
    await passUntil('all others are made', () => list('deployments.apps').length === 80)
    expect(clock.nowMs() - startMs).to.be.below(15_000)
    await passUntil('it goes on', () => list('deployments.apps').length === 84)
  })

  it('survives a restart of the API server, and needs no Lease where it is alone', async () => {
    create(SECRETS, SECRET)
    await run({ LEADER_ELECTION: 'false' })
    await settle()
    server.restart()
    create(LOG_PIPELINES, PIPELINE)
    await settle()
    expect(condition('ObjectsApplied')).to.include({ status: 'True' })
    expect(server.requests.filter(({ resource }) => resource.startsWith('leases'))).to.deep.equal([])
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
