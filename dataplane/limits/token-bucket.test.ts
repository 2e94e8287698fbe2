import { expect } from 'chai'
import { describe, it } from 'mocha'
import { perMinute, TokenBucket } from './token-bucket.ts'

describe('a token bucket', () => {
  const takeAll = (bucket: TokenBucket, nowMs: number) => {
    let taken = 0
    while (bucket.take(nowMs)) taken++
    return taken
  }

  it('gives the burst at once, then its rate', () => {
    const bucket = new TokenBucket({ perSecond: 2, burst: 5 }, 0)
    expect(takeAll(bucket, 0)).to.equal(5)
    expect(takeAll(bucket, 499)).to.equal(0)
    expect(takeAll(bucket, 500)).to.equal(1)
    expect(takeAll(bucket, 1_500)).to.equal(2)
    expect(takeAll(bucket, 60_000)).to.equal(5)
  })

  it('takes back what was not used, and no more than it holds', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 1 }, 0)
    bucket.take(0)
    bucket.giveBack()
    bucket.giveBack()
    expect(takeAll(bucket, 0)).to.equal(1)
  })

  it('a clock that is set back gives nothing and takes nothing away', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 2 }, 10_000)
    expect(bucket.left(0)).to.equal(2)
    takeAll(bucket, 0)
    expect(bucket.left(1_000)).to.equal(1)
  })
})

describe('an allowance of so many a minute', () => {
  it('gives those of a minute at once, then as they come', () => {
    const allowance = new TokenBucket(perMinute(60), 0)
    expect(allowance.takeUpTo(100, 0)).to.equal(60)
    expect(allowance.takeUpTo(1, 999)).to.equal(0)
    expect(allowance.takeUpTo(5, 3_000)).to.equal(3)
  })

  it('keeps those of one minute at most', () => {
    const allowance = new TokenBucket(perMinute(60), 0)
    allowance.takeUpTo(60, 0)
    expect(allowance.takeUpTo(100, 3_600_000)).to.equal(60)
  })

  it('goes on when the clock was set back', () => {
    const allowance = new TokenBucket(perMinute(60), 1_000_000)
    allowance.takeUpTo(60, 1_000_000)
    expect(allowance.takeUpTo(1, 0)).to.equal(0)
    expect(allowance.takeUpTo(2, 2_000)).to.equal(2)
  })
})
