import { expect } from 'chai'
import { describe, it } from 'mocha'
import { DEFAULT_ANOMALY_CONFIG } from '../../domain/incidents/anomaly-config.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import { type LanguageModel, type LlmConfig, type ModelQuestion, ModelUnavailable } from '../../ports/language-model.ts'
import type { Log } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { buildExplainedIncident, buildRules } from '../../testing/explained-incident-fixture.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { ANSWERS, type AnswerName } from '../../testing/mock-model/answers.ts'
import { createExplainer } from './explainer.ts'

const LLM: LlmConfig = { provider: 'openai', model: 'mock', apiKey: 'sk-0123456789abcdef' }
const NONE: LlmConfig = { provider: 'none', model: '' }
const anomaly = DEFAULT_ANOMALY_CONFIG as never

type Reply = AnswerName | Error | ((user: string, signal: AbortSignal) => Promise<string>)

function create({ tokensPerHour = 1_000_000 } = {}) {
  const clock = createFakeClock()
  const store = createMemorySearchStore()
  const metrics = createMetrics()
  const logged: string[] = []
  const note = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`)
  const log: Log = { debug: note, info: note, warn: note, error: note, child: () => log }
  const questions: ModelQuestion[] = []
  let replies: readonly Reply[] = ['good']
  const model: LanguageModel = {
    async ask(_config, question, signal) {
      questions.push(question)
      const reply = replies[0]!
      if (replies.length > 1) replies = replies.slice(1)
      if (reply instanceof Error) throw reply
      const text = typeof reply === 'function' ? await reply(question.user, signal) : ANSWERS[reply](question.user)
      return { text, inputTokens: 1_000, outputTokens: 100 }
    },
    async probe() {},
  }
  const explainer = createExplainer({ model, store, clock, log, metrics, tokensPerHour })
  return {
    clock,
    store,
    metrics,
    logged,
    questions,
    explainer,
    reply(...next: readonly Reply[]) {
      replies = next
    },
    explain: (incident: Incident = buildExplainedIncident(), llm = LLM) => explainer.explain({ incident, config: { llm, anomaly } }),
  }
}

const FALLBACK = { rootCause: { ...buildRules(), fallback: true } }
const DOWN = new ModelUnavailable('openai answered 503', { isPassing: true })
/** Never answers, and heeds no signal. */
const stall = () => new Promise<string>(() => {})

describe('incidents in a model’s words', () => {
  it('mode llm: its summary, and the candidates of the rules', async () => {
    const { explain, questions, metrics } = create()
    const { rootCause } = (await explain())!
    expect(rootCause).to.deep.equal({
      mode: 'llm',
      fallback: false,
      summary:
        'checkout is the most likely cause: 2 pieces of evidence differ from the time before. Next: Look at the last deployment of checkout.',
      candidates: buildRules().candidates,
      model: { provider: 'openai', name: 'mock', promptVersion: '1', inputTokens: 1_000, outputTokens: 100, latencyMs: 0 },
    })
    expect((await explain())!.rootCause.model, 'from the cache').to.deep.include({ name: 'mock', inputTokens: 0, outputTokens: 0 })
    expect(questions).to.have.length(1)
    expect(questions[0]!.maxOutputTokens).to.equal(3_000)
    const text = await metrics.text()
    expect(text).to.include('service_ticketing_llm_verdicts_total{outcome="explained"} 1')
    expect(text).to.include('service_ticketing_llm_tokens_total{direction="input"} 1000')
  })

  it('tells the log prompt version, model, tokens and latency, and no key', async () => {
    const { explain, logged, reply } = create()
    await explain()
    reply(new ModelUnavailable('openai answered 401', { isPassing: false }))
    await explain(buildExplainedIncident({ evidence: [] }))
    expect(logged[0]).to.include(
      '"provider":"openai","model":"mock","promptVersion":"1","inputTokens":1000,"outputTokens":100,"latencyMs":0',
    )
    expect(logged.join()).to.not.include(LLM.apiKey)
  })

  const unexplained: readonly { name: string; incident?: Partial<Incident>; llm?: LlmConfig }[] = [
    { name: 'without a model', llm: NONE },
    { name: 'with no cause by the rules yet', incident: { rootCause: undefined as never } },
    { name: 'where the rules name no candidate', incident: { rootCause: { ...buildRules(), candidates: [] } } },
    { name: 'where a model has spoken', incident: { rootCause: { ...buildRules(), mode: 'llm' } } },
  ]
  for (const { name, incident, llm } of unexplained)
    it(`nothing: ${name}`, async () => {
      const { explain, questions } = create()
      expect(await explain(buildExplainedIncident(incident), llm)).to.equal(undefined)
      expect(questions).to.have.length(0)
    })

  for (const bad of ['bad-json', 'no-object', 'wrong-ids', 'wrong-service', 'link', 'long'] as const) {
    it(`${bad}, then well: one repair, with the problem`, async () => {
      const { explain, reply, questions } = create()
      reply(bad, 'good')
      expect((await explain())!.rootCause.mode).to.equal('llm')
      expect(questions).to.have.length(2)
      expect(questions[1]!.user).to.match(/An answer before this one was not accepted. Its problem, as JSON: ".*expected .*, seen .*"/)
    })
    it(`${bad} twice: mode rules, fallback, and the status tells of it`, async () => {
      const { explain, reply, questions, explainer } = create()
      reply(bad)
      expect(await explain()).to.deep.equal(FALLBACK)
      expect(questions).to.have.length(2)
      const status = await explainer.status('default', LLM)
      expect(status).to.include({ available: false })
      expect(JSON.stringify(status)).to.include('the last answer could not be used: ')
    })
  }

  it('another service than the rules name: their words stay, without a second question; the model is well', async () => {
    const { explain, reply, questions, explainer } = create()
    reply('other-service')
    expect(await explain()).to.deep.equal(FALLBACK)
    expect(questions).to.have.length(1)
    expect(await explainer.status('default', LLM)).to.deep.equal({ available: true })
  })

  it('unknown: as the model has it where the rules are not clear', async () => {
    const { explain, reply } = create()
    reply('undecided')
    expect(await explain()).to.deep.equal(FALLBACK)
    const rules = buildRules({ score: 0.5 })
    const { rootCause } = (await explain(buildExplainedIncident({ rootCause: rules })))!
    expect(rootCause).to.include({ mode: 'llm', fallback: false })
    expect(rootCause.candidates).to.deep.equal(rules.candidates)
  })

  describe('outages never fail an incident', () => {
    it('a model that is down: the rules, with fallback; after three questions none is asked', async () => {
      const { explain, reply, questions, explainer } = create()
      reply(DOWN)
      for (let i = 0; i < 5; i++) expect(await explain()).to.deep.equal(FALLBACK)
      expect(questions).to.have.length(3)
      expect(await explainer.status('default', LLM)).to.deep.equal({ available: false, error: 'openai answered 503' })
    })

    it('a model that stalls: over after 30 s', async () => {
      const { explain, reply, clock } = create()
      reply(stall)
      const work = explain()
      await new Promise(setImmediate)
      clock.advance(29_999)
      expect(await Promise.race([work, new Promise(resolve => setImmediate(() => resolve('waits')))])).to.equal('waits')
      clock.advance(1)
      expect(await work).to.deep.equal(FALLBACK)
    })

    it('a search store that is down: asked without lines and the past', async () => {
      const { explain, store } = create()
      store.unavailable = true
      expect((await explain())!.rootCause.mode).to.equal('llm')
    })

    it('the time of day is set back while the model thinks: the verdict counts', async () => {
      const { explain, reply, clock, metrics } = create()
      reply(async user => {
        clock.advance(2_000)
        clock.shiftTimeOfDay(-3_600_000)
        return ANSWERS.good(user)
      })
      expect((await explain())!.rootCause.mode).to.equal('llm')
      expect(await metrics.text()).to.match(/^\w+llm\w+seconds_total 2$/m)
    })

    it('an error that nobody thought of: the rules, with fallback', async () => {
      const { explain, reply } = create()
      reply(new TypeError('x is not a function'))
      expect(await explain()).to.deep.equal(FALLBACK)
    })

    it('1,000 incidents at once: four are asked about, 200 wait, the rest go without; all end', async () => {
      const { explain, reply, clock, questions, metrics } = create()
      reply((_user, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(DOWN))))
      const works = Array.from({ length: 1_000 }, (_, i) =>
        explain(buildExplainedIncident({ evidence: [{ patternId: `p${i}`, pattern: '', count: 1, score: 1, logIds: [], traceIds: [] }] })),
      )
      await new Promise(setImmediate)
      expect(questions).to.have.length(4)
      expect(await metrics.text()).to.include('service_ticketing_llm_verdicts_total{outcome="busy"} 796')
      clock.advance(30_000)
      for (const result of await Promise.all(works)) expect(result).to.deep.equal(FALLBACK)
    })
  })

  describe('what it costs', () => {
    it('incidents alike are asked about once within the look-back window, those at the same time, too', async () => {
      const { explain, questions, clock } = create()
      const results = await Promise.all(Array.from({ length: 5 }, (_, i) => explain(buildExplainedIncident({ id: `i${i}` }))))
      for (const result of results) expect(result!.rootCause.mode).to.equal('llm')
      expect(questions.length).to.be.at.most(4)
      const asked = questions.length
      await explain()
      expect(questions).to.have.length(asked)
      clock.advance(15 * 60_000)
      await explain()
      expect(questions).to.have.length(asked + 1)
    })

    it('nobody gets the verdict of another tenant', async () => {
      const { explain, questions } = create()
      await explain()
      await explain(buildExplainedIncident({ tenantId: 'acme' }))
      expect(questions).to.have.length(2)
    })

    it('a tenant whose tokens of the hour are used up gets the rules, and the status says so', async () => {
      const { explain, questions, explainer, clock } = create({ tokensPerHour: 5_500 })
      const unlike = (i: number) =>
        buildExplainedIncident({ evidence: [{ patternId: `p${i}`, pattern: 'x', count: 1, score: 1, logIds: [], traceIds: [] }] })
      for (let i = 0; i < 4; i++) await explain(unlike(i))
      const asked = questions.length
      expect(asked).to.be.within(1, 3)
      expect(await explain(unlike(9))).to.deep.equal(FALLBACK)
      expect((await explain({ ...unlike(9), tenantId: 'acme' }))!.rootCause.mode).to.equal('llm')
      clock.advance(3_600_000)
      expect((await explain(unlike(9)))!.rootCause.mode).to.equal('llm')
      expect(await explainer.status('default', LLM)).to.deep.equal({ available: true })
    })
  })

  describe('test of the model', () => {
    it('one tiny question', async () => {
      const { explainer, questions } = create()
      expect(await explainer.test(LLM)).to.deep.equal({ ok: true, message: 'mock answered within 0.0 s' })
      expect(questions).to.have.length(1)
      expect(questions[0]!.user.length + questions[0]!.system.length).to.be.below(200)
    })

    it('an answer that is no JSON shows that it can be reached', async () => {
      const { explainer, reply } = create()
      reply('no-object')
      expect(await explainer.test(LLM)).to.deep.equal({
        ok: true,
        message: 'mock answered within 0.0 s, but not in JSON as it was asked to',
      })
    })

    it('a failure with its reason; the status follows', async () => {
      const { explainer, reply } = create()
      reply(DOWN, 'good')
      expect(await explainer.test(LLM)).to.deep.equal({ ok: false, message: 'openai answered 503' })
      expect(await explainer.status('default', LLM)).to.deep.equal({ available: false, error: 'openai answered 503' })
      await explainer.test(LLM)
      expect(await explainer.status('default', LLM)).to.deep.equal({ available: true })
    })

    it('10 s at most', async () => {
      const { explainer, reply, clock } = create()
      reply(stall)
      const work = explainer.test(LLM)
      clock.advance(10_000)
      expect(await work).to.deep.equal({ ok: false, message: 'no answer within 10 s' })
    })

    it('no provider configured', async () => {
      const { explainer } = create()
      expect(await explainer.test(NONE)).to.deep.equal({ ok: false, message: 'no provider configured' })
      expect(await explainer.status('default', NONE)).to.deep.equal({ available: false, error: 'no provider configured' })
    })
  })
})
