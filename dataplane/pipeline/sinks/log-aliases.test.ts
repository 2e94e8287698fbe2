import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createLogAliases } from './log-aliases.ts'

describe('a filtered alias service-logs-{tenant} per tenant', () => {
  it('is put on each daily index once', async () => {
    const put: unknown[][] = []
    const aliases = createLogAliases({ putAlias: async (...args) => void put.push(args) })
    await aliases.ensure('service-logs-2026.11.21', 'shop')
    expect(aliases.ensure('service-logs-2026.11.21', 'shop')).to.equal(undefined)
    expect(put).to.deep.equal([['service-logs-2026.11.21', 'service-logs-shop', { term: { tenant_id: 'shop' } }]])
  })

  it('is tried again after a failure', async () => {
    let calls = 0
    const aliases = createLogAliases({
      putAlias: async () => {
        if (calls++ === 0) throw new Error('unavailable')
      },
    })
    const ensure = () => aliases.ensure('service-logs-2026.11.21', 'shop')
    expect(await ensure()?.catch((error: Error) => error.message)).to.equal('unavailable')
    await ensure()
    expect(calls).to.equal(2)
  })
})
