import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createAnalysisTurns } from './analysis-turns.ts'

describe('turns of analyses', () => {
  it('two run at once, further ones in their order; the fifth of a tenant is refused with 429 and Retry-After', async () => {
    const inTurn = createAnalysisTurns()
    const begun: string[] = []
    const ends: (() => void)[] = []
    const start = (name: string, tenant: string) =>
      inTurn(tenant, () => {
        begun.push(name)
        return new Promise<string>(resolve => ends.push(() => resolve(name)))
      })
    const all = ['a1', 'a2', 'a3', 'a4'].map(name => start(name, 'a'))
    const fifth = await start('a5', 'a').catch(error => error)
    expect({ status: fifth.status, headers: fifth.headers }).to.deep.equal({ status: 429, headers: { 'retry-after': '1' } })
    all.push(start('b1', 'b'))
    await new Promise(setImmediate)
    expect(begun).to.deep.equal(['a1', 'a2'])
    for (let i = 0; i < all.length; i++) {
      ends[i]!()
      await all[i]
      await new Promise(setImmediate)
    }
    expect(begun).to.deep.equal(['a1', 'a2', 'a3', 'a4', 'b1'])
  })

  it('one that fails gives its place back', async () => {
    const inTurn = createAnalysisTurns()
    for (let i = 0; i < 10; i++)
      expect(await inTurn('a', () => Promise.reject(new Error('no'))).catch(({ message }) => message)).to.equal('no')
    expect(await inTurn('a', async () => 'yes')).to.equal('yes')
  })
})
