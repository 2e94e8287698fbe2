import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { KubernetesObject, OwnerReference } from '../../dataplane/kube/object.ts'
import { keyOf, qualifiedName, type Resource } from '../../dataplane/kube/resource.ts'
import { CONFIG_MAPS, configMap, DEPLOYMENTS, deployment, SERVICES, WIDGETS } from '../../dataplane/kube/testing/resources.ts'
import { startTestCluster, type TestCluster } from '../../dataplane/kube/testing/test-cluster.ts'
import type { Addressed, Wanted } from './plan.ts'
import { CALM_MS, FREE_PUT_BACKS } from './put-backs.ts'
import { createObjectReconciler, type ObjectProblem, type ObjectReconciler, type WritableLiveObjects } from './reconcile-objects.ts'
import { writeStatus } from './write-status.ts'

const KINDS = [CONFIG_MAPS, DEPLOYMENTS, SERVICES, WIDGETS]
const OWNER: KubernetesObject = {
  apiVersion: 'example.dev/v1',
  kind: 'Widget',
  metadata: { name: 'shop', namespace: 'shop', uid: 'owner-1' },
}
const REFERENCE: OwnerReference = { apiVersion: 'example.dev/v1', kind: 'Widget', name: 'shop', uid: 'owner-1', controller: true }

const WEB = {
  replicas: 2,
  selector: { matchLabels: { app: 'web' } },
  template: {
    metadata: { labels: { app: 'web' } },
    spec: {
      containers: [
        { name: 'web', image: 'web:1', args: ['a', 'b'], ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }], resources: {} },
      ],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  },
}

function owned(object: KubernetesObject, references = [REFERENCE]): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, ownerReferences: references, labels: { app: 'web' } } }
}

describe('Applying what is wanted', () => {
  let cluster: TestCluster
  let reconcile: ObjectReconciler
  const settings: Addressed = { resource: CONFIG_MAPS, object: owned(configMap('settings', { a: '1', b: '2' })) }
  const web: Addressed = { resource: DEPLOYMENTS, object: owned(deployment('web', WEB)) }
  const wanted = (...objects: Addressed[]): Wanted => ({ owner: OWNER, objects })
  const found = (resource: Resource, name: string) => cluster.server.storage.get(qualifiedName(resource), `shop/${name}`)
  const patch = (resource: Resource, name: string, change: object, manager = 'kubectl') =>
    cluster.server.storage.patch(qualifiedName(resource), `shop/${name}`, change as never, manager)

  /** Reads the API server's own memory: never behind. */
  const createLive = (): WritableLiveObjects => ({
    get: (resource, namespace, name) =>
      cluster.server.storage
        .list(qualifiedName(resource))
        .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    ownedBy: uid =>
      KINDS.flatMap(resource =>
        cluster.server.storage
          .list(qualifiedName(resource))
          .filter(({ metadata }) => metadata.ownerReferences?.some(reference => reference.uid === uid))
          .map(object => ({ resource, object })),
      ),
    noteApplied() {},
    noteDeleted() {},
  })

  beforeEach(async () => {
    cluster = await startTestCluster(KINDS)
    reconcile = createObjectReconciler({ client: cluster.client, clock: cluster.clock, live: createLive() })
  })
  afterEach(() => cluster.stop())

  it('creates what is missing, one request each, and then makes none, also after a restart', async () => {
    const first = await reconcile(wanted(settings, web))
    expect(first.applied.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(['ConfigMap settings', 'Deployment web'])
    expect(cluster.server.requests).to.have.length(2)
    cluster.server.forgetRequests()
    expect(await reconcile(wanted(settings, web))).to.deep.equal({ applied: [], deleted: [], problems: [] })
    await createObjectReconciler({ client: cluster.client, clock: cluster.clock, live: createLive() })(wanted(settings, web))
    expect(cluster.server.requests).to.deep.equal([])
  })

  it('applies only the object that changed, and takes away what is no longer wanted of it', async () => {
    await reconcile(wanted(settings, web))
    cluster.server.forgetRequests()
    const changed = { ...settings, object: { ...settings.object, data: { a: '3' } } }
    await reconcile(wanted(changed, web))
    expect(cluster.server.requests.map(({ verb, name }) => `${verb} ${name}`)).to.deep.equal(['patch settings'])
    expect(found(CONFIG_MAPS, 'settings')['data']).to.deep.equal({ a: '3' })
  })

  const foreignChanges: readonly { readonly name: string; readonly change: object; readonly resource: Resource; readonly of: string }[] = [
    { name: 'a value', resource: CONFIG_MAPS, of: 'settings', change: { data: { a: 'theirs' } } },
    { name: 'a value that is taken away', resource: CONFIG_MAPS, of: 'settings', change: { data: { a: null } } },
    { name: 'a label', resource: CONFIG_MAPS, of: 'settings', change: { metadata: { labels: { app: 'theirs' } } } },
    { name: 'the replicas', resource: DEPLOYMENTS, of: 'web', change: { spec: { replicas: 7 } } },
    {
      name: 'a field of an item of a list',
      resource: DEPLOYMENTS,
      of: 'web',
      change: { spec: { template: { spec: { containers: [{ ...WEB.template.spec.containers[0], image: 'theirs:1' }] } } } },
    },
    {
      name: 'an argument of a container',
      resource: DEPLOYMENTS,
      of: 'web',
      change: { spec: { template: { spec: { containers: [{ ...WEB.template.spec.containers[0], args: ['a'] }] } } } },
    },
    { name: 'a list that is emptied', resource: DEPLOYMENTS, of: 'web', change: { spec: { template: { spec: { volumes: [] } } } } },
    { name: 'the owner', resource: CONFIG_MAPS, of: 'settings', change: { metadata: { ownerReferences: null } } },
  ]
  for (const { name, change, resource, of } of foreignChanges)
    it(`puts back what somebody else changed: ${name}`, async () => {
      await reconcile(wanted(settings, web))
      const before = found(resource, of)
      patch(resource, of, change)
      cluster.server.forgetRequests()
      await reconcile(wanted(settings, web))
      expect(cluster.server.requests.map(({ name: patched }) => patched)).to.deep.equal([of])
      const after = found(resource, of)
      expect([after['data'], after['spec'], after.metadata.labels, after.metadata.ownerReferences]).to.deep.equal([
        before['data'],
        before['spec'],
        before.metadata.labels,
        before.metadata.ownerReferences,
      ])
      await reconcile(wanted(settings, web))
      expect(cluster.server.requests, 'and is done with it').to.have.length(1)
    })

  it('puts back what somebody took over by server-side apply', async () => {
    await reconcile(wanted(settings))
    const theirs = configMap('settings', { a: 'theirs' })
    cluster.server.storage.apply('configmaps', 'shop/settings', theirs, { manager: 'argocd', force: true })
    await reconcile(wanted(settings))
    expect(found(CONFIG_MAPS, 'settings')['data']).to.deep.equal({ a: '1', b: '2' })
  })

  it('leaves foreign fields, labels and annotations, without a request', async () => {
    await reconcile(wanted(settings, web))
    patch(CONFIG_MAPS, 'settings', { data: { c: 'theirs' }, metadata: { labels: { team: 'x' }, annotations: { note: 'y' } } })
    patch(DEPLOYMENTS, 'web', { spec: { paused: true, template: { metadata: { annotations: { restartedAt: 'now' } } } } })
    cluster.server.forgetRequests()
    await reconcile(wanted(settings, web))
    expect(cluster.server.requests).to.deep.equal([])
    const changed = { ...settings, object: { ...settings.object, data: { a: '3' } } }
    await reconcile(wanted(changed, web))
    expect(found(CONFIG_MAPS, 'settings')).to.deep.include({ data: { a: '3', c: 'theirs' } })
    expect(found(CONFIG_MAPS, 'settings').metadata.labels).to.deep.equal({ app: 'web', team: 'x' })
  })

  it('leaves the replicas to whoever scaled when they are left out', async () => {
    await reconcile(wanted(web))
    patch(DEPLOYMENTS, 'web', { spec: { replicas: 7 } }, 'horizontal-pod-autoscaler')
    const { replicas: _left, ...spec } = WEB
    const scaled = { ...web, object: owned(deployment('web', spec)) }
    await reconcile(wanted(scaled))
    await reconcile(wanted(scaled))
    expect(found(DEPLOYMENTS, 'web')['spec']).to.include({ replicas: 7 })
  })

  it('puts back an object that somebody deleted', async () => {
    await reconcile(wanted(settings))
    cluster.server.storage.delete('configmaps', 'shop/settings')
    await reconcile(wanted(settings))
    expect(found(CONFIG_MAPS, 'settings')['data']).to.deep.equal({ a: '1', b: '2' })
  })

  it('deletes what is no longer wanted, exactly that object, and keeps what must stay', async () => {
    await reconcile(wanted(settings, web))
    const kept = await reconcile({ ...wanted(), isKept: ({ kind }) => kind === 'Deployment' })
    expect(kept.deleted.map(({ name }) => name)).to.deep.equal(['settings'])
    expect(found(DEPLOYMENTS, 'web').kind).to.equal('Deployment')
    const other = owned(configMap('theirs'))
    cluster.server.storage.create('configmaps', 'shop/theirs', other, 'kubectl')
    const report = await reconcile(wanted())
    expect(
      report.deleted.map(({ name }) => name),
      'not what others made for the same owner',
    ).to.deep.equal(['web'])
  })

  const strangers = [
    { name: 'nobody', references: [] },
    { name: 'another owner', references: [{ ...REFERENCE, name: 'other', uid: 'owner-2' }] },
  ]
  for (const { name, references } of strangers)
    it(`leaves an object of ${name} under the wanted name alone, and says so`, async () => {
      const theirs = owned(configMap('settings', { theirs: 'yes' }), references)
      cluster.server.storage.create('configmaps', 'shop/settings', theirs, 'kubectl')
      const { problems, applied } = await reconcile(wanted(settings, web))
      expect(problems).to.have.length(1)
      expect(problems[0]).to.deep.include({
        reason: 'ForeignObject',
        object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' },
      })
      expect(
        applied.map(object => object.name),
        'the others are applied',
      ).to.deep.equal(['web'])
      expect(found(CONFIG_MAPS, 'settings')['data']).to.deep.equal({ theirs: 'yes' })
      await reconcile(wanted())
      expect(found(CONFIG_MAPS, 'settings')['data'], 'nor is it deleted').to.deep.equal({ theirs: 'yes' })
    })

  it('takes an object that it applied and that came back from a backup: without owner, written by another manager', async () => {
    await reconcile(wanted(settings))
    const { uid: _uid, managedFields: _fields, ownerReferences: _owners, ...metadata } = found(CONFIG_MAPS, 'settings').metadata
    const backup = { ...found(CONFIG_MAPS, 'settings'), metadata }
    cluster.server.storage.delete('configmaps', 'shop/settings')
    cluster.server.storage.create('configmaps', 'shop/settings', backup, 'velero-server')
    expect((await reconcile(wanted(settings))).problems).to.deep.equal([])
    expect(found(CONFIG_MAPS, 'settings').metadata.ownerReferences).to.deep.equal([REFERENCE])
    expect((await reconcile(wanted())).deleted.map(({ name }) => name)).to.deep.equal(['settings'])
  })

  it('waits for an object of an owner that was deleted and made anew: it goes by itself', async () => {
    const earlier = owned(configMap('settings', { a: '0' }), [{ ...REFERENCE, uid: 'owner-0' }])
    cluster.server.storage.create('configmaps', 'shop/settings', earlier, 'logpipeline-operator')
    const { problems } = await reconcile(wanted(settings))
    expect(problems.map(({ reason, failure }) => [reason, failure])).to.deep.equal([['ApplyFailed', undefined]])
    expect(problems[0]?.message).to.match(/^ConfigMap settings is still that of an earlier resource of the same name/)
    expect(found(CONFIG_MAPS, 'settings')['data']).to.deep.equal({ a: '0' })
    cluster.server.storage.delete('configmaps', 'shop/settings')
    expect((await reconcile(wanted(settings))).problems).to.deep.equal([])
  })

  it('says of an object that somebody deletes that it is going, what holds it, and makes it anew once it is gone', async () => {
    await reconcile(wanted(settings, web))
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion', 'example.dev/backup'] }
    patch(DEPLOYMENTS, 'web', { metadata: going })
    cluster.server.forgetRequests()
    const { problems } = await reconcile(wanted(settings, web))
    expect(problems.map(({ reason, message }) => [reason, message])).to.deep.equal([
      [
        'ApplyFailed',
        'Deployment web is being deleted (finalizers: foregroundDeletion, example.dev/backup): it is made anew once it is gone',
      ],
    ])
    expect(cluster.server.requests).to.deep.equal([])
    cluster.server.storage.delete('deployments.apps', 'shop/web')
    expect((await reconcile(wanted(settings, web))).problems).to.deep.equal([])
    expect(found(DEPLOYMENTS, 'web')).not.to.equal(undefined)
  })

  it('puts an object back at growing intervals while somebody fights over it, says so, and is told to look again', async () => {
    const { clock } = cluster
    await reconcile(wanted(settings, web))
    for (let times = 0; times < FREE_PUT_BACKS; times++) {
      patch(DEPLOYMENTS, 'web', { spec: { replicas: 9 } })
      expect((await reconcile(wanted(settings, web))).applied, `${times}`).to.have.length(1)
    }
    const start = clock.nowMs()
    const appliedAt: number[] = []
    let report = await reconcile(wanted(settings, web))
    while (clock.nowMs() - start < 600_000) {
      patch(DEPLOYMENTS, 'web', { spec: { replicas: 9 } })
      report = await reconcile(wanted(settings, web))
      if (report.applied.length > 0) appliedAt.push((clock.nowMs() - start) / 1000)
      clock.advance(1000)
    }
    expect(appliedAt).to.deep.equal([2, 6, 14, 30, 62, 126, 246, 366, 486])
    expect(report.problems.map(({ reason, message }) => [reason, message])).to.deep.equal([
      [
        'ChangedByOthers',
        'Deployment web is changed or deleted by somebody else again and again: it is put back at growing intervals, each two minutes in the end',
      ],
    ])
    expect(report.againMs).to.be.within(1, 120_000)
    const more = { ...web, object: owned(deployment('web', { ...WEB, replicas: 3 })) }
    expect((await reconcile(wanted(settings, more))).applied, 'other content is no putting back').to.have.length(1)
    expect((await reconcile(wanted(settings, more))).problems).to.deep.equal([])
  })

  it('puts back at once again what was left in peace for five minutes', async () => {
    const { clock } = cluster
    await reconcile(wanted(web))
    for (let times = 0; times <= FREE_PUT_BACKS; times++) {
      cluster.server.storage.delete('deployments.apps', 'shop/web')
      await reconcile(wanted(web))
    }
    clock.advance(2000)
    const { problems, applied, againMs } = await reconcile(wanted(web))
    expect(
      problems.map(({ reason }) => reason),
      'deletions are a fight, too',
    ).to.deep.equal(['ChangedByOthers'])
    expect([applied.length, againMs]).to.deep.equal([1, CALM_MS])
    clock.advance(CALM_MS)
    expect(await reconcile(wanted(web))).to.deep.equal({ applied: [], deleted: [], problems: [] })
    cluster.server.storage.delete('deployments.apps', 'shop/web')
    expect((await reconcile(wanted(web))).applied).to.have.length(1)
  })

  it('takes what it deleted itself for no fight: what is switched off and on again is there at once', async () => {
    for (let times = 0; times <= FREE_PUT_BACKS + 1; times++) {
      expect(await reconcile(wanted(settings)), `off, ${times}`).to.deep.include({ problems: [] })
      const { applied, problems } = await reconcile(wanted(settings, web))
      expect([applied.map(({ name }) => name), problems], `on, ${times}`).to.deep.equal([['web'], []])
    }
  })

  it('does not take over an object that appeared just now', async () => {
    cluster.server.storage.create('configmaps', 'shop/settings', configMap('settings', { a: 'theirs' }), 'kubectl')
    const blind = createObjectReconciler({ client: cluster.client, clock: cluster.clock, live: { ...createLive(), get: () => undefined } })
    expect((await blind(wanted(settings))).problems[0]).to.include({ reason: 'ApplyFailed' })
    expect(found(CONFIG_MAPS, 'settings')['data']).to.deep.equal({ a: 'theirs' })
  })

  it('reports a permission that is missing and what the API server refuses, and goes on with the others', async () => {
    cluster.server.deny({ verb: 'patch', resource: 'configmaps' })
    const report = await reconcile(wanted(settings, web))
    expect(report.problems[0]).to.include({ reason: 'Forbidden' })
    expect(report.problems[0]?.message).to.contain('grant system:serviceaccount:logpipeline:operator the RBAC rule')
    expect(report.applied.map(({ name }) => name)).to.deep.equal(['web'])
    cluster.server.fault({ name: 'web' }, { kind: 'status', code: 422, reason: 'Invalid', message: 'spec.replicas: must not be negative' })
    const bad = { ...web, object: owned(deployment('web', { ...WEB, replicas: -1 })) }
    const invalid = (await reconcile(wanted(bad))).problems[0]
    expect(invalid).to.include({ reason: 'Invalid' })
    for (const [message, reason] of [
      ['deployments.apps "web" is forbidden: exceeded quota: two', 'QuotaExceeded'],
      ['admission webhook "images.example" denied the request: no latest', 'AdmissionDenied'],
      ["ValidatingAdmissionPolicy 'a' with binding 'b' denied request: no latest", 'AdmissionDenied'],
    ] as const) {
      cluster.server.fault({ name: 'web' }, { kind: 'status', code: 403, reason: 'Forbidden', message })
      expect((await reconcile(wanted(bad))).problems[0], message).to.include({ reason })
    }
    expect(invalid?.message).to.contain('spec.replicas: must not be negative')
  })

  for (const message of [
    'failed to create typed patch object (shop/settings; v1, Kind=ConfigMap): .colour: field not declared in schema',
    'failed to create typed patch object (shop/settings; v1, Kind=ConfigMap): .items: duplicate entries for key [name="a"]',
    'etcdserver: request is too large',
  ])
    it(`takes it for a fault of the object, and goes on with the others, when the API server blames itself: ${message.slice(-24)}`, async () => {
      cluster.server.fault({ name: 'settings' }, { kind: 'status', code: 500, reason: 'InternalError', message })
      const { problems, applied } = await reconcile(wanted(settings, web))
      expect(problems.map(({ reason }) => reason)).to.deep.equal(['Invalid'])
      expect(applied.map(({ name }) => name)).to.deep.equal(['web'])
    })

  it('asks for nothing more once the API server is in trouble', async () => {
    cluster.server.fault({}, { kind: 'status', code: 503, reason: 'ServiceUnavailable' }, 99)
    const { problems } = await reconcile(wanted(settings, web))
    expect(problems).to.have.length(1)
    expect(cluster.server.requests).to.have.length(1)
  })

  it('begins with the others when one was answered by trouble, such as that of a webhook, and comes to each of several in turn', async () => {
    const message = 'failed calling webhook "images.example": context deadline exceeded'
    const ends = ['settings', 'web'].map(name =>
      cluster.server.fault({ name }, { kind: 'status', code: 500, reason: 'InternalError', message }, Number.POSITIVE_INFINITY),
    )
    const more = ['one', 'two'].map(name => ({ resource: CONFIG_MAPS, object: owned(configMap(name, { a: '1' })) }))
    const all = [settings, more[0]!, web, more[1]!]
    const named = (objects: readonly { readonly name: string }[]) => objects.map(({ name }) => name)
    let before: readonly ObjectProblem[] = []
    const pass = async () => {
      const { applied, problems } = await reconcile({ ...wanted(...all), before })
      before = problems
      return [named(applied), named(problems.map(({ object }) => object))]
    }
    expect(await pass()).to.deep.equal([[], ['settings']])
    expect(await pass()).to.deep.equal([['one'], ['settings', 'web']])
    expect(await pass()).to.deep.equal([['two'], ['web', 'settings']])
    ends[1]!()
    expect(await pass(), 'the other one is not there yet').to.deep.equal([['web'], ['settings']])
    ends[0]!()
    expect(await pass()).to.deep.equal([['settings'], []])
    const { problems } = await reconcile({ ...wanted(...all), before: [{ object: REFERENCE, reason: 'ApplyFailed', message: 'gone' }] })
    expect(problems, 'what is wanted no more').to.deep.equal([])
  })

  it('asks for nothing more in a namespace that is being deleted', async () => {
    const message = 'configmaps "settings" is forbidden: unable to create new content in namespace shop because it is being terminated'
    cluster.server.fault({}, { kind: 'status', code: 403, reason: 'Forbidden', message }, 99)
    const { problems } = await reconcile(wanted(settings, web))
    expect(problems.map(({ reason }) => reason)).to.deep.equal(['ApplyFailed'])
    expect(cluster.server.requests).to.have.length(1)
  })

  it('does not apply for ever what the API server drops', async () => {
    const live = createLive()
    const dropping: WritableLiveObjects = {
      ...live,
      get: (...where) => {
        const object = live.get(...where)
        if (object === undefined) return undefined
        const managedFields = [{ manager: 'logpipeline-operator', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } } as const]
        return { ...object, metadata: { ...object.metadata, managedFields } }
      },
    }
    const client = {
      ...cluster.client,
      apply: async (...args: Parameters<typeof cluster.client.apply>) => {
        const answer = await cluster.client.apply(...args)
        const { name, namespace } = args[1].metadata
        return answer.ok ? ({ ok: true, value: dropping.get(args[0], namespace, name)! } as const) : answer
      },
    }
    const limited = createObjectReconciler({ client, clock: cluster.clock, live: dropping })
    for (const _ of Array(4)) await limited(wanted(settings))
    expect(cluster.server.requests).to.have.length(1)
    await limited(wanted({ ...settings, object: owned(configMap('settings', { a: '9' })) }))
    expect(cluster.server.requests).to.have.length(2)
  })

  describe('where nothing tells who manages fields, as behind a proxy that strips managedFields', () => {
    const strip = ({ metadata: { managedFields: _stripped, ...metadata }, ...object }: KubernetesObject): KubernetesObject => ({
      ...object,
      metadata,
    })
    const stripped = (live: WritableLiveObjects): WritableLiveObjects => ({
      ...live,
      get: (...where) => {
        const object = live.get(...where)
        return object && strip(object)
      },
      ownedBy: uid => live.ownedBy(uid).map(({ resource, object }) => ({ resource, object: strip(object) })),
    })
    const start = () => {
      const apply: TestCluster['client']['apply'] = async (...args) => {
        const answer = await cluster.client.apply(...args)
        return answer.ok ? { ok: true, value: strip(answer.value) } : answer
      }
      return createObjectReconciler({ client: { ...cluster.client, apply }, clock: cluster.clock, live: stripped(createLive()) })
    }

    it('applies once after each start, and then when other things are wanted', async () => {
      for (const run of [start(), start()]) {
        cluster.server.forgetRequests()
        for (const _ of Array(3)) await run(wanted(settings, web))
        expect(cluster.server.requests).to.have.length(2)
      }
      const run = start()
      await run(wanted(settings))
      const changed = await run(wanted({ ...settings, object: owned(configMap('settings', { a: '9' })) }))
      expect(changed.applied.map(({ name }) => name)).to.deep.equal(['settings'])
      expect(found(CONFIG_MAPS, 'settings')).to.have.deep.property('data', { a: '9' })
    })

    it('deletes what is not wanted any more, and leaves what others made', async () => {
      const run = start()
      await run(wanted(settings, web))
      const theirs = owned(configMap('theirs', { a: '1' }))
      cluster.server.storage.create(qualifiedName(CONFIG_MAPS), 'shop/theirs', theirs, 'kubectl')
      const { deleted } = await run(wanted(web))
      expect(deleted.map(({ name }) => name)).to.deep.equal(['settings'])
      expect(found(CONFIG_MAPS, 'theirs')).to.not.equal(undefined)
    })

    it('puts back the reference to its owner, and takes over no object of others', async () => {
      const run = start()
      await run(wanted(settings))
      patch(CONFIG_MAPS, 'settings', { metadata: { ownerReferences: null } })
      const other: Addressed = { resource: CONFIG_MAPS, object: owned(configMap('other', { a: '1' })) }
      cluster.server.storage.create(qualifiedName(CONFIG_MAPS), 'shop/other', configMap('other', { a: '1' }), 'kubectl')
      const { problems } = await start()(wanted(settings, other))
      expect(problems.map(({ object, reason }) => [object.name, reason])).to.deep.equal([['other', 'ForeignObject']])
      expect(found(CONFIG_MAPS, 'settings')!.metadata.ownerReferences).to.deep.equal([REFERENCE])
    })
  })

  it('writes what a CRD of an older release knows of a status', async () => {
    const widget = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'shop' }, spec: {} }
    const created = cluster.server.storage.create('widgets.example.dev', keyOf(widget.metadata), widget, 'kubectl')
    // The API server names one of them at a time.
    for (const field of ['c', 'b']) {
      const message = `failed to create typed patch object (shop/w; example.dev/v1, Kind=Widget): .status.${field}: field not declared in schema`
      cluster.server.fault({}, { kind: 'status', code: 500, reason: 'InternalError', message })
    }
    const written = await writeStatus(cluster.client, WIDGETS, created, { a: 1, b: 2, c: { d: 3 } })
    expect(written.ok && written.value?.['status']).to.deep.equal({ a: 1 })
    expect(cluster.server.requests).to.have.length(3)
  })

  it('leaves a map without members out of a status: the API server refuses it where it had some', async () => {
    const widget = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'shop' }, spec: {} }
    const created = cluster.server.storage.create('widgets.example.dev', keyOf(widget.metadata), widget, 'kubectl')
    const first = await writeStatus(cluster.client, WIDGETS, created, { a: 1, parts: { web: { ready: 1 } } })
    if (!first.ok || first.value === undefined) throw new Error('expected a write')
    const without = { a: 1, parts: {}, list: [] }
    const second = await writeStatus(cluster.client, WIDGETS, first.value, without)
    expect(second.ok && second.value?.['status']).to.deep.equal({ a: 1, list: [] })
    expect(await writeStatus(cluster.client, WIDGETS, found(WIDGETS, 'w'), without), 'written').to.deep.equal({
      ok: true,
      value: undefined,
    })
    const fromBefore = { ...found(WIDGETS, 'w'), status: without }
    expect(await writeStatus(cluster.client, WIDGETS, fromBefore, without), 'by an earlier release').to.deep.equal({
      ok: true,
      value: undefined,
    })
  })

  it('writes the status only when it differs, whatever the order of its members', async () => {
    const widget = { apiVersion: 'example.dev/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'shop' }, spec: {} }
    const created = cluster.server.storage.create('widgets.example.dev', keyOf(widget.metadata), widget, 'kubectl')
    const written = await writeStatus(cluster.client, WIDGETS, created, { a: 1, conditions: [{ type: 'Ready', status: 'True' }] })
    if (!written.ok || written.value === undefined) throw new Error('expected a write')
    expect(written.value['status']).to.deep.equal({ a: 1, conditions: [{ type: 'Ready', status: 'True' }] })
    const same = { conditions: [{ status: 'True', type: 'Ready' }], a: 1, b: undefined }
    expect(await writeStatus(cluster.client, WIDGETS, written.value, same)).to.deep.equal({ ok: true, value: undefined })
    expect(cluster.server.requests).to.have.length(1)
  })
})
