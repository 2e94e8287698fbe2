import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { HttpServer } from '../../http/server.ts'
import type { DeclaredLayer } from '../../ports/declared-ticketing.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../testing/http-caller.ts'
import { createMemorySearchStore } from '../../testing/memory-search-store.ts'
import { startTicketing } from './ticketing.ts'

const ROUTES: DeclaredLayer['routes'] = [
  { owner: 'shop/pager', platform: 'pagerduty', severities: ['critical', 'high'], services: ['checkout*'], escalation: false },
  { owner: 'shop/tickets', platform: 'jira', severities: ['high'], escalation: false },
  { owner: 'shop/tickets-too', platform: 'jira', severities: ['high', 'low'], escalation: false },
  { owner: 'shop/late', platform: 'jira', severities: ['critical'], escalation: true },
]
const LAYER: DeclaredLayer = {
  anomaly: { minimumScore: 0.95 },
  llm: { provider: 'openai', model: 'small', apiKey: 'sk' },
  platforms: {
    pagerduty: { owner: 'shop/pager', fields: { routingKey: 'rk' } },
    jira: { owner: 'shop/tickets', fields: { baseUrl: 'https://shop.example', userEmail: 'bot@shop.example', apiToken: 'token' } },
  },
  routes: ROUTES,
}

describe('ticketing configuration that TicketingRoutes declare', () => {
  let layer: DeclaredLayer | undefined
  let problems: readonly string[]
  let server: HttpServer
  let api: HttpCaller

  beforeEach(async () => {
    layer = LAYER
    problems = []
    const declared = { current: () => layer, problems: () => problems }
    const deps = { store: createMemorySearchStore(), clock: createFakeClock(), log: SILENT, declared }
    server = await startTicketing({ ...deps, host: '127.0.0.1', port: 0 })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  })
  afterEach(() => server.stop())
  const config = async (tenant?: string) => (await api.get('/api/v1/config', tenant)).body
  const patchAnomaly = (body: unknown) => api.send('PATCH', '/api/v1/config/anomaly', body)

  it('GET /api/v1/config shows platforms and routing, secrets masked as ****', async () => {
    expect(await config()).to.deep.equal({
      platforms: {
        pagerduty: { enabled: true, routingKey: '****' },
        jira: { enabled: true, baseUrl: 'https://shop.example', userEmail: 'bot@shop.example', apiToken: '****' },
      },
      routing: { critical: ['pagerduty'], high: ['pagerduty', 'jira'], medium: [], low: ['jira'] },
      anomaly: { minimumScore: 0.95, lookbackWindow: '15m', recurring: 'dispatch' },
      llm: { provider: 'openai', model: 'small', apiKey: '****' },
      escalation: { critical: null, high: null, medium: null, low: null },
      declared: {
        platforms: { pagerduty: 'shop/pager', jira: 'shop/tickets' },
        routes: ROUTES,
        anomaly: { minimumScore: 0.95 },
        llm: { provider: 'openai' },
      },
    })
  })

  it('shows the configured routing of a severity too where its routes are for some services alone', async () => {
    layer = undefined
    await api.send('PATCH', '/api/v1/config/routing', { critical: ['slack'], high: ['slack'], low: ['slack'] })
    layer = LAYER
    const { routing } = await config()
    expect(routing).to.deep.equal({ critical: ['slack', 'pagerduty'], high: ['pagerduty', 'jira'], medium: [], low: ['jira'] })
  })

  it('counts for every tenant, and shows its secrets to none', async () => {
    expect(await config('acme')).to.deep.equal(await config())
    expect(JSON.stringify(await config('acme'))).not.to.match(/"(rk|token|sk)"/)
  })

  it('changes as the files do', async () => {
    layer = undefined
    expect(await config()).to.deep.equal({
      platforms: {},
      routing: { critical: [], high: [], medium: [], low: [] },
      anomaly: { minimumScore: 0.85, lookbackWindow: '15m', recurring: 'dispatch' },
      llm: { provider: 'none', model: '' },
      escalation: { critical: null, high: null, medium: null, low: null },
    })
  })

  it('wins over PATCHed values: a declared field answers 409, naming who owns it, and nothing is changed', async () => {
    expect((await patchAnomaly({ minimumScore: 0.5, lookbackWindow: '1h' })).body).to.deep.equal({
      error: 'minimumScore: declared as 0.95: change it in spec.ticketing.anomaly of the LogPipeline',
      status: 409,
    })
    expect((await patchAnomaly({ lookbackWindow: '30m' })).body).to.deep.equal({
      status: 'ok',
      anomaly: { minimumScore: 0.95, lookbackWindow: '30m', recurring: 'dispatch' },
    })
    layer = undefined
    expect((await config()).anomaly, 'what was PATCHed alone').to.deep.equal({
      minimumScore: 0.85,
      lookbackWindow: '30m',
      recurring: 'dispatch',
    })
  })

  it('owns its platforms, its severities and its model: a PATCH of them answers 409, and of others is taken', async () => {
    const patch = (section: string, body: unknown) => api.send('PATCH', `/api/v1/config/${section}`, body)
    const errors = async (section: string, body: unknown) => {
      const { status, body: answer } = await patch(section, body)
      return [status, answer.error]
    }
    expect(await errors('platforms', { jira: { enabled: false }, pagerduty: null, 'jira:ops': { enabled: true } })).to.deep.equal([
      409,
      'jira: declared by TicketingRoute shop/tickets: change it there; pagerduty: declared by TicketingRoute shop/pager: change it there',
    ])
    expect(await errors('routing', { high: ['slack'] })).to.deep.equal([
      409,
      'high: declared by TicketingRoute shop/pager: change it there',
    ])
    expect(await errors('llm', { model: 'big' })).to.deep.equal([
      409,
      'model: declared: change it in spec.ticketing.llm of the LogPipeline',
    ])
    expect((await patch('routing', { medium: ['jira'] })).body).to.deep.equal({ status: 'ok', routing: { medium: ['jira'] } })
    expect((await config()).routing).to.deep.equal({
      critical: ['pagerduty'],
      high: ['pagerduty', 'jira'],
      medium: ['jira'],
      low: ['jira'],
    })
  })

  it("has several targets of one platform: each is owned by its route, and others of that platform are the caller's", async () => {
    const payments = { owner: 'shop/payments', fields: { ...LAYER.platforms.jira!.fields, projectKey: 'PAY', apiToken: 'other' } }
    const route = { owner: 'shop/payments', platform: 'jira:payments', severities: ['low'], escalation: false } as const
    layer = { ...LAYER, platforms: { ...LAYER.platforms, 'jira:payments': payments }, routes: [...ROUTES, route] }
    const { platforms, routing, declared } = await config()
    expect(platforms['jira:payments']).to.deep.include({ enabled: true, projectKey: 'PAY', apiToken: '****' })
    expect(routing.low).to.deep.equal(['jira', 'jira:payments'])
    expect(declared.platforms).to.deep.include({ jira: 'shop/tickets', 'jira:payments': 'shop/payments' })
    const patch = (id: string) => api.send('PATCH', '/api/v1/config/platforms', { [id]: { enabled: false } })
    expect((await patch('jira:payments')).body).to.deep.equal({
      error: 'jira:payments: declared by TicketingRoute shop/payments: change it there',
      status: 409,
    })
    expect((await patch('jira:mine')).body.error).not.to.match(/declared/)
  })

  it('tells in the configuration and in /health why a file cannot be used, and works on', async () => {
    problems = ['ticketing.json: routes: expected array, seen nothing']
    expect((await config()).declared.problems).to.deep.equal(problems)
    expect(await api.get('/health')).to.deep.include({ status: 200, body: { status: 'ok', declaredConfig: 'error' } })
    problems = []
    expect((await api.get('/health')).body).to.deep.equal({ status: 'ok' })
  })
})
