import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { FieldsV1 } from '../object.ts'
import { missingFields } from './missing-fields.ts'

const OWNED: FieldsV1 = {
  'f:metadata': { 'f:labels': { 'f:app': {} } },
  'f:spec': { 'f:bus': { '.': {}, 'f:topicPrefix': {}, 'f:bootstrapServers': {} }, 'f:routes': { 'k:{"name":"a"}': { 'f:url': {} } } },
}
const widget = (spec: unknown, ...fieldsV1: readonly FieldsV1[]) => ({
  apiVersion: 'example.dev/v1',
  kind: 'Widget',
  metadata: { name: 'w', managedFields: fieldsV1.map(fields => ({ manager: 'kubectl', apiVersion: 'example.dev/v1', fieldsV1: fields })) },
  spec,
})

describe('missingFields', () => {
  const whole = { bus: { topicPrefix: '', bootstrapServers: [] }, routes: [] }

  it('are none of an object that is whole, nor of one that tells nothing of its managers', () => {
    expect(missingFields(widget(whole, OWNED))).to.equal('')
    expect(missingFields(widget({}))).to.equal('')
  })

  it('are those that somebody set, each once', () => {
    expect(missingFields(widget({ bus: { bootstrapServers: [] }, routes: [] }, OWNED, OWNED))).to.equal('.spec.bus.topicPrefix')
    expect(missingFields(widget({}, OWNED))).to.equal('.spec.bus,.spec.routes')
    expect(missingFields(widget(undefined, OWNED))).to.equal('.spec')
  })

  it('are not those that were set by way of another version of the kind', () => {
    expect(missingFields({ ...widget({}, OWNED), apiVersion: 'example.dev/v2' })).to.equal('')
  })
})
