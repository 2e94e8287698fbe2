import { expect } from 'chai'
import { describe, it } from 'mocha'
import { RecentIds } from './recent-ids.ts'

describe('recent ids', () => {
  it('takes each id once', () => {
    const ids = new RecentIds(10)
    expect([ids.add('a'), ids.add('a'), ids.add('b'), ids.has('a'), ids.has('c')]).to.deep.equal([true, false, true, true, false])
  })
  it('remembers at least as many as it was made for, at most twice as many', () => {
    const ids = new RecentIds(10)
    for (let i = 0; i < 1_000; i++) ids.add(`${i}`)
    const known = Array.from({ length: 1_000 }, (_, i) => ids.has(`${i}`))
    expect(known.slice(-10)).to.not.include(false)
    expect(known.filter(Boolean).length).to.be.within(10, 20)
  })
  it('forgets what is deleted', () => {
    const ids = new RecentIds(2)
    ids.add('a')
    ids.add('b')
    ids.delete('a')
    expect([ids.add('a'), ids.has('b')]).to.deep.equal([true, true])
  })
})
