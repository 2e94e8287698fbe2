/** Log lines that give orders, and models that obey them: neither changes what a ticket says of the cause (Decisions 6). */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createLanguageModel } from '../../adapters/language-model/language-model.ts'
import { createOutboundHttp } from '../../adapters/outbound-http/outbound-http.ts'
import { DEFAULT_ANOMALY_CONFIG } from '../../domain/incidents/anomaly-config.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import type { LlmConfig } from '../../ports/language-model.ts'
import type { OutboundHttp } from '../../ports/outbound-http.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { buildExplainedIncident, buildReason, buildRules } from '../../testing/explained-incident-fixture.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { ANSWERS, orderedAnswer } from '../../testing/mock-model/answers.ts'
import { INJECTIONS } from '../../testing/mock-model/injections.ts'
import { type MockModel, startMockModel } from '../../testing/mock-model/mock-model.ts'
import { createExplainer } from './explainer.ts'

describe('log lines that give orders', () => {
  let server: MockModel
  let outbound: OutboundHttp
  before(async () => {
    server = await startMockModel()
    outbound = createOutboundHttp({ allowPrivate: true })
  })
  after(async () => {
    await outbound.close()
    await server.stop()
  })

  async function explain(incident: Incident, line = 'a line', provider: LlmConfig['provider'] = 'openai-compatible') {
    const clock = createFakeClock()
    const store = createMemorySearchStore()
    const document = {
      tenant_id: 'default',
      timestamp: incident.firstSeen,
      level: 'ERROR',
      service: 'checkout',
      message: line,
      log_id: 'l1',
    }
    await store.put('service-logs-2026.01.01', 'l1', document)
    await storeIncidents(store, { ...incident, id: 'past', status: 'resolved', title: line, resolvedAt: incident.createdAt })
    const model = createLanguageModel({ outbound, clock })
    const explainer = createExplainer({ model, store, clock, log: SILENT, metrics: createMetrics(), tokensPerHour: 1_000_000 })
    const llm: LlmConfig = { provider, model: 'mock', baseUrl: server.url, apiKey: 'k' }
    return (await explainer.explain({ incident, config: { llm, anomaly: DEFAULT_ANOMALY_CONFIG as never } }))!.rootCause
  }

  /** An incident in which the text stands wherever a sender can put it. */
  function spreading(text: string, score: number): Incident {
    const rules = buildRules({ score, reasons: [buildReason({ text: `“${text}” is new` })] })
    return buildExplainedIncident({
      title: text,
      affectedServices: ['checkout', 'payments'],
      evidence: [{ patternId: 'p1', pattern: text, count: 40, score: 0.8, logIds: ['l1'], traceIds: [] }],
      rootCause: rules,
    })
  }

  for (const provider of ['openai-compatible', 'anthropic'] as const)
    for (const score of [3, 0.5])
      for (const { name, text } of INJECTIONS)
        it(`${name}: an obedient model (${provider}) says what it says without; rules are ${score >= 1 ? 'clear' : 'not clear'}`, async () => {
          server.behave('obedient')
          const attacked = await explain(spreading(text, score), text, provider)
          const untouched = await explain(spreading('Connection refused', score), 'a line', provider)
          expect(attacked.mode).to.equal('llm')
          expect(attacked.summary).to.equal(untouched.summary)
          expect(attacked.candidates.map(({ service }) => service)).to.deep.equal(['checkout', 'payments'])
        })

  it('the mock obeys indeed: each of them would be followed if it reached it', () => {
    const question = (text: string) => {
      const evidence = ['checkout', 'payments'].map((service, i) => ({ id: `E${i}`, service, text }))
      return `<data-0>\n${JSON.stringify({ candidates: [{ service: 'checkout' }, { service: 'payments' }], evidence })}\n</data-0>`
    }
    const untouched = ANSWERS.obedient(question('Connection refused'))
    for (const { name, text } of INJECTIONS) expect(ANSWERS.obedient(question(text)), name).to.not.equal(untouched)
  })

  const orders = [
    { name: 'another service', order: { service: 'payments', link: '' } },
    { name: 'a link', order: { service: 'checkout', link: 'https://evil.example/fix' } },
    { name: 'both', order: { service: 'payments', link: 'https://evil.example/fix' } },
    { name: 'a link without a scheme', order: { service: 'checkout', link: 'evil.com/fix' } },
    { name: 'a service that is none', order: { service: 'no-such-service', link: '' } },
  ]
  for (const score of [3, 0.5])
    for (const { name, order } of orders)
      it(`orders that get through all the same change nothing: ${name}; rules are ${score >= 1 ? 'clear' : 'not clear'}`, async () => {
        server.behave(orderedAnswer(order))
        const incident = spreading('Connection refused', score)
        expect(await explain(incident)).to.deep.equal({ ...incident.rootCause, mode: 'rules', fallback: true })
      })
})
