/** Incidents become tickets, on any search store: order, faults, several replicas. */
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { auditIndex, incidentsIndex } from '../../../contract/indices.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import type { IncidentAction } from '../../../domain/incidents/incident-status.ts'
import { oweChange, type TicketedIncident } from '../../../domain/tickets/incident-tickets.ts'
import type { OwedEvent } from '../../../domain/tickets/owed-event.ts'
import { showRows } from '../../../domain/tickets/ticket-thread.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { type Log, SILENT } from '../../../telemetry/log.ts'
import { storeIncidents } from '../../../testing/incident-fixture.ts'
import { putIndexTemplates } from '../../../testing/put-index-templates.ts'
import { createRecall } from '../recall-owed.ts'
import { readDispatches, readThreads } from '../thread-store.ts'
import { buildConfig, buildTarget } from './fake-config.ts'
import { CAUSE, createTicketWorld, type TicketWorld } from './ticket-world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export function testTickets(name: string, open: () => Promise<{ readonly store: SearchStore; stop(): Promise<unknown> }>): void {
  describe(`tickets on ${name}`, function () {
    this.timeout(60_000)
    let opened: Awaited<ReturnType<typeof open>>
    let store: SearchStore
    let world: TicketWorld
    let tenant: string
    let tests = 0

    before(async () => {
      opened = await open()
      store = opened.store
      await putIndexTemplates(store)
    })
    after(() => opened.stop())
    beforeEach(() => {
      tenant = `tenant-${++tests}`
      world = createTicketWorld(store)
      world.config.tenants.set(tenant, buildConfig())
    })

    const use = (config: Parameters<typeof buildConfig>[0], overrides?: Parameters<typeof buildConfig>[1]) =>
      world.config.tenants.set(tenant, buildConfig(config, overrides))
    const add = (overrides: Partial<Incident> = {}) => storeIncidents(store, { id: `${tenant}-i1`, tenantId: tenant, ...overrides })
    const id = (n = 1) => `${tenant}-i${n}`
    const read = async (n = 1) => (await store.get<TicketedIncident>(incidentsIndex(tenant), id(n)))!
    const change = async (edit: (incident: TicketedIncident) => TicketedIncident, n = 1) => {
      const stored = await read(n)
      await store.put(incidentsIndex(tenant), id(n), edit(stored.source), stored)
    }
    const act = (action: IncidentAction, status: Incident['status']) =>
      change(incident => ({ ...oweChange(incident, { action, at: new Date(world.clock.nowMs()).toISOString(), actor: 'ada' }), status }))
    const rows = async (n = 1) =>
      (await readThreads(store, (await read(n)).source))
        .flatMap(showRows)
        .map(({ platform, event, status }) => `${platform} ${event} ${status}`)
    const dispatches = async () => {
      const { source } = await read()
      return (await readDispatches(store, [source]))(source)
    }
    const grow = (edit: Partial<Incident>) =>
      change(incident => ({
        ...incident,
        ...edit,
        ticketing: { ...incident.ticketing, attentionAt: new Date(world.clock.nowMs()).toISOString() },
      }))

    it('an open incident is dispatched to the platforms routed for its severity, with its cause', async () => {
      use(['slack', 'jira:ops'])
      await add()
      await world.settle()
      expect(world.platforms.events()).to.have.members(['slack open', 'jira:ops open'])
      const { source } = await read()
      expect(source.platforms).to.deep.equal(['slack', 'jira:ops'])
      expect(source.rootCause).to.deep.equal(CAUSE)
      expect(world.platforms.arrived[0]!.content.cause?.summary).to.equal(CAUSE.summary)
      expect(await dispatches()).to.deep.equal({
        slack: { status: 'sent', externalId: `T-${id()}`, url: `https://tickets.example/${id()}`, attempts: 1 },
        'jira:ops': { status: 'sent', externalId: `T-${id()}-ops`, url: `https://tickets.example/${id()}-ops`, attempts: 1 },
      })
    })

    it('an incident that waits for nothing costs nothing: no event comes twice', async () => {
      await add()
      await world.settle()
      const { seqNo } = await read()
      await world.settle()
      expect((await read()).seqNo).to.equal(seqNo)
      expect(world.platforms.events()).to.deep.equal(['slack open'])
    })

    it('an analysis that fails never stops a ticket, and is made up for later', async () => {
      world.causes.find = async () => undefined
      await add()
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open'])
      expect(world.platforms.arrived[0]!.content.cause).to.equal(undefined)
      world.causes.find = async () => ({ rootCause: CAUSE, windowMs: 180_000 })
      world.clock.advance(MINUTE_MS)
      await world.settle()
      expect((await read()).source.rootCause).to.deep.equal(CAUSE)
      expect(world.platforms.events()).to.deep.equal(['slack open', 'slack comment'])
    })

    it('that a model could not be used stands after the next analysis; another cause is asked about anew', async () => {
      world.causes.find = async () => ({ rootCause: CAUSE, windowMs: 30_000 })
      await add()
      await world.settle()
      await change(incident => ({
        ...incident,
        rootCause: { ...CAUSE, fallback: true },
        ticketing: { ...incident.ticketing, explainedAt: incident.createdAt },
      }))
      world.clock.advance(4 * MINUTE_MS)
      await world.settle()
      expect((await read()).source.rootCause).to.deep.equal({ ...CAUSE, fallback: true })
      expect((await read()).source.ticketing).to.have.property('explainedAt')
      const other = { ...CAUSE, candidates: [{ ...CAUSE.candidates[0]!, service: 'database' }] }
      world.causes.find = async () => ({ rootCause: other, windowMs: 180_000 })
      await grow({ severity: 'critical' })
      world.clock.advance(4 * MINUTE_MS)
      await world.settle()
      expect((await read()).source.rootCause).to.deep.equal(other)
      expect((await read()).source.ticketing).not.to.have.property('explainedAt')
    })

    it('an open incident with nothing but its service, the rest null or of another kind, is dispatched beside the others', async () => {
      use(['slack'])
      await add()
      const rest = { platforms: null, affectedServices: null, evidence: null, severity: 'SEV1', anomalyScore: null, ticketing: null }
      await store.put(incidentsIndex(tenant), id(2), {
        status: 'open',
        service: 'mailer',
        tenantId: tenant,
        createdAt: '2026-01-01T00:00:00.000Z',
        ...rest,
      })
      await store.refresh(incidentsIndex(tenant))
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open', 'slack open'])
      expect(world.platforms.arrived.map(({ content }) => content.title).join()).to.contain('mailer: anomalous log records')
    })

    describe('of an earlier version, whose agent ended before it wrote what an incident was owed', () => {
      const at = () => new Date(world.clock.nowMs()).toISOString()
      const strand = (owed: readonly OwedEvent[]) =>
        change(incident => {
          const { attentionAt: _a, ...ticketing } = incident.ticketing ?? { takenAt: at() }
          return { ...incident, platforms: ['slack'], updatedAt: at(), ticketing: { ...ticketing, seq: owed.at(-1)!.seq, owed } }
        })
      const opening = (): OwedEvent => ({ event: 'open', at: at(), targets: ['slack'], seq: 1 })
      const start = async () => {
        await store.refresh(incidentsIndex(tenant))
        await createRecall({ store, clock: world.clock, log: SILENT })()
        await store.refresh(incidentsIndex(tenant))
        await world.settle()
      }

      it('they go out after a start, once', async () => {
        await add()
        await strand([opening()])
        await store.refresh(incidentsIndex(tenant))
        await world.settle()
        expect(world.platforms.events()).to.deep.equal([])
        await start()
        expect(world.platforms.events()).to.deep.equal(['slack open'])
        expect((await read()).source.ticketing).to.not.have.property('owed')
        await start()
        expect(world.platforms.events()).to.deep.equal(['slack open'])
      })

      it('an incident beside them whose notes are of no use keeps none from going out', async () => {
        await add()
        await strand([opening()])
        const useless = { owed: null, told: null, takenAt: at() }
        await store.put(incidentsIndex(tenant), `${tenant}-0`, { status: 'open', updatedAt: at(), ticketing: useless })
        await start()
        expect(world.platforms.events()).to.deep.equal(['slack open'])
      })

      it('what was written, and only not noted, makes no second ticket; what came behind it follows', async () => {
        await add()
        await world.settle()
        await change(incident => ({ ...incident, status: 'resolved' }))
        await strand([opening(), { event: 'resolve', at: at(), targets: ['slack'], change: { at: at() }, seq: 2 }])
        await start()
        expect(world.platforms.events()).to.deep.equal(['slack open', 'slack resolve'])
      })

      it('an opening that is owed for more than a day is history', async () => {
        await add()
        await strand([opening()])
        world.clock.advance(25 * HOUR_MS)
        const { seqNo } = await read()
        await start()
        expect((await read()).seqNo).to.equal(seqNo)
        expect(world.platforms.events()).to.deep.equal([])
      })
    })

    it('acknowledge, resolve and reopen follow in order to those that have the ticket', async () => {
      await add()
      await world.settle()
      await act('acknowledge', 'acknowledged')
      await world.settle()
      await act('resolve', 'resolved')
      await world.settle()
      await act('reopen', 'open')
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open', 'slack acknowledge', 'slack resolve', 'slack reopen'])
      expect(world.platforms.arrived[1]).to.deep.include({
        ticketKey: id(),
        ticket: { externalId: `T-${id()}`, url: `https://tickets.example/${id()}` },
      })
      expect(world.platforms.arrived[1]!.content.change).to.deep.include({ actor: 'ada' })
      expect(new Set(world.platforms.arrived.map(({ eventKey }) => eventKey)).size).to.equal(4)
    })

    it('acknowledged before it was seen, it is opened and acknowledged', async () => {
      await add()
      await act('acknowledge', 'acknowledged')
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open', 'slack acknowledge'])
    })

    it('resolved before it was seen, nobody is told', async () => {
      await add()
      await act('resolve', 'resolved')
      await world.settle()
      expect(world.platforms.events()).to.deep.equal([])
    })

    it('a rise in severity or a new affected service tells again, mere counts do not', async () => {
      use(['slack', 'pagerduty'], { routing: { critical: ['pagerduty', 'slack'], high: ['slack'], medium: [], low: [] } })
      await add()
      await world.settle()
      await grow({ anomalyCount: 500 })
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open'])
      await grow({ affectedServices: ['checkout', 'payment', 'cart'], severity: 'critical' })
      await world.settle()
      expect(world.platforms.events()).to.have.members(['slack open', 'slack update', 'pagerduty open'])
      const update = world.platforms.arrived.find(({ event }) => event === 'update')!
      expect(update.content.news).to.deep.equal(['Severity rose from high to critical.', 'cart is affected, too.'])
      expect((await read()).source.platforms).to.deep.equal(['slack', 'pagerduty'])
    })

    it('resolve never overtakes an open that is tried again', async () => {
      world.platforms.answer = ({ event }) => (event === 'open' ? { kind: 'retryable', reason: '503', isAmbiguous: true } : undefined)
      await add()
      await world.settle()
      await act('resolve', 'resolved')
      await world.settle()
      expect(new Set(world.platforms.events())).to.deep.equal(new Set(['slack open']))
      world.platforms.answer = () => undefined
      world.clock.advance(HOUR_MS)
      await world.settle()
      expect(world.platforms.events().slice(-2)).to.deep.equal(['slack open', 'slack resolve'])
      expect(world.platforms.arrived.at(-2)!.mayBeThere).to.equal(true)
      expect([...world.platforms.tickets().values()]).to.deep.equal([1])
    })

    it('killed between send and record: another one looks before it creates, once the lease has run out', async () => {
      let die: () => void = () => undefined
      const died = new Promise<void>(resolve => {
        die = resolve
      })
      const dying: SearchStore = {
        ...store,
        put: (index, document, body, condition) => {
          const isKilled = index.startsWith('service-dispatches-') && world.platforms.arrived.length > 0
          if (!isKilled) return store.put(index, document, body, condition)
          die()
          return new Promise(() => undefined)
        },
      }
      await add()
      await world.intake.round()
      await world.intake.idle()
      await world.replica({ store: dying }).dispatcher.round()
      await died
      expect(world.platforms.events()).to.deep.equal(['slack open'])
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open'])
      world.clock.advance(MINUTE_MS)
      await world.settle()
      expect(world.platforms.arrived.map(({ mayBeThere }) => mayBeThere)).to.deep.equal([false, true])
      expect([...world.platforms.tickets().values()]).to.deep.equal([1])
      expect(await rows()).to.deep.equal(['slack open sent'])
    })

    it('two dispatchers and two intakes on one store: one ticket for each incident, events in order', async () => {
      use(['slack', 'jira'])
      const other = world.replica()
      for (let n = 1; n <= 40; n++) await add({ id: id(n) })
      for (let i = 0; i < 30; i++) {
        await Promise.all([world.intake.round(), other.intake.round(), world.dispatcher.round(), other.dispatcher.round()])
        await Promise.all([world.intake.idle(), other.intake.idle(), world.dispatcher.idle(), other.dispatcher.idle()])
      }
      expect(world.platforms.arrived).to.have.length(80)
      expect(new Set(world.platforms.tickets().values())).to.deep.equal(new Set([1]))
    })

    it('a platform that asks for time gets it, and no other target waits for it', async () => {
      use(['slack', 'jira'])
      world.platforms.answer = ({ target }): TicketOutcome | undefined =>
        target.id === 'slack' ? { kind: 'retryable', reason: '429', afterMs: 90_000 } : undefined
      await add()
      await add({ id: id(2) })
      await world.settle()
      expect(world.platforms.events().filter(event => event.startsWith('jira'))).to.have.length(2)
      const before = world.platforms.events().length
      world.clock.advance(89_000)
      await world.settle()
      expect(world.platforms.events().length).to.equal(before)
      world.platforms.answer = () => undefined
      world.clock.advance(1_000)
      await world.settle()
      expect(await rows()).to.deep.equal(['slack open sent', 'jira open sent'])
      expect(await rows(2)).to.deep.equal(['slack open sent', 'jira open sent'])
    })

    it('a target that takes nothing: one row shows it, the others wait and say why, all go out once it is mended', async () => {
      world.platforms.answer = () => ({ kind: 'rejected', reason: '410 channel_is_archived', isTargetBroken: true })
      for (let n = 1; n <= 5; n++) await add({ id: id(n) })
      const alarms: object[] = []
      const log: Log = { ...SILENT, error: fields => void alarms.push(fields) }
      const limited = world.replica({ limits: () => ({ perSecond: 100, burst: 100, atOnce: 1 }), log })
      await world.settle(limited.dispatcher)
      expect(world.platforms.arrived).to.have.length(1)
      const shown = await Promise.all([1, 2, 3, 4, 5].map(n => rows(n)))
      expect(shown.flat().sort()).to.deep.equal([...Array(1).fill('slack open failed'), ...Array(4).fill('slack open pending')])
      const { source } = await read(world.platforms.arrived[0]!.content.incidentId === id(1) ? 2 : 1)
      const [thread] = await readThreads(store, source)
      expect(thread!.rows[0]!.lastError).to.equal('waits: 410 channel_is_archived')
      world.clock.advance(MINUTE_MS)
      await world.settle(limited.dispatcher)
      expect(world.platforms.arrived).to.have.length(2)
      expect(alarms, 'one alarm, however often it is tried').to.deep.equal([
        { tenant, platform: 'slack', reason: '410 channel_is_archived' },
      ])
      world.platforms.answer = () => undefined
      world.clock.advance(MINUTE_MS)
      await world.settle(limited.dispatcher)
      expect((await Promise.all([1, 2, 3, 4, 5].map(n => rows(n)))).flat()).to.deep.equal(Array(5).fill('slack open sent'))
    })

    it('a target that was switched off or removed: suppressed, with the reason', async () => {
      await add()
      await world.intake.round()
      await world.intake.idle()
      world.config.tenants.set(tenant, { ...buildConfig(), targets: new Map([['slack', buildTarget('slack', {}, false)]]) })
      await world.settle()
      expect(await dispatches()).to.deep.equal({ slack: { status: 'suppressed', attempts: 0, lastError: 'slack is switched off' } })
      expect(world.platforms.events()).to.deep.equal([])
    })

    it('is given up after 24 h, with an audit entry', async () => {
      world.platforms.answer = () => ({ kind: 'retryable', reason: '503 down' })
      await add()
      await world.settle()
      for (let hour = 0; hour < 25; hour++) {
        world.clock.advance(HOUR_MS)
        await world.settle()
      }
      expect((await dispatches())['slack']).to.deep.include({ status: 'failed', lastError: 'given up after 24 h: 503 down' })
      await store.refresh(auditIndex(tenant))
      const { hits } = await store.search<{ details: string }>({
        index: auditIndex(tenant),
        body: { size: 10, query: { term: { action: 'dispatch_failed' } } },
      })
      expect(hits.map(({ source }) => source.details)).to.deep.equal(['open not told to slack: given up after 24 h: 503 down'])
    })

    it('a silence suppresses; still open at its end the incident is dispatched', async () => {
      const iso = (ms: number) => new Date(world.clock.nowMs() + ms).toISOString()
      await world.silences.add(tenant, { services: ['check*'], from: iso(-MINUTE_MS), to: iso(HOUR_MS), reason: 'release' })
      await add()
      await world.settle()
      expect(await dispatches()).to.deep.equal({ slack: { status: 'suppressed', attempts: 0, lastError: 'silenced: release' } })
      expect((await read()).source.platforms).to.deep.equal(['slack'])
      await grow({ severity: 'critical' })
      await world.settle()
      expect(world.platforms.events()).to.deep.equal([])
      world.clock.advance(HOUR_MS)
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open'])
      expect((await dispatches())['slack']!.status).to.equal('sent')
    })

    it('acknowledged in a silence, it is not dispatched at its end; a silence that is deleted ends at once', async () => {
      const iso = (ms: number) => new Date(world.clock.nowMs() + ms).toISOString()
      const silence = await world.silences.add(tenant, { services: ['*'], from: iso(-1), to: iso(HOUR_MS), reason: 'release' })
      await add()
      await add({ id: id(2) })
      await world.settle()
      await act('acknowledge', 'acknowledged')
      await world.settle()
      expect(await world.silences.remove(tenant, silence!.id)).to.equal(true)
      await world.settle()
      expect(world.platforms.arrived.map(({ content }) => content.incidentId)).to.deep.equal([id(2)])
    })

    it('recurring incidents that are to be quiet are dispatched when they no longer recur', async () => {
      use(['slack'], { anomaly: { minimumScore: 0.85, lookbackWindow: '15m', recurring: 'quiet' } as never })
      await add({ recurring: true })
      await world.settle()
      expect((await dispatches())['slack']).to.deep.include({ status: 'suppressed' })
      await grow({ recurring: false })
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open'])
    })

    it('what a platform told us is not told back to it', async () => {
      use(['slack', 'jira'])
      await add()
      await world.settle()
      const at = new Date(world.clock.nowMs()).toISOString()
      await change(incident => ({ ...oweChange(incident, { action: 'acknowledge', at, fromTarget: 'jira' }), status: 'acknowledged' }))
      await world.settle()
      expect(world.platforms.events().filter(event => event.endsWith('acknowledge'))).to.deep.equal(['slack acknowledge'])
    })

    it('resolved on a platform and opened again here, it is opened again there', async () => {
      use(['slack', 'jira'])
      await add()
      await world.settle()
      const at = new Date(world.clock.nowMs()).toISOString()
      await change(incident => ({ ...oweChange(incident, { action: 'resolve', at, fromTarget: 'jira' }), status: 'resolved' }))
      await world.settle()
      await act('reopen', 'open')
      await world.settle()
      expect(world.platforms.events().filter(event => event.endsWith('reopen'))).to.have.members(['slack reopen', 'jira reopen'])
    })

    it('resolved before it is told, and opened again later, it is told', async () => {
      world.platforms.answer = () => ({ kind: 'retryable', reason: '503' })
      world.platforms.loses = () => true
      await add()
      await world.settle()
      await act('resolve', 'resolved')
      await world.settle()
      world.platforms.answer = () => undefined
      world.platforms.loses = () => false
      world.clock.advance(HOUR_MS)
      await world.settle()
      expect(world.platforms.events()).to.deep.equal([])
      await act('reopen', 'open')
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack reopen'])
    })

    it('a clock that ran ahead by a month and is set back holds up no ticket, nor does an agent that ended meanwhile', async () => {
      const monthMs = 30 * 24 * HOUR_MS
      const iso = (ms = 0) => new Date(world.clock.nowMs() + ms).toISOString()
      world.clock.advance(monthMs)
      world.platforms.answer = () => ({ kind: 'retryable', reason: '503' })
      await add({ updatedAt: iso() })
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open'])
      await add({ id: id(2), updatedAt: iso(), ...{ ticketing: { claimedUntil: iso(30_000) } } })
      world.platforms.answer = () => undefined
      world.clock.advance(-monthMs)
      await world.settle()
      expect(await rows()).to.deep.equal(['slack open sent'])
      expect(await rows(2)).to.deep.equal(['slack open sent'])
    })

    for (const refusal of [{ isTargetBroken: true }, {}] as const)
      it(`settings that change while an attempt is under way count at once, whatever the old ones are told: ${JSON.stringify(refusal)}`, async () => {
        use(['slack'], { targets: new Map([['slack', buildTarget('slack', { webhookUrl: 'https://old' })]]) })
        world.platforms.answer = ({ target }): TicketOutcome | undefined => {
          if (target.fields['webhookUrl'] !== 'https://old') return undefined
          use(['slack'], { targets: new Map([['slack', buildTarget('slack', { webhookUrl: 'https://new' })]]) })
          return { kind: 'rejected', reason: '404 channel_not_found', ...refusal }
        }
        await add()
        await world.settle()
        expect(await rows()).to.deep.equal(['slack open pending'])
        world.clock.advance(2_000)
        await world.settle()
        expect(await rows()).to.deep.equal(['slack open sent'])
      })

    it('recipients that were put off are told again without the others, and hold up nothing newer', async () => {
      const partly: TicketOutcome = { kind: 'delivered', ticket: { externalId: 'T' }, note: 'put off: ada@x', unreached: ['ada@x'] }
      world.platforms.answer = () => partly
      await add()
      await world.settle()
      expect(await dispatches()).to.deep.include({
        slack: { status: 'pending', externalId: 'T', attempts: 1, lastError: 'put off: ada@x' },
      })
      world.clock.advance(2_000)
      await world.settle()
      expect(world.platforms.arrived.map(({ event, only }) => [event, only])).to.deep.equal([
        ['open', undefined],
        ['open', ['ada@x']],
      ])
      world.platforms.answer = () => undefined
      await act('acknowledge', 'acknowledged')
      await world.settle()
      expect(world.platforms.arrived.slice(2).map(({ event, only }) => [event, only])).to.deep.equal([['acknowledge', undefined]])
      expect(await rows()).to.deep.equal(['slack open sent', 'slack acknowledge sent'])
    })

    it('resolved before it is taken up, and opened again later, it is told', async () => {
      await add({ status: 'resolved' })
      await act('resolve', 'resolved')
      await world.settle()
      await act('reopen', 'open')
      await world.settle()
      expect(world.platforms.events()).to.deep.equal(['slack open'])
    })
  })
}
