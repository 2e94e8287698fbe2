import { expect } from 'chai'
import { describe, it } from 'mocha'
import { linkTo } from './links.ts'
import { parseTenant, wrongTenant } from './tenant.ts'

describe('links between pages', () => {
  it('carry time range and tenant along, and nothing else', () => {
    expect(linkTo('?range=15m&tenant=acme&q=old', '/logs', { q: 'level:ERROR' })).to.equal('/logs?range=15m&tenant=acme&q=level%3AERROR')
    expect(linkTo('?q=old', '/health')).to.equal('/health')
  })

  it('say another time range where they name one', () => {
    expect(linkTo('?range=15m', '/logs', { range: undefined, from: 'a', to: 'b' })).to.equal('/logs?from=a&to=b')
  })
})

describe('the tenant of the URL', () => {
  it('is one that may be one', () => {
    expect(['?tenant=acme', '?tenant=Acme%20Inc', ''].map(parseTenant)).to.deep.equal(['acme', undefined, undefined])
  })

  it('is told where none can have that name', () => {
    expect(['?tenant=acme', '?tenant=Acme%20Inc', '?tenant=', ''].map(wrongTenant)).to.deep.equal([
      undefined,
      'Acme Inc',
      undefined,
      undefined,
    ])
  })
})
