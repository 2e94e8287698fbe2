import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  type AttemptEnd,
  beginAttempt,
  endAttempt,
  expireRows,
  explainWait,
  hastenThread,
  holdBack,
  keepRefused,
  mayHoldBack,
  noteWriting,
  retryThread,
  whyNoRetry,
} from './delivery.ts'
import type { OwedEvent } from './owed-event.ts'
import { addEvents, createThread, describeDispatch, headOf, showRows, type TicketThread } from './ticket-thread.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const iso = (ms: number) => new Date(NOW_MS + ms).toISOString()
const NOW = iso(0)

const open = (...further: OwedEvent['event'][]): TicketThread =>
  addEvents(
    createThread('acme', 'i1', 'slack', NOW),
    ['open' as const, ...further].map((event, i) => ({ seq: i + 1, event, at: NOW })),
    NOW,
  )
const begin = (thread: TicketThread, atMs = 0) => beginAttempt(thread, { by: 'a', until: iso(atMs + 60_000) }, iso(atMs))
const attempt = (thread: TicketThread, end: AttemptEnd, atMs = 0) => endAttempt(begin(thread, atMs), end, NOW_MS + atMs, () => 0)
const statuses = ({ rows }: TicketThread) => rows.map(({ event, status }) => `${event} ${status}`)

describe('attempts', () => {
  it('an attempt is written down before it begins, under a lease', () => {
    const thread = begin(open())
    expect(thread.rows[0]).to.include({ isUnderWay: true, attempts: 1 })
    expect(thread).to.include({ dueAt: iso(60_000) })
  })

  it('one that was under way when the lease ran out may have arrived', () => {
    expect(headOf(begin(open()))?.mayBeThere).to.equal(undefined)
    expect(headOf(begin(begin(open()), 60_000))).to.include({ mayBeThere: true, unansweredAt: iso(60_000) })
  })

  it('one that the platform has no place for is held back and says why; the ticket stands as it stood', () => {
    const opened = attempt(open(), { kind: 'delivered', ticket: { externalId: 'K-1' } })
    const commented = addEvents(opened, [{ seq: 2, event: 'comment', at: NOW, change: { at: NOW, note: 'hi' } }], NOW)
    const left = attempt(commented, { kind: 'delivered', ticket: { externalId: 'K-1' }, note: 'left out: no place', isLeftOut: true })
    expect(statuses(left).at(-1)).to.equal('comment suppressed')
    expect(left.rows.at(-1)).to.include({ lastError: 'left out: no place' }).and.not.have.any.keys('isUnderWay', 'sentAt')
    expect(describeDispatch(left)).to.deep.equal({ status: 'sent', externalId: 'K-1', attempts: 1 })
    expect(left).to.include({ state: 'settled', ticketStatus: 'open' })
  })

  it('one without any answer is noted with its time, one that was answered is not', () => {
    const reason = 'no'
    const failed = attempt(open(), { kind: 'retryable', reason, isAmbiguous: true })
    expect(headOf(failed)).to.include({ mayBeThere: true }).and.not.have.property('unansweredAt')
    const end = { kind: 'retryable', reason, isAmbiguous: true, isUnanswered: true } as const
    const lost = endAttempt(noteWriting(begin(failed, 5_000), 'a')!, end, NOW_MS + 5_000, () => 0)
    expect(headOf(lost)).to.include({ mayBeThere: true, unansweredAt: iso(5_000) })
    expect(headOf(attempt(lost, { kind: 'retryable', reason }, 9_000))).to.include({ unansweredAt: iso(5_000) })
  })

  describe('one that looks for what may be there', () => {
    const lost = () => attempt(open(), { kind: 'retryable', reason: 'reset', isAmbiguous: true, isUnanswered: true })

    it('and is cut short leaves nothing behind: the look goes on from where it was', () => {
      for (const end of [
        { kind: 'interrupted', wasSent: true },
        { kind: 'retryable', reason: 'no answer within 50 s', isAmbiguous: true, isUnanswered: true },
      ] as const)
        expect(headOf(attempt(lost(), end, 9_000))).to.include({ mayBeThere: true, unansweredAt: NOW })
      expect(headOf(begin(begin(lost(), 9_000), 70_000)), 'killed').to.include({ mayBeThere: true, unansweredAt: NOW })
      const answered = attempt(open(), { kind: 'retryable', reason: '503', isAmbiguous: true })
      expect(headOf(begin(begin(answered, 9_000), 70_000)))
        .to.include({ mayBeThere: true })
        .and.not.have.property('unansweredAt')
    })

    it('and sees nothing looks again after a while, which is no attempt', () => {
      const unseen = (lookAgainMs: number) => ({ kind: 'unseen', reason: 'not there', lookAgainMs }) as const
      const answered = attempt(open(), { kind: 'retryable', reason: '503', isAmbiguous: true })
      const once = attempt(answered, unseen(2_000), 9_000)
      expect(headOf(once)).to.include({ attempts: 1, mayBeThere: true, lookedSince: iso(9_000), nextAttemptAt: iso(11_000) })
      expect(headOf(once)).to.include({ status: 'pending', lastError: '503' }).and.not.have.property('isUnderWay')
      const twice = attempt(once, unseen(3_000), 11_000)
      expect(headOf(twice)).to.include({ attempts: 1, lookedSince: iso(9_000), nextAttemptAt: iso(14_000) })
      const failed = endAttempt(noteWriting(begin(twice, 14_000), 'a')!, { kind: 'retryable', reason: '503', isAmbiguous: true }, NOW_MS)
      expect(headOf(failed)).to.include({ attempts: 2, mayBeThere: true }).and.not.have.property('lookedSince')
      expect(attempt(twice, { kind: 'delivered' }, 14_000).rows[0]).to.not.have.property('lookedSince')
      expect(headOf(attempt(lost(), { ...unseen(2_000), restsUntilMs: NOW_MS + 30_000 }, 9_000))).to.include({ nextAttemptAt: iso(30_000) })
    })

    it('looks for no longer where a clock was set back meanwhile', () => {
      const early = attempt(lost(), { kind: 'unseen', reason: 'not there', lookAgainMs: 2_000 }, -3_600_000)
      expect(headOf(early)).to.include({ lookedSince: iso(-3_600_000), unansweredAt: iso(-3_600_000) })
    })

    it('may have arrived once it has noted that it writes', () => {
      const writing = noteWriting(begin(lost(), 9_000), 'a')!
      expect(headOf(begin(writing, 70_000))).to.include({ mayBeThere: true, unansweredAt: iso(70_000) })
    })

    it('may have arrived by the notes of a version that says nothing of looks', () => {
      const { isLooking: _l, ...lease } = begin(lost(), 9_000).lease!
      expect(headOf(begin({ ...begin(lost(), 9_000), lease }, 70_000))).to.include({ unansweredAt: iso(70_000) })
    })

    it('writes nothing where another sender has the thread by now', () => {
      expect(noteWriting(begin(lost()), 'b')).to.equal(undefined)
      expect(noteWriting(lost(), 'a')).to.equal(undefined)
    })
  })

  it('delivered: the row is sent, the ticket is kept, the next row follows at once', () => {
    const ticket = { externalId: 'OPS-1', memory: { key: 'hash' } }
    const thread = attempt(open('acknowledge'), { kind: 'delivered', ticket })
    expect(statuses(thread)).to.deep.equal(['open sent', 'acknowledge pending'])
    expect(thread).to.deep.include({ ticket, externalId: 'OPS-1', ticketStatus: 'open', dueAt: NOW })
    expect(thread.lease).to.equal(undefined)
    const done = attempt(thread, { kind: 'delivered', ticket: { externalId: 'OPS-1', url: 'https://x.example/1' } })
    expect(done).to.deep.include({ state: 'settled', ticketStatus: 'acknowledged' })
    expect(done.ticket).to.deep.equal({ ...ticket, url: 'https://x.example/1' })
  })

  describe('delivered to some recipients, and put off for others', () => {
    const partly = () => attempt(open(), { kind: 'delivered', ticket: { externalId: 'T' }, note: 'put off: ada@x', unreached: ['ada@x'] })

    it('waits for these alone; its ticket is there', () => {
      expect(partly()).to.include({ ticketStatus: 'open', state: 'pending' })
      expect(headOf(partly())).to.deep.include({ status: 'pending', unreached: ['ada@x'], lastError: 'put off: ada@x', attempts: 1 })
      expect(headOf(partly())!.nextAttemptAt).to.equal(iso(2_000))
      const reached = attempt(partly(), { kind: 'delivered' }, 2_000)
      expect(reached.rows[0]).to.include({ status: 'sent' }).and.not.have.any.keys('unreached', 'lastError', 'isUnderWay')
    })

    it('holds up nothing newer, which goes to all', () => {
      const newer = addEvents(partly(), [{ seq: 9, event: 'update', at: NOW, news: ['cart is affected, too.'] }], NOW)
      expect(newer.rows.map(({ event, status }) => `${event} ${status}`)).to.deep.equal(['open sent', 'update pending'])
      expect(newer.rows[0]).to.include({ note: 'put off: ada@x' }).and.not.have.property('unreached')
    })

    it('holds up nothing newer either where nobody knows whether these were reached', () => {
      const lost = attempt(partly(), { kind: 'retryable', reason: 'reset', isAmbiguous: true, isUnanswered: true }, 2_000)
      const newer = addEvents(lost, [{ seq: 9, event: 'resolve', at: NOW }], NOW)
      expect(statuses(newer)).to.deep.equal(['open sent', 'resolve pending'])
      expect(newer.rows[0]).to.not.have.any.keys('mayBeThere', 'unansweredAt')
    })

    it('stands as sent, with the reason, once these are refused for good or a day is over', () => {
      const refused = attempt(partly(), { kind: 'rejected', reason: '550 no such user' }, 2_000)
      expect(refused.rows[0]).to.include({ status: 'sent', note: '550 no such user' })
      expect(expireRows(partly(), NOW_MS + DAY_MS).rows[0]).to.include({ status: 'sent', note: 'put off: ada@x' })
    })
  })

  it('rejected: failed at once', () => {
    const thread = attempt(open(), { kind: 'rejected', reason: '400 no such project' })
    expect(describeDispatch(thread)).to.deep.equal({ status: 'failed', attempts: 1, lastError: '400 no such project' })
  })

  it('what follows an open that failed has no ticket to go to', () => {
    const thread = attempt(open('acknowledge'), { kind: 'rejected', reason: 'no' })
    expect(statuses(thread)).to.deep.equal(['open failed', 'acknowledge suppressed'])
    expect(describeDispatch(thread)?.status).to.equal('failed')
  })

  it('what follows another event that failed goes out', () => {
    const opened = attempt(open('acknowledge'), { kind: 'delivered' })
    const thread = attempt(opened, { kind: 'rejected', reason: 'no' })
    expect(statuses(addEvents(thread, [{ seq: 3, event: 'resolve', at: NOW }], NOW))).to.deep.equal([
      'open sent',
      'acknowledge failed',
      'resolve pending',
    ])
  })

  it('a target that refuses everything: shown as failed, tried again each minute until it is mended', () => {
    const thread = attempt(open(), { kind: 'rejected', reason: '401', isTargetBroken: true })
    expect(describeDispatch(thread)).to.deep.equal({
      status: 'failed',
      attempts: 1,
      lastError: '401; needs attention: tried each minute until it is mended',
    })
    expect(thread).to.include({ state: 'pending', dueAt: iso(60_000) })
    expect(statuses(attempt(thread, { kind: 'delivered' }, 60_000))).to.deep.equal(['open sent'])
  })

  it('a refusal of the settings for good: not tried until they change, or somebody asks', () => {
    const thread = attempt(open(), { kind: 'rejected', reason: '400', isTargetBroken: true, untilChanged: true, settings: 'a' })
    expect(describeDispatch(thread)).to.deep.equal({
      status: 'failed',
      attempts: 1,
      lastError: '400; needs attention: tried again once its settings change, or somebody asks for it',
    })
    expect(headOf(thread)).to.include({ refusedSettings: 'a' })
    const kept = keepRefused(thread, NOW_MS + 60_000)
    expect(kept).to.include({ state: 'pending', dueAt: iso(120_000) })
    expect(headOf(kept)).to.include({ status: 'refused', refusedSettings: 'a', attempts: 1 })
    for (const asked of [hastenThread(kept, NOW_MS)!, retryThread(kept, NOW_MS)!, begin(kept)])
      expect(headOf(asked)).to.not.have.property('refusedSettings')
    expect(statuses(expireRows(kept, NOW_MS + DAY_MS))).to.deep.equal(['open failed'])
    const elsewhere = attempt(open(), { kind: 'rejected', reason: '401', isTargetBroken: true, settings: 'a' })
    expect(headOf(elsewhere)).to.not.have.property('refusedSettings')
  })

  it('settings that changed under an attempt are tried a moment later, however many attempts failed before', () => {
    let thread = open()
    for (let i = 0; i < 8; i++) thread = attempt(thread, { kind: 'retryable', reason: '503' })
    expect(attempt(thread, { kind: 'retryable', reason: '503', settingsChanged: true }).dueAt).to.equal(iso(1_500))
  })

  it('a refused opening is what shows, whatever has happened to the incident since, and can be retried', () => {
    const thread = attempt(open('acknowledge'), { kind: 'rejected', reason: '401', isTargetBroken: true })
    expect(statuses(thread)).to.deep.equal(['open refused', 'acknowledge pending'])
    expect(describeDispatch(thread)).to.include({ status: 'failed', attempts: 1 })
    expect(statuses(retryThread(thread, NOW_MS)!)).to.deep.equal(['open pending', 'acknowledge pending'])
  })

  it('retryable: the pauses double', () => {
    const first = attempt(open(), { kind: 'retryable', reason: '503' })
    expect(first.dueAt).to.equal(iso(2_000))
    expect(attempt(first, { kind: 'retryable', reason: '503' }, 2_000).dueAt).to.equal(iso(6_000))
  })

  it('what the platform asks for is honoured, up to an hour', () => {
    expect(attempt(open(), { kind: 'retryable', reason: '429', afterMs: 90_000 }).dueAt).to.equal(iso(90_000))
    expect(attempt(open(), { kind: 'retryable', reason: '429', afterMs: DAY_MS }).dueAt).to.equal(iso(3_600_000))
  })

  it('an ambiguous end is remembered', () => {
    expect(headOf(attempt(open(), { kind: 'retryable', reason: 'reset', isAmbiguous: true }))?.mayBeThere).to.equal(true)
    expect(headOf(attempt(open(), { kind: 'retryable', reason: '429' }))?.mayBeThere).to.equal(undefined)
  })

  it('interrupted: due at once, and no attempt where nothing was sent', () => {
    expect(headOf(attempt(open(), { kind: 'interrupted', wasSent: true }))).to.include({
      mayBeThere: true,
      attempts: 1,
      nextAttemptAt: NOW,
    })
    expect(headOf(attempt(open(), { kind: 'interrupted', wasSent: false }))).to.include({ attempts: 0, nextAttemptAt: NOW })
  })

  it('a target that was removed or switched off: suppressed with the reason', () => {
    const thread = attempt(open(), { kind: 'gone', reason: 'slack is switched off' })
    expect(describeDispatch(thread)).to.deep.include({ status: 'suppressed', lastError: 'slack is switched off' })
  })

  it('is given up after 24 h', () => {
    const tried = attempt(open('acknowledge'), { kind: 'retryable', reason: '503' })
    expect(expireRows(tried, NOW_MS + DAY_MS - 1)).to.equal(tried)
    const dead = expireRows(tried, NOW_MS + DAY_MS)
    expect(statuses(dead)).to.deep.equal(['open failed', 'acknowledge failed'])
    expect(describeDispatch(dead)?.lastError).to.equal('given up after 24 h: it was never tried')
    expect(dead.rows[0]!.lastError).to.equal('given up after 24 h: 503')
    const last = attempt(open(), { kind: 'retryable', reason: '503' }, DAY_MS)
    expect(statuses(last)).to.deep.equal(['open failed'])
  })

  it('says why a row waits that was not tried', () => {
    const thread = explainWait(open(), 'slack refuses everything: 410', NOW, iso(60_000))
    expect(headOf(thread)).to.include({ status: 'pending', lastError: 'waits: slack refuses everything: 410' })
    expect(explainWait(thread, 'other', NOW, iso(60_000))).to.equal(thread)
    const nextAttemptAt = (of: TicketThread, notBefore: string) => showRows(of, notBefore)[0]!.nextAttemptAt
    expect(thread.dueAt, 'it stays due: the rest may end early').to.equal(NOW)
    expect(nextAttemptAt(thread, iso(1_000)), 'as another agent tells it').to.equal(iso(60_000))
    expect(nextAttemptAt(thread, iso(70_000))).to.equal(iso(70_000))
    expect(nextAttemptAt(hastenThread(thread, NOW_MS)!, iso(1_000))).to.equal(iso(1_000))
    expect(begin(thread, 1_000)).to.not.have.property('restsUntil')
  })

  describe('retry', () => {
    const then = (thread: TicketThread, seq: number, event: OwedEvent['event']) => addEvents(thread, [{ seq, event, at: NOW }], NOW)
    const failed = (event: OwedEvent['event']) =>
      attempt(then(attempt(open(), { kind: 'delivered' }), 2, event), { kind: 'rejected', reason: 'no' })

    it('tries a failed one again at once, and what it held up', () => {
      const failed = attempt(open('acknowledge'), { kind: 'rejected', reason: 'no' })
      const again = retryThread(failed, NOW_MS + DAY_MS)!
      expect(statuses(again)).to.deep.equal(['open pending', 'acknowledge pending'])
      expect(again).to.include({ dueAt: iso(DAY_MS), deadlineAt: iso(2 * DAY_MS), askedAt: iso(DAY_MS) })
    })

    for (const opening of ['open', 'reopen'] as const)
      it(`tries words again that were said before the ${opening}, and come behind it`, () => {
        const said = { seq: 3, event: 'comment' as const, at: NOW, change: { at: NOW, actor: 'ada', note: 'the pool is empty' } }
        const over = addEvents(then(open(), 2, 'resolve'), [said], NOW)
        const quiet = addEvents(createThread('acme', 'i1', 'slack', NOW), [{ seq: 1, event: 'open', at: NOW, quiet: 'release' }, said], NOW)
        const refused = attempt(then(opening === 'open' ? quiet : over, 4, opening), { kind: 'rejected', reason: 'no' })
        expect(statuses(refused).slice(-2)).to.deep.equal([`${opening} failed`, 'comment suppressed'])
        expect(statuses(retryThread(refused, NOW_MS)!).slice(-2)).to.deep.equal([`${opening} pending`, 'comment pending'])
        const opened = attempt(then(opening === 'open' ? quiet : over, 4, opening), { kind: 'delivered' })
        const unsaid = attempt(opened, { kind: 'rejected', reason: 'no' })
        expect(statuses(retryThread(unsaid, NOW_MS)!).slice(-2)).to.deep.equal([`${opening} sent`, 'comment pending'])
      })

    it('tries one again whose target was switched off or removed', () => {
      const gone = attempt(open('acknowledge'), { kind: 'gone', reason: 'slack is switched off' })
      expect(describeDispatch(gone)?.status).to.equal('suppressed')
      expect(statuses(retryThread(gone, NOW_MS)!)).to.deep.equal(['open pending', 'acknowledge pending'])
    })

    it('tries one at once that failed and waits for its next attempt', () => {
      const waiting = attempt(open('acknowledge'), { kind: 'retryable', reason: '503', afterMs: 90_000 })
      const again = retryThread(waiting, NOW_MS + 1_000)!
      expect(statuses(again)).to.deep.equal(['open pending', 'acknowledge pending'])
      expect(again).to.include({ dueAt: iso(1_000), deadlineAt: iso(DAY_MS), askedAt: iso(1_000) })
      expect(headOf(again)).to.include({ attempts: 1, lastError: '503' })
    })

    it('tries one at once that waits for a paused target', () => {
      const waiting = explainWait(open(), '503', NOW, iso(10_000))
      const again = retryThread(waiting, NOW_MS + 1_000)!
      expect(again).to.include({ dueAt: iso(1_000), askedAt: iso(1_000) })
      expect(showRows(again, iso(1_000))[0]!.nextAttemptAt, 'its target rests no longer for it').to.equal(iso(1_000))
    })

    it('is not for one that is being tried, never was, or was sent', () => {
      const waiting = attempt(open(), { kind: 'retryable', reason: '503' })
      expect(retryThread(begin(waiting, 2_000), NOW_MS + 2_000)).to.equal(undefined)
      expect(retryThread(open(), NOW_MS)).to.equal(undefined)
      expect(retryThread(attempt(open(), { kind: 'delivered' }), NOW_MS)).to.equal(undefined)
    })

    for (const event of ['escalate', 'update', 'comment'] as const)
      it(`tries a failed ${event} again though later words were told, and before those that wait`, () => {
        const later = then(attempt(then(failed(event), 3, 'comment'), { kind: 'delivered' }), 4, 'comment')
        expect(statuses(later)).to.deep.equal(['open sent', `${event} failed`, 'comment sent', 'comment pending'])
        const again = retryThread(later, NOW_MS)!
        expect(statuses(again)).to.deep.equal(['open sent', `${event} pending`, 'comment sent', 'comment pending'])
        expect(statuses(attempt(again, { kind: 'delivered' }))).to.deep.equal([
          'open sent',
          `${event} sent`,
          'comment sent',
          'comment pending',
        ])
      })

    it('waits for an attempt that is under way', () => {
      const under = begin(then(failed('escalate'), 3, 'comment'))
      expect(retryThread(under, NOW_MS)).to.equal(undefined)
      expect(whyNoRetry(under)).to.equal('comment is being tried just now: ask again if it fails')
    })

    it('says why not', () => {
      expect(whyNoRetry(open())).to.equal('open was not tried yet, and is tried without being asked for')
      expect(whyNoRetry(attempt(open(), { kind: 'delivered' }))).to.equal('all of it is sent')
      expect(whyNoRetry(attempt(then(failed('escalate'), 3, 'resolve'), { kind: 'delivered' }))).to.equal(
        'escalate failed, and resolve came after it: telling it now would undo that. Change the ticket on the platform if it lacks something',
      )
      const quiet = addEvents(
        createThread('default', 'i1', 'slack', NOW),
        [{ seq: 1, event: 'open', at: NOW, quiet: 'silenced: release' }],
        NOW,
      )
      expect(retryThread(quiet, NOW_MS)).to.equal(undefined)
      expect(whyNoRetry(quiet)).to.match(/^open is held back \(silenced: release\)/)
      expect(whyNoRetry(then(open(), 2, 'resolve'))).to.equal('resolve is not told: it was over before it was told')
    })

    for (const event of ['escalate', 'update', 'comment'] as const)
      it(`does not tell a ticket that was resolved there of a failed ${event}`, () => {
        const there = addEvents(failed(event), [{ seq: 3, event: 'resolve', at: NOW, except: 'slack' }], NOW)
        expect(retryThread(there, NOW_MS)).to.equal(undefined)
      })

    it('does not bring back what a later event has overtaken', () => {
      const opened = attempt(open('acknowledge'), { kind: 'delivered' })
      const refused = attempt(opened, { kind: 'rejected', reason: 'no' })
      const resolved = attempt(addEvents(refused, [{ seq: 3, event: 'resolve', at: NOW }], NOW), { kind: 'delivered' })
      expect(retryThread(resolved, NOW_MS)).to.equal(undefined)
    })
  })
})

describe('a silence that begins while an opening waits', () => {
  it('holds it back where nothing of it can have arrived, and what came behind it', () => {
    expect(mayHoldBack(open())).to.equal(true)
    expect(statuses(holdBack(open('acknowledge'), 'silenced: release', NOW))).to.deep.equal(['open suppressed', 'acknowledge suppressed'])
    expect(holdBack(open(), 'silenced: release', NOW)).to.include({ state: 'settled' })
    expect(mayHoldBack(begin(open()))).to.equal(false)
    expect(mayHoldBack(attempt(open(), { kind: 'retryable', reason: '502', isAmbiguous: true }))).to.equal(false)
    expect(mayHoldBack(attempt(open('acknowledge'), { kind: 'delivered' }))).to.equal(false)
  })

  it('holds back no opening that somebody asks for by an escalation', () => {
    const asked = [{ seq: 1, event: 'open' as const, at: NOW, change: { at: NOW, actor: 'ada' } }]
    expect(mayHoldBack(addEvents(createThread('acme', 'i1', 'slack', NOW), asked, NOW))).to.equal(false)
  })
})
