import { expect } from 'chai'
import { describe, it } from 'mocha'
import { idleShare } from './idle-cores.ts'

describe('idle time of the cores', () => {
  const core = (idle: number, user: number) => ({ times: { idle, user, nice: 0, sys: 0, irq: 0 } })

  it('is that of all cores between two looks', () => {
    expect(idleShare([core(1_000, 500), core(0, 0)], [core(1_100, 1_400), core(1_000, 0)])).to.equal(1_100 / 2_000)
    expect(idleShare([core(1_000, 500)], [core(1_000, 900)])).to.equal(0)
  })

  it('is none where no time is counted', () => {
    expect(idleShare([core(5, 5)], [core(5, 5)])).to.equal(0)
    expect(idleShare([], [])).to.equal(0)
  })
})
