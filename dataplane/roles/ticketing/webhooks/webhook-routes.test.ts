import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { dispatchesIndex, incidentsIndex } from '../../../contract/indices.ts'
import type { HttpServer } from '../../../http/server.ts'
import type { DeclaredLayer } from '../../../ports/declared-ticketing.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createFakeClock } from '../../../testing/fake-clock.ts'
import { createCaller, type HttpCaller } from '../../../testing/http-caller.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { createSecretCipher } from '../config/secret-cipher.ts'
import type { ExternalChange } from '../ticket-service.ts'
import { startTicketing } from '../ticketing.ts'

const SECRET = 'hook-s3cret'
const FIELDS = {
  pagerduty: { routingKey: 'r' },
  jira: { baseUrl: 'https://shop.atlassian.example', apiToken: 't', userEmail: 'bot@shop.example' },
  opsgenie: { apiKey: 'k' },
} as const
type Platform = keyof typeof FIELDS

const hmac = (text: string, secret = SECRET) => createHmac('sha256', secret).update(text).digest('hex')

/** How each platform signs. */
const SIGNED: Readonly<Record<Platform, (text: string, secret?: string) => Record<string, string>>> = {
  pagerduty: (text, secret) => ({ 'x-pagerduty-signature': `v1=${hmac(text, 'the one before')},v1=${hmac(text, secret)}` }),
  jira: (text, secret) => ({ 'x-hub-signature': `sha256=${hmac(text, secret)}` }),
  opsgenie: (_, secret = SECRET) => ({ 'x-webhook-secret': secret }),
}

const jiraEvent = (category: string, extra: object = {}) => ({
  webhookEvent: 'jira:issue_updated',
  timestamp: Date.parse('2026-01-01T00:00:00Z'),
  user: { displayName: 'Ada' },
  issue: { key: 'OPS-17', fields: { status: { name: 'X', statusCategory: { key: category } }, labels: ['a label'] } },
  changelog: { items: [{ field: 'status', fromString: 'A', toString: 'B' }] },
  ...extra,
})
const pagerdutyEvent = (event_type: string, id = 'e1', extra: object = {}) => ({
  event: {
    id,
    event_type,
    occurred_at: '2026-01-01T00:00:00Z',
    agent: { summary: 'Ada' },
    data: { id: 'P1', incident_key: 'i1' },
    ...extra,
  },
})
const opsgenieEvent = (action: string) => ({ action, alert: { alertId: 'a-1', alias: 'i1', username: 'Ada' }, source: { name: 'web' } })

const ACKNOWLEDGED = {
  pagerduty: pagerdutyEvent('incident.acknowledged'),
  jira: jiraEvent('indeterminate'),
  opsgenie: opsgenieEvent('Acknowledge'),
}
const RESOLVED = { pagerduty: pagerdutyEvent('incident.resolved'), jira: jiraEvent('done'), opsgenie: opsgenieEvent('Close') }
const IRRELEVANT = {
  pagerduty: pagerdutyEvent('incident.priority_updated'),
  jira: jiraEvent('done', { changelog: { items: [{ field: 'summary' }] } }),
  opsgenie: opsgenieEvent('AddNote'),
}

describe('POST /api/v1/webhooks/:platformId', () => {
  const clock = createFakeClock()
  let store: MemorySearchStore
  let server: HttpServer
  let api: HttpCaller
  let layer: DeclaredLayer | undefined
  let changes: ExternalChange[]
  let outcome: { kind: 'changed' } | { kind: 'unknown' } | { kind: 'refused'; reason: string }

  beforeEach(async () => {
    store = createMemorySearchStore()
    layer = undefined
    changes = []
    outcome = { kind: 'changed' }
    server = await startTicketing({
      ...{ store, clock, log: SILENT, host: '127.0.0.1', port: 0 },
      cipher: createSecretCipher([Buffer.alloc(32, 7)]),
      declared: { current: () => layer, problems: () => [] },
      async applyChange(change) {
        changes.push(change)
        return outcome
      },
    })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  })
  afterEach(() => server.stop())

  const configure = (platform: Platform, { tenant = 'default', id = platform as string, secret = SECRET } = {}) =>
    api.send('PATCH', '/api/v1/config/platforms', { [id]: { ...FIELDS[platform], webhookSecret: secret } }, tenant)
  const ticket = (target: string, { tenant = 'default', incidentId = 'i1', externalId = 'i1', rows = [] as object[] } = {}) =>
    store.put(dispatchesIndex(tenant), `${incidentId}-${target}`, {
      tenantId: tenant,
      incidentId,
      platform: target,
      ticketKey: incidentId,
      externalId,
      rows,
    })
  const post = async (target: string, body: unknown, headers: Record<string, string>, query = '') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`http://127.0.0.1:${server.port}/api/v1/webhooks/${target}${query}`, {
      method: 'POST',
      headers,
      body: text,
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const deliver = (platform: Platform, body: object, { target = platform as string, query = '', secret = SECRET, headers = {} } = {}) =>
    post(target, body, { 'content-type': 'application/json', ...SIGNED[platform](JSON.stringify(body), secret), ...headers }, query)

  for (const platform of Object.keys(FIELDS) as Platform[])
    describe(platform, () => {
      beforeEach(async () => {
        await configure(platform)
        await ticket(platform, { externalId: platform === 'jira' ? 'OPS-17' : 'i1' })
      })

      for (const [what, events, action] of [
        ['acknowledged', ACKNOWLEDGED, 'acknowledge'],
        ['resolved', RESOLVED, 'resolve'],
      ] as const)
        it(`${what} there is ${what} here, and does not echo`, async () => {
          expect(await deliver(platform, events[platform])).to.deep.equal({ status: 200, body: { status: 'ok', incidentId: 'i1', action } })
          expect(changes).to.deep.equal([{ tenant: 'default', incidentId: 'i1', action, actor: `Ada (${platform})`, fromTarget: platform }])
        })

      it('what changes no state is acknowledged and ignored', async () => {
        expect(await deliver(platform, IRRELEVANT[platform])).to.deep.include({ status: 200 })
        expect(changes).to.deep.equal([])
      })

      for (const [what, name] of [
        ['null', null],
        ['very long', 'x'.repeat(1_000)],
      ] as const)
        it(`what nothing depends on keeps no change out where it is ${what}`, async () => {
          const events = {
            pagerduty: pagerdutyEvent('incident.resolved', 'e9', { agent: { summary: name }, occurred_at: null }),
            jira: jiraEvent('done', {
              user: { displayName: name },
              timestamp: null,
              changelog: { items: [{ field: null }, { field: 'status' }] },
            }),
            opsgenie: { action: 'Close', alert: { alertId: null, alias: 'i1', username: name, updatedAt: null } },
          }
          expect(await deliver(platform, events[platform])).to.deep.include({ status: 200 })
          expect(changes).to.have.length(1)
          expect(changes[0]!.actor).to.equal(name === null ? `somebody (${platform})` : `${'x'.repeat(200)} (${platform})`)
        })

      it('a delivery that comes again changes nothing', async () => {
        await deliver(platform, RESOLVED[platform])
        expect((await deliver(platform, RESOLVED[platform])).body).to.deep.equal({ status: 'ignored', note: 'this delivery came before' })
        expect(changes).to.have.length(1)
      })

      it('one that failed is taken when it comes again', async () => {
        // The configuration is remembered for a second; the threads are not.
        store.red.add('service-dispatches-*')
        expect((await deliver(platform, RESOLVED[platform])).status).to.equal(503)
        store.red.clear()
        expect((await deliver(platform, RESOLVED[platform])).body['status']).to.equal('ok')
      })

      it('401 for a wrong signature, none, and one over other bytes', async () => {
        const text = JSON.stringify(RESOLVED[platform])
        const wrong: Record<string, string>[] = [SIGNED[platform](text, 'guess'), {}]
        if (platform !== 'opsgenie') wrong.push(SIGNED[platform](`${text} `))
        for (const headers of wrong) {
          const { status, body } = await post(platform, text, headers)
          expect(status).to.equal(401)
          expect(JSON.stringify(body)).not.to.include(SECRET)
        }
        expect(changes).to.deep.equal([])
      })

      it('200 where the incident is in another state already', async () => {
        outcome = { kind: 'refused', reason: 'cannot resolve an incident that is resolved' }
        expect(await deliver(platform, RESOLVED[platform])).to.deep.equal({
          status: 200,
          body: { status: 'ignored', note: outcome.reason },
        })
      })

      it('400 for what is no JSON, or has not the form, when it is signed', async () => {
        for (const text of ['{', '[]', '{"event":1}', '{"issue":"x"}', ''])
          expect((await post(platform, text, SIGNED[platform](text))).status, text).to.equal(400)
      })

      it('413 beyond 1 MiB', async () => {
        const text = 'x'.repeat(1024 * 1024 + 1)
        expect((await post(platform, text, SIGNED[platform](text))).status).to.equal(413)
      })
    })

  it('202 for a ticket that no incident has', async () => {
    await configure('jira')
    expect(await deliver('jira', RESOLVED.jira)).to.deep.equal({
      status: 202,
      body: { status: 'ignored', note: 'no incident has this ticket' },
    })
  })

  for (const [when, row, isEcho] of [
    ['under way', { isUnderWay: true }, true],
    ['told just now', { sentAt: '2026-01-01T00:00:00.000Z' }, true],
    ['told a minute ago', { sentAt: '2025-12-31T23:59:00.000Z' }, false],
  ] as const)
    it(`a reopening from here that Jira's workflow leads to “in progress” is no acknowledgement: ${when}`, async () => {
      await configure('jira')
      await ticket('jira', {
        externalId: 'OPS-17',
        rows: [
          { event: 'open', sentAt: '2025-12-31T23:00:00.000Z' },
          { event: 'reopen', ...row },
        ],
      })
      const { body } = await deliver('jira', ACKNOWLEDGED.jira)
      expect(body['status']).to.equal(isEcho ? 'ignored' : 'ok')
      expect(changes).to.have.length(isEcho ? 0 : 1)
      await deliver('jira', RESOLVED.jira)
      expect(changes.at(-1)).to.include({ action: 'resolve' })
    })

  it('finds the incident of a Jira issue by its label before its key is known', async () => {
    await configure('jira')
    await ticket('jira', { incidentId: 'i2', externalId: '' })
    const { issue } = RESOLVED.jira
    await deliver('jira', { ...RESOLVED.jira, issue: { ...issue, fields: { ...issue.fields, labels: ['i2'] } } })
    expect(changes.map(({ incidentId }) => incidentId)).to.deep.equal(['i2'])
  })

  it('403 says what to set where there is no secret, the same for targets that are there and that are not', async () => {
    await api.send('PATCH', '/api/v1/config/platforms', { jira: FIELDS.jira })
    for (const id of ['jira', 'jira:ops'])
      expect(await deliver('jira', RESOLVED.jira, { target: id })).to.deep.equal({
        status: 403,
        body: {
          status: 403,
          error: `webhooks of ${id} are not taken for tenant default: set webhookSecret of ${id} by PATCH /api/v1/config/platforms`,
        },
      })
  })

  it('404 for platforms that send none, and for what is no platform', async () => {
    for (const id of ['slack', 'email', 'fax', '__proto__', 'constructor']) expect((await post(id, {}, {})).status, id).to.equal(404)
  })

  it('takes the tenant from the address, since platforms send no header, and holds the secret of that tenant', async () => {
    await configure('jira', { tenant: 'acme', secret: 'of acme' })
    await ticket('jira', { tenant: 'acme', externalId: 'OPS-17' })
    const query = '?tenant=acme&user_id=ada&user_key=ada'
    expect((await deliver('jira', RESOLVED.jira, { query })).status).to.equal(401)
    expect((await deliver('jira', RESOLVED.jira, { query, secret: 'of acme' })).body['status']).to.equal('ok')
    expect(changes[0]?.tenant).to.equal('acme')
    expect((await post('jira', '{}', {}, '?tenant=No%20Tenant')).status).to.equal(400)
    expect((await post('jira', '{}', { 'x-service-tenant-id': 'shop' }, '?tenant=acme')).status).to.equal(403)
  })

  it('speaks for tenants that share the target, and for no others', async () => {
    await configure('jira')
    await configure('jira', { tenant: 'own', secret: 'of own' })
    await ticket('jira', { tenant: 'own', incidentId: 'theirs', externalId: 'OPS-17' })
    expect((await deliver('jira', RESOLVED.jira)).status).to.equal(202)
    await ticket('jira', { tenant: 'sharing', incidentId: 'shared', externalId: 'OPS-17' })
    expect((await deliver('jira', RESOLVED.jira, { headers: { 'x-service-tenant-id': 'other' } })).status).to.equal(202)
    expect((await deliver('jira', jiraEvent('done', { timestamp: 1 }))).body).to.deep.include({ incidentId: 'shared' })
    expect(changes.map(({ tenant }) => tenant)).to.deep.equal(['sharing'])
  })

  it("another tenant's many tickets of the same name hide nobody's", async () => {
    await configure('jira')
    for (let n = 0; n < 120; n++) {
      const tenant = n < 60 ? 'own' : `own-${n}`
      await configure('jira', { tenant, secret: 'of own' })
      await ticket('jira', { tenant, incidentId: `theirs-${n}`, externalId: 'OPS-17' })
    }
    await ticket('jira', { tenant: 'sharing', incidentId: 'shared', externalId: 'OPS-17' })
    expect((await deliver('jira', RESOLVED.jira)).body).to.deep.include({ incidentId: 'shared' })
  })

  it('takes declared secrets', async () => {
    layer = { anomaly: {}, routes: [], platforms: { opsgenie: { owner: 'shop/og', fields: { apiKey: 'k', webhookSecret: 'declared' } } } }
    await ticket('opsgenie', { tenant: 'acme' })
    expect((await deliver('opsgenie', RESOLVED.opsgenie, { secret: 'declared' })).body).to.deep.include({ incidentId: 'i1' })
  })

  const MS = Date.parse('2026-01-01T00:00:00Z')
  const TIMED: Readonly<Record<Platform, (ms: number) => object>> = {
    pagerduty: ms => pagerdutyEvent('incident.resolved', `e${ms}`, { occurred_at: new Date(ms).toISOString() }),
    jira: ms => ({ ...RESOLVED.jira, timestamp: ms }),
    opsgenie: ms => ({ ...RESOLVED.opsgenie, alert: { ...RESOLVED.opsgenie.alert, updatedAt: ms * 1e6 } }),
  }
  for (const platform of Object.keys(TIMED) as Platform[])
    it(`${platform}: an answer from before the incident was reopened does not resolve it`, async () => {
      await configure(platform)
      await ticket(platform, { externalId: 'OPS-17' })
      await store.put(incidentsIndex('default'), 'i1', { id: 'i1', reopenedAt: '2026-01-01T00:00:01Z' })
      expect((await deliver(platform, TIMED[platform](MS))).body).to.deep.equal({
        status: 'ignored',
        note: 'the incident was reopened since',
      })
      expect((await deliver(platform, TIMED[platform](MS + 2_000))).body['status']).to.equal('ok')
    })
})
