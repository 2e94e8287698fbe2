import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { DeclaredTicketing } from '../../contract/declared-ticketing.ts'
import { buildLayer, parseDeclaration, secretFilesOf } from './declared-layer.ts'

const JIRA = { owner: 'shop/tickets', settings: { baseUrl: 'https://shop.example', userEmail: 'bot@shop.example' } }
const ROUTE = { owner: 'shop/tickets', platform: 'jira', severities: ['high'], escalation: false }
const SOUND: DeclaredTicketing = { platforms: { jira: JIRA }, routes: [ROUTE] }
const TOKEN = new Map([['jira.apiToken', 'token']])

const REFUSED: readonly {
  readonly name: string
  readonly declared: DeclaredTicketing
  readonly files?: ReadonlyMap<string, string>
  readonly problem: string
}[] = [
  {
    name: 'an unknown platform',
    declared: { ...SOUND, platforms: { ...SOUND.platforms, fax: JIRA } },
    problem:
      'ticketing.json: platforms.fax: expected one of pagerduty, jira, servicenow, opsgenie, slack, email, alone or with a name behind a colon, such as slack:payments (1 to 40 of a-z, 0-9, -), seen "fax"',
  },
  {
    name: 'an unknown field',
    declared: { ...SOUND, platforms: { jira: { ...JIRA, settings: { ...JIRA.settings, colour: 'red' } } } },
    problem: 'ticketing.json: platforms.jira.settings.colour: unknown field',
  },
  {
    name: 'a secret beside the other fields',
    declared: { ...SOUND, platforms: { jira: { ...JIRA, settings: { ...JIRA.settings, apiToken: 'open' } } } },
    problem: 'ticketing.json: platforms.jira.settings.apiToken: expected in the file jira.apiToken, since it is a secret, seen here',
  },
  {
    name: 'a secret that is missing',
    declared: SOUND,
    files: new Map(),
    problem: 'jira.apiToken: expected a file that holds the value, seen none',
  },
  {
    name: 'a secret that is empty',
    declared: SOUND,
    files: new Map([['jira.apiToken', '']]),
    problem: 'jira.apiToken: expected a file that holds the value, seen it empty',
  },
  {
    name: 'a required field that is missing',
    declared: { ...SOUND, platforms: { jira: { ...JIRA, settings: { baseUrl: 'https://shop.example' } } } },
    problem: 'ticketing.json: platforms.jira.settings.userEmail: expected a value here or in jira.userEmail, seen none',
  },
  {
    name: 'a user without a password',
    declared: {
      platforms: { email: { owner: 'shop/mail', settings: { host: 'mail', port: 587, from: 'a@b', to: 'c@d', user: 'u' } } },
      routes: [],
    },
    problem: 'platforms.email: expected both of user and password or neither, seen user alone',
  },
  {
    name: 'a route to a platform that is not declared',
    declared: { ...SOUND, routes: [{ ...ROUTE, platform: 'slack' }] },
    problem: 'ticketing.json: routes.0.platform: expected one of the declared platforms (jira), seen "slack"',
  },
  {
    name: 'an unknown severity',
    declared: { ...SOUND, routes: [{ ...ROUTE, severities: ['high', 'urgent'] }] },
    problem: 'ticketing.json: routes.0.severities.1: expected one of critical, high, medium, low, seen "urgent"',
  },
  {
    name: 'a look-back that is no duration',
    declared: { ...SOUND, anomaly: { lookbackWindow: 'soon' } },
    problem: 'ticketing.json: anomaly.lookbackWindow: expected a duration from 1s to 7d, such as 15m or 1h30m, seen "soon"',
  },
  {
    name: 'a provider without a model',
    declared: { ...SOUND, llm: { provider: 'openai' } },
    problem: 'ticketing.json: llm.model: expected the name of a model, since provider is openai, seen nothing',
  },
]

const UNREADABLE: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
  ['what is no JSON', '{"platforms":', /^ticketing\.json: expected JSON, seen something else: /],
  ['an unknown section', '{"platforms":{},"routes":[],"extra":1}', /^ticketing\.json: extra: unknown field$/],
  ['a missing section', '{"platforms":{}}', /^ticketing\.json: routes: expected array, seen nothing$/],
  [
    'a score out of range',
    '{"platforms":{},"routes":[],"anomaly":{"minimumScore":2}}',
    /^ticketing\.json: anomaly\.minimumScore: expected number to be <=1, seen 2$/,
  ],
  [
    'a field that is neither text nor a number',
    '{"platforms":{"jira":{"owner":"a","settings":{"baseUrl":true}}},"routes":[]}',
    /^ticketing\.json: platforms\.jira\.settings\.baseUrl: expected text or a number, seen true$/,
  ],
]

describe('The declared layer of the ticketing configuration', () => {
  it('has the fields of each platform, secret ones from their files', () => {
    const built = buildLayer({ ...SOUND, anomaly: { minimumScore: 0.9 } }, TOKEN)
    expect(built).to.deep.equal({
      ok: true,
      value: {
        anomaly: { minimumScore: 0.9 },
        platforms: { jira: { owner: 'shop/tickets', fields: { ...JIRA.settings, apiToken: 'token' } } },
        routes: [ROUTE],
      },
    })
  })

  it('takes fields that are no secrets from files, too', () => {
    const declared = { ...SOUND, platforms: { jira: { owner: 'shop/tickets', settings: { baseUrl: 'https://shop.example' } } } }
    expect(secretFilesOf(declared)).to.include('jira.userEmail')
    const built = buildLayer(declared, new Map([...TOKEN, ['jira.userEmail', 'bot@shop.example']]))
    expect(built.ok && built.value.platforms.jira?.fields).to.deep.equal({ ...JIRA.settings, apiToken: 'token' })
  })

  it('takes a secret that need not be there from its file', () => {
    const built = buildLayer(SOUND, new Map([...TOKEN, ['jira.webhookSecret', 'hook']]))
    expect(built.ok && built.value.platforms.jira?.fields).to.deep.equal({ ...JIRA.settings, apiToken: 'token', webhookSecret: 'hook' })
  })

  it('has several targets of one platform, each with secrets of its own', () => {
    const second = { owner: 'shop/payments', settings: { ...JIRA.settings, projectKey: 'PAY' } }
    const declared = {
      platforms: { ...SOUND.platforms, 'jira:payments': second },
      routes: [ROUTE, { ...ROUTE, owner: 'shop/payments', platform: 'jira:payments' }],
    }
    expect(secretFilesOf(declared)).to.include.members(['jira.apiToken', 'jira.payments.apiToken'])
    const built = buildLayer(declared, new Map([...TOKEN, ['jira.payments.apiToken', 'other']]))
    expect(built.ok && built.value.platforms['jira:payments']?.fields).to.deep.equal({ ...second.settings, apiToken: 'other' })
    expect(built.ok && built.value.platforms.jira?.fields).to.include({ apiToken: 'token' })
    expect(buildLayer(declared, TOKEN)).to.deep.equal({
      ok: false,
      problems: ['jira.payments.apiToken: expected a file that holds the value, seen none'],
    })
  })

  for (const { name, declared, files = TOKEN, problem } of REFUSED)
    it(`refuses ${name}`, () => expect(buildLayer(declared, files)).to.deep.equal({ ok: false, problems: [problem] }))

  for (const [name, text, problem] of UNREADABLE)
    it(`refuses ${name}`, () => {
      const parsed = parseDeclaration(text)
      expect(parsed.ok ? [] : parsed.problems).to.have.length(1)
      expect(!parsed.ok && parsed.problems[0]).to.match(problem)
    })

  it('names every problem at once', () => {
    const built = buildLayer({ ...SOUND, anomaly: { lookbackWindow: 'soon' }, routes: [{ ...ROUTE, platform: 'slack' }] }, new Map())
    expect(built.ok ? [] : built.problems).to.have.length(3)
  })
})
