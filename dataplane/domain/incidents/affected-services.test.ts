import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AffectedServices } from './affected-services.ts'

const names = (count: number, prefix = 's') => Array.from({ length: count }, (_, at) => `${prefix}${at}`)

describe('affected services of an incident', () => {
  it('are named in the order in which they came, each once', () => {
    const services = new AffectedServices(['cart', 'auth'])
    expect([services.add('auth'), services.add('stock')]).to.deep.equal([false, true])
    expect([...services.named]).to.deep.equal(['cart', 'auth', 'stock'])
    expect(services.further).to.equal(0)
  })

  it('are counted from the 501st on, each once', () => {
    const services = new AffectedServices(names(502))
    expect([services.named.size, services.further]).to.deep.equal([500, 2])
    expect([services.has('s501'), services.add('s501'), services.add('s502'), services.further]).to.deep.equal([true, false, true, 3])
  })

  it('are counted up to 5,000, beside those that were counted before a restart', () => {
    const services = new AffectedServices(names(500), 70)
    for (const name of names(5_000, 'further')) services.add(name)
    expect([services.add('one more'), services.has('one more'), services.further]).to.deep.equal([false, false, 5_070])
  })
})
