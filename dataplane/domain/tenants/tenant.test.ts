import { expect } from 'chai'
import { describe, it } from 'mocha'
import { busKey, isTenantId, tenantIn, tenantOfKey, tenantOfRecord } from './tenant.ts'

describe('tenant id: RFC 1123 label', () => {
  const cases = [
    { name: 'letters, digits and "-"', input: 'team-a1', expected: true },
    { name: 'one character', input: 'a', expected: true },
    { name: 'a digit first', input: '0day', expected: true },
    { name: '63 characters', input: 'a'.repeat(63), expected: true },
    { name: '64 characters', input: 'a'.repeat(64), expected: false },
    { name: 'upper case', input: 'Team', expected: false },
    { name: 'a "-" at the end', input: 'team-', expected: false },
    { name: 'a "-" at the start', input: '-team', expected: false },
    { name: 'the empty text', input: '', expected: false },
    { name: 'a dot', input: 'a.b', expected: false },
    { name: 'a slash', input: 'a/b', expected: false },
    { name: 'a line break at the end', input: 'a\n', expected: false },
    { name: 'no text', input: 5, expected: false },
  ]
  for (const { name, input, expected } of cases) it(`${name}: ${expected}`, () => expect(isTenantId(input)).to.equal(expected))

  it('a record with an invalid one gets the default', () => {
    expect(tenantOfRecord('acme', 'default')).to.equal('acme')
    expect(tenantOfRecord('Acme!', 'default')).to.equal('default')
    expect(tenantOfRecord(undefined, 'default')).to.equal('default')
  })

  it("a message's key names that of the collector, before the first slash", () => {
    expect(tenantOfKey('acme/checkout')).to.equal('acme')
    expect(tenantOfKey(busKey('acme', 'a/b'))).to.equal('acme')
    expect(tenantOfKey('acme/a/b')).to.equal('acme')
    for (const key of ['', 'acme', '/checkout', 'Acme!/checkout']) expect(tenantOfKey(key), key).to.equal(undefined)
  })

  it('what stands there counts for a sender, whether or not it is a tenant; keys without a slash are of one sender', () => {
    expect(['acme/a/b', 'Acme!/checkout', 'acme', ''].map(tenantIn)).to.deep.equal(['acme', 'Acme!', '', ''])
  })
})
