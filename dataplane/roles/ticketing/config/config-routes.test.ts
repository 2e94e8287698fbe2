import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { expectedInsteadOf } from '../../../adapters/outbound-http/outbound-addresses.ts'
import { CONFIG_INDEX } from '../../../contract/indices.ts'
import type { HttpServer } from '../../../http/server.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../../testing/http-caller.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createRecordingLog, type RecordingLog } from '../testing/recording-log.ts'
import { startTicketing } from '../ticketing.ts'
import { createSecretCipher } from './secret-cipher.ts'

const KEY = Buffer.alloc(32, 7)

/** For each platform of the specification the fields that it requires. */
const REQUIRED = {
  pagerduty: { routingKey: 'r0utingkey-s3cret' },
  jira: { baseUrl: 'https://shop.atlassian.example', apiToken: 't0ken-s3cret', userEmail: 'bot@shop.example' },
  servicenow: { instanceUrl: 'https://dev1.service-now.example', username: 'bot', password: 'passw0rd-s3cret' },
  opsgenie: { apiKey: 'apikey-s3cret' },
  slack: { webhookUrl: 'https://hooks.slack.example/s3cret' },
  email: { host: 'mail.shop.example', port: 587, user: 'bot', password: 'mail-s3cret', from: 'bot@shop.example', to: ['ops@shop.example'] },
} as const
const PLATFORMS = Object.keys(REQUIRED) as (keyof typeof REQUIRED)[]
const NOT_SECRET = ['baseUrl', 'userEmail', 'instanceUrl', 'username', 'host', 'port', 'user', 'from', 'to']
const masked = (fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, NOT_SECRET.includes(name) ? value : '****']))

describe('ticketing configuration', () => {
  let store: MemorySearchStore
  let log: RecordingLog
  let server: HttpServer
  let api: HttpCaller
  const startWith = async (keys: readonly Uint8Array[], allowPrivate = true) => {
    await server?.stop()
    const cipher = createSecretCipher(keys)
    const fieldRules = { allowsPlainHttp: allowPrivate, refuseHost: (host: string) => expectedInsteadOf(host, { allowPrivate }) }
    server = await startTicketing({ store, clock: createFakeClock(), log, cipher, fieldRules, host: '127.0.0.1', port: 0 })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  }
  beforeEach(async () => {
    store = createMemorySearchStore()
    log = createRecordingLog()
    await startWith([KEY])
  })
  afterEach(() => server.stop())
  const patch = (section: string, body: unknown, tenant?: string) => api.send('PATCH', `/api/v1/config/${section}`, body, tenant)
  const platforms = async (tenant?: string) => (await api.get('/api/v1/config', tenant)).body.platforms
  const errorOf = async (section: string, body: unknown, tenant?: string) => {
    const { status, body: answer } = await patch(section, body, tenant)
    expect(status).to.equal(400)
    return answer.error as string
  }

  describe('PATCH /api/v1/config/platforms', () => {
    for (const platform of PLATFORMS) {
      it(`${platform}: takes its fields, answers the updated ids, and shows secrets as ****`, async () => {
        const fields = REQUIRED[platform]
        expect((await patch('platforms', { [platform]: { enabled: true, ...fields } })).body).to.deep.equal({
          status: 'ok',
          updated: [platform],
        })
        expect(await platforms()).to.deep.equal({ [platform]: { enabled: true, ...masked(fields) } })
      })
      for (const field of Object.keys(REQUIRED[platform]))
        it(`${platform}: requires ${field}`, async () => {
          const { [field]: _, ...rest } = REQUIRED[platform] as Record<string, unknown>
          expect(await errorOf('platforms', { [platform]: { enabled: true, ...rest } })).to.match(
            new RegExp(`^${platform}\\.${field}: expected `),
          )
          expect(await platforms()).to.deep.equal({})
        })
    }

    it('takes a platform several times, by names behind a colon', async () => {
      const change = { slack: { ...REQUIRED.slack }, 'slack:payments': { enabled: false, ...REQUIRED.slack } }
      expect((await patch('platforms', change)).body.updated).to.deep.equal(['slack', 'slack:payments'])
      expect(await platforms()).to.deep.equal({
        slack: { enabled: true, webhookUrl: '****' },
        'slack:payments': { enabled: false, webhookUrl: '****' },
      })
    })

    it('changes what is sent and keeps the rest', async () => {
      await patch('platforms', { jira: { enabled: true, ...REQUIRED.jira, projectKey: 'OPS' } })
      await patch('platforms', { jira: { enabled: false, userEmail: 'other@shop.example', projectKey: null } })
      expect(await platforms()).to.deep.equal({
        jira: { ...masked(REQUIRED.jira), enabled: false, userEmail: 'other@shop.example' },
      })
    })

    it('keeps a stored secret that comes back as ****, and refuses one that was never stored', async () => {
      expect(await errorOf('platforms', { slack: { enabled: true, webhookUrl: '****' } })).to.equal(
        'slack.webhookUrl: expected the secret itself, since none is stored, seen ****',
      )
      await patch('platforms', { slack: REQUIRED.slack })
      const before = store.documents(CONFIG_INDEX).get('ticketing:platforms:default')!['value']
      expect((await patch('platforms', { slack: { enabled: true, webhookUrl: '****' } })).status).to.equal(200)
      expect(store.documents(CONFIG_INDEX).get('ticketing:platforms:default')!['value']).to.deep.equal(before)
    })

    it('removes a target by null', async () => {
      await patch('platforms', { slack: REQUIRED.slack, opsgenie: REQUIRED.opsgenie })
      expect((await patch('platforms', { slack: null })).body).to.deep.equal({ status: 'ok', updated: ['slack'] })
      expect(Object.keys(await platforms())).to.deep.equal(['opsgenie'])
    })

    it('400 names every problem in one message and shows no secret, and nothing changes', async () => {
      const error = await errorOf('platforms', {
        fax: {},
        'slack:Bad Name': REQUIRED.slack,
        slack: { webhookUrl: 'no-url-s3cret', colour: 'red', enabled: 'yes' },
        email: { ...REQUIRED.email, port: 'smtp', to: [] },
        jira: 'on',
        opsgenie: REQUIRED.opsgenie,
      })
      expect(error.split('; ')).to.deep.equal([
        'fax: expected one of pagerduty, jira, servicenow, opsgenie, slack, email, alone or with a name behind a colon, such as slack:payments (1 to 40 of a-z, 0-9, -)',
        'slack:Bad Name: expected one of pagerduty, jira, servicenow, opsgenie, slack, email, alone or with a name behind a colon, such as slack:payments (1 to 40 of a-z, 0-9, -)',
        'slack.webhookUrl: expected an https URL such as https://example.com, without user name, seen something else',
        'slack.colour: unknown field',
        'slack.enabled: expected true or false, seen "yes"',
        'email.port: expected a port number from 1 to 65535, seen "smtp"',
        'email.to: expected an e-mail address, or a list of 1 to 50, seen an array of 0',
        'jira: expected an object with fields of jira, or null, seen "on"',
      ])
      expect(await platforms()).to.deep.equal({})
    })

    it('400 shows no password of an address', async () => {
      const shown = /expected an https URL.*, seen "https:\/\/\*\*\*\*@example\.com"$/
      expect(await errorOf('platforms', { jira: { ...REQUIRED.jira, baseUrl: 'https://bot:p4ss@example.com' } })).to.match(shown)
      expect(await errorOf('llm', { provider: 'ollama', model: 'x', baseUrl: 'https://bot:p4ss@example.com' })).to.match(shown)
    })

    for (const [title, body] of [
      ['a list', []],
      ['a text', 'slack'],
      ['nothing', undefined],
    ] as const)
      it(`400 for ${title} in place of the map`, async () => expect(await errorOf('platforms', body)).to.match(/^body: expected a map/))

    it('fifty callers at once all have their way', async () => {
      // As over a network: between reading and writing, others read the same.
      store.beforePut = async () => {
        for (let turn = 0; turn < 10; turn++) await nextTurn()
      }
      const names = Array.from({ length: 50 }, (_, i) => `slack:${i}`)
      const answers = await Promise.all(names.map(id => patch('platforms', { [id]: REQUIRED.slack })))
      expect(answers.map(({ status }) => status)).to.deep.equal(names.map(() => 200))
      expect(new Set(Object.keys(await platforms()))).to.deep.equal(new Set(names))
    })

    describe('an address that may not be spoken to', () => {
      const { slack, jira, servicenow, opsgenie, pagerduty, email } = REQUIRED
      const targets = (host: string) =>
        [
          ['slack.webhookUrl', { slack: { ...slack, webhookUrl: `https://${host}/services/T/B/x` } }],
          ['jira:ops.baseUrl', { 'jira:ops': { ...jira, baseUrl: `https://${host}` } }],
          ['servicenow.instanceUrl', { servicenow: { ...servicenow, instanceUrl: `https://${host}:8443/` } }],
          ['opsgenie.apiBaseUrl', { opsgenie: { ...opsgenie, apiBaseUrl: `https://${host}` } }],
          ['pagerduty.apiBaseUrl', { pagerduty: { ...pagerduty, apiBaseUrl: `https://${host}` } }],
          ['email.host', { email: { ...email, host: host.replace(/^\[|\]$/g, '') } }],
        ] as const
      const PRIVATE: readonly [host: string, what: string][] = [
        ['10.0.0.1', 'private'],
        ['127.0.0.1', 'loopback'],
        ['localhost', 'loopback'],
        ['[::1]', 'loopback'],
        ['[::ffff:10.0.0.1]', 'private'],
        ['100.64.0.1', 'shared by customers of a provider'],
      ]
      const NEVER: readonly [host: string, what: string][] = [
        ['169.254.169.254', 'link-local, where clouds keep their metadata'],
        ['[fe80::1]', 'link-local'],
        ['[fd00:ec2::254]', 'a metadata address of AWS'],
      ]
      for (const [host, what] of [...PRIVATE, ...NEVER])
        it(`${host} is refused with the name of its field`, async () => {
          await startWith([KEY], false)
          for (const [field, change] of targets(host)) {
            const error = await errorOf('platforms', change)
            expect(error)
              .to.match(new RegExp(`^${field}: expected a public address`))
              .and.include(what)
            const [platform, config] = Object.entries(change)[0]!
            expect((await api.send('POST', '/api/v1/test-connection', { platform, config })).status).to.equal(200)
          }
          expect(await platforms()).to.deep.equal({})
          const model = { provider: 'openai-compatible', model: 'm', baseUrl: `https://${host}/v1` }
          const error = await errorOf('llm', model)
          expect(error)
            .to.match(/^baseUrl: expected a public address/)
            .and.include(what)
          expect((await api.send('POST', '/api/v1/test-llm', model)).status).to.equal(200)
        })

      it('is refused in whatever way it is written', async () => {
        await startWith([KEY], false)
        for (const host of ['2130706433', '0x7f.1', '0177.0.0.1', 'LOCALHOST', 'api.localhost.', '[::ffff:7f00:1]'])
          expect(await errorOf('platforms', { jira: { ...jira, baseUrl: `https://${host}/` } }), host).to.include('loopback')
      })

      it('is taken with ALLOW_PRIVATE_TARGETS, unless it never may be', async () => {
        for (const [host] of PRIVATE)
          for (const [field, change] of targets(host)) expect((await patch('platforms', change)).status, `${field} ${host}`).to.equal(200)
        for (const [host, what] of NEVER)
          for (const [field, change] of targets(host))
            expect(await errorOf('platforms', change)).to.include(`${field}: expected a public address, none that is ${what}`)
      })

      it('is no public one', async () => {
        await startWith([KEY], false)
        for (const host of ['93.184.216.34', '[2606:2800:220:1::1]', 'localhost.shop.example'])
          for (const [field, change] of targets(host)) expect((await patch('platforms', change)).status, `${field} ${host}`).to.equal(200)
      })
    })

    it('takes plain http with ALLOW_PRIVATE_TARGETS alone', async () => {
      const jira = { ...REQUIRED.jira, baseUrl: 'http://127.0.0.1:8123' }
      expect((await patch('platforms', { jira })).status).to.equal(200)
      await startWith([KEY], false)
      const needed = /^(jira\.)?baseUrl: expected an https URL.*\(plain http needs ALLOW_PRIVATE_TARGETS=true/
      expect(await errorOf('platforms', { jira })).to.match(needed)
      expect(await errorOf('llm', { provider: 'ollama', model: 'm', baseUrl: jira.baseUrl })).to.match(needed)
    })

    it('refuses prototype names as platforms and fields', async () => {
      const body = JSON.parse(
        '{"__proto__":{"enabled":true},"constructor":{},"slack":{"__proto__":"x","toString":"y","webhookUrl":"https://a.example"}}',
      )
      const error = await errorOf('platforms', body)
      for (const name of [
        '__proto__: expected',
        'constructor: expected',
        'slack.__proto__: unknown field',
        'slack.toString: unknown field',
      ])
        expect(error).to.include(name)
    })

    it('refuses huge maps in a short message', async () => {
      const error = await errorOf('platforms', Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`fax${i}`, {}])))
      expect(error).to.match(/; and 19980 more$/)
      const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`slack:${i}`, REQUIRED.slack]))
      expect(await errorOf('platforms', many)).to.equal('body: expected at most 100 platform ids with those that are configured, seen 101')
    })
  })

  describe('secrets', () => {
    const ALL = Object.fromEntries(PLATFORMS.map(platform => [platform, { enabled: true, ...REQUIRED[platform] }]))

    it('stand nowhere in the clear: not in the store, answers, errors or the log', async () => {
      const answers = [
        await patch('platforms', ALL),
        await patch('llm', { provider: 'openai', model: 'small', apiKey: 'llm-s3cret' }),
        await patch('llm', { provider: 'openai', model: '', apiKey: ['llm-s3cret'] }),
        await patch('llm', { apiKey: `s3cret\n${'x'.repeat(3000)}`, bogus: 1 }),
        await patch('platforms', {
          pagerduty: { routingKey: 's3cret\nx' },
          opsgenie: { apiKey: { s3cret: 1 } },
          slack: { webhookUrl: 's3cret' },
        }),
        await api.get('/api/v1/config'),
        await api.get('/api/v1/llm-status'),
        await api.send('POST', '/api/v1/test-llm', { apiKey: 's3cret', provider: 'openai', model: 'small' }),
        ...(await Promise.all(PLATFORMS.map(platform => api.send('POST', '/api/v1/test-connection', { platform })))),
        await api.send('POST', '/api/v1/test-connection', { platform: 'slack', config: { webhookUrl: 's3cret' } }),
      ]
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 400, 400, 400, 200, 200, 200, ...PLATFORMS.map(() => 200), 400])
      for (const { body } of answers) expect(JSON.stringify(body)).not.to.include('s3cret')
      expect(JSON.stringify([...store.documents(CONFIG_INDEX)])).not.to.include('s3cret')
      expect(log.lines.length).to.be.above(0)
      expect(inspect(log.lines, { depth: null })).not.to.include('s3cret')
    })

    it('stand in no answer to a body that is no JSON', async () => {
      for (const body of ['{"slack":{"webhookUrl":s3cret}}', '{"slack":{"webhookUrl":"s3cret"},}', '"s3cret', '{"s3cret"']) {
        const headers = { 'content-type': 'application/json' }
        const address = `http://127.0.0.1:${server.port}/api/v1/config/platforms`
        const response = await fetch(address, { method: 'PATCH', headers, body })
        expect(response.status).to.equal(400)
        expect(await response.text())
          .to.match(/^{"error":"body: expected JSON, seen /)
          .and.not.to.include('s3cret')
      }
    })

    it('without ENCRYPTION_KEY are refused with an error that names it; all else works', async () => {
      await startWith([])
      for (const [section, body] of [
        ['platforms', { slack: REQUIRED.slack }],
        ['llm', { provider: 'openai', model: 'small', apiKey: 'llm-s3cret' }],
      ] as const) {
        const { status, body: answer } = await patch(section, body)
        expect(status).to.equal(503)
        expect(answer.error).to.match(/ENCRYPTION_KEY/)
      }
      const { user, password, ...open } = REQUIRED.email
      expect((await patch('platforms', { email: open })).status).to.equal(200)
      expect((await patch('llm', { provider: 'ollama', model: 'small' })).status).to.equal(200)
      expect((await patch('routing', { high: ['email'] })).status).to.equal(200)
    })

    it('that another key encrypted make their target unusable, with a message, and no other', async () => {
      await patch('platforms', { slack: REQUIRED.slack })
      await patch('llm', { provider: 'openai', model: 'small', apiKey: 'llm-s3cret' })
      await startWith([Buffer.alloc(32, 8)])
      await patch('platforms', { opsgenie: REQUIRED.opsgenie })
      const { body } = await api.get('/api/v1/config')
      expect(body.problems).to.have.length(2)
      expect(body.problems[0]).to.match(/^slack\.webhookUrl: was encrypted with the key [0-9a-f]{8}, which ENCRYPTION_KEY does not hold$/)
      expect((await api.send('POST', '/api/v1/test-connection', { platform: 'slack' })).body).to.deep.equal({
        status: 'error',
        platform: 'slack',
        message: body.problems[0],
      })
      expect((await api.get('/api/v1/llm-status')).body).to.deep.include({ status: 'degraded', available: false, error: body.problems[1] })
      await startWith([Buffer.alloc(32, 8), KEY])
      expect((await api.get('/api/v1/config')).body, 'both keys').not.to.have.property('problems')
    })
  })

  describe('tenants', () => {
    it('a tenant that never set platforms uses those of default, and sees none of their secrets', async () => {
      await patch('platforms', { slack: REQUIRED.slack })
      expect(await platforms('acme')).to.deep.equal({ slack: { enabled: true, webhookUrl: '****' } })
    })

    it('a section that a tenant set in part is its own: what it did not name stays as default had it', async () => {
      await patch('routing', { critical: ['pagerduty'], high: ['slack'] })
      expect((await patch('routing', { high: ['jira'] }, 'acme')).body.routing).to.deep.equal({ critical: ['pagerduty'], high: ['jira'] })
      await patch('routing', { critical: ['opsgenie'], low: ['slack'] })
      const routing = async (tenant: string) => (await api.get('/api/v1/config', tenant)).body.routing
      expect(await routing('acme')).to.deep.equal({ critical: ['pagerduty'], high: ['jira'], medium: [], low: [] })
      expect(await routing('other')).to.deep.equal({ critical: ['opsgenie'], high: ['slack'], medium: [], low: ['slack'] })
    })

    it('a tenant that sets its own begins with none, so that no secret of default is sent where it says', async () => {
      await patch('platforms', { jira: REQUIRED.jira })
      expect(await errorOf('platforms', { jira: { baseUrl: 'https://evil.example', apiToken: '****' } }, 'acme')).to.include(
        'jira.apiToken: expected',
      )
      const test = { platform: 'jira', config: { baseUrl: 'https://evil.example' } }
      expect((await api.send('POST', '/api/v1/test-connection', test, 'acme')).status).to.equal(400)
      await patch('llm', { provider: 'openai', model: 'small', apiKey: 'llm-s3cret' })
      const probe = { baseUrl: 'https://evil.example', apiKey: '****' }
      expect((await api.send('POST', '/api/v1/test-llm', probe, 'acme')).status).to.equal(400)
      await patch('platforms', { slack: REQUIRED.slack }, 'acme')
      expect(Object.keys(await platforms('acme'))).to.deep.equal(['slack'])
      expect(Object.keys(await platforms())).to.deep.equal(['jira'])
    })
  })

  describe('PATCH /api/v1/config/routing', () => {
    it('echoes the stored routing, each severity as it was last set', async () => {
      expect((await patch('routing', { critical: ['pagerduty', 'slack:payments'] })).body).to.deep.equal({
        status: 'ok',
        routing: { critical: ['pagerduty', 'slack:payments'] },
      })
      expect((await patch('routing', { high: ['jira', 'jira'], critical: [] })).body.routing).to.deep.equal({
        critical: [],
        high: ['jira'],
      })
      expect((await api.get('/api/v1/config')).body.routing).to.deep.equal({ critical: [], high: ['jira'], medium: [], low: [] })
    })

    const refused: readonly [string, unknown, RegExp][] = [
      ['an unknown severity', { urgent: ['slack'] }, /^urgent: unknown field$/],
      ['a prototype name', JSON.parse('{"__proto__":["slack"]}'), /^__proto__: unknown field$/],
      ['an unknown platform', { high: ['fax'] }, /^high\.0: expected one of pagerduty, .*, seen "fax"$/],
      ['a name that is none', { high: ['slack:'] }, /^high\.0: expected one of/],
      ['text in place of the list', { high: 'slack' }, /^high: expected array, seen "slack"$/],
      ['nothing', undefined, /^body: /],
    ]
    for (const [title, body, message] of refused)
      it(`400 for ${title}`, async () => expect(await errorOf('routing', body)).to.match(message))
  })

  describe('PATCH /api/v1/config/anomaly', () => {
    it('takes recurring: dispatch or quiet', async () => {
      expect((await patch('anomaly', { recurring: 'quiet' })).body).to.deep.equal({
        status: 'ok',
        anomaly: { minimumScore: 0.85, lookbackWindow: '15m', recurring: 'quiet' },
      })
      expect(await errorOf('anomaly', { recurring: 'loud' })).to.match(/^recurring: expected one of dispatch, quiet, seen "loud"$/)
    })
  })

  describe('PATCH /api/v1/config/escalation', () => {
    it('is a map from severity to a duration or null', async () => {
      expect((await patch('escalation', { critical: '15m' })).body).to.deep.equal({
        status: 'ok',
        escalation: { critical: '15m', high: null, medium: null, low: null },
      })
      expect((await patch('escalation', { critical: null, high: '1h' })).body.escalation).to.deep.include({ critical: null, high: '1h' })
      expect((await api.get('/api/v1/config')).body.escalation).to.deep.equal({ critical: null, high: '1h', medium: null, low: null })
    })
    it('400 for what is no duration, and for unknown severities', async () => {
      expect(await errorOf('escalation', { critical: 'soon', high: 5, urgent: '1h' })).to.match(
        /^critical: expected a duration .*, or null, seen "soon"; high: expected a duration .*, or null, seen 5; urgent: unknown field$/,
      )
    })
  })

  describe('PATCH /api/v1/config/llm', () => {
    it('answers the stored section with its key masked', async () => {
      expect((await patch('llm', { provider: 'anthropic', model: 'small', apiKey: 'llm-s3cret' })).body).to.deep.equal({
        status: 'ok',
        llm: { provider: 'anthropic', model: 'small', apiKey: '****' },
      })
      expect((await patch('llm', { model: 'big', apiKey: '****', baseUrl: 'https://proxy.example' })).body.llm).to.deep.equal({
        provider: 'anthropic',
        model: 'big',
        baseUrl: 'https://proxy.example',
        apiKey: '****',
      })
      expect((await api.get('/api/v1/config')).body.llm).to.deep.include({ provider: 'anthropic', apiKey: '****' })
    })

    it('forgets the key where the provider changes without one, and all of it with none', async () => {
      await patch('llm', { provider: 'openai', model: 'small', apiKey: 'llm-s3cret' })
      expect((await patch('llm', { provider: 'openai-compatible', baseUrl: 'https://other.example' })).body.llm).not.to.have.property(
        'apiKey',
      )
      expect((await patch('llm', { provider: 'none', model: null, baseUrl: null })).body.llm).to.deep.equal({ provider: 'none', model: '' })
    })

    const refused: readonly [string, unknown, string][] = [
      [
        'an unknown provider',
        { provider: 'skynet', model: 'x' },
        'provider: expected one of none, openai, azure-openai, anthropic, ollama, openai-compatible, seen "skynet"',
      ],
      ['a provider without a model', { provider: 'openai' }, 'model: expected the name of a model, since provider is openai, seen nothing'],
      [
        'azure without an address',
        { provider: 'azure-openai', model: 'x' },
        'baseUrl: expected the address of the model, since provider is azure-openai, seen nothing',
      ],
      [
        'a key that was never stored',
        { provider: 'openai', model: 'x', apiKey: '****' },
        'apiKey: expected the key itself, since none is stored, seen ****',
      ],
      ['an unknown field', { temperature: 1 }, 'temperature: unknown field'],
      [
        'all of it at once',
        { temperature: 1, top: 2, provider: 'none', model: 5 },
        'temperature: unknown field; top: unknown field; model: expected the name of a model, seen 5',
      ],
      ['no map', ['openai'], 'body: expected an object with fields of provider, model, baseUrl, apiKey, seen an array of 1'],
      ['a prototype name', JSON.parse('{"__proto__":{"provider":"openai"}}'), '__proto__: unknown field'],
    ]
    for (const [title, body, message] of refused) it(`400 for ${title}`, async () => expect(await errorOf('llm', body)).to.equal(message))
  })
})
