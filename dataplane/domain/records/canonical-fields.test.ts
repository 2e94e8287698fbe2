import { expect } from 'chai'
import { describe, it } from 'mocha'
import { canonicalFields, UNKNOWN_SERVICE } from './canonical-fields.ts'

const flat = (attributes: Readonly<Record<string, string>>) =>
  new Map(Object.entries(attributes).map(([key, text]) => [key, JSON.stringify(text)]))
const of = (resource: Readonly<Record<string, string>>, record: Readonly<Record<string, string>> = {}) =>
  canonicalFields(flat(resource), flat(record), 'default')

describe('the canonical fields that come from attributes', () => {
  const sources = [
    { field: 'service', keys: ['service.name'] },
    { field: 'host', keys: ['host.name', 'k8s.pod.name', 'k8s.node.name'] },
    { field: 'environment', keys: ['deployment.environment.name', 'deployment.environment'] },
    { field: 'region', keys: ['cloud.region'] },
    { field: 'batch_id', keys: ['batch_id'] },
  ]
  for (const { field, keys } of sources)
    it(`${field} is the first of ${keys.join(', ')} that is there`, () => {
      for (const [i, key] of keys.entries()) {
        const later = Object.fromEntries(keys.slice(i + 1).map(other => [other, 'later']))
        expect(of({ ...later, [key]: 'wanted' })).to.have.property(field, 'wanted')
      }
    })

  it('come from the resource, and from the record only where the resource lacks them', () => {
    expect(of({ 'host.name': 'a' }, { 'host.name': 'b', 'cloud.region': 'eu' })).to.include({ host: 'a', region: 'eu' })
    expect(of({ 'k8s.node.name': 'a' }, { 'host.name': 'b' }).host).to.equal('a')
  })

  it('a record without service.name is of unknown_service, and what is empty is absent', () => {
    expect(of({ 'service.name': '', 'host.name': '' })).to.deep.equal({ tenant_id: 'default', service: UNKNOWN_SERVICE })
    expect(UNKNOWN_SERVICE).to.equal('unknown_service')
  })

  it('the tenant comes from the resource alone, and only where it is a valid id', () => {
    expect(of({ tenant_id: 'acme' }).tenant_id).to.equal('acme')
    expect(of({ tenant_id: 'Acme!' }).tenant_id).to.equal('default')
    expect(of({}, { tenant_id: 'acme' }).tenant_id).to.equal('default')
  })

  it('are cut where they are long, between characters', () => {
    const { service } = of({ 'service.name': `${'x'.repeat(1_023)}😀` })
    expect(service).to.have.length(1_024)
    expect(service.isWellFormed()).to.equal(true)
  })
})
