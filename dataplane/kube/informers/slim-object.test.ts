import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { KubernetesObject } from '../object.ts'
import { keepFields } from './slim-object.ts'

const OURS = {
  manager: 'logpipeline-operator',
  operation: 'Apply',
  apiVersion: 'apps/v1',
  time: 'x',
  fieldsV1: { 'f:spec': { 'f:paused': {} } },
} as const
const web: KubernetesObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '7',
    labels: { app: 'web' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: 'x' },
    managedFields: [
      OURS,
      { manager: 'hpa', operation: 'Update', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:x': {} } } },
      { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:annotations': {} } } },
    ],
  },
  spec: { replicas: 3, template: { spec: { containers: [] } } },
  status: { readyReplicas: 1 },
}

describe('What is kept of an object', () => {
  it('is the named fields, our own part of the managed fields, and who else owns the replicas', () => {
    expect(keepFields(['spec.replicas', 'status', 'none.there'])(web)).to.deep.equal({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: 'u',
        resourceVersion: '7',
        labels: { app: 'web' },
        annotations: { note: 'x' },
        managedFields: [
          { manager: 'logpipeline-operator', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:paused': {} } } },
          { manager: 'hpa', operation: 'Update', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
        ],
      },
      spec: { replicas: 3 },
      status: { readyReplicas: 1 },
    })
  })

  it('is when we applied, too, where that is asked for', () => {
    const [ours, theirs] = keepFields([], { keepTimes: true })({
      ...web,
      metadata: { ...web.metadata, managedFields: web.metadata.managedFields!.map(entry => ({ ...entry, time: 'y' })) },
    }).metadata.managedFields!
    expect([ours?.time, theirs?.time]).to.deep.equal(['y', undefined])
  })

  it('is the name alone where others made it and only their being there matters', () => {
    const theirs = { ...web, metadata: { ...web.metadata, managedFields: [] } }
    expect(keepFields(['status'], { stubForeign: true })(theirs)).to.deep.equal({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7' },
    })
    expect(keepFields(['status'], { stubForeign: true })(web)).to.have.property('status')
  })

  it('is as of our own where our label tells of it, and another manager made it anew (a backup)', () => {
    const labels = { 'app.kubernetes.io/managed-by': 'logpipeline-operator' }
    const restored = { ...web, metadata: { ...web.metadata, labels, managedFields: [{ ...OURS, manager: 'velero-server' }] } }
    const kept = keepFields(['status'], { stubForeign: true })(restored)
    expect(kept).to.have.property('status')
    expect(kept.metadata.annotations).to.deep.equal({ note: 'x' })
  })

  it('is as of our own where nothing tells who manages fields', () => {
    const { managedFields: _stripped, ...metadata } = web.metadata
    const { annotations: _all, ...rest } = metadata
    expect(keepFields(['status'], { stubForeign: true })({ ...web, metadata })).to.deep.equal({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...rest, annotations: { note: 'x' } },
      status: { readyReplicas: 1 },
    })
  })

  it('is little of the metadata where only the name matters', () => {
    const slim = keepFields(['status.a'], { stubMetadata: true })
    const metadata = { name: 'a', namespace: 'b', uid: 'u', annotations: { x: 'y' }, labels: { x: 'y' } }
    expect(slim({ apiVersion: 'v1', kind: 'X', metadata, status: { a: 1, b: 2 } })).to.deep.equal({
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'a', namespace: 'b', uid: 'u' },
      status: { a: 1 },
    })
  })

  it('shares equal trees of managed fields, also those of different owners', () => {
    const ownedBy = (uid: string) => {
      const fieldsV1 = { 'f:metadata': { 'f:ownerReferences': { [`k:{"uid":"${uid}"}`]: {} } } }
      return { ...web, metadata: { ...web.metadata, managedFields: [{ ...OURS, fieldsV1 }] } }
    }
    const [a, b] = [ownedBy('uid-1'), ownedBy('uid-2')].map(keepFields([]))
    expect(a!.metadata.managedFields![0]!.fieldsV1).to.deep.equal({ 'f:metadata': { 'f:ownerReferences': { 'k:{}': {} } } })
    expect(a!.metadata.managedFields![0]!.fieldsV1).to.equal(b!.metadata.managedFields![0]!.fieldsV1)
  })
})
