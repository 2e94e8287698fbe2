import { expect } from 'chai'
import { describe, it } from 'mocha'
import { describeFailure, RequestProblem } from '../../api/problem.ts'
import { findStale, type Reading, sayAge, sayMissing } from './find-stale.ts'

const NOW = 1_000_000_000
const reading = (ageMs: number, more: Partial<Reading> = {}): Reading => ({ answeredMs: NOW - ageMs, everyMs: 5_000, error: null, ...more })

describe('the notice of old answers', () => {
  it('is not there while answers come, nor for what is read once or was never answered', () => {
    const readings = [reading(15_000), reading(3_600_000, { everyMs: undefined }), reading(0, { answeredMs: 0, error: new Error('x') })]
    expect(findStale(readings, NOW)).to.equal(undefined)
  })

  it('names the oldest answer, also where a request hangs and nothing has failed', () => {
    expect(findStale([reading(1_000), reading(15_001), reading(40_000)], NOW)).to.deep.equal({
      answeredMs: NOW - 40_000,
      reason: undefined,
      needsLogin: false,
    })
  })

  it('names the failure', () => {
    const error = new RequestProblem(describeFailure('/api/search/_search', { kind: 'timeout' }))
    expect(findStale([reading(40_000), reading(16_000, { error })], NOW)?.reason).to.equal('The search store did not answer in time.')
  })

  it('says what to do where a login has ended: answers do not come back by themselves', () => {
    const error = new RequestProblem(describeFailure('/api/search/x', { kind: 'status', status: 401, error: 'user name and password' }))
    const stale = findStale([reading(16_000, { error })], NOW)
    expect([stale?.reason, stale?.needsLogin]).to.deep.equal([`User name and password. ${error.whatToDo}`, true])
  })

  it('says an age in the largest unit that leaves it exact enough', () => {
    expect([0, 119_999, 120_000, 7_199_000, 7_200_000].map(sayAge)).to.deep.equal(['0 s', '119 s', '2 min', '119 min', '2 h'])
  })
})

describe('the notice of answers that lack a part', () => {
  it('is not there while all answers are whole', () => {
    expect(sayMissing([reading(0), reading(0)])).to.equal(undefined)
  })

  it('names the worst of them, also of what is read once', () => {
    const timedOut = reading(0, { missing: { failed: 0, total: 3 } })
    expect(sayMissing([reading(0), timedOut])).to.equal('A search ran into the time limit of the store.')
    const failed = reading(3_600_000, { everyMs: undefined, missing: { failed: 2, total: 9 } })
    expect(sayMissing([timedOut, failed])).to.equal('2 of 9 parts of the store cannot be read.')
  })
})
