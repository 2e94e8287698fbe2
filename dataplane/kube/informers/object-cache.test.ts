import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createObjectReconciler } from '../../../operator/reconcile/reconcile-objects.ts'
import { SILENT } from '../../telemetry/log.ts'
import type { KubernetesObject, OwnerReference } from '../object.ts'
import { eventually } from '../testing/eventually.ts'
import { CONFIG_MAPS, configMap, DEPLOYMENTS, deployment, WIDGETS } from '../testing/resources.ts'
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts'
import { createObjectCache, type ObjectCache } from './object-cache.ts'
import { keepFields } from './slim-object.ts'

const REFERENCE: OwnerReference = { apiVersion: 'example.dev/v1', kind: 'Widget', name: 'shop', uid: 'owner-1', controller: true }
const OWNER: KubernetesObject = {
  apiVersion: 'example.dev/v1',
  kind: 'Widget',
  metadata: { name: 'shop', namespace: 'shop', uid: 'owner-1' },
}

describe('Object cache', () => {
  let cluster: TestCluster
  let cache: ObjectCache

  beforeEach(async () => {
    cluster = await startTestCluster([CONFIG_MAPS, DEPLOYMENTS])
  })
  afterEach(async () => {
    await cache.stop()
    await cluster.stop()
  })

  const start = async (namespaces: readonly string[] = []) => {
    const slim = keepFields(['spec.replicas', 'status'], { stubForeign: true })
    const kinds = [
      { resource: CONFIG_MAPS, selection: { metadataOnly: true }, slim },
      { resource: DEPLOYMENTS, slim },
    ]
    cache = createObjectCache({ kinds, namespaces }, { client: cluster.client, clock: cluster.clock, log: SILENT, random: () => 0 })
    cache.start()
    await cache.synced
  }
  const create = (name: string, namespace = 'shop') => {
    const object = configMap(name)
    cluster.server.storage.create(
      'configmaps',
      `${namespace}/${name}`,
      { ...object, metadata: { ...object.metadata, namespace } },
      'kubectl',
    )
  }

  it('holds the kinds that it watches', async () => {
    create('a')
    await start()
    expect(cache.hasSynced).to.equal(true)
    expect(cache.get(CONFIG_MAPS, 'shop', 'a')?.metadata.name).to.equal('a')
    expect([cache.has(CONFIG_MAPS), cache.has(WIDGETS)]).to.deep.equal([true, false])
    expect(() => cache.list({ ...WIDGETS, plural: 'gadgets' })).to.throw('the cache does not hold gadgets.example.dev')
  })

  it('takes kinds in and gives them up while it runs', async () => {
    await start()
    const changes: string[] = []
    cache.onChange(({ kind }, { after }) => void changes.push(`${kind} ${after === undefined ? 'gone' : 'there'}`))
    cluster.server.addResource(WIDGETS)
    cluster.server.storage.create('widgets.example.dev', 'shop/w', { ...configMap('w'), kind: 'Widget' }, 'kubectl')
    await cache.add({ resource: WIDGETS })
    expect(cache.list(WIDGETS)).to.have.length(1)
    await cache.remove(WIDGETS)
    expect(cache.has(WIDGETS)).to.equal(false)
    expect(changes).to.deep.equal(['Widget there', 'Widget gone'])
  })

  it('watches the given namespaces alone', async () => {
    for (const namespace of ['a', 'b', 'c']) create('x', namespace)
    await start(['a', 'b'])
    expect(cache.list(CONFIG_MAPS).map(({ metadata }) => metadata.namespace)).to.deep.equal(['a', 'b'])
    expect(cache.list(CONFIG_MAPS, 'b')).to.have.length(1)
    expect(cache.get(CONFIG_MAPS, 'c', 'x')).to.equal(undefined)
    expect(cluster.server.requests.filter(({ namespace }) => namespace === undefined)).to.deep.equal([])
  })

  it('lets reconciling make no request when nothing differs: at once, after the watch has told, and after a restart', async () => {
    await start()
    const wanted = {
      owner: OWNER,
      objects: [
        { resource: CONFIG_MAPS, object: owned(configMap('settings', { a: '1' })) },
        { resource: DEPLOYMENTS, object: owned(deployment('web', { replicas: 1, selector: { matchLabels: { a: 'b' } } })) },
      ],
    }
    const reconcile = () => createObjectReconciler({ clock: cluster.clock, client: cluster.client, live: cache })(wanted)
    await reconcile()
    await reconcile()
    expect(cluster.server.writes()).to.have.length(2)
    await cluster.settle()
    await reconcile()
    await cache.stop()
    await start()
    await reconcile()
    expect(cluster.server.writes()).to.have.length(2)
    cluster.server.storage.patch('configmaps', 'shop/settings', { data: { a: 'theirs' } }, 'kubectl')
    const changed = cluster.server.storage.version
    await eventually('the watch tells', () => cache.get(CONFIG_MAPS, 'shop', 'settings')?.metadata.resourceVersion === String(changed))
    await reconcile()
    expect(cluster.server.storage.get('configmaps', 'shop/settings')['data']).to.deep.equal({ a: '1' })
    expect(cluster.server.writes()).to.have.length(3)
    expect(cache.ownedBy('owner-1').map(({ object }) => object.kind)).to.deep.equal(['ConfigMap', 'Deployment'])
  })

  it('says what keeps it from watching', async () => {
    cluster.server.deny({ verb: 'list', resource: 'deployments.apps' })
    void start()
    await eventually('it failed', () => cache?.failures().length === 1)
    expect(cache.failures()[0]).to.have.nested.property('failure.reason', 'Forbidden')
    expect(cache.failures()[0]?.sinceMs).to.equal(cluster.clock.nowMs())
    expect(cache.hasSynced).to.equal(false)
  })
})

function owned(object: KubernetesObject): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, ownerReferences: [REFERENCE] } }
}
