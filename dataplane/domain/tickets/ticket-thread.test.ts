import { expect } from 'chai'
import { describe, it } from 'mocha'
import { endAttempt } from './delivery.ts'
import type { TicketOutcome } from './ticket-outcome.ts'
import { addEvents, createThread, describeDispatch, headOf, showRows, type TicketThread } from './ticket-thread.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const OPEN = { seq: 1, event: 'open', at: NOW } as const
const empty = () => createThread('acme', 'i1', 'slack', NOW)

describe('the rows of an incident and a target', () => {
  it('an event is one row, however often it is written', () => {
    const once = addEvents(empty(), [OPEN], NOW)
    expect(once.rows).to.have.length(1)
    expect(addEvents(once, [OPEN], NOW)).to.equal(once)
    expect(once).to.include({ state: 'pending', dueAt: NOW, deadlineAt: '2026-01-02T00:00:00.000Z', lane: 'acme/slack' })
  })

  it('an event for a target without a ticket is suppressed', () => {
    const thread = addEvents(empty(), [{ seq: 2, event: 'acknowledge', at: NOW }], NOW)
    expect(thread).to.include({ state: 'settled' })
    expect(thread.rows[0]).to.include({ status: 'suppressed', lastError: 'there is no ticket to tell it to' })
  })

  it('a reopening goes out where what was told before is forgotten, and what follows it', () => {
    const reopened = addEvents(empty(), [{ seq: 7, event: 'reopen', at: NOW }], NOW)
    const thread = addEvents(reopened, [{ seq: 8, event: 'acknowledge', at: NOW }], NOW)
    expect(thread.rows.map(({ event, status }) => `${event} ${status}`)).to.deep.equal(['reopen pending', 'acknowledge pending'])
  })

  it('a reopening is the opening where the incident was over before it was told', () => {
    const over = addEvents(addEvents(empty(), [OPEN], NOW), [{ seq: 2, event: 'resolve', at: NOW }], NOW)
    expect(over.rows.map(({ event, status }) => `${event} ${status}`)).to.deep.equal(['open suppressed', 'resolve suppressed'])
    const again = addEvents(over, [{ seq: 3, event: 'reopen', at: NOW }], NOW)
    expect(headOf(again)?.event).to.equal('reopen')
    const overAgain = addEvents(again, [{ seq: 4, event: 'resolve', at: NOW }], NOW)
    expect(headOf(overAgain)).to.equal(undefined)
    expect(headOf(addEvents(overAgain, [{ seq: 5, event: 'reopen', at: NOW }], NOW))?.seq).to.equal(5)
  })

  it('a reopening tells nobody where the opening was silenced, or failed', () => {
    const silenced = addEvents(empty(), [{ ...OPEN, quiet: 'silenced: release' }], NOW)
    const failed = endAttempt(addEvents(empty(), [OPEN], NOW), { kind: 'rejected', reason: '400' }, Date.parse(NOW))
    for (const thread of [silenced, failed])
      expect(headOf(addEvents(thread, [{ seq: 3, event: 'reopen', at: NOW }], NOW))).to.equal(undefined)
  })

  it('a change that was made there is not told there, and the ticket stands as it left it', () => {
    const told = endAttempt(addEvents(empty(), [OPEN], NOW), { kind: 'delivered', ticket: { externalId: 'T' } }, Date.parse(NOW))
    const there = addEvents(told, [{ seq: 2, event: 'resolve', at: NOW, except: 'slack' }], NOW)
    expect(there).to.include({ ticketStatus: 'resolved', state: 'settled' })
    expect(describeDispatch(there)).to.include({ status: 'sent' })
    expect(showRows(there, NOW).map(({ event }) => event)).to.deep.equal(['open'])
    const again = addEvents(there, [{ seq: 3, event: 'reopen', at: NOW }], NOW)
    expect(headOf(again)?.event).to.equal('reopen')
  })

  it('resolved there, it is told nothing more of what waited', () => {
    const told = endAttempt(addEvents(empty(), [OPEN], NOW), { kind: 'delivered', ticket: { externalId: 'T' } }, Date.parse(NOW))
    const waiting = addEvents(told, [{ seq: 2, event: 'update', at: NOW, news: ['cart is affected, too.'] }], NOW)
    expect(headOf(waiting)?.event).to.equal('update')
    expect(headOf(addEvents(waiting, [{ seq: 3, event: 'resolve', at: NOW, except: 'slack' }], NOW))).to.equal(undefined)
  })

  it('resolved there while the answer to its opening was lost, it is resolved once that is found', () => {
    const lost: TicketOutcome = { kind: 'retryable', reason: 'reset', isAmbiguous: true }
    const opening = endAttempt(addEvents(empty(), [OPEN], NOW), lost, Date.parse(NOW))
    const there = addEvents(opening, [{ seq: 2, event: 'resolve', at: NOW, except: 'slack' }], NOW)
    const found = endAttempt(there, { kind: 'delivered', ticket: { externalId: 'T' } }, Date.parse(NOW))
    expect(found).to.include({ ticketStatus: 'resolved' })
  })

  it('rows of a quiet incident stand as suppressed, with the reason', () => {
    const thread = addEvents(empty(), [{ ...OPEN, quiet: 'silenced: release' }], NOW)
    expect(describeDispatch(thread)).to.deep.equal({ status: 'suppressed', attempts: 0, lastError: 'silenced: release' })
    const later = addEvents(thread, [{ ...OPEN, seq: 2 }], NOW)
    expect(describeDispatch(later)).to.deep.equal({ status: 'pending', attempts: 0 })
  })

  describe('words of a person that found no ticket follow the one that is opened later', () => {
    const said = (seq: number, note: string) => ({ seq, event: 'comment' as const, at: NOW, change: { at: NOW, actor: 'ada', note } })
    const shown = ({ rows }: TicketThread) => rows.map(({ event, seq, status }) => `${event} ${seq} ${status}`)

    it('said during a silence, in their order; what a language model wrote is in the ticket already', () => {
      const model = { seq: 3, event: 'comment' as const, at: NOW, news: ['The pool is empty.'] }
      const quiet = addEvents(empty(), [{ ...OPEN, quiet: 'silenced: release' }, said(2, 'one'), model, said(4, 'two')], NOW)
      expect(quiet).to.include({ state: 'settled' })
      const later = '2026-01-01T06:00:00.000Z'
      const loud = addEvents(quiet, [{ ...OPEN, seq: 5, at: later }], later)
      expect(shown(loud)).to.deep.equal([
        'open 1 suppressed',
        'comment 3 suppressed',
        'open 5 pending',
        'comment 2 pending',
        'comment 4 pending',
      ])
      expect(loud).to.include({ dueAt: later, deadlineAt: '2026-01-02T06:00:00.000Z' })
      expect(loud.rows.at(-1)).to.not.have.any.keys('suppressedBy', 'lastError')
    })

    it('once: a ticket that is there has them', () => {
      const loud = addEvents(addEvents(empty(), [{ ...OPEN, quiet: 'silenced: release' }, said(2, 'one')], NOW), [{ ...OPEN, seq: 3 }], NOW)
      const opened = endAttempt(loud, { kind: 'delivered', ticket: { externalId: 'T' } }, Date.parse(NOW))
      const told = endAttempt(opened, { kind: 'delivered' }, Date.parse(NOW))
      expect(shown(told)).to.deep.equal(['open 1 suppressed', 'open 3 sent', 'comment 2 sent'])
      expect(headOf(addEvents(told, [{ ...OPEN, seq: 4 }], NOW))).to.equal(undefined)
    })

    it('said of one that was over before it was told, and is opened again', () => {
      const over = addEvents(addEvents(empty(), [OPEN, said(2, 'one')], NOW), [{ seq: 3, event: 'resolve', at: NOW }, said(4, 'two')], NOW)
      expect(over).to.include({ state: 'settled' })
      const again = addEvents(over, [{ seq: 5, event: 'reopen', at: NOW }], NOW)
      expect(shown(again).slice(-3)).to.deep.equal(['reopen 5 pending', 'comment 2 pending', 'comment 4 pending'])
    })

    it('and are suppressed again where the incident is over before it is told', () => {
      const loud = addEvents(addEvents(empty(), [{ ...OPEN, quiet: 'silenced: release' }, said(2, 'one')], NOW), [{ ...OPEN, seq: 3 }], NOW)
      expect(addEvents(loud, [{ seq: 4, event: 'resolve', at: NOW }], NOW)).to.include({ state: 'settled' })
    })
  })

  it('are shown as the decisions say', () => {
    const thread = { ...addEvents(empty(), [OPEN], NOW), ticket: { externalId: 'OPS-1', url: 'https://x.example/OPS-1' } }
    expect(showRows(thread, NOW)[0]).to.deep.include({
      incidentId: 'i1',
      platform: 'slack',
      event: 'open',
      status: 'pending',
      attempts: 0,
      nextAttemptAt: NOW,
      externalId: 'OPS-1',
      url: 'https://x.example/OPS-1',
    })
    expect(describeDispatch(thread)).to.deep.equal({
      status: 'pending',
      externalId: 'OPS-1',
      url: 'https://x.example/OPS-1',
      attempts: 0,
    })
  })

  it('say when they may be tried: not before now, before their target rests no longer, or before the rows in front of them', () => {
    const later = new Date(Date.parse(NOW) + 1_000).toISOString()
    const times = (thread: TicketThread, notBefore: string) => showRows(thread, notBefore).map(({ nextAttemptAt }) => nextAttemptAt)
    const thread = addEvents(empty(), [OPEN, { seq: 2, event: 'acknowledge', at: NOW }], NOW)
    expect(times(thread, later)).to.deep.equal([later, later])
    const failed = endAttempt(thread, { kind: 'retryable', reason: '429', afterMs: 60_000 }, Date.parse(NOW))
    const minuteOn = new Date(Date.parse(NOW) + 60_000).toISOString()
    expect(times(failed, later)).to.deep.equal([minuteOn, minuteOn])
  })

  it('are bounded: what opens the ticket stays, and the newest', () => {
    const events = Array.from({ length: 500 }, (_, i) => ({ seq: i + 2, event: 'comment', at: NOW, news: [`${i}`] }) as const)
    const thread = addEvents(empty(), [OPEN, ...events], NOW)
    expect(thread.rows).to.have.length(50)
    expect(headOf(thread)?.event).to.equal('open')
    expect(thread.rows.at(-1)?.news).to.deep.equal(['499'])
  })
})
