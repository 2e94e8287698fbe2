import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Target } from '../../../domain/tickets/target.ts'
import type { HttpServer } from '../../../http/server.ts'
import type { DeclaredLayer } from '../../../ports/declared-ticketing.ts'
import type { ConnectionTest } from '../../../ports/incident-platform.ts'
import type { LlmConfig } from '../../../ports/language-model.ts'
import type { ModelStatus } from '../../../ports/model-probe.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../../testing/http-caller.ts'
import { createMemorySearchStore } from '../../../testing/memory-search-store.ts'
import { startTicketing } from '../ticketing.ts'
import { createSecretCipher } from './secret-cipher.ts'

const JIRA = { baseUrl: 'https://shop.atlassian.example', apiToken: 't0ken-s3cret', userEmail: 'bot@shop.example' }
const MODEL = { provider: 'openai', model: 'small', apiKey: 'llm-s3cret' }

describe('connection tests', () => {
  let clock: FakeClock
  let server: HttpServer
  let api: HttpCaller
  let layer: DeclaredLayer | undefined
  let tested: Target[]
  let asked: LlmConfig[]
  let answer: () => Promise<ConnectionTest>
  let status: () => Promise<ModelStatus>
  let signals: AbortSignal[]

  beforeEach(async () => {
    clock = createFakeClock()
    layer = undefined
    tested = []
    asked = []
    signals = []
    answer = async () => ({ ok: true, message: 'it answers' })
    status = async () => ({ available: true })
    server = await startTicketing({
      ...{ store: createMemorySearchStore(), clock, log: SILENT, host: '127.0.0.1', port: 0 },
      declared: { current: () => layer, problems: () => [] },
      cipher: createSecretCipher([Buffer.alloc(32, 7)]),
      testPlatform(target, signal) {
        tested.push(target)
        signals.push(signal)
        return answer()
      },
      models: {
        test(config, signal) {
          asked.push(config)
          signals.push(signal)
          return answer()
        },
        status(_, config) {
          asked.push(config)
          return status()
        },
      },
    })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  })
  afterEach(() => server.stop())
  const patch = (section: string, body: unknown, tenant?: string) => api.send('PATCH', `/api/v1/config/${section}`, body, tenant)
  const test = (body: unknown, tenant?: string) => api.send('POST', '/api/v1/test-connection', body, tenant)
  const testModel = (body?: unknown, tenant?: string) => api.send('POST', '/api/v1/test-llm', body, tenant)

  /** Lets time pass until what was begun has given up. */
  const waitOut = async (ms: number) => {
    while (clock.sleepers === 0) await new Promise(setImmediate)
    clock.advance(ms)
  }

  describe('POST /api/v1/test-connection', () => {
    it('answers ok, the platform id and a message', async () => {
      await patch('platforms', { 'jira:ops': JIRA })
      expect(await test({ platform: 'jira:ops' })).to.deep.include({
        status: 200,
        body: { status: 'ok', platform: 'jira:ops', message: 'it answers' },
      })
      expect(tested).to.deep.equal([{ id: 'jira:ops', platform: 'jira', enabled: true, fields: JIRA }])
    })

    it('a failure is status error in a 200, not an error envelope, and repeats no secret', async () => {
      await patch('platforms', { jira: JIRA })
      answer = async () => ({ ok: false, message: 'jira says: token t0ken-s3cret is wrong' })
      expect((await test({ platform: 'jira' })).body).to.deep.equal({
        status: 'error',
        platform: 'jira',
        message: 'jira says: token **** is wrong',
      })
    })

    it('repeats no secret of another platform or of the model either; of those of the caller, the masks tell nothing', async () => {
      await patch('platforms', { jira: JIRA, slack: { webhookUrl: 'https://hooks.example/T1/secret' } })
      await patch('llm', MODEL)
      answer = async () => ({ ok: false, message: 'seen https://hooks.example/T1/secret and llm-s3cret' })
      expect((await test({ platform: 'jira' })).body.message).to.equal('seen **** and ****')
      expect((await test({ platform: 'jira', config: { ...JIRA, baseUrl: 'https://mine.example' } })).body.message).to.include('llm-s3cret')
      answer = async () => ({ ok: false, message: 'openai says t0ken-s3cret' })
      expect((await testModel()).body.message).to.equal('openai says ****')
      status = async () => ({ available: false, error: 'openai says t0ken-s3cret' })
      expect((await api.get('/api/v1/llm-status')).body.error).to.equal('openai says ****')
    })

    it('a platform that is not configured is status error, too', async () => {
      expect(await test({ platform: 'slack' })).to.deep.include({
        status: 200,
        body: { status: 'error', platform: 'slack', message: 'slack is not configured' },
      })
    })

    it('takes fields that are not stored yet, over those that are; **** is what is stored', async () => {
      await patch('platforms', { jira: JIRA })
      await test({ platform: 'jira', config: { baseUrl: 'https://other.example', apiToken: '****' } })
      await test({ platform: 'slack:new', config: { webhookUrl: 'https://hooks.example/1' } })
      expect(tested.map(({ id, fields }) => [id, fields])).to.deep.equal([
        ['jira', { ...JIRA, baseUrl: 'https://other.example' }],
        ['slack:new', { webhookUrl: 'https://hooks.example/1' }],
      ])
      expect(Object.keys((await api.get('/api/v1/config')).body.platforms), 'nothing is stored').to.deep.equal(['jira'])
    })

    it('uses what is declared', async () => {
      layer = {
        anomaly: {},
        routes: [],
        platforms: { email: { owner: 'a/b', fields: { host: 'mail', port: '25', from: 'a@b', to: 'c@d' } } },
      }
      await test({ platform: 'email' }, 'acme')
      expect(tested[0]?.fields).to.deep.equal({ host: 'mail', port: 25, from: 'a@b', to: 'c@d' })
    })

    const refused: readonly [string, unknown, RegExp][] = [
      ['what is no platform id', { platform: 'fax' }, /^platform: expected one of pagerduty/],
      ['a prototype name', { platform: '__proto__' }, /^platform: expected one of pagerduty/],
      ['no platform', {}, /^platform: /],
      ['no body', undefined, /^body: /],
      ['unknown fields', { platform: 'slack', verbose: true }, /^verbose: unknown field$/],
      [
        'unknown fields of the platform',
        { platform: 'slack', config: { colour: 'red', webhookUrl: 'https://a.example' } },
        /^slack\.colour: unknown field$/,
      ],
      ['a config that is no object', { platform: 'slack', config: [] }, /^config: expected an object/],
    ]
    for (const [title, body, message] of refused)
      it(`400 for ${title}`, async () => {
        const { status, body: error } = await test(body)
        expect(status).to.equal(400)
        expect(error.error).to.match(message)
      })

    it('ends after 10 s', async () => {
      await patch('platforms', { jira: JIRA })
      answer = () => new Promise(() => {})
      const pending = test({ platform: 'jira' })
      await waitOut(10_000)
      expect((await pending).body).to.deep.include({
        ...{ status: 'error', message: 'jira: no answer within 10 s: check the address and the port, and whether a firewall is between' },
      })
      expect(signals[0]?.aborted).to.equal(true)
    })

    it('429 for a tenant that tests too often; others may', async () => {
      const statuses = await Promise.all(Array.from({ length: 121 }, async () => (await test({ platform: 'slack' }, 'busy')).status))
      expect(statuses.filter(code => code === 429)).to.have.length(1)
      expect((await test({ platform: 'slack' })).status).to.equal(200)
      clock.advance(1_000)
      expect((await test({ platform: 'slack' }, 'busy')).status).to.equal(200)
    })
  })

  describe('POST /api/v1/test-llm', () => {
    it('tests what is stored where the body is empty, and tells provider and model', async () => {
      await patch('llm', MODEL)
      for (const body of [undefined, {}])
        expect((await testModel(body)).body).to.deep.equal({ status: 'ok', provider: 'openai', model: 'small', message: 'it answers' })
      expect(asked).to.deep.equal([MODEL, MODEL])
    })

    it('takes fields that are not stored', async () => {
      await patch('llm', MODEL)
      await testModel({ model: 'big' })
      await testModel({ provider: 'ollama', model: 'tiny', baseUrl: 'https://models.example' })
      expect(asked).to.deep.equal([
        { ...MODEL, model: 'big' },
        { provider: 'ollama', model: 'tiny', baseUrl: 'https://models.example' },
      ])
    })

    it('a failure is status error in a 200, and repeats no key', async () => {
      await patch('llm', MODEL)
      answer = async () => ({ ok: false, message: 'openai answered 401: llm-s3cret' })
      expect(await testModel()).to.deep.include({
        status: 200,
        body: { status: 'error', provider: 'openai', model: 'small', message: 'openai answered 401: ****' },
      })
    })

    it('without a provider says so', async () => {
      expect((await testModel()).body).to.deep.equal({ status: 'error', provider: 'none', model: '', message: 'no provider configured' })
    })

    it('400 for what cannot be', async () => {
      expect((await testModel({ provider: 'skynet', model: 'x' })).status).to.equal(400)
      expect((await testModel({ provider: 'openai', model: 'x', apiKey: '****' })).status).to.equal(400)
    })
  })

  describe('GET /api/v1/llm-status', () => {
    const modelStatus = async (tenant?: string) => (await api.get('/api/v1/llm-status', tenant)).body

    it('healthy', async () => {
      await patch('llm', MODEL)
      expect(await modelStatus('acme')).to.deep.equal({ status: 'ok', provider: 'openai', model: 'small', available: true })
    })

    it('degraded or unreachable', async () => {
      await patch('llm', MODEL)
      status = async () => ({ available: false, error: 'openai answered 503' })
      expect(await modelStatus()).to.deep.equal({
        ...{ status: 'degraded', provider: 'openai', model: 'small', available: false },
        error: 'openai answered 503',
      })
    })

    it('with none: degraded, no provider configured', async () => {
      expect(await modelStatus()).to.deep.equal({
        ...{ status: 'degraded', provider: 'none', model: '', available: false },
        error: 'no provider configured',
      })
    })
  })
})
