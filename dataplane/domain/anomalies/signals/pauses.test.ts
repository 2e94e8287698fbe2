import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Pauses } from './pauses.ts'

function usual(count: number): { pauses: Pauses; pair: number } {
  const pauses = new Pauses()
  const pair = pauses.addPair()
  for (let n = 0; n < count; n++) pauses.judge(pair, 95 + (n % 3) * 5)
  return { pauses, pair }
}

describe('pauses between two statements', () => {
  it('say nothing while few were seen', () => {
    const { pauses, pair } = usual(29)
    expect([pauses.judge(pair, 100), pauses.judge(pair, 100)].map(Number.isNaN)).to.deep.equal([true, false])
  })

  it('count in deviations of their logarithm, within bounds', () => {
    const { pauses, pair } = usual(100)
    expect(pauses.judge(pair, 100)).to.be.closeTo(0, 0.3)
    expect(pauses.judge(pair, 250)).to.be.within(1.5, 4)
    expect(pauses.isNoticed).to.equal(true)
    expect(pauses.judge(pair, 180)).to.be.above(1)
    expect(pauses.isNoticed).to.equal(false)
    expect(pauses.judge(pair, 60_000)).to.equal(6)
    expect(pauses.judge(pair, 0)).to.equal(-1)
    expect(pauses.judge(pair, -5)).to.equal(-1)
  })

  it('what is usual follows slowly', () => {
    const { pauses, pair } = usual(500)
    for (let n = 0; n < 20; n++) pauses.judge(pair, 60_000)
    expect(pauses.judge(pair, 60_000)).to.equal(6)
    for (let n = 0; n < 5_000; n++) pauses.judge(pair, 60_000)
    expect(pauses.judge(pair, 60_000)).to.be.below(1)
  })

  it('are apart by pair, however many', () => {
    const pauses = new Pauses()
    const pairs = Array.from({ length: 50 }, () => pauses.addPair())
    for (const pair of pairs) for (let n = 0; n < 40; n++) pauses.judge(pair, 10 + 100 * pair)
    expect(pairs.map(pair => Math.round(pauses.judge(pair, 10 + 100 * pair)) + 0)).to.deep.equal(pairs.map(() => 0))
  })
})
