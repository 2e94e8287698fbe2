import { expect } from 'chai'
import { parseTargetId } from './target-id.ts'

describe('target id', () => {
  const cases = [
    { text: 'slack', expected: { platform: 'slack' } },
    { text: 'slack:payments', expected: { platform: 'slack', name: 'payments' } },
    { text: `jira:${'a'.repeat(40)}`, expected: { platform: 'jira', name: 'a'.repeat(40) } },
    { text: `jira:${'a'.repeat(41)}`, expected: undefined },
    { text: 'slack:', expected: undefined },
    { text: 'slack:a:b', expected: undefined },
    { text: 'slack:Payments', expected: undefined },
    { text: 'constructor', expected: undefined },
    { text: '', expected: undefined },
  ]
  for (const { text, expected } of cases)
    it(`${JSON.stringify(text)} is ${expected === undefined ? 'none' : 'one'}`, () => {
      expect(parseTargetId(text)).to.deep.equal(expected)
    })
})
