import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Clock } from '../../ports/clock.ts'
import { type LlmConfig, ModelUnavailable } from '../../ports/language-model.ts'
import { type OutboundHttp, TargetRefused } from '../../ports/outbound-http.ts'
import { type Behaviour, type MockModel, type SeenRequest, startMockModel } from '../../testing/mock-model/mock-model.ts'
import { createOutboundHttp } from '../outbound-http/outbound-http.ts'
import { createLanguageModel } from './language-model.ts'

const KEY = 'sk-very-secret-0123456789'
const QUESTION = { system: 'Be brief.', user: 'Are you there?', schema: { type: 'object' }, maxOutputTokens: 77 }

/** Time goes on while somebody sleeps, and no sooner. */
function createLeapingClock(): Clock & { readonly slept: number[] } {
  let nowMs = Date.now()
  const slept: number[] = []
  return {
    slept,
    nowMs: () => nowMs,
    async sleep(ms) {
      slept.push(ms)
      nowMs += ms
    },
  }
}

describe('language models over HTTP', () => {
  let server: MockModel
  let http: OutboundHttp
  let clock: ReturnType<typeof createLeapingClock>
  let signal: AbortSignal

  beforeEach(async () => {
    server = await startMockModel()
    http = createOutboundHttp({ allowPrivate: true })
    clock = createLeapingClock()
    signal = new AbortController().signal
  })
  afterEach(async () => {
    await http.close()
    await server.stop()
  })

  const configOf = (config: Partial<LlmConfig> = {}): LlmConfig => ({
    provider: 'openai-compatible',
    model: 'mock',
    baseUrl: `${server.url}/v1`,
    apiKey: KEY,
    ...config,
  })
  const create = (outbound: OutboundHttp = http) => createLanguageModel({ outbound, clock })
  const ask = (config: Partial<LlmConfig> = {}) => create().ask(configOf(config), QUESTION, signal)

  async function failureOf(work: Promise<unknown>): Promise<ModelUnavailable> {
    const error = await work.then(
      () => undefined,
      reason => reason,
    )
    expect(error).to.be.instanceOf(ModelUnavailable)
    expect(String(error.message)).to.not.include(KEY)
    return error
  }

  describe('providers', () => {
    const cases: readonly { provider: LlmConfig['provider']; base: string; path: string; header: string; value: string; limit: string }[] =
      [
        {
          provider: 'openai',
          base: '/v1',
          path: '/v1/chat/completions',
          header: 'authorization',
          value: `Bearer ${KEY}`,
          limit: 'max_completion_tokens',
        },
        {
          provider: 'openai-compatible',
          base: '/some/api/',
          path: '/some/api/chat/completions',
          header: 'authorization',
          value: `Bearer ${KEY}`,
          limit: 'max_tokens',
        },
        {
          provider: 'openai-compatible',
          base: '/v1/chat/completions',
          path: '/v1/chat/completions',
          header: 'authorization',
          value: `Bearer ${KEY}`,
          limit: 'max_tokens',
        },
        {
          provider: 'ollama',
          base: '/v1/',
          path: '/v1/chat/completions',
          header: 'authorization',
          value: `Bearer ${KEY}`,
          limit: 'max_tokens',
        },
        {
          provider: 'azure-openai',
          base: '',
          path: '/openai/deployments/mock/chat/completions',
          header: 'api-key',
          value: KEY,
          limit: 'max_completion_tokens',
        },
        {
          provider: 'azure-openai',
          base: '/openai/deployments/gpt/',
          path: '/openai/deployments/gpt/chat/completions',
          header: 'api-key',
          value: KEY,
          limit: 'max_completion_tokens',
        },
        {
          provider: 'azure-openai',
          base: '/openai/v1/',
          path: '/openai/v1/chat/completions',
          header: 'api-key',
          value: KEY,
          limit: 'max_completion_tokens',
        },
        { provider: 'anthropic', base: '', path: '/v1/messages', header: 'x-api-key', value: KEY, limit: 'max_tokens' },
        { provider: 'anthropic', base: '/v1', path: '/v1/messages', header: 'x-api-key', value: KEY, limit: 'max_tokens' },
      ]
    for (const { provider, base, path, header, value, limit } of cases)
      it(`${provider} at ${base || 'its root'}: asks ${path}`, async () => {
        const answer = await ask({ provider, baseUrl: `${server.url}${base}` })
        expect(answer).to.deep.equal({ text: '{"ok":true}', inputTokens: 1_000, outputTokens: 100 })
        const [request] = server.requests
        expect(request!.path).to.equal(path)
        expect(request!.headers[header]).to.equal(value)
        expect(request!.body).to.include({ model: 'mock', temperature: 0, [limit]: 77 })
      })

    it('anthropic has its version, its place for instructions and for the schema', async () => {
      await ask({ provider: 'anthropic', baseUrl: server.url })
      const { headers, body } = server.requests[0]!
      expect(headers['anthropic-version']).to.equal('2023-06-01')
      expect(body).to.deep.include({
        system: QUESTION.system,
        messages: [{ role: 'user', content: QUESTION.user }],
        output_config: { format: { type: 'json_schema', schema: QUESTION.schema } },
      })
    })

    for (const base of ['', '/', '/api', '/api/chat'])
      it(`ollama at ${base || 'its root'}: asks /api/chat, with a window that a question fits in`, async () => {
        const answer = await ask({ provider: 'ollama', baseUrl: `${server.url}${base}` })
        expect(answer).to.deep.equal({ text: '{"ok":true}', inputTokens: 1_000, outputTokens: 100 })
        const [{ path, headers, body }] = server.requests as [SeenRequest]
        expect(path).to.equal('/api/chat')
        expect(headers.authorization).to.equal(`Bearer ${KEY}`)
        expect(body).to.deep.equal({
          model: 'mock',
          messages: [
            { role: 'system', content: QUESTION.system },
            { role: 'user', content: QUESTION.user },
          ],
          stream: false,
          think: false,
          options: { num_ctx: 16_384, num_predict: 77, temperature: 0 },
          format: QUESTION.schema,
        })
      })

    it('a server like ollama without its interface is asked in the format of OpenAI, and so from the start the next time', async () => {
      server.behave('only-v1')
      const model = create()
      const config = configOf({ provider: 'ollama', baseUrl: server.url })
      for (let i = 0; i < 2; i++) expect((await model.ask(config, QUESTION, signal)).text).to.equal('{"ok":true}')
      expect(server.requests.map(({ path }) => path)).to.deep.equal(['/api/chat', '/v1/chat/completions', '/v1/chat/completions'])
    })

    for (const provider of ['openai', 'openai-compatible'] as const)
      it(`${provider} at an address without /v1: asked below it where the server knows nothing else`, async () => {
        server.behave('only-v1')
        const model = create()
        const config = configOf({ provider, baseUrl: server.url })
        for (let i = 0; i < 2; i++) expect((await model.ask(config, QUESTION, signal)).text).to.equal('{"ok":true}')
        expect(server.requests.map(({ path }) => path)).to.deep.equal(['/chat/completions', '/v1/chat/completions', '/v1/chat/completions'])
      })

    it('ollama without the model: its words, not asked again', async () => {
      server.behave('no-model')
      const error = await failureOf(ask({ provider: 'ollama', baseUrl: server.url }))
      expect(error.message).to.equal("ollama answered 404: model 'mock' not found")
      expect(server.requests).to.have.length(1)
    })

    it('ollama needs no key and sends none', async () => {
      await create().ask({ provider: 'ollama', model: 'mock', baseUrl: server.url }, QUESTION, signal)
      expect(server.requests[0]!.headers).to.not.have.property('authorization')
    })

    const incomplete: readonly { config: Partial<LlmConfig>; says: string }[] = [
      { config: { provider: 'none' }, says: 'no provider configured' },
      { config: { provider: 'openai', apiKey: '' }, says: 'apiKey: expected the key for openai, seen none' },
      { config: { provider: 'azure-openai', baseUrl: '' }, says: 'baseUrl: expected the address of azure-openai, seen none' },
      { config: { baseUrl: 'models.example.com' }, says: 'baseUrl: expected an absolute address' },
      { config: { model: '' }, says: 'model: expected the name of a model, seen none' },
    ]
    for (const { config, says } of incomplete)
      it(`without asking: ${says}`, async () => {
        const error = await failureOf(ask(config))
        expect(error.message).to.include(says)
        expect(error.isPassing).to.equal(false)
        expect(server.requests).to.have.length(0)
      })
  })

  describe('what models refuse', () => {
    const cases: readonly { behaviour: Behaviour; requests: number; missing: string }[] = [
      { behaviour: 'no-schema', requests: 3, missing: 'response_format' },
      { behaviour: 'no-temperature', requests: 2, missing: 'temperature' },
      { behaviour: 'only-max_completion_tokens', requests: 2, missing: 'max_tokens' },
    ]
    for (const { behaviour, requests, missing } of cases)
      it(`${behaviour}: asked again without, and so from the start the next time`, async () => {
        server.behave(behaviour)
        const model = create()
        for (let i = 0; i < 2; i++) expect((await model.ask(configOf(), QUESTION, signal)).text).to.equal('{"ok":true}')
        expect(server.requests).to.have.length(requests + 1)
        expect(server.requests.at(-1)!.body).to.not.have.property(missing)
      })

    it('ollama that takes no schema', async () => {
      server.behave('no-schema')
      await ask({ provider: 'ollama', baseUrl: server.url })
      expect(server.requests.map(({ body }) => body['format'])).to.deep.equal([QUESTION.schema, 'json', undefined])
    })

    it('openai with an old name of the limit', async () => {
      server.behave('only-max_tokens')
      await ask({ provider: 'openai' })
      expect(server.requests.at(-1)!.body).to.include({ max_tokens: 77 })
    })

    it('the schema stands in the instructions where nothing else holds the answer to it', async () => {
      server.behave('no-schema')
      await ask()
      const { messages } = server.requests.at(-1)!.body as { messages: readonly { content: string }[] }
      expect(messages[0]!.content).to.include('{"type":"object"}')
    })
  })

  describe('faults', () => {
    const passing: readonly { behaviour: Behaviour; pauseMs: number }[] = [
      { behaviour: '429', pauseMs: 500 },
      { behaviour: '429-seconds', pauseMs: 2_000 },
      { behaviour: '500', pauseMs: 500 },
      { behaviour: 'reset', pauseMs: 500 },
    ]
    for (const { behaviour, pauseMs } of passing) {
      it(`${behaviour}, then well: tried once more after ${pauseMs} ms`, async () => {
        server.behave(behaviour, 'good')
        expect((await ask()).text).to.equal('{"ok":true}')
        expect(clock.slept).to.deep.equal([pauseMs])
      })
      it(`${behaviour} twice: passing`, async () => {
        server.behave(behaviour)
        expect((await failureOf(ask())).isPassing).to.equal(true)
        expect(server.requests).to.have.length(2)
      })
    }

    it('a Retry-After beyond the 30 s is not waited for, but told', async () => {
      server.behave('429-date')
      const error = await failureOf(ask())
      expect(server.requests).to.have.length(1)
      expect(error.afterMs).to.be.within(3_500_000, 3_600_000)
      expect(error.message).to.equal('openai-compatible answered 429: Quota')
    })

    const lasting: readonly { behaviour: Behaviour; says: string }[] = [
      { behaviour: '401', says: 'answered 401: Incorrect API key provided: Bearer ****.' },
      { behaviour: 'html', says: 'something else than an answer of a model: "<html>' },
      { behaviour: 'empty', says: 'mock answered without text (length)' },
      { behaviour: 'flood', says: 'more than 262144 bytes' },
    ]
    for (const { behaviour, says } of lasting)
      it(`${behaviour}: lasting, not tried again; the key is not told`, async () => {
        server.behave(behaviour)
        const error = await failureOf(ask())
        expect(error.isPassing).to.equal(false)
        expect(error.message.replaceAll('[secret]', '****')).to.include(says)
        expect(server.requests).to.have.length(1)
      })

    it('a stall ends with the signal', async () => {
      server.behave('stall')
      const over = new AbortController()
      const work = failureOf(create().ask(configOf(), QUESTION, over.signal))
      over.abort()
      expect((await work).isPassing).to.equal(true)
    })

    it('30 s are given to all tries together', async () => {
      const timeouts: number[] = []
      const outbound: OutboundHttp = {
        async request({ timeoutMs }) {
          timeouts.push(timeoutMs)
          await clock.sleep(10_000)
          return { status: 503, headers: {}, text: '', isCut: false }
        },
        async close() {},
      }
      await failureOf(create(outbound).ask(configOf(), QUESTION, signal))
      expect(timeouts).to.deep.equal([30_000, 19_500])
    })

    it('a plain or private address is a lasting failure where none is allowed, and nothing is sent', async () => {
      const guarded = createOutboundHttp({ allowPrivate: false })
      const error = await failureOf(create(guarded).ask(configOf(), QUESTION, signal))
      expect(error.isPassing).to.equal(false)
      expect(error.message).to.match(/^openai-compatible cannot be reached: .*https/)
      expect(server.requests).to.have.length(0)
      await guarded.close()
    })

    it('an address that may not be spoken to is a lasting failure, with the reason', async () => {
      const outbound: OutboundHttp = {
        request: () => Promise.reject(new TargetRefused('10.0.0.1 is a private address')),
        async close() {},
      }
      const error = await failureOf(create(outbound).ask(configOf(), QUESTION, signal))
      expect(error.isPassing).to.equal(false)
      expect(error.message).to.include('private address')
    })
  })

  describe('a probe costs nothing', () => {
    it('asks for the list of models', async () => {
      await create().probe(configOf(), signal)
      expect(server.requests).to.have.length(1)
      expect(server.requests[0]).to.include({ method: 'GET', path: '/v1/models' })
    })
    it('of ollama in its own interface', async () => {
      await create().probe(configOf({ provider: 'ollama', baseUrl: server.url }), signal)
      expect(server.requests[0]).to.include({ method: 'GET', path: '/api/tags' })
    })
    for (const behaviour of ['401', '500', 'reset', 'html'] as const)
      it(`${behaviour}: rejects`, async () => {
        server.behave(behaviour)
        await failureOf(create().probe(configOf(), signal))
      })
  })
})
