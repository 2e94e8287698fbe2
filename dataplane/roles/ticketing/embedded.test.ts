import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { createSearchStore } from '../../adapters/search/search-store.ts'
import { loadSettings } from '../../config/environment.ts'
import { PLATFORM_NAMES } from '../../contract/platforms.ts'
import { platformSettings, routingSettings } from '../../demo/platforms/settings.ts'
import { type StubPlatforms, startStubPlatforms } from '../../demo/platforms/start.ts'
import type { SearchStore } from '../../ports/search-store.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createCaller, type HttpCaller } from '../../testing/http-caller.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { start as startSearch } from '../search/index.ts'
import { start as startTicketing } from './index.ts'

/** The roles as the program starts them, over the embedded search store. */
describe('ticketing on the embedded search store', () => {
  const stops: (() => Promise<unknown> | unknown)[] = []
  let store: SearchStore
  let api: HttpCaller
  /** Calls another agent on the same store, which may speak to public addresses alone. */
  let replica: HttpCaller

  before(async function () {
    this.timeout(20_000)
    const dataDir = mkdtempSync(join(tmpdir(), 'logpipeline-ticketing-'))
    stops.push(() => rmSync(dataDir, { recursive: true }))
    const context = { log: SILENT, clock: systemClock }
    const listen = { HOST: '127.0.0.1', DATA_DIR: dataDir, SEARCH_PORT: '0', TICKETING_PORT: '0' }
    const search = await startSearch({ settings: loadSettings('search', listen), ...context })
    stops.push(() => search.stop())
    const endpoint = `http://127.0.0.1:${search.port}`
    store = createSearchStore({ endpoint })
    stops.push(() => store.close())
    const shared = { ...listen, SEARCH_ENDPOINT: endpoint, ENCRYPTION_KEY: randomBytes(32).toString('base64') }
    const startReplica = async (own: object = {}) => {
      const settings = loadSettings('ticketing', { ...shared, ...own })
      const ticketing = await startTicketing({ settings, ...context })
      stops.push(() => ticketing.stop())
      return createCaller(`http://127.0.0.1:${ticketing.port}`)
    }
    api = await startReplica({ ALLOW_PRIVATE_TARGETS: 'true' })
    replica = await startReplica()
  })
  after(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  it('lists nothing on a fresh installation, and has the configuration of the specification', async () => {
    expect((await api.get('/api/incidents')).body).to.deep.equal([])
    expect((await api.get('/api/incidents?status=open', 'acme')).body).to.deep.equal([])
    expect((await api.get('/api/v1/config')).body.anomaly).to.deep.equal({
      minimumScore: 0.85,
      lookbackWindow: '15m',
      recurring: 'dispatch',
    })
    expect((await api.get('/api/v1/audit?incident_id=none')).status).to.equal(404)
  })

  it('takes an incident through its states, leaving an entry for each', async () => {
    await putIndexTemplates(store)
    await storeIncidents(store, { id: 'i1' }, { id: 'i2', tenantId: 'acme', createdAt: '2026-01-02T00:00:00.000Z' })
    expect((await api.get('/api/incidents')).body.map(({ id }: { id: string }) => id)).to.deep.equal(['i2', 'i1'])
    for (const action of ['acknowledge', 'escalate', 'resolve', 'reopen'])
      expect((await api.send('POST', `/api/incidents/i1/${action}`, { actor: 'ada' })).status, action).to.equal(200)
    const { entries } = (await api.get('/api/v1/audit?incident_id=i1')).body
    expect(entries.map(({ action }: { action: string }) => action)).to.deep.equal(['acknowledged', 'escalated', 'resolved', 'reopened'])
    expect((await api.get('/api/incidents?status=open', 'default')).body).to.have.length(1)
    expect((await api.get('/api/incidents/i2', 'default')).status).to.equal(403)
  })

  it('of 20 concurrent acknowledges exactly one wins', async () => {
    await storeIncidents(store, { id: 'i3' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.send('POST', '/api/incidents/i3/acknowledge')))
    expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, ...Array(19).fill(409)])
  })

  it('of concurrent calls that ask for different things exactly one wins', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `at-once-${i}`)
    await storeIncidents(store, ...ids.map(id => ({ id })))
    for (const id of ids) {
      const actions = ['acknowledge', 'resolve', 'escalate', 'reopen']
      const answers = await Promise.all(actions.map(action => api.send('POST', `/api/incidents/${id}/${action}`)))
      expect(answers.map(({ status }) => status).toSorted(), id).to.deep.equal([200, 409, 409, 409])
    }
  })

  it('a batch of 500 and pages of it', async function () {
    // Two agents take the 500 incidents up meanwhile.
    this.timeout(30_000)
    const ids = Array.from({ length: 500 }, (_, i) => `b${i}`)
    await store.bulk(
      ids.map(id => ({
        action: 'index',
        index: 'service-incidents-acme',
        id,
        body: JSON.stringify({
          id,
          tenantId: 'acme',
          status: 'open',
          severity: 'low',
          service: 'batch',
          createdAt: '2026-01-01T00:00:00.000Z',
        }),
      })),
    )
    expect((await api.send('POST', '/api/v1/incidents/batch', { ids, action: 'resolve' }, 'acme')).body).to.include({ updated: 500 })
    const seen = new Set<string>()
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await api.get(`/api/incidents?service=batch&status=resolved&limit=150${cursor && `&cursor=${cursor}`}`)
      for (const { id } of page.body) seen.add(id)
      cursor = page.headers.get('x-next-cursor')
    }
    expect(seen.size).to.equal(500)
  })

  it('keeps the configuration a tenant sets', async () => {
    const change = { minimumScore: 0.5, lookbackWindow: '1h', recurring: 'dispatch' }
    expect((await api.send('PATCH', '/api/v1/config/anomaly', change, 'acme')).body).to.deep.equal({ status: 'ok', anomaly: change })
    expect((await api.get('/api/v1/config', 'acme')).body.anomaly).to.deep.equal(change)
  })

  it('keeps what callers of two agents change at once, and each agent reads the secrets of the other', async () => {
    const targets = Array.from({ length: 10 }, (_, i) => `slack:${i}`)
    const patch = (id: string, i: number) =>
      (i % 2 === 0 ? api : replica).send(
        'PATCH',
        '/api/v1/config/platforms',
        { [id]: { webhookUrl: `https://hooks.example/${i}` } },
        'shop',
      )
    for (const { status } of await Promise.all(targets.map(patch))) expect(status).to.equal(200)
    for (const caller of [api, replica]) {
      const { platforms, problems } = (await caller.get('/api/v1/config', 'shop')).body
      expect(Object.keys(platforms).sort()).to.deep.equal(targets)
      expect(problems).to.equal(undefined)
    }
  })

  describe('with platforms that keep the real contracts', () => {
    let stubs: StubPlatforms
    const secrets = () =>
      Object.values(platformSettings(stubs.addresses)).flatMap(({ routingKey, apiToken, password, apiKey, webhookUrl }) =>
        [routingKey, apiToken, password, apiKey, webhookUrl].filter(Boolean),
      )
    const test = async (caller: HttpCaller, body: object) => {
      const answer = await caller.send('POST', '/api/v1/test-connection', body, 'demo')
      for (const secret of secrets()) expect(JSON.stringify(answer.body)).not.to.include(secret)
      return answer
    }
    before(async () => {
      stubs = await startStubPlatforms({ host: '127.0.0.1', portBase: 0 })
      stops.push(() => stubs.stop())
    })

    it('takes all six, and routing to them', async () => {
      const wanted = platformSettings(stubs.addresses)
      const patched = await api.send('PATCH', '/api/v1/config/platforms', wanted, 'demo')
      expect(patched.body).to.deep.equal({ status: 'ok', updated: Object.keys(wanted) })
      expect((await api.send('PATCH', '/api/v1/config/routing', routingSettings(), 'demo')).body.routing).to.deep.equal(routingSettings())
    })

    for (const platform of PLATFORM_NAMES) {
      it(`${platform}: the connection test is ok`, async () => {
        const { status, body } = await test(api, { platform })
        expect({ status, body: { ...body, message: '' } }).to.deep.equal({ status: 200, body: { status: 'ok', platform, message: '' } })
        expect(body.message).to.be.a('string').and.not.equal('')
      })

      it(`${platform}: an agent that may speak to public addresses alone says so`, async () => {
        expect((await test(replica, { platform })).body).to.deep.include({ status: 'error', platform })
      })
    }

    for (const [platform, wrong] of Object.entries({
      pagerduty: { routingKey: 'x'.repeat(32) },
      jira: { apiToken: 'wrong-token' },
      servicenow: { password: 'wrong-password' },
      opsgenie: { apiKey: 'wrong-apikey' },
      email: { password: 'wrong-password' },
    }))
      it(`${platform}: a secret that is wrong is status error, and stays what it was`, async () => {
        const { status, body } = await test(api, { platform, config: wrong })
        expect(status).to.equal(200)
        expect(body).to.include({ status: 'error', platform })
        expect(JSON.stringify(body)).not.to.include(Object.values(wrong)[0])
        expect((await test(api, { platform })).body.status).to.equal('ok')
      })
  })
})
