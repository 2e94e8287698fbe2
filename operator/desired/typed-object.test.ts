import type { V1Deployment, V1Job, V1NetworkPolicy } from '@kubernetes/client-node'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { typed } from './typed-object.ts'

describe('An object of a kind that the compiler knows', () => {
  it('is plain JSON, its parts in the order of kubectl', () => {
    const object = typed<V1Deployment>({ name: 'a' }, { spec: { selector: {}, template: {} }, kind: 'Deployment', apiVersion: 'apps/v1' })
    expect(Object.keys(object)).to.deep.equal(['apiVersion', 'kind', 'metadata', 'spec'])
  })

  it('is refused by the compiler where a field is unknown or of another type', () => {
    const parts = { apiVersion: 'apps/v1', kind: 'Deployment' }
    // @ts-expect-error: a number is expected
    typed<V1Deployment>({ name: 'a' }, { ...parts, spec: { selector: {}, template: {}, replicas: '1' } })
    // @ts-expect-error: there is no such field
    typed<V1Deployment>({ name: 'a' }, { ...parts, spec: { selector: {}, template: {}, replica: 1 } })
  })

  it('has times as texts, and fields under the names that the API server knows', () => {
    typed<V1Job>({ name: 'a' }, { apiVersion: 'batch/v1', kind: 'Job', status: { startTime: '2026-11-22T10:00:00Z' } })
    const spec = { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }
    typed<V1NetworkPolicy>({ name: 'a' }, { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec })
    // @ts-expect-error: the name that client-node's class has for it
    typed<V1NetworkPolicy>({ name: 'a' }, { apiVersion: 'v1', kind: 'NetworkPolicy', spec: { podSelector: {}, ingress: [{ _from: [] }] } })
  })
})
