import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TargetRefused, TargetUnreachable } from '../../ports/outbound-http.ts'
import { createOutboundAddresses } from './outbound-addresses.ts'

const resolveTo = (allowPrivate: boolean, ...addresses: readonly string[]) =>
  createOutboundAddresses({
    allowPrivate,
    lookup: async () => addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
  }).resolve('tickets.example.com', 443)

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    error => error,
  )

describe('addresses of a host', () => {
  it('are those of its name, with what each is', async () => {
    expect(await resolveTo(true, '93.184.216.34', '10.0.0.1')).to.deep.equal([
      { address: '93.184.216.34', family: 4, isPublic: true },
      { address: '10.0.0.1', family: 4, isPublic: false },
    ])
  })

  it('are refused when one of them is not public, unless private ones are allowed', async () => {
    const error = await failureOf(resolveTo(false, '93.184.216.34', '10.0.0.1'))
    expect(error).to.be.instanceOf(TargetRefused)
    expect(String(error), 'the way out on one machine, and in a cluster')
      .to.include('ALLOW_PRIVATE_TARGETS=true')
      .and.include('spec.ticketing.allowPrivateTargets')
    expect(await resolveTo(true, '10.0.0.1')).to.have.length(1)
  })

  it('are refused when one of them is a metadata address, whatever is allowed', async () => {
    const error = await failureOf(resolveTo(true, '93.184.216.34', '169.254.169.254'))
    expect(error).to.be.instanceOf(TargetRefused)
    expect(String(error)).to.include('tickets.example.com (169.254.169.254) may not be spoken to')
  })

  it('need no look-up when the host is an address', async () => {
    const lookup = () => Promise.reject(new Error('asked'))
    expect(await createOutboundAddresses({ allowPrivate: true, lookup }).resolve('::1', 443)).to.deep.equal([
      { address: '::1', family: 6, isPublic: false },
    ])
  })

  it('that cannot be found are no refusal: nothing was sent, and another try may help', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    const error = await failureOf(createOutboundAddresses({ allowPrivate: false, lookup }).resolve('nowhere.example.com', 443))
    expect(error).to.be.instanceOf(TargetUnreachable).with.property('wasSent', false)
    expect(await failureOf(resolveTo(false))).to.be.instanceOf(TargetUnreachable)
  })
})
