import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createLogAliases } from './log-aliases.ts'

describe('a filtered alias service-logs-{tenant} per tenant', () => {
  it('is put on each daily index once', async () => {
    const put: unknown[][] = []
    const aliases = createLogAliases({ store: { putAlias: async (...args) => void put.push(args) }, clock: createFakeClock() })
    await aliases.ensure('service-logs-2026.11.21', 'shop')
    expect(aliases.ensure('service-logs-2026.11.21', 'shop')).to.equal(undefined)
    expect(put).to.deep.equal([['service-logs-2026.11.21', 'service-logs-shop', { term: { tenant_id: 'shop' } }]])
  })

  it('comes back within half a minute when somebody deletes the index and logs make it anew', async () => {
    let calls = 0
    const clock = createFakeClock()
    const aliases = createLogAliases({ store: { putAlias: async () => void calls++ }, clock })
    await aliases.ensure('service-logs-2026.11.21', 'shop')
    clock.advance(29_999)
    expect(aliases.ensure('service-logs-2026.11.21', 'shop')).to.equal(undefined)
    clock.advance(1)
    await aliases.ensure('service-logs-2026.11.21', 'shop')
    expect(calls).to.equal(2)
  })

  it('is tried again after a failure', async () => {
    let calls = 0
    const putAlias = async () => {
      if (calls++ === 0) throw new Error('unavailable')
    }
    const aliases = createLogAliases({ store: { putAlias }, clock: createFakeClock() })
    const ensure = () => aliases.ensure('service-logs-2026.11.21', 'shop')
    expect(await ensure()?.catch((error: Error) => error.message)).to.equal('unavailable')
    await ensure()
    expect(calls).to.equal(2)
  })
})
