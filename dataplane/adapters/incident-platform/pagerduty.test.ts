import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Severity } from '../../contract/platforms.ts'
import type { TicketCandidate, TicketContent } from '../../domain/tickets/ticket-content.ts'
import type { TicketEvent } from '../../domain/tickets/ticket-event.ts'
import type { ExternalTicket } from '../../ports/incident-platform.ts'
import { at } from './json-at.ts'
import { pagerduty } from './pagerduty.ts'
import { buildRequest } from './testing/checkout-incident.ts'
import { resetAfterSending } from './testing/scripted-outbound.ts'
import { sendScripted, testScripted } from './testing/send-scripted.ts'

const TAKEN = { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: 'lp-7c1f9a52' } }
const KEY = 'R0123456789ABCDEF0123456789ABCDE'

describe('PagerDuty', () => {
  it('opens an incident with the key of the incident as dedup_key', async () => {
    const { outcome, outbound, body } = await sendScripted(pagerduty, buildRequest('pagerduty'), TAKEN)
    expect(outbound.calls).to.deep.equal(['POST https://pagerduty.example.com/v2/enqueue'])
    expect(body(0)).to.deep.include({ routing_key: KEY, event_action: 'trigger', dedup_key: 'lp-7c1f9a52' })
    expect(at(body(0), 'payload')).to.deep.include({ source: 'checkout', severity: 'critical', timestamp: '2026-11-21T03:06:48.913Z' })
    expect(outcome).to.deep.include({ kind: 'delivered' })
    expect(at(outcome, 'ticket', 'externalId')).to.equal('lp-7c1f9a52')
    expect(JSON.stringify(outcome)).to.not.include(KEY)
  })

  const actions = {
    open: 'trigger',
    update: 'trigger',
    acknowledge: 'acknowledge',
    resolve: 'resolve',
    escalate: 'trigger',
    reopen: 'trigger',
    comment: 'trigger',
  } as const satisfies Readonly<Record<TicketEvent, string>>
  for (const [event, action] of Object.entries(actions) as [TicketEvent, string][])
    it(`${event} is the action ${action}`, async () => {
      const { body } = await sendScripted(pagerduty, buildRequest('pagerduty', { event }), TAKEN)
      expect(body(0)).to.include({ event_action: action, dedup_key: 'lp-7c1f9a52' })
    })

  it('tells a cause that was found since, and leaves out what people say: where they resolved the incident there, a trigger would call them again', async () => {
    const commented = async (content: Partial<TicketContent>, ...scripted: readonly (typeof TAKEN)[]) => {
      const ticket = { externalId: 'lp-7c1f9a52', memory: { severity: 'critical' } }
      return await sendScripted(pagerduty, buildRequest('pagerduty', { event: 'comment', ticket, content }), ...scripted)
    }
    const cause = await commented({ news: ['payment is the cause.'] }, TAKEN)
    expect(JSON.stringify(cause.body(0))).to.include('payment is the cause.')
    const said = await commented({ change: { actor: 'alice', note: 'Looking.', at: '2026-11-21T03:16:40.000Z' } })
    expect(said.outbound.calls).to.deep.equal([])
    expect(said.outcome).to.deep.include({ kind: 'delivered', isLeftOut: true }).and.have.property('note').that.includes('left out')
  })

  it('tells one cause, and the words of a model once: another one that is found later would call people for what they closed', async () => {
    const cause = (mode: 'rules' | 'llm') => ({
      summary: 'payment is the cause.',
      mode,
      fallback: false,
      candidates: [{ service: 'payment', score: 0.9, reasons: [] }],
    })
    const opening = (candidates: TicketCandidate[]) =>
      sendScripted(pagerduty, buildRequest('pagerduty', { event: 'open', content: { cause: { ...cause('rules'), candidates } } }), TAKEN)
    const opened = await opening(cause('rules').candidates)
    const found = async (ticket: ExternalTicket | undefined, mode: 'rules' | 'llm', ...scripted: readonly (typeof TAKEN)[]) => {
      const content = { cause: cause(mode), news: ['payment is the cause.'] }
      const request = buildRequest('pagerduty', { event: 'comment', ...(ticket && { ticket }), content })
      return await sendScripted(pagerduty, request, ...scripted)
    }
    const ticketOf = ({ outcome }: typeof opened) => (outcome.kind === 'delivered' ? outcome.ticket : undefined)
    expect((await found(ticketOf(await opening([])), 'rules', TAKEN)).outbound.calls).to.have.length(1)
    const again = await found(ticketOf(opened), 'rules')
    expect(again.outbound.calls).to.deep.equal([])
    expect(again.outcome).to.deep.include({ kind: 'delivered', isLeftOut: true })
    const explained = await found(ticketOf(again), 'llm', TAKEN)
    expect(explained.outbound.calls).to.have.length(1)
    const anew = await found(ticketOf(explained), 'llm')
    expect(anew.outbound.calls).to.deep.equal([])
    const acknowledged = await sendScripted(
      pagerduty,
      buildRequest('pagerduty', { event: 'acknowledge', ticket: ticketOf(explained)! }),
      TAKEN,
    )
    expect((await found(ticketOf(acknowledged), 'llm')).outbound.calls).to.deep.equal([])
  })

  it('sends growth where it made the incident more severe, and leaves it out where it did not', async () => {
    const updated = async (before: Severity, ...scripted: readonly (typeof TAKEN)[]) => {
      const ticket = { externalId: 'lp-7c1f9a52', memory: { severity: before } }
      const request = buildRequest('pagerduty', {
        event: 'update',
        ticket,
        content: { severity: 'critical', news: ['orders is affected, too.'] },
      })
      return await sendScripted(pagerduty, request, ...scripted)
    }
    const risen = await updated('high', TAKEN)
    expect(at(risen.body(0), 'payload', 'severity')).to.equal('critical')
    const same = await updated('critical')
    expect(same.outbound.calls).to.deep.equal([])
    expect(same.outcome).to.have.property('note').that.includes('left out')
  })

  it('escalates by a higher severity', async () => {
    const ticket = { externalId: 'lp-7c1f9a52', memory: { severity: 'medium' } }
    const request = buildRequest('pagerduty', { event: 'escalate', ticket, content: { severity: 'medium' } })
    const { body } = await sendScripted(pagerduty, request, TAKEN)
    expect(at(body(0), 'payload', 'severity')).to.equal('critical')
  })

  for (const [event, action] of Object.entries(actions) as [TicketEvent, string][])
    if (action === 'trigger')
      it(`leaves ${event} of a resolved incident out, as it would open a new one`, async () => {
        const { outcome, outbound } = await sendScripted(
          pagerduty,
          buildRequest('pagerduty', { event, content: { status: 'resolved' }, mayBeThere: true }),
        )
        expect(outbound.calls).to.deep.equal([])
        expect(outcome).to.include({ kind: 'delivered' }).and.have.property('note').that.includes('left out')
      })

  it('says that an event is ignored when the routing key is another than that of the opening', async () => {
    const opened = await sendScripted(pagerduty, buildRequest('pagerduty'), TAKEN)
    const ticket = opened.outcome.kind === 'delivered' ? opened.outcome.ticket! : expect.fail()
    const fields = { routingKey: 'X0123456789ABCDEF0123456789ABCDE' }
    const resolved = await sendScripted(pagerduty, buildRequest('pagerduty', { event: 'resolve', ticket, fields }), TAKEN)
    expect(resolved.outcome).to.have.property('note').that.includes('resolve it there by hand')
    const same = await sendScripted(pagerduty, buildRequest('pagerduty', { event: 'resolve', ticket }), TAKEN)
    expect(same.outcome).to.not.have.property('note')
  })

  it('keeps to 1,024 characters of summary and 512,000 bytes in all', async () => {
    const message = '日'.repeat(1_000)
    const samples = Array.from({ length: 400 }, (_, n) => ({ timestamp: '', level: 'ERROR', service: 'a', message, logId: `l${n}` }))
    const evidence = Array.from({ length: 400 }, () => ({ pattern: message, count: 1, samples }))
    const content = { title: '🚲'.repeat(2_000), nextAction: '日'.repeat(400_000), evidence }
    const { body } = await sendScripted(pagerduty, buildRequest('pagerduty', { content }), TAKEN)
    expect([...String(at(body(0), 'payload', 'summary'))]).to.have.length(1_024)
    expect(Buffer.byteLength(JSON.stringify(body(0)))).to.be.at.most(512_000)
  })

  it('never sends a refused event again', async () => {
    const { outcome } = await sendScripted(pagerduty, buildRequest('pagerduty'), {
      status: 400,
      body: { message: 'Event object is invalid' },
    })
    expect(outcome).to.deep.equal({ kind: 'rejected', reason: 'PagerDuty answered 400: the request was refused (Event object is invalid)' })
  })

  it('holds the target for broken when its routing key is refused, also in plain text, and tells nothing of the key', async () => {
    const { outcome } = await sendScripted(pagerduty, buildRequest('pagerduty'), { status: 400, body: `Invalid routing key ${KEY}` })
    expect(outcome).to.include({ kind: 'rejected', isTargetBroken: true, untilChanged: true })
    expect(JSON.stringify(outcome)).to.include('Invalid routing key ****')
  })

  it('tries again after a reset, which may have been taken', async () => {
    const { outcome } = await sendScripted(pagerduty, buildRequest('pagerduty'), resetAfterSending())
    expect(outcome).to.include({ kind: 'retryable', isAmbiguous: true, isTargetDown: true })
  })

  it('is tested by a resolve for a key that nobody has', async () => {
    const { result, outbound } = await testScripted(pagerduty, buildRequest('pagerduty'), TAKEN)
    expect(result.ok).to.equal(true)
    expect(at(outbound.requests[0], 'body')).to.include({ event_action: 'resolve' })
    const refused = await testScripted(pagerduty, buildRequest('pagerduty'), { status: 400, body: 'Invalid routing key' })
    expect(refused.result).to.deep.equal({ ok: false, message: 'PagerDuty answered 400: the request was refused (Invalid routing key)' })
  })
})
