import { expect } from 'chai'
import { describe, it } from 'mocha'
import { createTokenBudget } from './token-budget.ts'

const HOUR_MS = 3_600_000

describe('the budget of tokens', () => {
  it('is each tenant’s own, for each hour', () => {
    const budget = createTokenBudget(100)
    expect(budget.take('a', 60, 0)).to.equal(true)
    expect(budget.take('a', 60, 1)).to.equal(false)
    expect(budget.take('b', 60, 1)).to.equal(true)
    expect(budget.take('a', 60, HOUR_MS)).to.equal(true)
  })

  it('counts what was used, not what was set aside', () => {
    const budget = createTokenBudget(100)
    budget.take('a', 80, 0)
    budget.settle('a', 80, 10, 0)
    expect(budget.take('a', 80, 0)).to.equal(true)
    budget.settle('a', 80, 90, 0)
    expect(budget.isUsedUp('a', 0)).to.equal(true)
    expect(budget.isUsedUp('a', HOUR_MS)).to.equal(false)
  })

  it('remembers the tenants seen last, a thousand of them', () => {
    const budget = createTokenBudget(100)
    for (let i = 0; i <= 1_000; i++) budget.take(`t${i}`, 100, 0)
    expect(budget.take('t1000', 1, 0)).to.equal(false)
    expect(budget.take('t1', 1, 0)).to.equal(false)
    expect(budget.take('t0', 1, 0)).to.equal(true)
  })
})
