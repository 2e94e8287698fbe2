/** Two tenants behind two gateways on one search store, with the ticketing agent itself: what one of them can reach of the other. */
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../../adapters/clock/system-clock.ts'
import { createApiKeyStore, hashKey } from '../../../api-keys/key-store.ts'
import { API_KEYS_INDEX, auditIndex, CONFIG_INDEX, incidentsIndex } from '../../../contract/indices.ts'
import type { HttpServer } from '../../../http/server.ts'
import { createFakePlatforms } from '../../../pipeline/tickets/testing/fake-platforms.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { storeIncidents } from '../../../testing/incident-fixture.ts'
import { putIndexTemplates } from '../../../testing/put-index-templates.ts'
import { createSecretCipher } from '../../ticketing/config/secret-cipher.ts'
import { startTicketing } from '../../ticketing/ticketing.ts'
import { type Answer, type Call, type Harness, startHarness } from './gateway-harness.ts'

export interface SharedStore {
  readonly store: SearchStore
  readonly endpoint: string
  stop(): Promise<void>
}

const SECRET = 'globex-secret'
const MINE = 'i-of-acme'
const THEIRS = 'i-of-globex'
const DAY = 'service-logs-2026.11.22'
const isoIn = (ms: number) => new Date(Date.now() + ms).toISOString()

export function testTenants(name: string, open: () => Promise<SharedStore>): void {
  describe(`two tenants on ${name}`, function () {
    this.timeout(60_000)
    const clock = createFakeClock(Date.parse('2026-11-22T12:00:00Z'))
    let shared: SharedStore
    let ticketing: HttpServer
    /** Two replicas. */
    let here: Harness
    let there: Harness

    before(async () => {
      shared = await open()
      const { store, endpoint } = shared
      await putIndexTemplates(store)
      await storeIncidents(
        store,
        { id: MINE, tenantId: 'acme', title: 'mine' },
        { id: THEIRS, tenantId: 'globex', title: SECRET, service: 'globex-cart' },
      )
      for (const tenant of ['acme', 'globex']) {
        const message = tenant === 'globex' ? SECRET : 'hello of acme'
        const fields = { timestamp: '2026-11-22T12:00:00.000Z', service: `${tenant}-cart`, level: 'INFO', message }
        await store.put(DAY, `log-of-${tenant}`, { ...fields, tenant_id: tenant })
      }
      for (const index of [incidentsIndex('acme'), incidentsIndex('globex'), DAY]) await store.refresh(index)
      const cipher = createSecretCipher([randomBytes(32)])
      const tickets = { platforms: createFakePlatforms().platforms }
      ticketing = await startTicketing({ store, cipher, tickets, clock: systemClock, log: SILENT, host: '127.0.0.1', port: 0 })
      const keys = createApiKeyStore({ store, clock: systemClock })
      const away = 'http://127.0.0.1:1'
      const backEnds = { ticketing: `http://127.0.0.1:${ticketing.port}`, bridge: away, agent: away, airflow: away, features: away }
      here = await startHarness({ keys, clock, backEnds }, endpoint)
      there = await startHarness({ keys, clock, backEnds }, endpoint)
      await asThem('/api/v1/config/platforms', {
        method: 'PATCH',
        body: { slack: { enabled: true, webhookUrl: `https://hooks.slack.com/services/${SECRET}` } },
      })
      await asThem('/api/v1/config/anomaly', { method: 'PATCH', body: { minimumScore: 0.77, lookbackWindow: '7m' } })
      await asThem('/api/v1/silences', {
        // The agent goes by the machine's clock.
        body: { services: ['globex-*'], from: isoIn(0), to: isoIn(3600_000), reason: SECRET },
      })
      await asThem(`/api/incidents/${THEIRS}/acknowledge`, { body: { actor: 'them', note: SECRET } })
      await store.refresh(auditIndex('globex'))
      await store.refresh(CONFIG_INDEX)
    })
    after(async () => {
      await here.stop()
      await there.stop()
      await ticketing.stop()
      await shared.stop()
    })

    const asThem = async (path: string, call: Call = {}): Promise<Answer> => {
      const answer = await here.call(`/api/ticketing${path}`, { ...call, key: here.foreignKey })
      expect(answer.status, answer.body.toString()).to.be.oneOf([200, 201])
      return answer
    }
    const asMe = (path: string, call: Call = {}) => here.call(`/api/ticketing${path}`, call)
    const tellsNothing = (answer: Answer) => {
      expect(answer.body.toString()).to.not.contain(SECRET).and.to.not.contain('globex')
      expect(JSON.stringify(answer.headers)).to.not.contain('globex')
    }

    it('each sees its own incident', async () => {
      expect((await asMe('/api/incidents')).json().map(({ id }: { id: string }) => id)).to.deep.equal([MINE])
      expect((await asThem('/api/incidents')).json().map(({ id }: { id: string }) => id)).to.deep.equal([THEIRS])
    })

    for (const query of ['?status=acknowledged', '?service=globex-cart', '?service=*', '?limit=1000', '?from=2000-01-01T00:00:00Z'])
      it(`the list with ${query} holds nothing of the other`, async () => tellsNothing(await asMe(`/api/incidents${query}`)))

    it('a cursor of the other lists nothing of theirs', async () => {
      const { headers } = await asThem('/api/incidents?limit=1')
      const cursor = headers['x-next-cursor'] ?? Buffer.from(JSON.stringify(['2026-01-02T00:00:00.000Z', THEIRS])).toString('base64url')
      tellsNothing(await asMe(`/api/incidents?cursor=${String(cursor)}`))
    })

    const foreign: readonly (readonly [path: string, call?: Call])[] = [
      [`/api/incidents/${THEIRS}`],
      [`/api/incidents/${THEIRS.replaceAll('-', '%2D')}`],
      [`/api/v1/audit?incident_id=${THEIRS}`],
      [`/api/v1/dispatches?incident_id=${THEIRS}`],
      ['/api/v1/dispatches/retry', { body: { incidentId: THEIRS, platform: 'slack' } }],
      ...['acknowledge', 'resolve', 'escalate', 'reopen'].map(
        action => [`/api/incidents/${THEIRS}/${action}`, { body: { actor: 'me', note: 'x' } }] as const,
      ),
    ]
    for (const [path, call] of foreign)
      it(`403 or 404 for ${call === undefined ? 'GET' : 'POST'} ${path}`, async () => {
        const headers = { 'x-service-tenant-id': 'globex', x_service_tenant_id: 'globex' }
        for (const sent of [call, { ...call, headers }, { ...call, headers, http2: true }]) {
          const answer = await asMe(path, sent)
          expect(answer.status, answer.body.toString()).to.be.oneOf([403, 404])
          expect(answer.body.toString()).to.not.contain(SECRET)
        }
      })

    for (const action of ['acknowledge', 'resolve', 'escalate', 'reopen'])
      it(`a batch ${action} with a foreign id leaves it as it is`, async () => {
        const answer = await asMe('/api/v1/incidents/batch', { body: { ids: [THEIRS, 'none'], action } })
        expect([answer.status, answer.json().updated, answer.json().ids]).to.deep.equal([200, 0, []])
        expect(answer.body.toString()).to.not.contain(SECRET)
        expect((await asThem(`/api/incidents/${THEIRS}`)).json()).to.include({ id: THEIRS, status: 'acknowledged' })
      })

    it("the other's audit trail knows the other's changes alone", async () => {
      const { entries } = (await asThem(`/api/v1/audit?incident_id=${THEIRS}`)).json()
      expect(entries.map(({ action }: { action: string }) => action)).to.deep.equal(['acknowledged'])
    })

    for (const path of ['/api/v1/config', '/api/v1/silences', '/api/v1/stats', '/api/v1/llm-status', '/api/v1/config?tenant=globex'])
      it(`GET ${path} says nothing of the other`, async () => {
        const answer = await asMe(path)
        tellsNothing(answer)
        expect(answer.body.toString()).to.not.contain('0.77').and.to.not.contain('"7m"')
      })

    it('a secret of the other is shown to nobody', async () => {
      expect((await asThem('/api/v1/config')).body.toString())
        .to.contain('****')
        .and.to.not.contain(SECRET)
    })

    it("a change of one's own configuration leaves the other's", async () => {
      const before = (await asThem('/api/v1/config')).json()
      await asMe('/api/v1/config/anomaly', { method: 'PATCH', body: { minimumScore: 0.9, lookbackWindow: '30m' } })
      await asMe('/api/v1/config/platforms', { method: 'PATCH', body: { slack: null } })
      expect((await asThem('/api/v1/config')).json()).to.deep.equal(before)
    })

    it("the other's silence cannot be deleted", async () => {
      const [{ id }] = (await asThem('/api/v1/silences')).json()
      expect((await asMe(`/api/v1/silences/${id}`, { method: 'DELETE' })).status).to.equal(404)
      expect((await asThem('/api/v1/silences')).json()).to.have.length(1)
    })

    it('an analysis finds nothing in the records of the other', async () => {
      const at = '2026-11-22T12:00:30Z'
      tellsNothing(await asMe('/api/v1/analyze', { body: { at, services: ['globex-cart'] } }))
    })

    for (const expression of ['service-logs-*', DAY, 'service-incidents-acme'])
      it(`a search of ${expression} finds one's own`, async () => {
        const answer = await here.call(`/api/search/${expression}/_search`, { body: { query: { match_all: {} } } })
        expect([answer.status, answer.json().hits.total.value]).to.deep.equal([200, 1])
        tellsNothing(answer)
      })

    const searches: Readonly<Record<string, object>> = {
      'a term of the other tenant': { query: { term: { tenant_id: 'globex' } } },
      'everything or the other': {
        query: { bool: { should: [{ match_all: {} }, { term: { tenant_id: 'globex' } }], minimum_should_match: 0 } },
      },
      'a query string': { query: { query_string: { query: '* OR tenant_id:globex' } } },
      'ids of the other': { query: { ids: { values: ['log-of-globex'] } } },
      'terms of a look-up': { query: { terms: { service: { index: DAY, id: 'log-of-globex', path: 'service' } } } },
      'a script': { query: { script: { script: 'true' } } },
      'a global aggregation': { size: 0, aggs: { all: { global: {}, aggs: { s: { terms: { field: 'service' } } } } } },
      'values of the other': { size: 0, aggs: { s: { terms: { field: 'service', min_doc_count: 0 } } } },
      'a runtime field': { runtime_mappings: { x: { type: 'keyword', script: "emit('x')" } } },
      'a suggestion': { suggest: { s: { text: 'globex', term: { field: 'message' } } } },
    }
    for (const [title, body] of Object.entries(searches))
      it(`a search with ${title} finds nothing of the other`, async () => {
        const answer = await here.call('/api/search/service-logs-*/_search', { body })
        expect(answer.status, answer.body.toString()).to.be.oneOf([200, 400, 403])
        expect(answer.body.toString()).to.not.contain(SECRET).and.to.not.contain('globex-cart')
      })

    for (const expression of ['service-incidents-globex', 'service-audit-globex', 'service-config', 'service-api-keys', '*', 'service-*'])
      it(`403 for a search of ${expression}`, async () => {
        expect((await here.call(`/api/search/${expression}/_search`, { body: {} })).status).to.equal(403)
      })

    it('a key that another process revokes stops within a second at every replica, and at once where it is revoked', async () => {
      const { id, key } = (await here.call('/api/admin/api-keys', { body: { name: 'short-lived' } })).json()
      for (const replica of [here, there]) expect((await replica.call('/health', { key })).status).to.equal(200)
      const stored = await shared.store.get<object>(API_KEYS_INDEX, hashKey(key))
      await shared.store.put(API_KEYS_INDEX, hashKey(key), { ...stored!.source, revokedAt: '2026-11-22T12:00:00.000Z' })
      clock.advance(999)
      for (const replica of [here, there]) {
        const answer = await replica.call('/health', { key })
        expect([answer.status, Object.keys(answer.json())]).to.deep.equal([401, ['error', 'status']])
      }
      await shared.store.refresh(API_KEYS_INDEX)
      expect((await here.call('/api/admin/api-keys')).body.toString()).to.not.contain(id)
    })
  })
}
