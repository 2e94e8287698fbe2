import { expect } from 'chai'
import { describe, it } from 'mocha'
import { LentBuffers, partsOf } from './lent-buffers.ts'
import { releaseBytes } from './release-bytes.ts'

describe('the memory of request bodies', () => {
  it('is used again once it was given back, and by one body at a time', () => {
    const buffers = new LentBuffers()
    const first = buffers.take(1_000_000)
    const second = buffers.take(1_000_000)
    expect(second.buffer).to.not.equal(first.buffer)
    buffers.giveBack(first.subarray(0, 900_000))
    const third = buffers.take(1_040_000)
    expect(third.buffer).to.equal(first.buffer)
    expect(third.length).to.be.at.least(1_040_000)
    expect(buffers.take(1_000).buffer).to.not.equal(first.buffer)
  })

  it('is not held on to where it is small or very large', () => {
    const buffers = new LentBuffers()
    for (const size of [100, 64_000, 9_000_000]) {
      const body = buffers.take(size)
      buffers.giveBack(body)
      expect(buffers.take(size).buffer === body.buffer && size > 64_000).to.equal(false)
    }
  })
})

describe('memory given back for good', () => {
  it('leaves its views empty', () => {
    const bytes = Buffer.allocUnsafeSlow(100_000)
    const view = bytes.subarray(5, 10)
    releaseBytes(bytes)
    expect([bytes.length, view.length]).to.deep.equal([0, 0])
  })

  it('is never a part of what others use', () => {
    const bytes = Buffer.allocUnsafeSlow(100_000).subarray(0, 50_000)
    releaseBytes(bytes)
    expect(bytes.length).to.equal(50_000)
  })
})

describe('parts of a buffer', () => {
  it('lie side by side, and what does not fit has memory of its own', () => {
    const buffer = Buffer.alloc(10)
    const take = partsOf(buffer)
    const parts = [take(4), take(7), take(6), take(1)]
    for (const [i, part] of parts.entries()) part.fill(i + 1)
    expect(parts.map(({ length }) => length)).to.deep.equal([4, 7, 6, 1])
    expect([...buffer]).to.deep.equal([1, 1, 1, 1, 3, 3, 3, 3, 3, 3])
    expect([...parts[1]!, ...parts[3]!]).to.deep.equal([2, 2, 2, 2, 2, 2, 2, 4])
  })
})
