/** Tickets through HTTP: the agent as it runs, on the embedded store, with platforms in memory. */
import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import type { Incident } from '../../domain/incidents/incident-fields.ts'
import type { HttpServer } from '../../http/server.ts'
import { buildConfig, buildTarget, createFakeConfig, type FakeConfig } from '../../pipeline/tickets/testing/fake-config.ts'
import { createFakePlatforms, type FakePlatforms } from '../../pipeline/tickets/testing/fake-platforms.ts'
import type { Clock } from '../../ports/clock.ts'
import { SILENT } from '../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../testing/embedded-search-store.ts'
import { lastSeen } from '../../testing/eventually.ts'
import { createFastClock } from '../../testing/fast-clock.ts'
import { createCaller, type HttpCaller, type JsonAnswer } from '../../testing/http-caller.ts'
import { storeIncidents } from '../../testing/incident-fixture.ts'
import { putIndexTemplates } from '../../testing/put-index-templates.ts'
import { createSecretCipher } from './config/secret-cipher.ts'
import { startTicketing } from './ticketing.ts'

/** A ticket goes out two seconds after its incident: 40 tests wait for that. */
const TIMES_AS_FAST = 5

describe('tickets through HTTP', function () {
  this.timeout(60_000)
  const hurried = createFastClock(TIMES_AS_FAST)
  let clock: Clock = hurried
  const iso = (offsetMs = 0) => new Date(clock.nowMs() + offsetMs).toISOString()
  let embedded: EmbeddedSearchStore
  let server: HttpServer
  let api: HttpCaller
  let config: FakeConfig
  let fake: FakePlatforms
  let tenant: string
  let tests = 0

  before(async () => {
    embedded = await startEmbeddedSearchStore()
    await putIndexTemplates(embedded.store)
  })
  after(() => embedded.stop())
  beforeEach(async () => {
    tenant = `t${++tests}`
    config = createFakeConfig(buildConfig([]))
    fake = createFakePlatforms()
    config.tenants.set(tenant, buildConfig(['slack', 'jira:ops']))
    await start(hurried)
  })
  afterEach(() => server.stop())

  const start = async (its: Clock) => {
    clock = its
    const tickets = { platforms: fake.platforms, config, publicUrl: 'https://ops.example', agentName: 'ticketing-0:18081' }
    server = await startTicketing({ store: embedded.store, clock, log: SILENT, host: '127.0.0.1', port: 0, tickets })
    api = createCaller(`http://127.0.0.1:${server.port}`)
  }

  const add = (overrides: Partial<Incident> = {}) => {
    const now = iso()
    const times = { createdAt: now, updatedAt: now, firstSeen: now, lastSeen: now }
    return storeIncidents(embedded.store, { ...times, id: `${tenant}-i1`, tenantId: tenant, ...overrides })
  }
  const id = (n = 1) => `${tenant}-i${n}`
  const act = (action: string, body?: unknown) => api.send('POST', `/api/incidents/${id()}/${action}`, body, tenant)
  const rows = async (n = 1) => (await api.get(`/api/v1/dispatches?incident_id=${id(n)}`, tenant)).body
  const statuses = async (n = 1): Promise<string[]> =>
    (await rows(n)).map((row: { platform: string; event: string; status: string }) => `${row.platform} ${row.event} ${row.status}`).sort()
  const untilSent = (count: number) =>
    lastSeen(
      () => statuses(),
      seen => seen.filter((row: string) => row.endsWith(' sent')).length >= count,
    )

  it('a new incident is a ticket on each target within seconds, with its cause, and shows there', async () => {
    await server.stop()
    await start(systemClock)
    await add()
    const startMs = performance.now()
    expect(await untilSent(2)).to.deep.equal(['jira:ops open sent', 'slack open sent'])
    expect(performance.now() - startMs).to.be.below(5_000)
    const { body } = await api.get(`/api/incidents/${id()}`, tenant)
    expect(body).to.deep.include({ platforms: ['slack', 'jira:ops'], recurring: false })
    expect(body.rootCause).to.include({ mode: 'rules', fallback: false })
    expect(body.dispatches['jira:ops']).to.deep.equal({
      status: 'sent',
      externalId: `T-${id()}-ops`,
      url: `https://tickets.example/${id()}-ops`,
      attempts: 1,
    })
    expect(body).not.to.have.any.keys('ticketing', 'lastChange')
    expect((await api.get('/api/incidents', tenant)).body[0]).to.deep.equal(body)
    expect(fake.arrived[0]!.content.link).to.equal(`https://ops.example/incidents/${id()}`)
  })

  it('GET /api/v1/dispatches lists outbox rows', async () => {
    await add()
    await untilSent(2)
    const [row] = await rows()
    expect(row).to.deep.equal({
      incidentId: id(),
      platform: 'slack',
      event: 'open',
      status: 'sent',
      attempts: 1,
      nextAttemptAt: null,
      lastError: null,
      externalId: `T-${id()}`,
      url: `https://tickets.example/${id()}`,
    })
    expect((await api.get('/api/v1/dispatches?incident_id=none')).status).to.equal(404)
    expect((await api.get(`/api/v1/dispatches?incident_id=${id()}`, 'other')).status).to.equal(403)
    expect((await api.get('/api/v1/dispatches')).body.error).to.match(/^incident_id: /)
  })

  it('each state change is told, in order', async () => {
    await add()
    await untilSent(2)
    for (const action of ['acknowledge', 'resolve', 'reopen']) {
      await act(action, { actor: 'ada', note: 'why' })
      await lastSeen(
        () => fake.events().filter(event => event.endsWith(action)).length,
        seen => seen === 2,
      )
    }
    expect(fake.events().filter(event => event.startsWith('slack'))).to.deep.equal([
      'slack open',
      'slack acknowledge',
      'slack resolve',
      'slack reopen',
    ])
    expect(fake.arrived.at(-1)!.content.change).to.deep.include({ actor: 'ada', note: 'why' })
  })

  it('blank words are told as none: no "by" without a name, no resolution without a reason', async () => {
    await add()
    await untilSent(2)
    expect((await act('acknowledge', { actor: '', note: ' \n' })).status).to.equal(200)
    await untilSent(4)
    expect(fake.arrived.at(-1)!.content.change).to.have.all.keys('at')
    await act('resolve', { actor: ' ada ', note: ' why ' })
    await untilSent(6)
    expect(fake.arrived.at(-1)!.content.change).to.deep.include({ actor: 'ada', note: 'why' })
  })

  it('a batch is told, too', async () => {
    await add()
    await untilSent(2)
    await api.send('POST', '/api/v1/incidents/batch', { ids: [id()], action: 'acknowledge' }, tenant)
    expect(
      await lastSeen(
        () => fake.events().length,
        seen => seen === 4,
      ),
    ).to.equal(4)
  })

  it('escalate goes to those of the next severity up; escalatedTo names them', async () => {
    const routing = { critical: ['pagerduty'], high: ['slack'], medium: [], low: [] } as const
    config.tenants.set(tenant, buildConfig(['slack', 'pagerduty'], { routing }))
    await add()
    await untilSent(1)
    expect((await act('escalate')).body).to.deep.include({ status: 'escalated', escalatedTo: ['pagerduty'] })
    expect(
      await lastSeen(
        () => fake.events(),
        seen => seen.length === 3,
      ),
    ).to.have.members(['slack open', 'slack escalate', 'pagerduty open'])
    const { body } = await api.get(`/api/incidents/${id()}`, tenant)
    expect(body).to.deep.include({ platforms: ['slack', 'pagerduty'], escalatedTo: ['pagerduty'] })
    expect(fake.arrived.find(({ event }) => event === 'escalate')!.content.severity).to.equal('critical')
  })

  it('a comment is told to the tickets that are out, in the words of the person', async () => {
    await add()
    await untilSent(2)
    const { status } = await api.send('POST', `/api/incidents/${id()}/comment`, { actor: 'ada', note: 'the pool is empty' }, tenant)
    expect(status).to.equal(200)
    await lastSeen(
      () => fake.arrived.filter(({ event }) => event === 'comment').length,
      seen => seen === 2,
    )
    for (const { content } of fake.arrived.filter(({ event }) => event === 'comment'))
      expect(content.change).to.include({ actor: 'ada', note: 'the pool is empty' })
  })

  it('escalate without higher targets goes to its own again at critical; without any target to none', async () => {
    await add({ severity: 'medium' })
    await untilSent(2)
    config.tenants.set(tenant, buildConfig(['slack', 'jira:ops']))
    expect((await act('escalate')).body.escalatedTo).to.deep.equal(['slack', 'jira:ops'])
    await lastSeen(
      () => fake.events().length,
      seen => seen === 4,
    )
    expect(fake.arrived.at(-1)!.content.severity).to.equal('critical')
    await storeIncidents(embedded.store, { id: 'lonely', tenantId: `${tenant}-other` })
    expect((await api.send('POST', '/api/incidents/lonely/escalate')).body.escalatedTo).to.deep.equal([])
  })

  it('an incident that is still open in time is escalated by auto, once, however many agents there are', async () => {
    const tickets = { platforms: fake.platforms, config }
    const second = await startTicketing({ store: embedded.store, clock, log: SILENT, host: '127.0.0.1', port: 0, tickets })
    try {
      config.tenants.set(tenant, buildConfig(['slack'], { escalateAfterMs: { critical: null, high: 1_000, medium: null, low: null } }))
      await add()
      await add({ id: id(2), severity: 'medium' })
      await lastSeen(
        () => api.get(`/api/incidents/${id()}`, tenant),
        ({ body }) => body.status === 'escalated',
      )
      await clock.sleep(1_500)
      const { entries } = (await api.get(`/api/v1/audit?incident_id=${id()}`, tenant)).body
      expect(entries.map(({ details }: { details: string }) => details)).to.deep.equal([
        'escalated by auto: still open 1 s after it was dispatched',
      ])
      expect((await api.get(`/api/incidents/${id(2)}`, tenant)).body.status).to.equal('open')
    } finally {
      await second.stop()
    }
  })

  it('POST /api/v1/dispatches/retry tries a failed one again at once', async () => {
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'rejected', reason: '400 invalid_blocks' } : undefined)
    await add()
    await lastSeen(
      () => statuses(),
      seen => seen.includes('slack open failed') && seen.includes('jira:ops open sent'),
    )
    const retry = (incidentId: string, platform: string) =>
      api.send('POST', '/api/v1/dispatches/retry', { incidentId, platform }, tenant) as Promise<JsonAnswer>
    expect((await retry(id(), 'jira:ops')).body).to.deep.equal({
      error: `incident ${id()}: there is nothing to try again on jira:ops: all of it is sent`,
      status: 409,
    })
    expect((await retry(id(), 'email')).status).to.equal(404)
    expect((await retry('none', 'slack')).status).to.equal(404)
    expect((await retry(id(), 'fax')).body.error).to.match(/^platform: expected one of/)
    expect((await api.get(`/api/incidents/${id()}`, tenant)).body.dispatches.slack).to.deep.equal({
      status: 'failed',
      attempts: 1,
      lastError: '400 invalid_blocks',
    })
    fake.answer = () => undefined
    expect((await retry(id(), 'slack')).body).to.deep.include({ platform: 'slack', event: 'open', status: 'pending' })
    expect(await untilSent(2)).to.deep.equal(['jira:ops open sent', 'slack open sent'])
  })

  it('POST /api/v1/dispatches/retry does not wait for the next attempt of one that failed for now', async () => {
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'retryable', reason: '503' } : undefined)
    await add()
    const waits = ({ platform, nextAttemptAt }: { platform: string; nextAttemptAt: string | null }) =>
      platform === 'slack' && Date.parse(nextAttemptAt ?? '') > clock.nowMs() + 500
    await lastSeen(
      () => rows(),
      seen => seen.some(waits),
    )
    fake.answer = () => undefined
    const { status, body } = await api.send('POST', '/api/v1/dispatches/retry', { incidentId: id(), platform: 'slack' }, tenant)
    expect(status).to.equal(200)
    expect(body).to.deep.include({ platform: 'slack', event: 'open', status: 'pending' })
    expect(await untilSent(2)).to.deep.equal(['jira:ops open sent', 'slack open sent'])
  })

  it('GET /api/v1/dispatches says for each row that waits for a target that is down when it is tried', async () => {
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'retryable', reason: '503', isTargetDown: true } : undefined)
    await add()
    await lastSeen(
      () => rows(),
      seen => seen.some(({ attempts }: { attempts: number }) => attempts >= 3),
    )
    const times = await lastSeen(
      async () =>
        (await rows()).flatMap(({ status, nextAttemptAt }: Record<string, string>) => (status === 'pending' ? [nextAttemptAt] : [])),
      seen => seen.some((at: string) => Date.parse(at) > clock.nowMs() + 2_000),
    )
    expect(times).to.have.length(1)
    await act('acknowledge')
    await lastSeen(
      () => statuses(),
      seen => seen.includes('slack acknowledge pending'),
    )
    for (let i = 0; i < 20; i++) {
      const askedMs = clock.nowMs()
      for (const { status, nextAttemptAt } of await rows())
        if (status === 'pending') expect(Date.parse(nextAttemptAt)).to.be.within(askedMs, askedMs + 10_000 + 5 * 1_000)
    }
    expect((await rows()).filter(({ status }: { status: string }) => status === 'pending')).to.have.length(2)
  })

  it('POST /api/v1/dispatches/retry says that it tries at once, also where the target rests', async () => {
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'retryable', reason: '503', isTargetDown: true } : undefined)
    await add()
    const restsUntil = async () => {
      const [row] = (await rows()).filter(({ platform }: { platform: string }) => platform === 'slack')
      return row?.attempts >= 3 ? Date.parse(row.nextAttemptAt ?? '') : Number.NaN
    }
    // On a busy machine the rest may be over before the answer is there, or the row be tried just now: then once more, in the next rest.
    const askedAtRest = async () => {
      const untilMs = await restsUntil()
      if (!(untilMs > clock.nowMs())) return undefined
      const { status, body } = await api.send('POST', '/api/v1/dispatches/retry', { incidentId: id(), platform: 'slack' }, tenant)
      const answeredMs = clock.nowMs()
      return status === 200 && untilMs > answeredMs ? { body, answeredMs } : undefined
    }
    const asked = await lastSeen(askedAtRest, seen => seen !== undefined, { timeoutMs: 40_000 })
    expect(asked, 'an answer within a rest').to.not.equal(undefined)
    expect(Date.parse(asked!.body.nextAttemptAt)).to.be.at.most(asked!.answeredMs)
  })

  it('POST /api/v1/dispatches/retry says until when the platform asked for a rest, which is kept', async () => {
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'retryable', reason: '429', afterMs: 3_600_000 } : undefined)
    await add()
    await lastSeen(
      () => rows(),
      seen => seen.some(({ platform, lastError }: Record<string, string>) => platform === 'slack' && lastError === '429'),
    )
    const { status, body } = await api.send('POST', '/api/v1/dispatches/retry', { incidentId: id(), platform: 'slack' }, tenant)
    expect(status).to.equal(200)
    expect(Date.parse(body.nextAttemptAt)).to.be.within(clock.nowMs() + 3_590_000, clock.nowMs() + 3_600_000)
    expect(body.lastError).to.equal('429')
    expect(fake.events().filter(event => event.startsWith('slack'))).to.have.length(1)
  })

  it('POST /api/v1/dispatches/retry tries one again whose target was switched off, once it is on', async () => {
    const both = buildConfig(['slack', 'jira:ops'])
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'retryable', reason: '503' } : undefined)
    await add()
    await lastSeen(
      () => rows(),
      seen => seen.some((row: { platform: string; attempts: number }) => row.platform === 'slack' && row.attempts > 0),
    )
    fake.answer = () => undefined
    config.tenants.set(tenant, { ...both, targets: new Map([...both.targets, ['slack', buildTarget('slack', {}, false)]]) })
    expect(
      await lastSeen(
        () => statuses(),
        seen => seen.includes('slack open suppressed'),
      ),
    ).to.include('slack open suppressed')
    config.tenants.set(tenant, both)
    const { body } = await api.send('POST', '/api/v1/dispatches/retry', { incidentId: id(), platform: 'slack' }, tenant)
    expect(body).to.deep.include({ platform: 'slack', event: 'open', status: 'pending' })
    expect(await untilSent(2)).to.deep.equal(['jira:ops open sent', 'slack open sent'])
  })

  describe('a target that refused everything, once somebody mended it', () => {
    const KEY = Buffer.alloc(32, 7)
    const isMendedFor = new Set<string>()
    beforeEach(async () => {
      await server.stop()
      isMendedFor.clear()
      fake.answer = ({ content }) =>
        isMendedFor.has(content.tenantId) ? undefined : { kind: 'rejected', reason: '401', isTargetBroken: true }
      const tickets = { platforms: fake.platforms, publicUrl: 'https://ops.example', agentName: 'ticketing-0:18081' }
      const cipher = createSecretCipher([KEY])
      server = await startTicketing({ store: embedded.store, clock, log: SILENT, host: '127.0.0.1', port: 0, tickets, cipher })
      api = createCaller(`http://127.0.0.1:${server.port}`)
    })
    const slack = { slack: { webhookUrl: 'https://hooks.example/a' } }
    const rotated = { slack: { webhookUrl: 'https://hooks.example/b' } }
    const patch = (of: string, section = 'platforms', body: object = slack) => api.send('PATCH', `/api/v1/config/${section}`, body, of)
    const route = { critical: ['slack'], high: ['slack'], medium: ['slack'], low: ['slack'] }
    const refused = async () => {
      for (const n of [1, 2]) await add({ id: id(n) })
      await lastSeen(
        () => rows(),
        seen => seen.some(({ status }: { status: string }) => status === 'failed'),
      )
    }
    /** Asks for half of the minute for which the target would rest. */
    const soonSent = async () => {
      const endMs = clock.nowMs() + 30_000
      const seen = await lastSeen(
        async () => [...(await statuses()), ...(await statuses(2))],
        seen => seen.every(each => each.endsWith(' sent')) || clock.nowMs() > endMs,
      )
      expect(seen).to.deep.equal(['slack open sent', 'slack open sent'])
    }

    for (const [what, mend, untilChanged] of [
      ['a PATCH of it', () => patch(tenant), undefined],
      [
        'a connection test of it as it is stored',
        () => api.send('POST', '/api/v1/test-connection', { platform: 'slack' }, tenant),
        undefined,
      ],
      ['another secret, where the old one was refused for good', () => patch(tenant, 'platforms', rotated), true],
      ['the same secret sent again, where it was refused for good', () => patch(tenant), true],
    ] as const)
      it(`has its tickets at once: ${what}`, async () => {
        if (untilChanged)
          fake.answer = ({ content }) =>
            isMendedFor.has(content.tenantId) ? undefined : { kind: 'rejected', reason: '404', isTargetBroken: true, untilChanged }
        await patch(tenant)
        await patch(tenant, 'routing', route)
        await refused()
        isMendedFor.add(tenant)
        expect((await mend()).body.status).to.equal('ok')
        await soonSent()
      })

    it('has its tickets at once: a PATCH of the target of `default` that a tenant has, too; those of tenants with their own rest', async () => {
      await patch('default')
      await patch('default', 'routing', route)
      const other = `${tenant}-own`
      await patch(other, 'platforms', { slack: { webhookUrl: 'https://hooks.example/own' } })
      await refused()
      // Its minute begins last: half of it is over when the others are sent.
      await add({ id: `${other}-i1`, tenantId: other })
      await lastSeen(() => fake.arrived.some(({ content }) => content.tenantId === other), Boolean)
      const before = fake.arrived.filter(({ content }) => content.tenantId === other).length
      isMendedFor.add(tenant)
      await patch('default', 'platforms', { slack: { webhookUrl: 'https://hooks.example/b' } })
      await soonSent()
      expect(fake.arrived.filter(({ content }) => content.tenantId === other)).to.have.length(before)
    })
  })

  describe('silences', () => {
    const from = iso(-60_000)
    const to = iso(3_600_000)
    const silence = (body: unknown, of = tenant) => api.send('POST', '/api/v1/silences', body, of)

    it('are made, listed and deleted, each tenant its own', async () => {
      const { status, body } = await silence({ services: ['check*'], severities: ['high'], from, to, reason: 'release' })
      expect(status).to.equal(201)
      expect(body).to.deep.include({ services: ['check*'], severities: ['high'], from, to, reason: 'release' })
      expect((await api.get('/api/v1/silences', tenant)).body).to.deep.equal([body])
      expect((await api.get('/api/v1/silences', 'other')).body).to.deep.equal([])
      const remove = (of: string) => api.send('DELETE', `/api/v1/silences/${body.id}`, undefined, of)
      expect((await remove('other')).status).to.equal(404)
      expect((await remove(tenant)).body).to.deep.equal({ status: 'ok', id: body.id })
      expect((await remove(tenant)).status).to.equal(404)
      expect((await api.get('/api/v1/silences', tenant)).body).to.deep.equal([])
    })

    it('400 without a reason or a service, blank ones included', async () => {
      const asked = { services: ['check*'], from, to, reason: 'release' }
      for (const [field, value] of Object.entries({ reason: ' \t', services: [' '] })) {
        const { status, body } = await silence({ ...asked, [field]: value })
        expect([field, status]).to.deep.equal([field, 400])
        expect(body.error).to.match(new RegExp(`^${field}`))
      }
      const { body } = await silence({ ...asked, services: [' check* '], reason: ' release ' })
      expect(body).to.deep.include({ services: ['check*'], reason: 'release' })
      await api.send('DELETE', `/api/v1/silences/${body.id}`, undefined, tenant)
    })

    it('suppress the dispatches of incidents that match; deleted, the incident is dispatched', async () => {
      const { body } = await silence({ services: ['checkout'], from, to, reason: 'release' })
      await add()
      expect(
        await lastSeen(
          () => statuses(),
          seen => seen.length === 2,
        ),
      ).to.deep.equal(['jira:ops open suppressed', 'slack open suppressed'])
      expect((await api.get(`/api/incidents/${id()}`, tenant)).body.dispatches.slack).to.deep.include({ status: 'suppressed' })
      await api.send('DELETE', `/api/v1/silences/${body.id}`, undefined, tenant)
      await untilSent(2)
      expect(fake.events()).to.have.members(['slack open', 'jira:ops open'])
    })

    const refused: readonly [string, object, RegExp][] = [
      ['services', { services: [], from, to, reason: 'x' }, /^services: /],
      ['to', { services: ['a'], from, to: from, reason: 'x' }, /^to: expected a time after from, seen "\d{4}-/],
      ['from', { services: ['a'], from: 'soon', to, reason: 'x' }, /^from: expected an ISO-8601 time/],
      ['severities', { services: ['a'], severities: ['bad'], from, to, reason: 'x' }, /^severities\.0: /],
      ['reason', { services: ['a'], from, to }, /^reason: /],
      ['unknown fields', { services: ['a'], from, to, reason: 'x', until: 1 }, /until: unknown field/],
    ]
    for (const [field, body, message] of refused)
      it(`400 names ${field}`, async () => {
        const answer = await silence(body)
        expect(answer.status).to.equal(400)
        expect(answer.body.error).to.match(message)
      })
  })

  it('GET /api/v1/stats answers counts and means from the audit trail', async () => {
    const createdAt = iso(-10_000)
    await add({ createdAt })
    await add({ id: id(2), createdAt, severity: 'low', service: 'cart' })
    await act('acknowledge')
    await act('resolve')
    const { acknowledgedAt, resolvedAt } = (await api.get(`/api/incidents/${id()}`, tenant)).body
    const secondsUntil = (time: string) => (Date.parse(time) - Date.parse(createdAt)) / 1_000
    const { body } = await api.get(`/api/v1/stats?from=${createdAt}&to=${iso()}`, tenant)
    expect(body).to.deep.include({
      incidents: 2,
      bySeverity: { critical: 0, high: 1, medium: 0, low: 1 },
      byService: { checkout: 1, cart: 1 },
    })
    expect(body.mttaSeconds).to.equal(secondsUntil(acknowledgedAt))
    expect(body.mttrSeconds).to.equal(secondsUntil(resolvedAt))
    // Opened again, it was acknowledged when it was for the first time, and is not resolved.
    await act('reopen')
    await act('acknowledge')
    expect((await api.get(`/api/v1/stats?from=${createdAt}&to=${iso()}`, tenant)).body).to.deep.include({
      mttaSeconds: secondsUntil(acknowledgedAt),
      mttrSeconds: null,
    })
    expect((await api.get('/api/v1/stats', `${tenant}-none`)).body).to.deep.include({ incidents: 0, mttaSeconds: null, mttrSeconds: null })
    expect((await api.get('/api/v1/stats?from=2026-01-02&to=2026-01-01')).body.error).to.match(/^from: /)
    expect((await api.get('/api/v1/stats?from=soon')).status).to.equal(400)
  })

  it('the list takes recurring=true|false', async () => {
    await add({ recurring: true })
    await add({ id: id(2), recurring: false })
    await add({ id: id(3) })
    const ids = async (value: string) =>
      (await api.get(`/api/incidents?recurring=${value}`, tenant)).body.map((incident: Incident) => incident.id).sort()
    expect(await ids('true')).to.deep.equal([id()])
    expect(await ids('false')).to.deep.equal([id(2), id(3)])
    expect((await api.get('/api/incidents?recurring=maybe')).status).to.equal(400)
  })

  it('a target that refuses everything needs attention, as the incident, the dispatch and the metric say', async () => {
    const reason = 'Slack answered 403: it is not allowed'
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'rejected', reason, isTargetBroken: true } : undefined)
    await add()
    await lastSeen(
      () => statuses(),
      seen => seen.includes('slack open failed') && seen.includes('jira:ops open sent'),
    )
    const lastError = `${reason}; needs attention: tried each minute until it is mended`
    expect((await api.get(`/api/incidents/${id()}`, tenant)).body.dispatches.slack).to.deep.equal({
      status: 'failed',
      attempts: 1,
      lastError,
    })
    const rows = (await api.get(`/api/v1/dispatches?incident_id=${id()}`, tenant)).body as readonly { platform: string }[]
    expect(rows.find(({ platform }) => platform === 'slack')).to.deep.include({ status: 'failed', lastError })
    expect(rows.find(({ platform }) => platform === 'slack'))
      .to.have.property('nextAttemptAt')
      .that.is.a('string')
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    expect(text).to.match(/logpipeline_ticketing_dispatch_attempts_total\{platform="slack",result="refused"\} \d/)
  })

  it('metrics: incidents that nobody is told of, each once', async () => {
    const count = async () =>
      Number(/^logpipeline_ticketing_untold_total (\d+)/m.exec(await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text())?.[1])
    const before = await count()
    const targets = new Map((['slack', 'jira:ops'] as const).map(target => [target, buildTarget(target, {}, false)]))
    config.tenants.set(tenant, buildConfig(['slack', 'jira:ops'], { targets }))
    await add()
    const { untold } = await lastSeen(
      async () => (await api.get(`/api/incidents/${id()}`, tenant)).body as { untold?: string },
      incident => incident.untold !== undefined,
    )
    expect(untold).to.equal('slack is switched off and jira:ops is switched off')
    expect((await count()) - before).to.equal(1)
  })

  it('metrics: attempts by platform and result, dispatched and failed and the last time by target', async () => {
    fake.answer = ({ target }) => (target.id === 'slack' ? { kind: 'rejected', reason: 'no' } : undefined)
    await add()
    await lastSeen(
      () => statuses(),
      seen => seen.includes('slack open failed') && seen.includes('jira:ops open sent'),
    )
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    for (const line of [
      'logpipeline_ticketing_dispatch_attempts_total{platform="jira",result="delivered"} 1',
      'logpipeline_ticketing_dispatch_attempts_total{platform="slack",result="rejected"} 1',
      'logpipeline_ticketing_dispatched_total{target="jira:ops"} 1',
      'logpipeline_ticketing_failed_total{target="slack"} 1',
    ])
      expect(text).to.contain(line)
    expect(text).to.match(/logpipeline_ticketing_oldest_pending_seconds \d/)
    expect(text).to.match(/logpipeline_ticketing_last_dispatch_timestamp_seconds\{target="jira:ops"\} \d{10}/)
    expect(text).to.match(/logpipeline_ticketing_last_failure_timestamp_seconds\{target="slack"\} \d{10}/)
  })
})
