import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createLogAliases } from './log-aliases.ts'

describe('a filtered alias service-logs-{tenant} per tenant', () => {
  it('is put on each daily index once', async () => {
    const put: unknown[][] = []
    const aliases = createLogAliases({ putAlias: async (...args) => void put.push(args) })
    const pair = { index: 'service-logs-2026.11.21', tenant: 'shop' }
    await aliases.ensure([pair, pair])
    await aliases.ensure([pair])
    expect(put).to.deep.equal([['service-logs-2026.11.21', 'service-logs-shop', { term: { tenant_id: 'shop' } }]])
  })

  it('is tried again after a failure', async () => {
    let calls = 0
    const aliases = createLogAliases({
      putAlias: async () => {
        if (calls++ === 0) throw new Error('unavailable')
      },
    })
    const pairs = [{ index: 'service-logs-2026.11.21', tenant: 'shop' }]
    expect(await aliases.ensure(pairs).catch((error: Error) => error.message)).to.equal('unavailable')
    await aliases.ensure(pairs)
    expect(calls).to.equal(2)
  })
})
