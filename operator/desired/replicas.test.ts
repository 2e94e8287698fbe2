import { expect } from 'chai'
import { describe, it } from 'mocha'
import { OPERATOR_NAME } from '../../dataplane/contract/operator-name.ts'
import type { FieldsV1, ManagedFieldsEntry } from '../../dataplane/kube/object.ts'
import { isScaledByOthers } from './replicas.ts'

const entry = (manager: string, spec: FieldsV1): ManagedFieldsEntry => ({ manager, fieldsV1: { 'f:spec': spec } })
const scaled = (...managedFields: readonly ManagedFieldsEntry[]) =>
  isScaledByOthers({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', managedFields } })

describe('replicas of a live object', () => {
  it('belong to others when another manager owns the field', () => {
    expect(scaled(entry('kubectl', { 'f:replicas': {} }), entry(OPERATOR_NAME, { 'f:template': {} }))).to.equal(true)
  })

  it('do not, when others own other fields', () => {
    expect(scaled(entry('kubectl', { 'f:paused': {} }), entry(OPERATOR_NAME, { 'f:replicas': {} }))).to.equal(false)
    expect(scaled()).to.equal(false)
  })
})
