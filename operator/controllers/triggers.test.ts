import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import type { ObjectChange } from '../../dataplane/kube/informers/object-store.ts'
import type { KubernetesObject, OwnerReference } from '../../dataplane/kube/object.ts'
import type { Resource } from '../../dataplane/kube/resource.ts'
import { configMap } from '../../dataplane/kube/testing/resources.ts'
import type { LogPipeline } from '../api/log-pipeline.ts'
import { topicsKeys } from '../observed/shared-topics.ts'
import { PIPELINE, ROUTE, SECRET } from '../testing/objects.ts'
import { CACHED_KINDS, LOG_PIPELINES, PODS, SECRETS, TICKETING_ROUTES } from './kinds.ts'
import { createToldStatuses } from './told-statuses.ts'
import { connectTriggers } from './triggers.ts'

const CONFIG_MAPS = CACHED_KINDS.find(({ resource }) => resource.kind === 'ConfigMap')!.resource
const EXTERNAL_SECRETS: Resource = {
  group: 'external-secrets.io',
  version: 'v1',
  kind: 'ExternalSecret',
  plural: 'externalsecrets',
  namespaced: true,
}
const OWNER: OwnerReference = { apiVersion: 'logpipeline.dev/v1alpha1', kind: 'LogPipeline', name: 'shop', uid: 'u' }

const named = (object: KubernetesObject, name: string, namespace = 'shop') => ({
  ...object,
  metadata: { ...object.metadata, name, namespace },
})

describe('What sets a reconcile off', () => {
  let queued: string[]
  let isActive: boolean
  let change: (resource: Resource, change: ObjectChange) => void
  const objects = new Map<Resource, readonly KubernetesObject[]>([
    [
      LOG_PIPELINES,
      [named(PIPELINE, 'shop'), named({ ...PIPELINE, spec: { mode: 'AllInOne', tenant: 'x' } }, 'plain'), named(PIPELINE, 'far', 'far')],
    ],
    [TICKETING_ROUTES, [ROUTE]],
  ])

  const told = createToldStatuses()

  beforeEach(() => {
    queued = []
    isActive = true
    const list = (resource: Resource, namespace?: string) =>
      (objects.get(resource) ?? []).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
    const queue = (name: string) => ({
      add: (key: string) => void queued.push(`${name} ${key} now`),
      addAfter: (key: string) => void queued.push(`${name} ${key}`),
    })
    connectTriggers({
      view: {
        cache: {
          list,
          get: (resource, namespace, name) => list(resource, namespace).find(({ metadata }) => metadata.name === name),
          byIndex: () => [],
          ownedBy: () => [],
          hasListed: () => true,
        },
        served: () => [EXTERNAL_SECRETS],
      },
      cache: {
        list,
        byIndex: (resource, _index, value) => list(resource).filter(object => topicsKeys(object as LogPipeline).includes(value)),
        onChange(listener) {
          change = listener
        },
      },
      pipelines: queue('pipeline'),
      routes: queue('route'),
      told,
      isActive: () => isActive,
    })
  })

  it('is a status that somebody else wrote, for the resource alone; its own is none', () => {
    const before = { ...PIPELINE, metadata: { ...PIPELINE.metadata, uid: 'u', generation: 1 } }
    const after = { ...before, status: { conditions: [] } }
    told.note(before, after.status)
    change(LOG_PIPELINES, { before, after })
    expect(queued).to.deep.equal([])
    change(LOG_PIPELINES, { before: after, after: { ...after, status: { conditions: [], replicas: 7 } } })
    expect(queued).to.deep.equal(['pipeline shop/shop'])
    change(TICKETING_ROUTES, { before: ROUTE, after: { ...ROUTE, status: { dispatched: 7 } } })
    expect(queued).to.deep.equal(['pipeline shop/shop', 'route shop/oncall'])
  })

  it('is a change of the resource itself', () => {
    const before = { ...PIPELINE, metadata: { ...PIPELINE.metadata, uid: 'u', generation: 1 } }
    change(LOG_PIPELINES, { before, after: { ...before, metadata: { ...before.metadata, generation: 2 } } })
    expect(queued).to.deep.equal(['pipeline shop/shop now', 'route shop/oncall'])
    change(LOG_PIPELINES, {
      before,
      after: { ...before, metadata: { ...before.metadata, annotations: { 'logpipeline.dev/paused': 'true' } } },
    })
    expect(queued).to.have.length(4)
  })

  it('is more of the spec of the same generation, as after an update of the CRD', () => {
    const before = { ...PIPELINE, metadata: { ...PIPELINE.metadata, uid: 'u', generation: 1 } }
    change(LOG_PIPELINES, { before, after: structuredClone(before) })
    expect(queued).to.deep.equal([])
    change(LOG_PIPELINES, { before, after: { ...before, spec: { ...(PIPELINE['spec'] as object), tenant: 'new' } } })
    expect(queued).to.deep.equal(['pipeline shop/shop now', 'route shop/oncall'])
  })

  it('is another that shares its topics, as it comes, changes them and goes', () => {
    const bus = { bootstrapServers: ['kafka.shop:9092'], topicPrefix: 'shop.far.' }
    const onBus = (more: object) => ({ ...PIPELINE, spec: { ...(PIPELINE['spec'] as object), bus: { ...bus, ...more } } })
    const other = named(onBus({}), 'other', 'elsewhere')
    const far = named(onBus({ bootstrapServers: ['kafka.shop.svc:9093'] }), 'far')
    objects.set(LOG_PIPELINES, [...objects.get(LOG_PIPELINES)!, far])
    const moved = { ...other, metadata: { ...other.metadata, generation: 2 }, spec: PIPELINE['spec'] }
    const same = { ...other, metadata: { ...other.metadata, generation: 2 } }
    const told = ['pipeline elsewhere/other now', 'pipeline shop/far']
    for (const [each, expected] of [
      [{ after: other }, told],
      [{ before: other, after: same }, ['pipeline elsewhere/other now']],
      [{ before: other, after: moved }, told],
      [{ before: other }, told],
    ] as const) {
      queued = []
      change(LOG_PIPELINES, each)
      expect(queued).to.deep.equal(expected)
    }
    objects.set(LOG_PIPELINES, objects.get(LOG_PIPELINES)!.slice(0, -1))
  })

  it('is any change of an object that it owns, its going, and one of its pods', () => {
    const owned = { ...configMap('settings'), metadata: { name: 'settings', namespace: 'shop', ownerReferences: [OWNER] } }
    change(CONFIG_MAPS, { before: owned })
    const pod = {
      ...configMap('pod'),
      kind: 'Pod',
      metadata: { name: 'pod', namespace: 'shop', labels: { 'app.kubernetes.io/instance': 'shop' } },
    }
    change(PODS, { after: pod })
    change(CONFIG_MAPS, { after: configMap('stranger') })
    change(SECRETS, { before: { ...SECRET, metadata: { name: 'made', namespace: 'shop', ownerReferences: [OWNER] } } })
    expect(queued).to.deep.equal(['pipeline shop/shop', 'pipeline shop/shop', 'pipeline shop/shop'])
  })

  it('is no change of what is not read of an object', () => {
    const owned = { ...configMap('settings'), metadata: { name: 'settings', namespace: 'shop', ownerReferences: [OWNER] } }
    const version = (resourceVersion: string, more: object = {}) => ({
      ...owned,
      metadata: { ...owned.metadata, resourceVersion, ...more },
    })
    change(CONFIG_MAPS, { before: version('1'), after: version('2') })
    expect(queued).to.deep.equal([])
    change(CONFIG_MAPS, { before: version('2'), after: version('3', { labels: { team: 'red' } }) })
    expect(queued).to.deep.equal(['pipeline shop/shop'])
  })

  it('is a Secret that it refers to, in its own namespace, with each version of it', () => {
    const version = (resourceVersion: string) => ({ ...SECRET, metadata: { ...SECRET.metadata, resourceVersion } })
    change(SECRETS, { before: version('1'), after: version('1') })
    expect(queued).to.deep.equal([])
    change(SECRETS, { before: version('1'), after: version('2') })
    change(SECRETS, { after: named(SECRET, 'unrelated') })
    expect(queued).to.deep.equal(['pipeline shop/shop'])
  })

  it('is an ExternalSecret that it refers to, and the Secret behind it', () => {
    const search = { endpoint: 'https://search:9200', credentials: { externalSecret: { name: 'external' } } }
    const pipeline = named({ ...PIPELINE, spec: { mode: 'AllInOne', tenant: 'x', search } }, 'synced', 'ext')
    objects.set(LOG_PIPELINES, [...objects.get(LOG_PIPELINES)!, pipeline])
    const external = named({ ...SECRET, kind: 'ExternalSecret', spec: { target: { name: 'target' } } }, 'external', 'ext')
    objects.set(EXTERNAL_SECRETS, [external])
    change(EXTERNAL_SECRETS, { after: external })
    change(SECRETS, { after: named(SECRET, 'target', 'ext') })
    expect(queued).to.deep.equal(['pipeline ext/synced', 'pipeline ext/synced'])
  })

  it('is a Secret of a TicketingRoute, for the route and the pipelines of its namespace', () => {
    change(SECRETS, { after: named(SECRET, 'pagerduty') })
    expect(queued).to.deep.equal(['route shop/oncall', 'pipeline shop/shop', 'pipeline shop/plain'])
  })

  it('is a TicketingRoute, for all routes and pipelines of its namespace', () => {
    change(TICKETING_ROUTES, { after: ROUTE })
    expect(queued).to.deep.equal(['route shop/oncall', 'pipeline shop/shop', 'pipeline shop/plain'])
  })

  it('is nothing while another operator leads', () => {
    isActive = false
    change(SECRETS, { after: SECRET })
    expect(queued).to.deep.equal([])
  })
})
