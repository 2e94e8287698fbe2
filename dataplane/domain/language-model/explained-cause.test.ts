import { expect } from 'chai'
import { describe, it } from 'mocha'
import { buildRules } from '../../testing/explained-incident-fixture.ts'
import { explainedCause, fallbackCause, isClear } from './explained-cause.ts'

describe('the root cause with a model', () => {
  const rules = buildRules()

  it('has the words of the model, and the candidates of the rules', () => {
    const verdict = { service: 'checkout', summary: 'checkout fails.', nextSteps: ['Look at its pool.', 'Ask the owner'] }
    const model = { provider: 'openai', name: 'm', promptVersion: '1', inputTokens: 1, outputTokens: 2, latencyMs: 3 }
    expect(explainedCause(rules, verdict, model)).to.deep.equal({
      mode: 'llm',
      fallback: false,
      summary: 'checkout fails. Next: Look at its pool; Ask the owner.',
      candidates: rules.candidates,
      model,
    })
  })

  it('is that of the rules, with fallback, where the model could not be used', () => {
    expect(fallbackCause(rules)).to.deep.equal({ ...rules, fallback: true })
  })

  it('is clear from a score of 1 on', () => {
    expect([3, 1, 0.99].map(score => isClear(buildRules({ score })))).to.deep.equal([true, true, false])
    expect(isClear({ ...rules, candidates: [] })).to.equal(false)
  })
})
