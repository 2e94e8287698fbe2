/** A language model as users meet it: configured, tested and watched over HTTP, at a server with a real wire format. */
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createLanguageModel } from '../../../adapters/language-model/language-model.ts'
import { createOutboundHttp } from '../../../adapters/outbound-http/outbound-http.ts'
import type { HttpServer } from '../../../http/server.ts'
import type { OutboundHttp } from '../../../ports/outbound-http.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../../testing/http-caller.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { type MockModel, startMockModel } from '../../../testing/mock-model/mock-model.ts'
import { startTicketing } from '../ticketing.ts'
import { createSecretCipher } from './secret-cipher.ts'

const KEY = 'sk-test-0123456789abcdef'

describe('a language model, over HTTP', () => {
  let clock: FakeClock
  let mock: MockModel
  let outbound: OutboundHttp
  let server: HttpServer
  let api: HttpCaller

  beforeEach(async () => {
    clock = createFakeClock()
    mock = await startMockModel()
    outbound = createOutboundHttp({ allowPrivate: true })
    server = await startTicketing({
      ...{ store: createMemorySearchStore(), clock, log: SILENT, host: '127.0.0.1', port: 0, fieldRules: { allowsPlainHttp: true } },
      cipher: createSecretCipher([Buffer.alloc(32, 7)]),
      languageModel: createLanguageModel({ outbound, clock }),
      tokensPerHour: 200_000,
    })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  })
  afterEach(async () => {
    await server.stop()
    await outbound.close()
    await mock.stop()
  })

  const configure = (config: object = {}) =>
    api.send('PATCH', '/api/v1/config/llm', {
      provider: 'openai-compatible',
      model: 'mock',
      apiKey: KEY,
      baseUrl: `${mock.url}/v1`,
      ...config,
    })
  const test = async (body?: object) => (await api.send('POST', '/api/v1/test-llm', body)).body
  const status = async () => (await api.send('GET', '/api/v1/llm-status')).body

  for (const provider of ['openai', 'openai-compatible', 'ollama', 'anthropic', 'azure-openai'])
    it(`${provider}: POST test-llm answers { status: ok, provider, model, message }, GET llm-status { status: ok, …, available: true }`, async () => {
      await configure({ provider })
      expect(await test()).to.deep.equal({ status: 'ok', provider, model: 'mock', message: 'mock answered within 0.0 s' })
      expect(await status()).to.deep.equal({ status: 'ok', provider, model: 'mock', available: true })
      expect(JSON.stringify(mock.requests[0]!.headers)).to.include(KEY)
    })

  it('GET llm-status costs nothing: it asks for the list of models, and at most every ten seconds', async () => {
    await configure()
    for (let i = 0; i < 20; i++) expect(await status()).to.include({ status: 'ok', available: true })
    expect(mock.requests.map(({ method }) => method)).to.deep.equal(['GET'])
  })

  it('unreachable: degraded, available false, with an error; well again when it is there again', async () => {
    await configure()
    mock.behave('500')
    const seen = await status()
    expect(seen).to.deep.equal({
      status: 'degraded',
      provider: 'openai-compatible',
      model: 'mock',
      available: false,
      error: 'openai-compatible answered 500: The server had an error',
    })
    mock.behave('good')
    clock.advance(10_000)
    expect(await status()).to.include({ status: 'ok' })
  })

  it('nobody listens: degraded without any question before', async () => {
    await mock.stop()
    await configure()
    const seen = await status()
    expect(seen).to.include({ status: 'degraded', available: false })
    expect(seen.error).to.match(/^openai-compatible cannot be reached: /)
  })

  it('a wrong key: status error with the reason, without the key; the status follows', async () => {
    await configure()
    mock.behave('401')
    const seen = await test()
    expect(seen).to.include({ status: 'error', provider: 'openai-compatible', model: 'mock' })
    expect(seen.message).to.match(/^openai-compatible answered 401: Incorrect API key/)
    expect(JSON.stringify([seen, await status()])).to.not.include(KEY)
    expect(await status()).to.include({ status: 'degraded', available: false })
  })

  it('fields of the body are tested in place of the stored ones', async () => {
    expect(await test({ provider: 'ollama', model: 'mock', baseUrl: mock.url })).to.include({ status: 'ok', provider: 'ollama' })
  })

  it('none: degraded, available false, error "no provider configured"', async () => {
    expect(await status()).to.deep.equal({
      status: 'degraded',
      provider: 'none',
      model: '',
      available: false,
      error: 'no provider configured',
    })
    expect(await test()).to.deep.equal({ status: 'error', provider: 'none', model: '', message: 'no provider configured' })
  })
})
