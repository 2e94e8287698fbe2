import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FreeBuffers, releaseIdleBuffers } from './free-buffers.ts'

const BYTES = 100_000
const buffers = (count: number) => Array.from({ length: count }, () => Buffer.allocUnsafeSlow(BYTES))

function holding(count: number) {
  const all = buffers(count)
  const free = new FreeBuffers(8)
  for (const buffer of all) free.giveBack(buffer)
  return { all, free, left: () => all.filter(({ length }) => length > 0) }
}

describe('buffers that wait to be lent again', () => {
  it('are those that were used last, of the size that is asked for', () => {
    const { all, free } = holding(3)
    expect(free.take(BYTES)).to.equal(all[2])
    const large = Buffer.allocUnsafeSlow(2 * BYTES)
    free.giveBack(large)
    free.giveBack(all[2]!)
    expect(free.take(BYTES + 1)).to.equal(large)
    expect(free.take(2 * BYTES)).to.equal(undefined)
  })

  it('are no more than so many: the oldest goes back to the system', () => {
    const { all, left } = holding(9)
    expect(left()).to.deep.equal(all.slice(1))
  })

  it('go back to the system where nobody needed them from one look to the next', () => {
    const { free, left } = holding(4)
    releaseIdleBuffers()
    expect(left()).to.have.length(4)
    const [first, second] = [free.take(BYTES)!, free.take(BYTES)!]
    for (const buffer of [first, second]) free.giveBack(buffer)
    releaseIdleBuffers()
    expect(left()).to.have.members([first, second])
    releaseIdleBuffers()
    expect(left()).to.have.length(0)
    expect(free.take(BYTES)).to.equal(undefined)
  })

  it('stay while all of them are in use at times', () => {
    const { all, free, left } = holding(4)
    for (let look = 0; look < 10; look++) {
      const taken = all.map(() => free.take(BYTES)!)
      for (const buffer of taken) free.giveBack(buffer)
      releaseIdleBuffers()
    }
    expect(left()).to.have.length(4)
  })
})
