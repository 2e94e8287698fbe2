import { expect } from 'chai'
import { describe, it } from 'mocha'
import { classify, compareSeverity, moreSevere } from './severity.ts'

describe('severity classification, first match wins', () => {
  const cases = [
    { name: '1 service and score < 0.6', group: { services: 1, hasFatal: false, score: 0.55 }, expected: 'medium' },
    { name: '1 service and score 0.7', group: { services: 1, hasFatal: false, score: 0.7 }, expected: 'medium' },
    { name: 'score > 0.7', group: { services: 1, hasFatal: false, score: 0.71 }, expected: 'high' },
    { name: '2 services', group: { services: 2, hasFatal: false, score: 0.5 }, expected: 'high' },
    { name: '3 services', group: { services: 3, hasFatal: false, score: 0 }, expected: 'critical' },
    { name: 'a FATAL record', group: { services: 1, hasFatal: true, score: 0.5 }, expected: 'critical' },
    { name: 'only the Z-score engine saw it', group: { services: 1, hasFatal: false, score: 0.3 }, expected: 'low' },
    { name: '2 services that only the Z-score engine saw', group: { services: 2, hasFatal: false, score: 0.3 }, expected: 'high' },
    { name: 'score 0.5', group: { services: 1, hasFatal: false, score: 0.5 }, expected: 'medium' },
  ] as const
  for (const { name, group, expected } of cases) it(`${name}: ${expected}`, () => expect(classify(group)).to.equal(expected))

  it('low < medium < high < critical', () => {
    expect((['high', 'low', 'critical', 'medium'] as const).toSorted(compareSeverity)).to.deep.equal(['low', 'medium', 'high', 'critical'])
    expect(moreSevere('low', 'high')).to.equal('high')
  })
})
