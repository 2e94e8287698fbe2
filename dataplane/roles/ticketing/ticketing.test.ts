import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { auditIndex, CONFIG_INDEX, incidentsIndex } from '../../contract/indices.ts'
import type { HttpServer } from '../../http/server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock, type FakeClock } from '../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../testing/http-caller.ts'
import { buildIncident, storeIncidents } from '../../testing/incident-fixture.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../testing/memory-search-store.ts'
import { startTicketing } from './ticketing.ts'

const NOW = '2026-01-01T01:00:00.000Z'
const LATER = '2026-01-01T01:00:01.000Z'

/** An incident without a trace, that nobody was told of, as callers see it. */
const shown = (overrides: Parameters<typeof buildIncident>[0]) => ({
  ...buildIncident(overrides),
  traceId: '',
  recurring: false,
  dispatches: {},
})

describe('ticketing', () => {
  let store: MemorySearchStore
  let clock: FakeClock
  let server: HttpServer
  let api: HttpCaller

  beforeEach(async () => {
    store = createMemorySearchStore()
    clock = createFakeClock(Date.parse(NOW))
    server = await startTicketing({ store, clock, log: SILENT, host: '127.0.0.1', port: 0 })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  })
  afterEach(() => server.stop())

  const act = (id: string, action: string, body?: unknown, tenant?: string) =>
    api.send('POST', `/api/incidents/${id}/${action}`, body, tenant)
  const trail = async (id: string) => (await api.get(`/api/v1/audit?incident_id=${id}`)).body.entries

  it('answers a standard health check with { status: ok }', async () => {
    expect((await api.get('/health')).body).to.deep.equal({ status: 'ok' })
  })

  describe('GET /api/incidents', () => {
    beforeEach(() =>
      storeIncidents(
        store,
        { id: 'i1', createdAt: '2026-01-01T00:01:00.000Z', severity: 'critical' },
        { id: 'i2', createdAt: '2026-01-01T00:02:00.000Z', status: 'resolved', service: 'payment' },
        { id: 'i3', createdAt: '2026-01-01T00:03:00.000Z', status: 'acknowledged' },
        { id: 'i4', createdAt: '2026-01-01T00:03:00.000Z', tenantId: 'acme' },
      ),
    )
    const ids = async (query: string, tenant?: string) =>
      (await api.get(`/api/incidents${query}`, tenant)).body.map(({ id }: { id: string }) => id)

    it('always has the traceId, empty where no anomaly of the incident has a trace', async () => {
      await storeIncidents(store, { id: 'i5', createdAt: '2026-01-01T00:05:00.000Z', traceId: '70ad787d48fd22a2601c24c7ac76f948' })
      const { body } = await api.get('/api/incidents?limit=2')
      expect(body.map(({ id, traceId }: { id: string; traceId: unknown }) => [id, traceId])).to.deep.equal([
        ['i5', '70ad787d48fd22a2601c24c7ac76f948'],
        ['i4', ''],
      ])
    })

    const cases: readonly { name: string; query: string; tenant?: string; expected: readonly string[] }[] = [
      { name: 'lists newest first, of all tenants', query: '', expected: ['i4', 'i3', 'i2', 'i1'] },
      { name: "is scoped to the caller's tenant", query: '', tenant: 'acme', expected: ['i4'] },
      { name: 'lists nothing for a tenant without incidents', query: '', tenant: 'nobody', expected: [] },
      { name: 'filters by status', query: '?status=open', expected: ['i4', 'i1'] },
      { name: 'filters by severity', query: '?severity=critical', expected: ['i1'] },
      { name: 'filters by service', query: '?service=payment', expected: ['i2'] },
      { name: 'filters by several at once', query: '?status=open&severity=high', expected: ['i4'] },
      {
        name: 'from and to bound createdAt, both inclusive',
        query: '?from=2026-01-01T00:02:00Z&to=2026-01-01T00:03:00Z',
        expected: ['i4', 'i3', 'i2'],
      },
      { name: 'limit', query: '?limit=2', expected: ['i4', 'i3'] },
    ]
    for (const { name, query, tenant, expected } of cases) it(name, async () => expect(await ids(query, tenant)).to.deep.equal(expected))

    it('answers incidents as the specification shows them', async () => {
      const [incident] = (await api.get('/api/incidents?severity=critical')).body
      expect(incident).to.deep.equal(shown({ id: 'i1', createdAt: '2026-01-01T00:01:00.000Z', severity: 'critical' }))
    })

    it('pages with x-next-cursor, each incident once, also where times are equal', async () => {
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const page = await api.get(`/api/incidents?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`)
        seen.push(...page.body.map(({ id }: { id: string }) => id))
        cursor = page.headers.get('x-next-cursor')
      } while (cursor !== null)
      expect(seen).to.deep.equal(['i4', 'i3', 'i2', 'i1'])
    })

    const refused: readonly [string, string][] = [
      ['?status=closed', 'status: expected one of open, acknowledged, escalated, resolved, seen "closed"'],
      ['?severity=HIGH', 'severity: expected one of critical, high, medium, low, seen "HIGH"'],
      ['?limit=0', 'limit: expected number to be >=1, seen 0'],
      ['?limit=1001', 'limit: expected number to be <=1000, seen 1001'],
      ['?limit=ten', 'limit: expected an integer from 1 to 1000, seen "ten"'],
      ['?cursor=zzz', 'cursor: expected the x-next-cursor of an earlier answer, seen "zzz"'],
      ['?from=yesterday', 'from: expected an ISO-8601 time such as 2026-01-31T12:00:00Z, seen "yesterday"'],
      ['?state=open', 'state: unknown field'],
    ]
    for (const [query, error] of refused)
      it(`400 for ${query}`, async () => expect((await api.get(`/api/incidents${query}`)).body).to.deep.equal({ error, status: 400 }))
  })

  describe('incidents of earlier versions, and of programs that write into the index themselves', () => {
    const broken: Readonly<Record<string, object>> = {
      'all-null': Object.fromEntries([...Object.keys(buildIncident()), 'ticketing', 'rootCause', 'lastChange'].map(key => [key, null])),
      empty: {},
      lists: { platforms: [null, 7], affectedServices: 'checkout', evidence: { patternId: 'p' }, ticketing: { owed: null, told: {} } },
      'other-words': { severity: 'SEV1', status: 'new', createdAt: 1_767_225_600_000, tenantId: 'No Tenant', rootCause: 'disk full' },
    }
    beforeEach(async () => {
      await storeIncidents(store, { id: 'whole' })
      for (const [id, document] of Object.entries(broken)) await store.put(incidentsIndex('default'), id, document)
    })

    it('are listed beside the others, with the fields that every incident has', async () => {
      const { status, body } = await api.get('/api/incidents')
      expect(status).to.equal(200)
      expect(body.map(({ id }: { id: string }) => id)).to.have.members(['whole', ...Object.keys(broken)])
      for (const incident of body) {
        expect(incident.platforms, incident.id).to.deep.equal([])
        expect(incident.evidence, incident.id).to.deep.equal([])
        expect(incident.severity, incident.id).to.be.oneOf(['medium', 'high'])
        expect(incident.tenantId, incident.id).to.equal('default')
      }
    })

    for (const id of Object.keys(broken)) {
      it(`${id}: is read, with its audit trail, and changed`, async () => {
        for (const path of [`/api/incidents/${id}`, `/api/v1/audit?incident_id=${id}`])
          expect((await api.get(path)).status, path).to.equal(200)
        for (const action of ['acknowledge', 'escalate', 'resolve', 'reopen']) {
          const answer = await act(id, action)
          expect([answer.status, answer.body.error], action).to.deep.equal([200, undefined])
        }
      })
    }

    it('count by the severity and service that they are shown with', async () => {
      const { body } = await api.get('/api/v1/stats?from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z')
      expect(Object.keys(body.bySeverity)).to.have.members(['critical', 'high', 'medium', 'low'])
      expect(Object.keys(body.byService)).to.have.members(['checkout', 'unknown_service'])
    })
  })

  it('lists nothing on a fresh installation, where no index exists', async () => {
    expect((await api.get('/api/incidents')).body).to.deep.equal([])
    expect((await api.get('/api/incidents/none')).status).to.equal(404)
  })

  describe('GET /api/incidents/:id', () => {
    beforeEach(() => storeIncidents(store, { id: 'i1', tenantId: 'acme' }))

    it('returns one incident whole', async () => {
      expect((await api.get('/api/incidents/i1')).body).to.deep.equal(shown({ id: 'i1', tenantId: 'acme' }))
      expect((await api.get('/api/incidents/i1', 'acme')).status).to.equal(200)
    })

    it("403 outside the caller's tenant, 404 for an unknown id", async () => {
      expect((await api.get('/api/incidents/i1', 'other')).body).to.deep.equal({
        error: 'incident i1 belongs to another tenant',
        status: 403,
      })
      expect((await api.get('/api/incidents/i9')).body).to.deep.equal({ error: 'no incident has the id "i9"', status: 404 })
    })
  })

  describe('state changes', () => {
    beforeEach(() => storeIncidents(store, { id: 'i1' }))

    it('acknowledge answers { id, status, acknowledgedAt }', async () => {
      expect((await act('i1', 'acknowledge')).body).to.deep.equal({ id: 'i1', status: 'acknowledged', acknowledgedAt: NOW })
      expect((await api.get('/api/incidents/i1')).body).to.deep.equal(
        shown({ id: 'i1', status: 'acknowledged', acknowledgedAt: NOW, updatedAt: NOW }),
      )
    })

    it('resolve answers { id, status, resolvedAt }', async () => {
      expect((await act('i1', 'resolve', {})).body).to.deep.equal({ id: 'i1', status: 'resolved', resolvedAt: NOW })
    })

    it('escalate answers { id, status, escalatedAt, escalatedTo }, which is empty without platforms', async () => {
      expect((await act('i1', 'escalate')).body).to.deep.equal({ id: 'i1', status: 'escalated', escalatedAt: NOW, escalatedTo: [] })
    })

    it('reopen answers { id, status, reopenedAt } and takes the traces of the closed state back', async () => {
      await act('i1', 'resolve')
      clock.advance(1000)
      expect((await act('i1', 'reopen')).body).to.deep.equal({ id: 'i1', status: 'open', reopenedAt: LATER })
      expect((await api.get('/api/incidents/i1')).body).to.deep.equal(shown({ id: 'i1', reopenedAt: LATER, updatedAt: LATER }))
    })

    it('409 for an illegal transition, naming the current status', async () => {
      await act('i1', 'resolve')
      const { status, body } = await act('i1', 'acknowledge')
      expect(status).to.equal(409)
      expect(body).to.deep.equal({ error: 'incident i1: cannot acknowledge an incident that is resolved: it must be open', status: 409 })
    })

    it("keeps actor and note in the audit entry's details", async () => {
      await act('i1', 'acknowledge', { actor: 'ada', note: 'looking into it' })
      expect(await trail('i1')).to.deep.equal([{ action: 'acknowledged', timestamp: NOW, details: 'acknowledged by ada: looking into it' }])
    })

    it('400 for an unknown field in the body, and nothing changes', async () => {
      const { status, body } = await act('i1', 'acknowledge', { user: 'ada', note: 5 })
      expect([status, body.error]).to.deep.equal([400, 'note: expected string, seen 5; user: unknown field'])
      expect((await api.get('/api/incidents/i1')).body.status).to.equal('open')
    })

    it('an id that another tenant has, too, is one of the caller, however many tenants have it', async () => {
      const tenants = ['acme', 'beta', 'gamma', 'delta']
      await storeIncidents(
        store,
        ...tenants.flatMap(tenantId => [
          { id: 'same-1', tenantId },
          { id: 'same-2', tenantId },
        ]),
      )
      for (const tenant of tenants) {
        expect((await act('same-1', 'acknowledge', undefined, tenant)).status, tenant).to.equal(200)
        const { body } = await api.send('POST', '/api/v1/incidents/batch', { ids: ['same-1', 'same-2'], action: 'resolve' }, tenant)
        expect(body, tenant).to.deep.include({ updated: 2, ids: ['same-1', 'same-2'] })
        expect((await api.get('/api/incidents/same-2', tenant)).body).to.deep.include({ tenantId: tenant, status: 'resolved' })
      }
      expect((await act('same-1', 'resolve', undefined, 'epsilon')).status).to.equal(403)
    })

    it("403 for another tenant's incident, 404 for an unknown one", async () => {
      expect((await act('i1', 'acknowledge', undefined, 'acme')).status).to.equal(403)
      expect((await act('i9', 'acknowledge')).status).to.equal(404)
      expect((await act('i1', 'close')).status).to.equal(404)
    })

    for (const action of ['acknowledge', 'resolve', 'escalate']) {
      it(`of 20 concurrent calls to ${action} exactly one wins, the others get 409`, async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => act('i1', action)))
        expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, ...Array(19).fill(409)])
        expect(await trail('i1')).to.have.length(1)
      })
    }

    it('a state change that came in between gets the other 409, even where its own would still be legal', async () => {
      store.beforePut = async index => {
        if (index !== incidentsIndex('default')) return
        store.beforePut = undefined
        await act('i1', 'acknowledge')
      }
      const { status, body } = await act('i1', 'resolve')
      expect([status, body.error]).to.deep.equal([409, 'incident i1: somebody else changed it in the same moment: it is now acknowledged'])
    })

    it('an anomaly folded in meanwhile does not stand in the way, nor is it lost', async () => {
      store.beforePut = async index => {
        if (index !== incidentsIndex('default')) return
        store.beforePut = undefined
        await storeIncidents(store, { id: 'i1', anomalyCount: 4 })
      }
      expect((await act('i1', 'acknowledge')).status).to.equal(200)
      expect((await api.get('/api/incidents/i1')).body).to.include({ status: 'acknowledged', anomalyCount: 4 })
    })
  })

  describe('POST /api/incidents/:id/comment', () => {
    beforeEach(() => storeIncidents(store, { id: 'i1', tenantId: 'acme' }))

    it('keeps the words in the audit trail, in whatever state the incident is, and changes nothing of it', async () => {
      const before = (await api.get('/api/incidents/i1')).body
      const { status, body } = await act('i1', 'comment', { actor: 'ada', note: 'the pool is empty' })
      expect([status, body]).to.deep.equal([200, { id: 'i1', status: 'open', commentedAt: NOW }])
      expect((await api.get('/api/incidents/i1')).body).to.deep.equal(before)
      await act('i1', 'resolve')
      expect((await act('i1', 'comment', { note: 'it was the deployment' })).body.status).to.equal('resolved')
      expect((await trail('i1')).map(({ details }: { details: string }) => details).toSorted()).to.deep.equal([
        'commented by ada: the pool is empty',
        'commented: it was the deployment',
        'resolved',
      ])
    })

    it('400 without words, 403 for another tenant, 404 for an unknown incident; a store that is away is no success', async () => {
      for (const body of [undefined, {}, { note: ' ' }, { note: 'x'.repeat(4_001) }, { note: 'x', action: 'resolve' }])
        expect((await act('i1', 'comment', body)).status, JSON.stringify(body)).to.equal(400)
      expect((await act('i1', 'comment', { note: 'x' }, 'other')).status).to.equal(403)
      expect((await act('i9', 'comment', { note: 'x' })).status).to.equal(404)
      store.unavailable = true
      expect((await act('i1', 'comment', { note: 'x' })).status).to.equal(503)
      store.unavailable = false
      expect(await trail('i1')).to.deep.equal([])
    })

    it('of many at the same moment each is kept', async () => {
      await Promise.all(Array.from({ length: 20 }, (_, i) => act('i1', 'comment', { note: `words ${i}` })))
      expect(await trail('i1')).to.have.length(20)
    })
  })

  describe('GET /api/v1/audit', () => {
    beforeEach(() => storeIncidents(store, { id: 'i1', tenantId: 'acme' }))

    it('covers every acknowledge, escalate, resolve and reopen with a timestamp, in order even within one millisecond', async () => {
      for (const action of ['acknowledge', 'escalate', 'resolve', 'reopen', 'acknowledge']) await act('i1', action)
      const { body } = await api.get('/api/v1/audit?incident_id=i1', 'acme')
      expect(body.incident_id).to.equal('i1')
      expect(body.entries.map(({ action }: { action: string }) => action)).to.deep.equal([
        'acknowledged',
        'escalated',
        'resolved',
        'reopened',
        'acknowledged',
      ])
      expect(body.entries.map(({ timestamp }: { timestamp: string }) => timestamp.slice(-4))).to.deep.equal([
        '000Z',
        '001Z',
        '002Z',
        '003Z',
        '004Z',
      ])
    })

    for (const next of ['read', 'change'] as const) {
      it(`an entry that a crash kept from the index is there after the next ${next}`, async () => {
        store.beforePut = index => {
          if (index === auditIndex('acme')) store.unavailable = true
        }
        await act('i1', 'acknowledge')
        expect(store.documents(auditIndex('acme')).size).to.equal(1)
        store.beforePut = undefined
        await store.deleteIndex(auditIndex('acme'))
        store.unavailable = false
        if (next === 'change') await act('i1', 'resolve')
        expect((await trail('i1')).map(({ action }: { action: string }) => action)).to.deep.equal(
          next === 'change' ? ['acknowledged', 'resolved'] : ['acknowledged'],
        )
        expect(store.documents(auditIndex('acme')).size).to.equal(next === 'change' ? 2 : 1)
      })
    }

    it("400 without incident_id, 404 for an unknown one, 403 for another tenant's", async () => {
      expect((await api.get('/api/v1/audit')).body.error).to.equal('incident_id: expected string, seen nothing')
      expect((await api.get('/api/v1/audit?incident_id=i9')).status).to.equal(404)
      expect((await api.get('/api/v1/audit?incident_id=i1', 'other')).status).to.equal(403)
    })
  })

  describe('POST /api/v1/incidents/batch', () => {
    beforeEach(() => storeIncidents(store, { id: 'i1' }, { id: 'i2', status: 'resolved' }, { id: 'i3', tenantId: 'acme' }))
    const batch = (body: unknown, tenant?: string) => api.send('POST', '/api/v1/incidents/batch', body, tenant)

    it('applies to the ids for which the action is legal, and names the rest with reasons', async () => {
      expect((await batch({ ids: ['i1', 'i2', 'i3', 'i9', 'i1'], action: 'acknowledge', actor: 'ada' }, 'default')).body).to.deep.equal({
        updated: 1,
        action: 'acknowledge',
        ids: ['i1'],
        skipped: [
          { id: 'i2', reason: 'cannot acknowledge an incident that is resolved: it must be open' },
          { id: 'i3', reason: 'belongs to another tenant' },
          { id: 'i9', reason: 'unknown incident' },
        ],
      })
      expect((await trail('i1'))[0].details).to.equal('acknowledged by ada')
    })

    it('takes the action reopen', async () => {
      expect((await batch({ ids: ['i2'], action: 'reopen' })).body).to.deep.equal({
        updated: 1,
        action: 'reopen',
        ids: ['i2'],
        skipped: [],
      })
    })

    it('takes 500 ids, not 501', async () => {
      const ids = Array.from({ length: 500 }, (_, i) => `b${i}`)
      await storeIncidents(store, ...ids.map(id => ({ id })))
      expect((await batch({ ids, action: 'resolve' })).body).to.include({ updated: 500 })
      expect((await batch({ ids: [...ids, 'x'], action: 'resolve' })).status).to.equal(400)
    })

    const refused: readonly [string, unknown, string][] = [
      [
        'an unknown action',
        { ids: ['i1'], action: 'close' },
        'action: expected one of acknowledge, resolve, escalate, reopen, seen "close"',
      ],
      ['empty ids', { ids: [], action: 'resolve' }, 'ids: expected array to have >=1 items, seen an array of 0'],
      [
        'missing ids and action',
        {},
        'ids: expected array, seen nothing; action: expected one of acknowledge, resolve, escalate, reopen, seen nothing',
      ],
      ['ids that are no strings', { ids: [1], action: 'resolve' }, 'ids.0: expected string, seen 1'],
    ]
    for (const [name, body, error] of refused)
      it(`400 for ${name}`, async () => expect((await batch(body)).body).to.deep.equal({ error, status: 400 }))
  })

  describe('configuration', () => {
    const patch = (body: unknown, tenant?: string) => api.send('PATCH', '/api/v1/config/anomaly', body, tenant)
    const anomaly = async (tenant?: string) => (await api.get('/api/v1/config', tenant)).body.anomaly

    it('GET /api/v1/config returns the complete runtime configuration', async () => {
      expect((await api.get('/api/v1/config')).body).to.deep.equal({
        platforms: {},
        routing: { critical: [], high: [], medium: [], low: [] },
        anomaly: { minimumScore: 0.85, lookbackWindow: '15m', recurring: 'dispatch' },
        llm: { provider: 'none', model: '' },
        escalation: { critical: null, high: null, medium: null, low: null },
      })
    })

    it('PATCH /api/v1/config/anomaly answers and keeps the stored section', async () => {
      expect((await patch({ minimumScore: 0.9, lookbackWindow: '30m' })).body).to.deep.equal({
        status: 'ok',
        anomaly: { minimumScore: 0.9, lookbackWindow: '30m', recurring: 'dispatch' },
      })
      expect(await anomaly()).to.deep.equal({ minimumScore: 0.9, lookbackWindow: '30m', recurring: 'dispatch' })
    })

    it('a field that is not sent stays', async () => {
      await patch({ minimumScore: 0.9 })
      expect((await patch({ lookbackWindow: '1h' })).body.anomaly).to.include({ minimumScore: 0.9, lookbackWindow: '1h' })
      expect((await patch({})).body.anomaly).to.include({ minimumScore: 0.9, lookbackWindow: '1h' })
    })

    it('is per tenant; what a tenant never set falls back to the tenant default', async () => {
      await patch({ minimumScore: 0.7 })
      expect(await anomaly('acme')).to.deep.equal({ minimumScore: 0.7, lookbackWindow: '15m', recurring: 'dispatch' })
      await patch({ lookbackWindow: '5m' }, 'acme')
      expect(await anomaly('acme')).to.include({ minimumScore: 0.7, lookbackWindow: '5m' })
      expect(await anomaly()).to.deep.equal({ minimumScore: 0.7, lookbackWindow: '15m', recurring: 'dispatch' })
    })

    it('concurrent changes of different fields both stand', async () => {
      await Promise.all([patch({ minimumScore: 0.6 }), patch({ lookbackWindow: '2h' })])
      expect(await anomaly()).to.include({ minimumScore: 0.6, lookbackWindow: '2h' })
      expect(store.documents(CONFIG_INDEX).size).to.equal(1)
    })

    it('400 names every problem, and nothing changes', async () => {
      const { status, body } = await patch({ minimumScore: 1.5, lookbackWindow: 'soon', window: 1 })
      expect(status).to.equal(400)
      expect(body.error).to.equal(
        'minimumScore: expected number to be <=1, seen 1.5; lookbackWindow: expected a duration from 1s to 7d, such as 15m or 1h30m, seen "soon"; window: unknown field',
      )
      expect(await anomaly()).to.deep.equal({ minimumScore: 0.85, lookbackWindow: '15m', recurring: 'dispatch' })
    })
  })

  it('503 while the search store cannot be reached', async () => {
    store.unavailable = true
    expect((await api.get('/api/incidents')).body).to.deep.equal({ error: 'the search store cannot be reached', status: 503 })
    expect((await api.get('/health')).status).to.equal(200)
  })

  it('counts state changes', async () => {
    await storeIncidents(store, { id: 'i1' })
    await act('i1', 'acknowledge')
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    expect(text).to.contain('service_ticketing_acknowledged_total 1')
  })
})
