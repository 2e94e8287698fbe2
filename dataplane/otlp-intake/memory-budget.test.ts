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

  describe('while bodies are still coming', () => {
    let nowMs = 0
    const budgetOf = (limitBytes: number) => {
      nowMs = 0
      return new MemoryBudget(limitBytes, () => nowMs)
    }
    /** A body that comes, and the refusals that it gets. */
    const coming = (budget: MemoryBudget, bytes: number, owner?: string) => {
      const lease = budget.lease(owner)
      const refusals: string[] = []
      lease.begin(({ message }) => refusals.push(message))
      lease.grow(bytes)
      return { lease, refusals }
    }
    const SLOW = 'the body of the request came too slowly while others needed its memory; try again later'

    it('a quarter is left for those that are whole', () => {
      const budget = budgetOf(100)
      for (let i = 0; i < 7; i++) coming(budget, 10)
      expect(() => coming(budget, 10)).to.throw('requests under way hold 70 bytes, the limit is 75')
      budget.lease().grow(10)
      const last = budget.lease()
      last.begin(() => undefined)
      last.grow(10, true)
      expect(budget.usedBytes).to.equal(90)
    })

    it('the slow one that has cost most goes first, when others need its memory, and it alone', () => {
      const budget = budgetOf(100)
      const old = coming(budget, 10)
      nowMs = 1_000
      const large = coming(budget, 40)
      nowMs = 4_000
      const young = coming(budget, 25)
      nowMs = 6_000
      expect([old, large, young].flatMap(({ refusals }) => refusals)).to.deep.equal([])
      coming(budget, 10)
      expect([old.refusals, large.refusals, young.refusals]).to.deep.equal([[], [SLOW], []])
      expect(budget.usedBytes).to.equal(45)
      expect(() => large.lease.grow(1)).to.throw(SLOW)
      large.lease.release()
      expect(budget.usedBytes).to.equal(45)
    })

    it('one that comes evenly within ten seconds stays, whatever others need', () => {
      const budget = budgetOf(100)
      const even = coming(budget, 8)
      for (let i = 0; i < 9; i++) {
        nowMs += 1_000
        even.lease.grow(8, i === 8)
        expect(() => coming(budget, 100)).to.throw('the limit is')
      }
      expect(even.refusals).to.deep.equal([])
    })

    it('one that came at once and comes no further goes after five seconds', () => {
      const budget = budgetOf(100)
      const stalled = coming(budget, 70)
      nowMs = 4_999
      expect(() => coming(budget, 10)).to.throw('the limit is')
      nowMs = 5_000
      coming(budget, 10)
      expect(stalled.refusals).to.deep.equal([SLOW])
    })

    it('one that is whole never goes', () => {
      const budget = budgetOf(100)
      const whole = coming(budget, 70)
      whole.lease.end()
      nowMs = 60_000
      expect(() => coming(budget, 40)).to.throw('requests under way hold 70 bytes, the limit is 100')
      expect(whole.refusals).to.deep.equal([])
    })

    it('slow ones of an owner go where the share of that owner is full, and those of no other', () => {
      const budget = budgetOf(100)
      const [other, own] = [coming(budget, 18, 'globex'), coming(budget, 50, 'acme')]
      nowMs = 9_000
      coming(budget, 7, 'acme')
      expect([other.refusals, own.refusals]).to.deep.equal([[], [SLOW]])
    })

    it('one that asks for more itself is refused, where it is the slowest', () => {
      const budget = budgetOf(100)
      const { lease, refusals } = coming(budget, 60)
      coming(budget, 10)
      nowMs = 9_000
      expect(() => lease.grow(10)).to.throw('requests under way hold 70 bytes, the limit is 75')
      expect(refusals).to.deep.equal([])
    })
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
