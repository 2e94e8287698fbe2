import { expect } from 'chai'
import { describe, it } from 'mocha'
import { describeProblem } from './describe-problem.ts'

describe('a problem, for the person who started the program', () => {
  it('is one line with what the causes add', () => {
    const system = Object.assign(new Error("EACCES: permission denied, open '/data/lock'"), { code: 'EACCES' })
    expect(describeProblem(new Error('/data cannot be locked', { cause: system }))).to.equal(
      "/data cannot be locked: EACCES: permission denied, open '/data/lock'",
    )
    expect(describeProblem(new Error('says all\n of ECONNREFUSED', { cause: new Error('ECONNREFUSED') }))).to.equal(
      'says all of ECONNREFUSED',
    )
    const refused = new Error('connect ECONNREFUSED 127.0.0.1:9092')
    expect(describeProblem(new Error('Connection to 127.0.0.1:9092 failed.', { cause: refused }))).to.equal(
      'Connection to 127.0.0.1:9092 failed: connect ECONNREFUSED 127.0.0.1:9092',
    )
    expect(describeProblem('text')).to.equal('text')
  })

  it('has a stack when the program is wrong', () => {
    expect(describeProblem(new TypeError('x is not a function'))).to.match(/^TypeError: x is not a function\n {4}at /)
  })
})
