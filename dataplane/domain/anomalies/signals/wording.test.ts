import { expect } from 'chai'
import { describe, it } from 'mocha'
import { describeDelay, describeErrors, describeMissing, describeProblemRate, describeSilence } from './wording.ts'

describe('what findings say', () => {
  const shift = { strength: 7, of: 20, before: 0.05, now: 0.5 }

  it('each in one line, with what was before', () => {
    expect(describeErrors(shift)).to.equal('50 % of the records are errors, 5 % before')
    expect(describeProblemRate('seat taken', shift)).to.equal('"seat taken" came 10 times in a minute, 1 expected')
    expect(describeProblemRate('seat taken', { ...shift, before: 0 })).to.equal('"seat taken" came 10 times in a minute, never before')
    expect(describeMissing('done', 'begin', { ...shift, before: 1, now: 0 })).to.equal(
      '"done" in 0 of 20 visits that begin with "begin", in 100 % before',
    )
    expect(describeDelay('begin', 'done', { ...shift, before: 0.1, now: 3 })).to.equal(
      'slower from "begin" to "done": 20 pauses, 2.9 deviations longer than usual',
    )
    expect(describeSilence(2, 30)).to.equal('no record for 1 minute while others of the tenant go on; 60 expected')
    expect(describeSilence(4, 12)).to.equal('no record for 2 minutes while others of the tenant go on; 48 expected')
  })

  it('long statements are cut', () => {
    expect(describeProblemRate('x'.repeat(500), shift).length).to.be.below(140)
  })
})
