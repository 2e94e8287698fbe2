import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Harness, startHarness } from './testing/gateway-harness.ts'

const PATH = '/api/admin/api-keys'

describe('requests about API keys', () => {
  let harness: Harness
  let blocked: Harness
  /** Lists that the search store has not answered yet, by their tenants. */
  const waiting: { readonly tenant: string; answer(): void }[] = []
  before(async () => {
    harness = await startHarness()
    const list = (tenant: string) => new Promise<readonly never[]>(answer => waiting.push({ tenant, answer: () => answer([]) }))
    blocked = await startHarness({ keys: { ...harness.keys, list } })
  })
  after(async () => {
    await blocked.stop()
    await harness.stop()
  })

  it('of one tenant are bounded, at work and waiting (429), and leave the next turn to another tenant', async () => {
    const ask = (key: string) => blocked.call(PATH, { key })
    const mine = Array.from({ length: 130 }, () => ask(harness.key))
    const refused = await Promise.race(mine)
    expect([refused.status, refused.headers['retry-after']]).to.deep.equal([429, '1'])
    let asked = mine.length
    const counted = mine.map(answer => answer.finally(() => asked--))
    while (asked > 128) await new Promise(setImmediate)
    expect(waiting.map(({ tenant }) => tenant)).to.deep.equal(Array(16).fill('acme'))
    const other = ask(harness.foreignKey)
    let isAnswered = false
    const answered = other.finally(() => {
      isAnswered = true
    })
    while (!isAnswered) {
      waiting.shift()?.answer()
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    expect((await other).status).to.equal(200)
    expect(asked, 'requests of the first tenant that still wait').to.be.above(20)
    while (asked > 0) {
      waiting.shift()?.answer()
      await new Promise(setImmediate)
    }
    await Promise.all([answered, ...counted])
  })
})
