import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LlmConfig } from '../../ports/language-model.ts'
import { buildExplainedIncident, buildRules } from '../../testing/explained-incident-fixture.ts'
import { createVerdictCache, verdictKey } from './verdict-cache.ts'

const VERDICT = { service: 'checkout', summary: 'checkout fails', nextSteps: [] }
const CONFIG: LlmConfig = { provider: 'openai', model: 'm', apiKey: 'k' }

describe('verdicts that are kept', () => {
  it('count for the look-back window', () => {
    const cache = createVerdictCache()
    cache.put('a', VERDICT, 0)
    expect(cache.get('a', 1_000, 999)).to.equal(VERDICT)
    expect(cache.get('a', 1_000, 1_000)).to.equal(undefined)
    expect(cache.get('b', 1_000, 0)).to.equal(undefined)
  })

  it('are a thousand at most', () => {
    const cache = createVerdictCache()
    for (let i = 0; i <= 1_000; i++) cache.put(`${i}`, VERDICT, 0)
    expect(cache.get('0', 1, 0)).to.equal(undefined)
    expect(cache.get('1', 1, 0)).to.equal(VERDICT)
  })

  it('are told apart by tenant, model, patterns and candidates, not by the order of patterns or the incident', () => {
    const incident = buildExplainedIncident()
    const pattern = incident.evidence[0]!
    const rules = buildRules()
    const key = verdictKey(incident, rules, CONFIG)
    const two = [pattern, { ...pattern, patternId: 'p0' }]
    expect(verdictKey({ ...incident, id: 'other', anomalyCount: 99 }, rules, CONFIG)).to.equal(key)
    expect(verdictKey({ ...incident, evidence: two }, rules, CONFIG)).to.equal(
      verdictKey({ ...incident, evidence: two.toReversed() }, rules, CONFIG),
    )
    const others = [
      verdictKey({ ...incident, tenantId: 'acme' }, rules, CONFIG),
      verdictKey({ ...incident, evidence: two }, rules, CONFIG),
      verdictKey(incident, { ...rules, candidates: rules.candidates.toReversed() }, CONFIG),
      verdictKey(incident, { ...rules, candidates: rules.candidates.slice(0, 1) }, CONFIG),
      verdictKey(incident, rules, { ...CONFIG, model: 'n' }),
      verdictKey(incident, rules, { ...CONFIG, baseUrl: 'https://x' }),
    ]
    expect(new Set([key, ...others]).size).to.equal(7)
  })
})
