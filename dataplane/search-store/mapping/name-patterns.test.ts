import { expect } from 'chai'
import { describe, it } from 'mocha'
import { regexPattern, simplePattern } from './name-patterns.ts'

describe('patterns of dynamic templates', () => {
  it('fit names: with stars, everything else standing for itself', () => {
    expect(simplePattern('*_id')('user_id')).to.equal(true)
    expect(simplePattern('*_id')('user_ids')).to.equal(false)
    expect(simplePattern('a?b.*')('a?b.c')).to.equal(true)
    expect(simplePattern('a?b.*')('axb.c')).to.equal(false)
    expect(simplePattern('\\d*')('\\days')).to.equal(true)
  })

  it('fit names: as regular expressions, as a whole', () => {
    expect(regexPattern('ml_\\w+')('ml_score')).to.equal(true)
    expect(regexPattern('ml_\\w+')('a_ml_score')).to.equal(false)
  })

  it('hold nobody up, whatever they are', () => {
    const start = performance.now()
    const hostile = regexPattern('(a+)+b')
    for (let at = 0; at < 20; at++) expect(hostile('a'.repeat(60))).to.equal(false)
    expect(simplePattern(`${'*a'.repeat(200)}b`)('a'.repeat(500))).to.equal(false)
    expect(performance.now() - start).to.be.below(2000)
  })
})
