import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MemoryBudget } from './memory-budget.ts'

describe('the memory of requests under way', () => {
  it('is bounded over all of them; alone a request gets what it needs', () => {
    const budget = new MemoryBudget(100)
    const [one, other] = [budget.lease(), budget.lease()]
    one.grow(150)
    expect(() => other.grow(1)).to.throw('requests under way hold 150 bytes, the limit is 100; try again later')
    one.shrink(60)
    other.grow(10)
    expect(() => one.grow(1)).to.throw('the limit is 100')
    one.release()
    other.release()
    expect(budget.usedBytes).to.equal(0)
  })

  it('has room for others, whatever one owner holds', () => {
    const budget = new MemoryBudget(100)
    const slow = Array.from({ length: 7 }, () => budget.lease('acme'))
    for (const lease of slow) lease.grow(10)
    expect(() => budget.lease('acme').grow(10)).to.throw('requests of acme under way hold 70 bytes, the limit is 75; try again later')
    const other = budget.lease('globex')
    other.grow(25)
    other.release()
    slow[0]!.release()
    const next = budget.lease('acme')
    next.grow(10)
    for (const lease of [...slow, next]) lease.release()
    expect(budget.usedBytes).to.equal(0)
  })

  it('gives a request of an owner what it needs, where it is the only one of that owner', () => {
    const budget = new MemoryBudget(100)
    const large = budget.lease('acme')
    large.grow(60)
    large.grow(20)
    expect(() => budget.lease('acme').grow(1)).to.throw('requests of acme under way hold 80 bytes, the limit is 75')
    budget.lease('globex').grow(20)
    expect(() => budget.lease('globex').grow(1)).to.throw('requests under way hold 100 bytes, the limit is 100')
  })
})
