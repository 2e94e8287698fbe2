import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildSilence, inOrder, NEW_SILENCE, silenceProblems, stateOf } from './silence-form.ts'

const NOW = Date.parse('2026-01-01T12:00:00.000Z')
const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString()
const silence = (id: string, from: number, to: number) => ({
  id,
  services: ['*'],
  from: at(from),
  to: at(to),
  reason: 'r',
  createdAt: at(from),
})

describe('the form of a silence', () => {
  it('needs services and a reason', () => {
    expect(Object.keys(silenceProblems(NEW_SILENCE))).to.deep.equal(['services', 'reason'])
    expect(silenceProblems({ ...NEW_SILENCE, services: 'a', reason: 'deploy' })).to.deep.equal({})
    expect(silenceProblems({ ...NEW_SILENCE, services: 'a'.repeat(257), reason: 'x'.repeat(501) })).to.have.all.keys('services', 'reason')
  })

  it('begins now, and holds all severities unless some are chosen', () => {
    const form = { ...NEW_SILENCE, services: 'pay-*, cart pay-*', reason: ' deploy ', length: '4h' }
    const expected = { services: ['pay-*', 'cart'], from: at(0), to: at(4), reason: 'deploy' }
    expect(buildSilence(form, NOW)).to.deep.equal(expected)
    expect(buildSilence({ ...form, severities: ['low'] }, NOW)).to.deep.equal({ ...expected, severities: ['low'] })
  })
})

describe('silences', () => {
  it('that hold come first, then those that come, then those that are over', () => {
    expect([stateOf(silence('a', -1, 1), NOW), stateOf(silence('a', 1, 2), NOW), stateOf(silence('a', -2, 0), NOW)]).to.deep.equal([
      'active',
      'coming',
      'over',
    ])
    const ordered = inOrder([silence('over', -3, -1), silence('long', -1, 5), silence('coming', 1, 2), silence('short', -1, 1)], NOW)
    expect(ordered.map(({ id }) => id)).to.deep.equal(['short', 'long', 'coming', 'over'])
  })
})
