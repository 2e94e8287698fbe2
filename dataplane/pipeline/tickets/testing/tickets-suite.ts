/** Incidents become tickets, on any search store: order, faults, several replicas. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { auditIndex, incidentsIndex } from '../../../contract/indices.ts'
import { oweComment } from '../../../domain/tickets/incident-tickets.ts'
import type { OwedEvent } from '../../../domain/tickets/owed-event.ts'
import type { TicketThread } from '../../../domain/tickets/ticket-thread.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import type { SearchStore } from '../../../ports/search-store.ts'
import { type Log, SILENT } from '../../../telemetry/log.ts'
import { createLeaseEnding } from '../dispatch/end-leases.ts'
import { createRecall } from '../intake/recall-owed.ts'
import { readThreads } from '../thread-store.ts'
import { buildConfig, buildTarget } from './fake-config.ts'
import { describeTicketStory, type OpenStore, type TicketStory } from './ticket-story.ts'
import { tellTurns } from './ticket-turns.ts'
import { CAUSE } from './ticket-world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export function testTickets(name: string, open: OpenStore): void {
  describeTicketStory(`tickets on ${name}`, open, tellTickets)
  describeTicketStory(`tickets whose incident, platform or clock takes a turn on ${name}`, open, tellTurns)
}

function tellTickets(story: TicketStory): void {
  const { use, add, id, read, change, act, rows, dispatches, grow } = story

  it('an open incident is dispatched to the platforms routed for its severity, with its cause', async () => {
    use(['slack', 'jira:ops'])
    await add()
    await story.world.settle()
    expect(story.world.platforms.events()).to.have.members(['slack open', 'jira:ops open'])
    const { source } = await read()
    expect(source.platforms).to.deep.equal(['slack', 'jira:ops'])
    expect(source.rootCause).to.deep.equal(CAUSE)
    expect(story.world.platforms.arrived[0]!.content.cause?.summary).to.equal(CAUSE.summary)
    expect(await dispatches()).to.deep.equal({
      slack: { status: 'sent', externalId: `T-${id()}`, url: `https://tickets.example/${id()}`, attempts: 1 },
      'jira:ops': { status: 'sent', externalId: `T-${id()}-ops`, url: `https://tickets.example/${id()}-ops`, attempts: 1 },
    })
  })

  it('an incident that waits for nothing costs nothing: no event comes twice', async () => {
    await add()
    await story.world.settle()
    const { seqNo } = await read()
    await story.world.settle()
    expect((await read()).seqNo).to.equal(seqNo)
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
  })

  it('an analysis that fails never stops a ticket, and is made up for later', async () => {
    story.world.causes.find = async () => undefined
    await add()
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    expect(story.world.platforms.arrived[0]!.content.cause).to.equal(undefined)
    story.world.causes.find = async () => ({ rootCause: CAUSE, windowMs: 180_000 })
    story.world.clock.advance(MINUTE_MS)
    await story.world.settle()
    expect((await read()).source.rootCause).to.deep.equal(CAUSE)
    expect(story.world.platforms.events()).to.deep.equal(['slack open', 'slack comment'])
  })

  it('that a model could not be used stands after the next analysis; another cause is asked about anew', async () => {
    story.world.causes.find = async () => ({ rootCause: CAUSE, windowMs: 30_000 })
    await add()
    await story.world.settle()
    await change(incident => ({
      ...incident,
      rootCause: { ...CAUSE, fallback: true },
      ticketing: { ...incident.ticketing, explainedAt: incident.createdAt },
    }))
    story.world.clock.advance(4 * MINUTE_MS)
    await story.world.settle()
    expect((await read()).source.rootCause).to.deep.equal({ ...CAUSE, fallback: true })
    expect((await read()).source.ticketing).to.have.property('explainedAt')
    const other = { ...CAUSE, candidates: [{ ...CAUSE.candidates[0]!, service: 'database' }] }
    story.world.causes.find = async () => ({ rootCause: other, windowMs: 180_000 })
    await grow({ severity: 'critical' })
    story.world.clock.advance(4 * MINUTE_MS)
    await story.world.settle()
    expect((await read()).source.rootCause).to.deep.equal(other)
    expect((await read()).source.ticketing).not.to.have.property('explainedAt')
  })

  it('an open incident with nothing but its service, the rest null or of another kind, is dispatched beside the others', async () => {
    use(['slack'])
    await add()
    const rest = { platforms: null, affectedServices: null, evidence: null, severity: 'SEV1', anomalyScore: null, ticketing: null }
    await story.store.put(incidentsIndex(story.tenant), id(2), {
      status: 'open',
      service: 'mailer',
      tenantId: story.tenant,
      createdAt: '2026-01-01T00:00:00.000Z',
      ...rest,
    })
    await story.store.refresh(incidentsIndex(story.tenant))
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open', 'slack open'])
    expect(story.world.platforms.arrived.map(({ content }) => content.title).join()).to.contain('mailer: anomalous log records')
  })

  describe('of an earlier version, whose agent ended before it wrote what an incident was owed', () => {
    const at = () => new Date(story.world.clock.nowMs()).toISOString()
    const strand = (owed: readonly OwedEvent[]) =>
      change(incident => {
        const { attentionAt: _a, ...ticketing } = incident.ticketing ?? { takenAt: at() }
        return { ...incident, platforms: ['slack'], updatedAt: at(), ticketing: { ...ticketing, seq: owed.at(-1)!.seq, owed } }
      })
    const opening = (): OwedEvent => ({ event: 'open', at: at(), targets: ['slack'], seq: 1 })
    const start = async () => {
      await story.store.refresh(incidentsIndex(story.tenant))
      await createRecall({ store: story.store, clock: story.world.clock, log: SILENT })()
      await story.store.refresh(incidentsIndex(story.tenant))
      await story.world.settle()
    }

    it('they go out after a start, once', async () => {
      await add()
      await strand([opening()])
      await story.store.refresh(incidentsIndex(story.tenant))
      await story.world.settle()
      expect(story.world.platforms.events()).to.deep.equal([])
      await start()
      expect(story.world.platforms.events()).to.deep.equal(['slack open'])
      expect((await read()).source.ticketing).to.not.have.property('owed')
      await start()
      expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    })

    it('an incident beside them whose notes are of no use keeps none from going out', async () => {
      await add()
      await strand([opening()])
      const useless = { owed: null, told: null, takenAt: at() }
      await story.store.put(incidentsIndex(story.tenant), `${story.tenant}-0`, { status: 'open', updatedAt: at(), ticketing: useless })
      await start()
      expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    })

    it('what was written, and only not noted, makes no second ticket; what came behind it follows', async () => {
      await add()
      await story.world.settle()
      await change(incident => ({ ...incident, status: 'resolved' }))
      await strand([opening(), { event: 'resolve', at: at(), targets: ['slack'], change: { at: at() }, seq: 2 }])
      await start()
      expect(story.world.platforms.events()).to.deep.equal(['slack open', 'slack resolve'])
    })

    it('an opening that is owed for more than a day is history', async () => {
      await add()
      await strand([opening()])
      story.world.clock.advance(25 * HOUR_MS)
      const { seqNo } = await read()
      await start()
      expect((await read()).seqNo).to.equal(seqNo)
      expect(story.world.platforms.events()).to.deep.equal([])
    })
  })

  it('acknowledge, resolve and reopen follow in order to those that have the ticket', async () => {
    await add()
    await story.world.settle()
    await act('acknowledge', 'acknowledged')
    await story.world.settle()
    await act('resolve', 'resolved')
    await story.world.settle()
    await act('reopen', 'open')
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open', 'slack acknowledge', 'slack resolve', 'slack reopen'])
    expect(story.world.platforms.arrived[1]).to.deep.include({
      ticketKey: id(),
      ticket: { externalId: `T-${id()}`, url: `https://tickets.example/${id()}` },
    })
    expect(story.world.platforms.arrived[1]!.content.change).to.deep.include({ actor: 'ada' })
    expect(new Set(story.world.platforms.arrived.map(({ eventKey }) => eventKey)).size).to.equal(4)
  })

  it('acknowledged before it was seen, it is opened and acknowledged', async () => {
    await add()
    await act('acknowledge', 'acknowledged')
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open', 'slack acknowledge'])
  })

  it('resolved before it was seen, nobody is told', async () => {
    await add()
    await act('resolve', 'resolved')
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal([])
  })

  it('a rise in severity or a new affected service tells again, mere counts do not', async () => {
    use(['slack', 'pagerduty'], { routing: { critical: ['pagerduty', 'slack'], high: ['slack'], medium: [], low: [] } })
    await add()
    await story.world.settle()
    await grow({ anomalyCount: 500 })
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    await grow({ affectedServices: ['checkout', 'payment', 'cart'], severity: 'critical' })
    await story.world.settle()
    expect(story.world.platforms.events()).to.have.members(['slack open', 'slack update', 'pagerduty open'])
    const update = story.world.platforms.arrived.find(({ event }) => event === 'update')!
    expect(update.content.news).to.deep.equal(['Severity rose from high to critical.', 'cart is affected, too.'])
    expect((await read()).source.platforms).to.deep.equal(['slack', 'pagerduty'])
  })

  it('resolve never overtakes an open that is tried again', async () => {
    story.world.platforms.answer = ({ event }) => (event === 'open' ? { kind: 'retryable', reason: '503', isAmbiguous: true } : undefined)
    await add()
    await story.world.settle()
    await act('resolve', 'resolved')
    await story.world.settle()
    expect(new Set(story.world.platforms.events())).to.deep.equal(new Set(['slack open']))
    story.world.platforms.answer = () => undefined
    story.world.clock.advance(HOUR_MS)
    await story.world.settle()
    expect(story.world.platforms.events().slice(-2)).to.deep.equal(['slack open', 'slack resolve'])
    expect(story.world.platforms.arrived.at(-2)!.mayBeThere).to.equal(true)
    expect([...story.world.platforms.tickets().values()]).to.deep.equal([1])
  })

  it('killed between send and record: another one looks before it creates, once the lease has run out', async () => {
    let die: () => void = () => undefined
    const died = new Promise<void>(resolve => {
      die = resolve
    })
    const dying: SearchStore = {
      ...story.store,
      put: (index, document, body, condition) => {
        const isKilled = index.startsWith('service-dispatches-') && story.world.platforms.arrived.length > 0
        if (!isKilled) return story.store.put(index, document, body, condition)
        die()
        return new Promise(() => undefined)
      },
    }
    await add()
    await story.world.intake.round()
    await story.world.intake.idle()
    await story.world.replica({ store: dying }).dispatcher.round()
    await died
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    story.world.clock.advance(MINUTE_MS)
    await story.world.settle()
    expect(story.world.platforms.arrived.map(({ mayBeThere }) => mayBeThere)).to.deep.equal([false, true])
    expect([...story.world.platforms.tickets().values()]).to.deep.equal([1])
    expect(await rows()).to.deep.equal(['slack open sent'])
  })

  it('killed between send and record, and the only agent by its name: it goes on after a start at once, looks first, and ends no lease of others', async () => {
    use(['slack', 'jira'])
    const dying: SearchStore = {
      ...story.store,
      put: (index, document, body, condition) => {
        const isEnd = index.startsWith('service-dispatches-') && (body as Partial<TicketThread>).lease === undefined
        return isEnd ? new Promise(() => undefined) : story.store.put(index, document, body, condition)
      },
    }
    const killed = async (soleName?: string) => {
      await story.world.intake.round()
      await story.world.intake.idle()
      await story.world.replica({ store: dying, soleName }).dispatcher.round()
      while (story.world.platforms.arrived.length < 2) await nextTurn()
      story.world.platforms.arrived.length = 0
    }
    await add({ id: id(1) })
    await killed('standalone')
    await add({ id: id(2) })
    await killed()
    const again = story.world.replica({ soleName: 'standalone' })
    await createLeaseEnding({ store: story.store, clock: story.world.clock, log: SILENT, soleName: 'standalone' })()
    await story.world.settle(again.dispatcher)
    expect(await rows(1)).to.deep.equal(['slack open sent', 'jira open sent'])
    expect(await rows(2)).to.deep.equal(['slack open pending', 'jira open pending'])
    expect(story.world.platforms.arrived.map(({ mayBeThere }) => mayBeThere)).to.deep.equal([true, true])
    story.world.clock.advance(MINUTE_MS)
    await story.world.settle()
    expect(await rows(2)).to.deep.equal(['slack open sent', 'jira open sent'])
    expect([...story.world.platforms.tickets().values()]).to.deep.equal([1, 1, 1, 1])
  })

  it('killed again and again while it looks: the look goes on from where it was, until a write was under way', async () => {
    const { clock, platforms } = story.world
    const waits: (number | undefined)[] = []
    const killedAfter = async (ms: number) => {
      await createLeaseEnding({ store: story.store, clock, log: SILENT, soleName: 'standalone' })()
      const before = platforms.arrived.length
      await story.world.replica({ soleName: 'standalone' }).dispatcher.round()
      while (platforms.arrived.length === before) await nextTurn()
      waits.push(platforms.arrived.at(-1)!.unansweredForMs)
      clock.advance(ms)
    }
    platforms.answer = () => new Promise(() => undefined)
    await add()
    await story.world.intake.round()
    await story.world.intake.idle()
    await killedAfter(5_000)
    for (const ms of [7_000, 8_000, 9_000]) await killedAfter(ms)
    expect(waits).to.deep.equal([undefined, 0, 7_000, 15_000])
    expect(await platforms.arrived.at(-1)!.beforeWriting!()).to.equal(true)
    await killedAfter(1_000)
    expect(waits.at(-1)).to.equal(0)
    expect(await platforms.arrived.at(-3)!.beforeWriting!(), 'by a sender that is late').to.equal(false)
  })

  it('killed while it takes an incident up, and the only agent by its name: it takes it up after a start at once', async () => {
    let isLooking = false
    story.world.causes.find = () => {
      isLooking = true
      return new Promise(() => undefined)
    }
    await add()
    await story.world.replica({ soleName: 'standalone' }).intake.round()
    while (!isLooking) await nextTurn()
    expect((await read()).source.ticketing).to.have.property('claimedUntil')
    story.world.causes.find = async () => ({ rootCause: CAUSE, windowMs: 180_000 })
    const [other, again] = [story.world.replica({ soleName: 'other' }), story.world.replica({ soleName: 'standalone' })]
    for (const { intake } of [other, again]) {
      expect(story.world.platforms.events()).to.deep.equal([])
      await intake.round()
      await intake.idle()
      await story.world.dispatcher.round()
      await story.world.dispatcher.idle()
    }
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
  })

  it('two dispatchers and two intakes on one store: one ticket for each incident, events in order', async () => {
    use(['slack', 'jira'])
    const other = story.world.replica()
    for (let n = 1; n <= 40; n++) await add({ id: id(n) })
    for (let i = 0; i < 30; i++) {
      await Promise.all([story.world.intake.round(), other.intake.round(), story.world.dispatcher.round(), other.dispatcher.round()])
      await Promise.all([story.world.intake.idle(), other.intake.idle(), story.world.dispatcher.idle(), other.dispatcher.idle()])
    }
    expect(story.world.platforms.arrived).to.have.length(80)
    expect(new Set(story.world.platforms.tickets().values())).to.deep.equal(new Set([1]))
  })

  it('a platform that asks for time gets it, and no other target waits for it', async () => {
    use(['slack', 'jira'])
    story.world.platforms.answer = ({ target }): TicketOutcome | undefined =>
      target.id === 'slack' ? { kind: 'retryable', reason: '429', afterMs: 90_000 } : undefined
    await add()
    await add({ id: id(2) })
    await story.world.settle()
    expect(story.world.platforms.events().filter(event => event.startsWith('jira'))).to.have.length(2)
    const before = story.world.platforms.events().length
    story.world.clock.advance(89_000)
    await story.world.settle()
    expect(story.world.platforms.events().length).to.equal(before)
    story.world.platforms.answer = () => undefined
    story.world.clock.advance(1_000)
    await story.world.settle()
    expect(await rows()).to.deep.equal(['slack open sent', 'jira open sent'])
    expect(await rows(2)).to.deep.equal(['slack open sent', 'jira open sent'])
  })

  it('a target that takes nothing: one row shows it, the others wait and say why, all go out once it is mended', async () => {
    story.world.platforms.answer = () => ({ kind: 'rejected', reason: '410 channel_is_archived', isTargetBroken: true })
    for (let n = 1; n <= 5; n++) await add({ id: id(n) })
    const alarms: object[] = []
    const log: Log = { ...SILENT, error: fields => void alarms.push(fields) }
    const limited = story.world.replica({ limits: () => ({ perSecond: 100, burst: 100, atOnce: 1 }), log })
    await story.world.settle(limited.dispatcher)
    expect(story.world.platforms.arrived).to.have.length(1)
    const shown = await Promise.all([1, 2, 3, 4, 5].map(n => rows(n)))
    expect(shown.flat().sort()).to.deep.equal([...Array(1).fill('slack open failed'), ...Array(4).fill('slack open pending')])
    const { source } = await read(story.world.platforms.arrived[0]!.content.incidentId === id(1) ? 2 : 1)
    const [thread] = await readThreads(story.store, source)
    expect(thread!.rows[0]!.lastError).to.equal('waits: 410 channel_is_archived')
    expect(thread!.restsUntil, 'for agents that do not send to it').to.equal(
      new Date(limited.dispatcher.restsUntil(thread!.lane)!).toISOString(),
    )
    story.world.clock.advance(MINUTE_MS)
    await story.world.settle(limited.dispatcher)
    expect(story.world.platforms.arrived).to.have.length(2)
    expect(alarms, 'one alarm, however often it is tried').to.deep.equal([
      { tenant: story.tenant, platform: 'slack', reason: '410 channel_is_archived' },
    ])
    story.world.platforms.answer = () => undefined
    story.world.clock.advance(MINUTE_MS)
    await story.world.settle(limited.dispatcher)
    expect((await Promise.all([1, 2, 3, 4, 5].map(n => rows(n)))).flat()).to.deep.equal(Array(5).fill('slack open sent'))
  })

  it('a target that was switched off or removed: suppressed, with the reason', async () => {
    await add()
    await story.world.intake.round()
    await story.world.intake.idle()
    story.world.config.tenants.set(story.tenant, { ...buildConfig(), targets: new Map([['slack', buildTarget('slack', {}, false)]]) })
    await story.world.settle()
    expect(await dispatches()).to.deep.equal({ slack: { status: 'suppressed', attempts: 0, lastError: 'slack is switched off' } })
    expect(story.world.platforms.events()).to.deep.equal([])
  })

  it('is given up after 24 h, with an audit entry', async () => {
    story.world.platforms.answer = () => ({ kind: 'retryable', reason: '503 down' })
    await add()
    await story.world.settle()
    for (let hour = 0; hour < 25; hour++) {
      story.world.clock.advance(HOUR_MS)
      await story.world.settle()
    }
    expect((await dispatches())['slack']).to.deep.include({ status: 'failed', lastError: 'given up after 24 h: 503 down' })
    await story.store.refresh(auditIndex(story.tenant))
    const { hits } = await story.store.search<{ details: string }>({
      index: auditIndex(story.tenant),
      body: { size: 10, query: { term: { action: 'dispatch_failed' } } },
    })
    expect(hits.map(({ source }) => source.details)).to.deep.equal(['open not told to slack: given up after 24 h: 503 down'])
  })

  it('a silence suppresses; still open at its end the incident is dispatched', async () => {
    const iso = (ms: number) => new Date(story.world.clock.nowMs() + ms).toISOString()
    await story.world.silences.add(story.tenant, { services: ['check*'], from: iso(-MINUTE_MS), to: iso(HOUR_MS), reason: 'release' })
    await add()
    await story.world.settle()
    expect(await dispatches()).to.deep.equal({ slack: { status: 'suppressed', attempts: 0, lastError: 'silenced: release' } })
    expect((await read()).source.platforms).to.deep.equal(['slack'])
    await grow({ severity: 'critical' })
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal([])
    story.world.clock.advance(HOUR_MS)
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    expect((await dispatches())['slack']!.status).to.equal('sent')
  })

  it('what a person says in a silence is on the ticket that is opened at its end, or for an escalation', async () => {
    const iso = (ms: number) => new Date(story.world.clock.nowMs() + ms).toISOString()
    await story.world.silences.add(story.tenant, { services: ['check*'], from: iso(-MINUTE_MS), to: iso(HOUR_MS), reason: 'release' })
    await add()
    await add({ id: id(2) })
    await story.world.settle()
    for (const n of [1, 2]) await change(incident => oweComment(incident, { at: iso(0), actor: 'ada', note: `the pool of ${n}` }), n)
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal([])
    await act('escalate', 'escalated')
    await story.world.settle()
    expect(story.world.platforms.events(id())).to.deep.equal(['slack open', 'slack comment'])
    expect(story.world.platforms.events(id(2))).to.deep.equal([])
    story.world.clock.advance(HOUR_MS)
    await story.world.settle()
    expect(story.world.platforms.events(id())).to.deep.equal(['slack open', 'slack comment'])
    expect(story.world.platforms.events(id(2))).to.deep.equal(['slack open', 'slack comment'])
    expect(story.world.platforms.arrived.at(-1)!.content.change).to.include({ actor: 'ada', note: 'the pool of 2' })
  })

  it('acknowledged in a silence, it is not dispatched at its end; a silence that is deleted ends at once', async () => {
    const iso = (ms: number) => new Date(story.world.clock.nowMs() + ms).toISOString()
    const silence = await story.world.silences.add(story.tenant, { services: ['*'], from: iso(-1), to: iso(HOUR_MS), reason: 'release' })
    await add()
    await add({ id: id(2) })
    await story.world.settle()
    await act('acknowledge', 'acknowledged')
    await story.world.settle()
    expect(await story.world.silences.remove(story.tenant, silence!.id)).to.equal(true)
    await story.world.settle()
    expect(story.world.platforms.arrived.map(({ content }) => content.incidentId)).to.deep.equal([id(2)])
  })

  it('recurring incidents that are to be quiet are dispatched when they no longer recur', async () => {
    use(['slack'], { anomaly: { minimumScore: 0.85, lookbackWindow: '15m', recurring: 'quiet' } as never })
    const [from, to] = [-1, HOUR_MS].map(ms => new Date(story.world.clock.nowMs() + ms).toISOString()) as [string, string]
    await story.world.silences.add(story.tenant, { services: ['*'], from, to, reason: 'release' })
    await add({ recurring: true })
    await story.world.settle()
    expect((await dispatches())['slack']).to.deep.include({ status: 'suppressed', lastError: 'silenced: release' })
    story.world.clock.advance(HOUR_MS)
    await story.world.settle()
    expect((await dispatches())['slack']).to.deep.include({ status: 'suppressed', lastError: 'recurring: nothing new for this service' })
    await grow({ recurring: false })
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
  })
}
