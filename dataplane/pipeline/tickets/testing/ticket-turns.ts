/** Turns that the way from incident to ticket may take: opened again, changed on a platform, settings and clocks that change meanwhile. */
import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { retryThread } from '../../../domain/tickets/delivery.ts'
import { oweChange } from '../../../domain/tickets/incident-tickets.ts'
import { threadId } from '../../../domain/tickets/outbox-row.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import { escalateOverdue } from '../auto-escalation.ts'
import { changeThread } from '../thread-store.ts'
import { buildTarget } from './fake-config.ts'
import type { TicketStory } from './ticket-story.ts'

const HOUR_MS = 3_600_000

/** Lets what was begun go on, a store of its own thread included. */
async function turnsUntil(isDone: () => boolean, most = 200): Promise<void> {
  for (let i = 0; i < most && !isDone(); i++) await new Promise(done => setTimeout(done, 5))
}

export function tellTurns(story: TicketStory): void {
  const { use, add, id, change, act, rows, dispatches } = story

  it('what a platform told us is not told back to it', async () => {
    use(['slack', 'jira'])
    await add()
    await story.world.settle()
    const at = new Date(story.world.clock.nowMs()).toISOString()
    await change(incident => ({ ...oweChange(incident, { action: 'acknowledge', at, fromTarget: 'jira' }), status: 'acknowledged' }))
    await story.world.settle()
    expect(story.world.platforms.events().filter(event => event.endsWith('acknowledge'))).to.deep.equal(['slack acknowledge'])
  })

  it('resolved on a platform and opened again here, it is opened again there', async () => {
    use(['slack', 'jira'])
    await add()
    await story.world.settle()
    const at = new Date(story.world.clock.nowMs()).toISOString()
    await change(incident => ({ ...oweChange(incident, { action: 'resolve', at, fromTarget: 'jira' }), status: 'resolved' }))
    await story.world.settle()
    await act('reopen', 'open')
    await story.world.settle()
    expect(story.world.platforms.events().filter(event => event.endsWith('reopen'))).to.have.members(['slack reopen', 'jira reopen'])
  })

  it('resolved before it is told, and opened again later, it is told', async () => {
    story.world.platforms.answer = () => ({ kind: 'retryable', reason: '503' })
    story.world.platforms.loses = () => true
    await add()
    await story.world.settle()
    await act('resolve', 'resolved')
    await story.world.settle()
    story.world.platforms.answer = () => undefined
    story.world.platforms.loses = () => false
    story.world.clock.advance(HOUR_MS)
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal([])
    await act('reopen', 'open')
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack reopen'])
  })

  it('resolved while its opening waits for its turn, and before anybody took in that it is: nobody is told, until it is opened again', async () => {
    const { intake, dispatcher, platforms } = story.world
    await add()
    await intake.round()
    await intake.idle()
    await act('resolve', 'resolved')
    for (let round = 0; round < 3; round++) {
      await dispatcher.round()
      await dispatcher.idle()
    }
    expect(platforms.events()).to.deep.equal([])
    await story.world.settle()
    expect(await rows()).to.deep.equal(['slack open suppressed', 'slack resolve suppressed'])
    expect(platforms.events()).to.deep.equal([])
    await act('reopen', 'open')
    await story.world.settle()
    expect(platforms.events()).to.deep.equal(['slack reopen'])
  })

  it('a silence that begins while openings wait for their turn holds them back until it ends, and no one that a person asked for', async () => {
    const { platforms, silences, clock } = story.world
    const iso = (ms: number) => new Date(clock.nowMs() + ms).toISOString()
    use(['slack', 'jira'])
    platforms.answer = ({ target }) => (target.id === 'slack' ? { kind: 'retryable', reason: '503' } : undefined)
    await add()
    await add({ id: id(2) })
    await add({ id: id(3) })
    await story.world.settle()
    expect(await rows()).to.deep.equal(['slack open pending', 'jira open sent'])
    await silences.add(story.tenant, { services: ['check*'], from: iso(-1), to: iso(HOUR_MS), reason: 'release' })
    clock.advance(HOUR_MS / 4)
    await changeThread(story.store, story.tenant, threadId(story.tenant, id(3), 'slack'), thread => retryThread(thread!, clock.nowMs()))
    const asked = platforms.arrived.length
    await story.world.settle()
    expect(platforms.arrived.slice(asked).map(({ content }) => content.incidentId)).to.deep.equal([id(3)])
    expect(await dispatches()).to.deep.include({ slack: { status: 'suppressed', attempts: 1, lastError: 'silenced: release' } })
    expect((await story.read(2)).source.ticketing, 'nobody is late to take care of it').to.not.have.property('dispatchedAt')
    platforms.answer = () => undefined
    await act('escalate', 'escalated')
    await story.world.settle()
    expect(platforms.events(id()).slice(-2)).to.have.members(['slack open', 'jira escalate'])
    clock.advance(HOUR_MS)
    await story.world.settle()
    expect(await rows(2)).to.deep.equal(['slack open suppressed', 'slack open sent', 'jira open sent', 'jira open suppressed'])
    expect((await story.read(2)).source.ticketing).to.include({ dispatchedAt: iso(0) })
  })

  it('nobody took care of them in time: those of loud services are escalated, and a dispatch that is ahead of the clock counts from now', async () => {
    const { silences, clock, config } = story.world
    const { store, tenant } = story
    const escalateAfterMs = { critical: HOUR_MS, high: HOUR_MS, medium: HOUR_MS, low: HOUR_MS }
    use(['slack'], { escalateAfterMs })
    const iso = (ms: number) => new Date(clock.nowMs() + ms).toISOString()
    await add({ service: 'cart' })
    await add({ id: id(2), service: 'payment' })
    await add({ id: id(3), service: 'payment' })
    await story.world.settle()
    clock.advance(HOUR_MS)
    await silences.add(tenant, { services: ['ca*'], from: iso(-1), to: iso(HOUR_MS), reason: 'release' })
    await change(incident => ({ ...incident, ticketing: { ...incident.ticketing, dispatchedAt: iso(24 * HOUR_MS) } }), 3)
    const escalated: string[] = []
    const escalate = async (_tenant: string, incident: string) => void escalated.push(incident)
    await escalateOverdue({ store, clock, config, silences, escalate })
    expect(escalated).to.deep.equal([id(2)])
    expect((await story.read(3)).source.ticketing).to.include({ dispatchedAt: iso(0) })
    clock.advance(HOUR_MS)
    await escalateOverdue({ store, clock, config, silences, escalate })
    expect(escalated.slice(1).sort()).to.deep.equal([id(), id(2), id(3)])
  })

  it('a clock that ran ahead by a month and is set back holds up no ticket, nor does an agent that ended meanwhile', async () => {
    const monthMs = 30 * 24 * HOUR_MS
    const iso = (ms = 0) => new Date(story.world.clock.nowMs() + ms).toISOString()
    story.world.clock.advance(monthMs)
    story.world.platforms.answer = () => ({ kind: 'retryable', reason: '503' })
    await add({ updatedAt: iso() })
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
    await add({ id: id(2), updatedAt: iso(), ...{ ticketing: { claimedUntil: iso(30_000) } } })
    story.world.platforms.answer = () => undefined
    story.world.clock.advance(-monthMs)
    await story.world.settle()
    expect(await rows()).to.deep.equal(['slack open sent'])
    expect(await rows(2)).to.deep.equal(['slack open sent'])
  })

  it('a change made after the clock was set back is told at once: its time is that of the change before, and a moment', async () => {
    await add()
    await story.world.settle()
    const before = story.world.clock.nowMs()
    story.world.clock.advance(-2 * HOUR_MS)
    const at = new Date(before + 1).toISOString()
    await change(incident => ({ ...oweChange(incident, { action: 'acknowledge', at, actor: 'ada' }), status: 'acknowledged' }))
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open', 'slack acknowledge'])
  })

  for (const refusal of [{ isTargetBroken: true }, {}] as const)
    it(`settings that change while an attempt is under way count at once, whatever the old ones are told: ${JSON.stringify(refusal)}`, async () => {
      use(['slack'], { targets: new Map([['slack', buildTarget('slack', { webhookUrl: 'https://old' })]]) })
      story.world.platforms.answer = ({ target }): TicketOutcome | undefined => {
        if (target.fields['webhookUrl'] !== 'https://old') return undefined
        use(['slack'], { targets: new Map([['slack', buildTarget('slack', { webhookUrl: 'https://new' })]]) })
        return { kind: 'rejected', reason: '404 channel_not_found', ...refusal }
      }
      await add()
      await story.world.settle()
      expect(await rows()).to.deep.equal(['slack open pending'])
      story.world.clock.advance(1_500)
      await story.world.settle()
      expect(await rows()).to.deep.equal(['slack open sent'])
    })

  describe('a refusal that no further attempt changes', () => {
    const refusal: TicketOutcome = { kind: 'rejected', reason: 'Invalid routing key', isTargetBroken: true, untilChanged: true }
    const configure = (routingKey: string) =>
      use(['pagerduty'], { targets: new Map([['pagerduty', buildTarget('pagerduty', { routingKey })]]) })
    const asked = () =>
      story.world.platforms.arrived
        .filter(({ content }) => content.tenantId === story.tenant)
        .map(({ target }) => target.fields['routingKey'])
    beforeEach(() => {
      configure('old')
      story.world.platforms.answer = ({ target }) => (target.fields['routingKey'] === 'old' ? refusal : undefined)
    })
    const waitMinutes = async (dispatcher = story.world.dispatcher) => {
      for (let minute = 0; minute < 5; minute++) {
        story.world.clock.advance(60_000)
        await story.world.settle(dispatcher)
      }
    }

    it('is asked for once, whatever else waits, and is shown as failed until the settings change', async () => {
      await add()
      await story.world.settle()
      await add({ id: id(2) })
      await waitMinutes()
      expect(asked()).to.deep.equal(['old'])
      const shown = [await dispatches(1), await dispatches(2)].map(each => each['pagerduty'])
      const [failed, waiting] = shown[0]?.status === 'failed' ? shown : shown.toReversed()
      expect(failed).to.deep.include({ status: 'failed', attempts: 1 })
      expect(failed!.lastError).to.include('Invalid routing key; needs attention: tried again once its settings change')
      const lastError = 'waits: Invalid routing key; nothing is sent until its settings change, or somebody asks for it'
      expect(waiting).to.deep.include({ status: 'pending', attempts: 0, lastError })
      configure('new')
      story.world.clock.advance(1_000)
      await story.world.settle()
      expect(asked()).to.deep.equal(['old', 'new', 'new'])
      expect([await rows(1), await rows(2)]).to.deep.equal([['pagerduty open sent'], ['pagerduty open sent']])
    })

    it('is not asked for again by an agent that was started since, which sends with new settings', async () => {
      await add()
      await story.world.settle()
      const { dispatcher } = story.world.replica()
      await waitMinutes(dispatcher)
      expect(asked()).to.deep.equal(['old'])
      configure('new')
      await waitMinutes(dispatcher)
      expect(asked()).to.deep.equal(['old', 'new'])
    })

    it('a target that is removed or switched off meanwhile is waited for no longer', async () => {
      await add()
      await story.world.settle()
      await add({ id: id(2) })
      await waitMinutes()
      use(['pagerduty'], { targets: new Map() })
      story.world.clock.advance(60_000)
      await story.world.settle()
      expect([await rows(1), await rows(2)]).to.deep.equal([['pagerduty open suppressed'], ['pagerduty open suppressed']])
      expect(asked()).to.deep.equal(['old'])
    })
  })

  for (const { name, settings } of [
    { name: 'another address', settings: () => ({ webhookUrl: 'https://new' }) },
    { name: 'switched off', settings: () => undefined },
  ])
    it(`an attempt under way with settings that change is cut short: ${name}`, async () => {
      const configure = (webhookUrl: string, enabled = true) =>
        use(['slack'], { targets: new Map([['slack', buildTarget('slack', { webhookUrl }, enabled)]]) })
      configure('https://old')
      let endedAfterMs: number | undefined
      const { clock, platforms, dispatcher } = story.world
      const own = () => platforms.arrived.filter(({ content }) => content.tenantId === story.tenant)
      platforms.answer = ({ target }, signal) => {
        if (target.fields['webhookUrl'] !== 'https://old') return undefined
        const beganMs = clock.nowMs()
        return new Promise(resolve => {
          signal.addEventListener('abort', () => {
            endedAfterMs = clock.nowMs() - beganMs
            resolve({ kind: 'retryable', reason: 'given up by the caller', isAmbiguous: true, isUnanswered: true })
          })
        })
      }
      await add()
      await story.world.intake.round()
      await story.world.intake.idle()
      await dispatcher.round()
      await turnsUntil(() => own().length > 0)
      for (let i = 0; i < 5; i++) {
        clock.advance(1_000)
        await turnsUntil(() => false, 2)
      }
      expect(endedAfterMs).to.equal(undefined)
      const changed = settings()
      if (changed === undefined) configure('https://old', false)
      else configure(changed.webhookUrl)
      for (let i = 0; i < 2; i++) {
        clock.advance(1_000)
        await turnsUntil(() => endedAfterMs !== undefined, 20)
      }
      expect(endedAfterMs).to.be.at.most(7_000)
      await dispatcher.idle()
      clock.advance(1_500)
      await story.world.settle()
      expect(await rows()).to.deep.equal([`slack open ${changed === undefined ? 'suppressed' : 'sent'}`])
      // Nothing can be at the new address: a platform is not looked at first.
      if (changed !== undefined) expect(own().map(({ mayBeThere }) => mayBeThere)).to.deep.equal([false, false])
    })

  it('recipients that were put off are told again without the others, and hold up nothing newer', async () => {
    const partly: TicketOutcome = { kind: 'delivered', ticket: { externalId: 'T' }, note: 'put off: ada@x', unreached: ['ada@x'] }
    story.world.platforms.answer = () => partly
    await add()
    await story.world.settle()
    expect(await dispatches()).to.deep.include({
      slack: { status: 'pending', externalId: 'T', attempts: 1, lastError: 'put off: ada@x' },
    })
    story.world.clock.advance(2_000)
    await story.world.settle()
    expect(story.world.platforms.arrived.map(({ event, only }) => [event, only])).to.deep.equal([
      ['open', undefined],
      ['open', ['ada@x']],
    ])
    story.world.platforms.answer = () => undefined
    await act('acknowledge', 'acknowledged')
    await story.world.settle()
    expect(story.world.platforms.arrived.slice(2).map(({ event, only }) => [event, only])).to.deep.equal([['acknowledge', undefined]])
    expect(await rows()).to.deep.equal(['slack open sent', 'slack acknowledge sent'])
  })

  it('resolved before it is taken up, and opened again later, it is told', async () => {
    await add({ status: 'resolved' })
    await act('resolve', 'resolved')
    await story.world.settle()
    await act('reopen', 'open')
    await story.world.settle()
    expect(story.world.platforms.events()).to.deep.equal(['slack open'])
  })
}
