import { expect } from 'chai'
import { describe, it } from 'mocha'
import { TokenBucket } from '../../../limits/token-bucket.ts'
import { TARGET_LIMITS } from './target-limits.ts'

describe('the limits of targets', () => {
  it('PagerDuty gets at most 120 events in any minute, also in the first one', () => {
    const bucket = new TokenBucket(TARGET_LIMITS.pagerduty, 0)
    let sent = 0
    for (let ms = 0; ms < 60_000; ms += 50) if (bucket.take(ms)) sent++
    expect(sent).to.be.within(100, 120)
  })
})
