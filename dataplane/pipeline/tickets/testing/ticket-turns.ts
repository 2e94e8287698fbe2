/** Turns that the way from incident to ticket may take: opened again, changed on a platform, settings and clocks that change meanwhile. */
import { expect } from 'chai'
import { it } from 'mocha'
import { oweChange } from '../../../domain/tickets/incident-tickets.ts'
import type { TicketOutcome } from '../../../ports/incident-platform.ts'
import { buildTarget } from './fake-config.ts'
import type { TicketStory } from './ticket-story.ts'

const HOUR_MS = 3_600_000

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
      story.world.clock.advance(2_000)
      await story.world.settle()
      expect(await rows()).to.deep.equal(['slack open sent'])
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
