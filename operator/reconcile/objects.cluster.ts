import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type ClusterObject, until } from '../../dataplane/testing/cluster/kubectl.ts'
import { conditionOf } from '../testing/cluster-objects.ts'
import { operatorWrites } from '../testing/cluster-requests.ts'
import { type ClusterSuite, openClusterSuite } from '../testing/cluster-suite.ts'

export const needs = ['kubernetes']

const KINDS = [
  ...['Deployment', 'StatefulSet', 'Service', 'ConfigMap', 'ServiceAccount', 'Role', 'RoleBinding'],
  ...['NetworkPolicy', 'PodDisruptionBudget', 'Ingress'],
]

const DOORS = {
  gateway: { enabled: true, ingress: { host: 'ingest.shop.example', className: 'nginx' } },
  dashboard: { enabled: true, ingress: { host: 'logs.shop.example' } },
}

describe('Objects of a LogPipeline on a real API server', function () {
  this.timeout(120_000)
  let suite: ClusterSuite
  before(async () => {
    suite = await openClusterSuite('objects')
    await suite.startOperator()
  })
  after(() => suite.close())

  const objectsOf = async (name: string, kinds = KINDS): Promise<readonly ClusterObject[]> =>
    (await Promise.all(kinds.map(kind => suite.objects.list(kind, `app.kubernetes.io/instance=${name}`)))).flat()
  const namesOf = async (name: string) => (await objectsOf(name)).map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()

  it('are all there once it is Ready: owned by it, labelled, with logpipeline-operator as field manager', async () => {
    const startMs = Date.now()
    const { metadata } = await suite.ready('shop', DOORS)
    const objects = await objectsOf('shop')
    expect(new Set(objects.map(({ kind }) => kind))).to.have.keys(KINDS.filter(kind => kind !== 'StatefulSet'))
    for (const object of objects) {
      const { name, ownerReferences, labels, managedFields } = object.metadata
      expect(ownerReferences, name).to.have.length(1)
      expect(ownerReferences[0], name).to.include({ kind: 'LogPipeline', name: 'shop', uid: metadata.uid, controller: true })
      expect(labels, name).to.include({ 'app.kubernetes.io/part-of': 'logpipeline', 'logpipeline.dev/tenant': 'shop' })
      const whole = managedFields.filter(({ subresource, manager }: ClusterObject) => subresource === undefined && /operator/.test(manager))
      expect(whole, name).to.have.length(1)
      expect(whole[0], name).to.include({ manager: 'logpipeline-operator', operation: 'Apply' })
    }
    const key = await suite.objects.get('Secret', 'shop-encryption-key')
    expect(key?.metadata.ownerReferences).to.deep.equal(objects[0]!.metadata.ownerReferences)
    expect(key?.metadata.labels).to.include({ 'app.kubernetes.io/instance': 'shop', 'logpipeline.dev/tenant': 'shop' })
    const writes = operatorWrites(startMs, suite.namespace)
    const ofKey = writes.filter(write => write.includes('shop-encryption-key'))
    expect(ofKey, 'created, and never written again').to.deep.equal(['create secrets shop-encryption-key 201'])
    const applies = writes.filter(write => !write.includes('/status') && !ofKey.includes(write))
    expect(applies, 'each object is written once').to.have.length(objects.length)
    expect(new Set(applies)).to.have.property('size', objects.length)
    expect(
      applies.filter(write => !write.startsWith('patch ')),
      'all of them applied',
    ).to.deep.equal([])
    expect(writes.length - applies.length - ofKey.length, 'writes of the status').to.be.within(2, 8)
  })

  it('keep labels, annotations and fields of others, and give back what is the operator’s', async () => {
    const { objects, kubectl, namespace } = suite
    await suite.ready('kept')
    await kubectl.run(['label', 'deployment', 'kept-bridge', 'team=red', '--namespace', namespace])
    await kubectl.run(['annotate', 'service', 'kept-collector', 'cloud.example/id=7', '--namespace', namespace])
    await kubectl.run(['rollout', 'restart', 'deployment/kept-bridge', '--namespace', namespace])
    // A service mesh, say.
    const annotations = { 'mesh.example/inject': 'true' }
    const template = { metadata: { annotations }, spec: { hostAliases: [{ ip: '10.0.0.9', hostnames: ['legacy'] }] } }
    const mesh = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'kept-bridge', namespace }, spec: { template } }
    await objects.apply(mesh, 'mesh')
    const [container] = (await objects.get('Deployment', 'kept-bridge')).spec.template.spec.containers
    await kubectl.run(['set', 'image', 'deployment/kept-bridge', `${container.name}=registry.example/other:1`, '--namespace', namespace])
    const isBack = (deployment: ClusterObject) => deployment.spec.template.spec.containers[0].image === container.image
    await objects.until('the image is put back', 'Deployment', 'kept-bridge', isBack)
    await objects.patch('Service', 'kept-collector', {
      metadata: { labels: { 'logpipeline.dev/tenant': 'mine' } },
      spec: { selector: null },
    })
    const isWhole = ({ metadata, spec }: ClusterObject) => metadata.labels['logpipeline.dev/tenant'] === 'shop' && spec.selector
    await objects.until('label and selector are put back', 'Service', 'kept-collector', isWhole)
    await suite.ready('kept', { logLevel: 'debug' })
    const changed = await objects.get('Deployment', 'kept-bridge')
    expect(changed.metadata.labels).to.include({ team: 'red' })
    expect(changed.spec.template.metadata.annotations).to.include(annotations).and.to.have.property('kubectl.kubernetes.io/restartedAt')
    expect(changed.spec.template.spec.hostAliases).to.deep.equal([{ ip: '10.0.0.9', hostnames: ['legacy'] }])
    expect((await objects.get('Service', 'kept-collector')).metadata.annotations).to.include({ 'cloud.example/id': '7' })
  })

  it('over which another controller fights are written about once a second, and slow no other', async () => {
    const { objects, namespace } = suite
    await suite.ready('fought')
    const startMs = Date.now()
    let isOver = false
    const rival = (async () => {
      while (!isOver) {
        await objects.patch('Service', 'fought-bridge', { metadata: { labels: { 'logpipeline.dev/tenant': 'mine' } } })
        await sleep(100)
      }
    })()
    await suite.ready('in-peace')
    await until('some rounds are over', () => Date.now() - startMs > 4000)
    isOver = true
    await rival
    const seconds = (Date.now() - startMs) / 1000
    const rounds = operatorWrites(startMs, namespace).filter(write => write.startsWith('patch services fought-bridge'))
    expect(rounds.length).to.be.within(1, Math.ceil(seconds) + 1)
    const isOurs = ({ metadata }: ClusterObject) => metadata.labels['logpipeline.dev/tenant'] === 'shop'
    await objects.until('the last word', 'Service', 'fought-bridge', isOurs)
  })

  it('are put back when they are deleted by hand', async () => {
    const { objects } = suite
    await suite.ready('put-back')
    const before = await objectsOf('put-back')
    for (const { kind, metadata } of before) await objects.remove(kind, metadata.name)
    for (const { kind, metadata } of before)
      await objects.until(`${kind} ${metadata.name} is back`, kind, metadata.name, again => again.metadata.uid !== metadata.uid)
    await objects.condition('LogPipeline', 'put-back', 'Ready', 'True')
    expect(await namesOf('put-back')).to.deep.equal(before.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort())
  })

  it('leave an object of somebody else under the wanted name alone, say so, and take the name once it is free', async () => {
    const { objects, namespace } = suite
    const theirs = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'taken-collector', namespace }, spec: { ports: [{ port: 80 }] } }
    const { metadata } = await objects.apply(theirs, 'somebody')
    await objects.apply(suite.pipeline('taken'))
    const pipeline = await objects.condition('LogPipeline', 'taken', 'ObjectsApplied', 'ForeignObject')
    expect(conditionOf(pipeline, 'ObjectsApplied').message).to.match(/^Service taken-collector is there already and belongs to nobody/)
    expect(conditionOf(pipeline, 'Stalled')).to.include({ status: 'True', reason: 'ForeignObject' })
    await objects.condition('LogPipeline', 'taken', 'BridgeAvailable', 'Available')
    const still = await objects.get('Service', 'taken-collector')
    expect(still.metadata).to.include({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })
    await objects.remove('Service', 'taken-collector')
    await objects.condition('LogPipeline', 'taken', 'Ready', 'True')
  })

  it('that come back from a backup, without their owner and before it, are its own again', async () => {
    const { objects, namespace } = suite
    await suite.ready('restored')
    const kinds = KINDS.filter(kind => kind !== 'NetworkPolicy')
    const listed = await objectsOf('restored', kinds)
    const backup = await Promise.all(listed.map(({ kind, metadata }) => objects.get(kind, metadata.name)))
    await objects.remove('LogPipeline', 'restored')
    await until('all is gone', async () => (await objectsOf('restored')).length === 0)
    for (const { apiVersion, kind, spec, data, rules, roleRef, subjects, metadata } of backup) {
      const { name, labels, annotations } = metadata
      const body = { apiVersion, kind, metadata: { name, namespace, labels, annotations }, spec, data, rules, roleRef, subjects }
      await suite.kubectl.run(['create', '--filename=-'], JSON.stringify(body))
    }
    const { metadata } = await suite.ready('restored')
    for (const { kind, metadata: child } of await objectsOf('restored'))
      expect(child.ownerReferences?.[0]?.uid, `${kind} ${child.name}`).to.equal(metadata.uid)
  })

  it('go when what they are for is switched off', async () => {
    const { objects } = suite
    await suite.ready('pruned', DOORS)
    const before = await namesOf('pruned')
    expect(before).to.include.members(['PodDisruptionBudget pruned-collector', 'Role pruned-agent', 'NetworkPolicy pruned-bridge'])
    expect(before).to.include.members(['Ingress pruned-gateway-grpc', 'Service pruned-gate-health', 'Deployment pruned-dashboard'])
    await objects.apply(
      suite.pipeline('pruned', { agent: { enabled: false }, collector: { replicas: 1 }, networkPolicy: { enabled: false } }),
    )
    const isOff = (name: string) => /^NetworkPolicy|^PodDisruptionBudget| pruned-(agent|gate|dashboard)/.test(name)
    const rest = before.filter(name => !isOff(name))
    await until('what is switched off is gone', async () => (await namesOf('pruned')).join() === rest.join())
    await suite.ready('pruned', DOORS)
    expect(await namesOf('pruned')).to.deep.equal(before)
    await objects.remove('LogPipeline', 'pruned')
  })

  it('change with the mode and go with the LogPipeline, the volume of mode AllInOne stays', async () => {
    const { objects, namespace } = suite
    const whole = { apiVersion: 'logpipeline.dev/v1alpha1', kind: 'LogPipeline', metadata: { name: 'one', namespace } }
    await objects.apply({ ...whole, spec: { mode: 'AllInOne' } })
    await objects.condition('LogPipeline', 'one', 'Ready', 'True')
    expect(await namesOf('one')).to.include('StatefulSet one')
    const distributed = suite.pipeline('one', { tenant: 'default' })
    await objects.apply(distributed)
    await until('mode Distributed', async () => !(await namesOf('one')).includes('StatefulSet one'))
    await objects.condition('LogPipeline', 'one', 'Ready', 'True')
    await objects.remove('LogPipeline', 'one')
    await until('all is gone', async () => (await namesOf('one')).length === 0)
    const claims = await objects.list('PersistentVolumeClaim')
    expect(claims.map(({ metadata }) => metadata.name)).to.deep.equal(['data-one-0'])
  })
})
