import { expect } from 'chai'
import { describe, it } from 'mocha'
import { textAt } from './json-at.ts'
import { servicenow } from './servicenow.ts'
import { buildRequest, HOSTILE_INCIDENT } from './testing/checkout-incident.ts'
import { resetAfterSending } from './testing/scripted-outbound.ts'
import { lookScripted, sendScripted, testScripted } from './testing/send-scripted.ts'

const TABLE = 'https://shop.service-now.example.com/api/now/table/incident'
const LOOK = `GET ${TABLE}?sysparm_query=correlation_id%3Dlp-7c1f9a52&sysparm_fields=sys_id,number,state&sysparm_limit=10&sysparm_exclude_reference_link=true`
const recordIn = (state: string) => ({ status: 200, body: { result: [{ sys_id: 'abc123', number: 'INC0010017', state }] } })
const changedTo = (state: string) => ({ status: 200, body: { result: { sys_id: 'abc123', number: 'INC0010017', state } } })
const CREATED = { status: 201, body: { result: { sys_id: 'abc123', number: 'INC0010017' } } }
const NOTHING = { status: 200, body: { result: [] } }
const FOUND = { status: 200, body: { result: [{ sys_id: 'abc123', number: 'INC0010017', state: '1' }] } }
const TICKET = { externalId: 'INC0010017', memory: { sysId: 'abc123', severity: 'critical' } }
const HTML = { status: 200, body: '<html><head><title>Hibernating Instance</title></head><body></body></html>' }

describe('ServiceNow', () => {
  it('creates a record with the key of the incident as correlation_id', async () => {
    const { outcome, outbound, body } = await sendScripted(
      servicenow,
      buildRequest('servicenow', { fields: { assignmentGroup: 'SRE' } }),
      CREATED,
    )
    expect(outbound.calls).to.deep.equal([`POST ${TABLE}`])
    expect(body(0)).to.include({ impact: '1', urgency: '1', correlation_id: 'lp-7c1f9a52', assignment_group: 'SRE' })
    expect(outcome).to.deep.equal({
      kind: 'delivered',
      ticket: {
        externalId: 'INC0010017',
        url: 'https://shop.service-now.example.com/nav_to.do?uri=incident.do%3Fsys_id%3Dabc123',
        memory: { sysId: 'abc123', severity: 'critical' },
      },
    })
  })

  const urgencies = { critical: ['1', '1'], high: ['1', '2'], medium: ['2', '2'], low: ['3', '3'] } as const
  for (const [severity, [impact, urgency]] of Object.entries(urgencies))
    it(`${severity} is impact ${impact} and urgency ${urgency}`, async () => {
      const content = { severity: severity as keyof typeof urgencies }
      const { body } = await sendScripted(servicenow, buildRequest('servicenow', { content }), CREATED)
      expect(body(0)).to.include({ impact, urgency })
    })

  it('takes a page of HTML with 200 for no success, and looks before it creates again', async () => {
    const first = await sendScripted(servicenow, buildRequest('servicenow'), HTML)
    expect(first.outcome).to.include({ kind: 'retryable', isAmbiguous: true, isTargetDown: true })
    expect(first.outcome).to.have.property('reason').that.includes('Hibernating Instance')
    const second = await sendScripted(servicenow, buildRequest('servicenow', { mayBeThere: true }), FOUND)
    expect(second.outbound.calls).to.deep.equal([
      `GET ${TABLE}?sysparm_query=correlation_id%3Dlp-7c1f9a52%5Eactive%3Dtrue&sysparm_fields=sys_id,number,state&sysparm_limit=1&sysparm_exclude_reference_link=true`,
    ])
    expect(second.outcome).to.deep.include({ kind: 'delivered' })
    const third = await sendScripted(servicenow, buildRequest('servicenow', { mayBeThere: true }), NOTHING, CREATED)
    expect(third.outbound.calls).to.have.length(2)
  })

  it('looks for ten seconds after a create without any answer, which the instance may still be at', async () => {
    const lost = (unansweredForMs: number) => buildRequest('servicenow', { mayBeThere: true, unansweredForMs })
    const late = await lookScripted(servicenow, lost(1_000), NOTHING, NOTHING, FOUND)
    expect(late.outbound.calls).to.not.include(`POST ${TABLE}`)
    expect(late.waitedMs).to.equal(5_000)
    const never = await lookScripted(servicenow, lost(1_000), ...Array.from({ length: 5 }, () => NOTHING), CREATED)
    expect(never.outbound.calls.at(-1)).to.equal(`POST ${TABLE}`)
    expect(never.waitedMs).to.equal(9_000)
    expect((await sendScripted(servicenow, lost(10_000), NOTHING, CREATED)).waitedMs).to.equal(0)
  })

  it('takes 201 without a record for no success', async () => {
    const { outcome } = await sendScripted(servicenow, buildRequest('servicenow'), { status: 201, body: { result: {} } })
    expect(outcome).to.include({ kind: 'retryable', isAmbiguous: true })
  })

  const changes = [
    { event: 'acknowledge', expected: { state: '2' } },
    { event: 'resolve', expected: { state: '6', close_code: 'Solution provided', close_notes: 'Resolved in logpipeline.' } },
    { event: 'reopen', expected: { state: '2' } },
    { event: 'comment', expected: {} },
  ] as const
  for (const { event, expected } of changes)
    it(`${event} writes ${JSON.stringify(expected)} and a work note`, async () => {
      const { outbound, body } = await sendScripted(
        servicenow,
        buildRequest('servicenow', { event, ticket: TICKET }),
        recordIn('1'),
        changedTo('2'),
      )
      expect(outbound.calls).to.deep.equal([LOOK, `PATCH ${TABLE}/abc123`])
      const { work_notes: note, ...rest } = body(1)
      expect(rest).to.deep.equal(expected)
      expect(note).to.match(/logpipeline [0-9a-f]{10}$/)
    })

  it('escalates by impact and urgency', async () => {
    const ticket = { externalId: 'INC0010017', memory: { sysId: 'abc123', severity: 'medium' } }
    const request = buildRequest('servicenow', { event: 'escalate', ticket, content: { severity: 'medium' } })
    const { body } = await sendScripted(servicenow, request, recordIn('2'), changedTo('2'))
    expect(body(1)).to.include({ impact: '1', urgency: '1' }).and.not.have.property('state')
  })

  it('opens a record that people resolved again when its incident is escalated', async () => {
    const request = buildRequest('servicenow', { event: 'escalate', ticket: TICKET })
    const { body } = await sendScripted(servicenow, request, recordIn('6'), changedTo('2'))
    expect(body(1)).to.include({ state: '2' })
  })

  it('opens a record that people resolved again when its incident became more severe, not when it grew otherwise', async () => {
    for (const [before, state] of [
      ['medium', '2'],
      ['critical', undefined],
    ] as const) {
      const ticket = { externalId: 'INC0010017', memory: { sysId: 'abc123', severity: before } }
      const request = buildRequest('servicenow', { event: 'update', ticket, content: { severity: 'critical' } })
      const { body } = await sendScripted(servicenow, request, recordIn('6'), changedTo('2'))
      expect((body(1) as { state?: string }).state, before).to.equal(state)
    }
  })

  it('takes close code and notes of its own', async () => {
    const content = { change: { actor: 'alice', note: 'Pool enlarged.', at: '2026-11-21T03:20:00.000Z' } }
    const request = buildRequest('servicenow', { event: 'resolve', ticket: TICKET, content, fields: { closeCode: 'Solved (Permanently)' } })
    const { body } = await sendScripted(servicenow, request, recordIn('2'), changedTo('6'))
    expect(body(1)).to.include({ close_code: 'Solved (Permanently)', close_notes: 'Pool enlarged.' })
  })

  it('makes a new record for an incident whose record is closed, when it is opened again', async () => {
    const { outcome, body } = await sendScripted(
      servicenow,
      buildRequest('servicenow', { event: 'reopen', ticket: TICKET }),
      recordIn('7'),
      {
        status: 201,
        body: { result: { sys_id: 'def456', number: 'INC0010018' } },
      },
    )
    expect(textAt(body(1), 'work_notes')).to.match(/^Opened again; INC0010017 is closed\./)
    expect(textAt(outcome, 'ticket', 'externalId')).to.equal('INC0010018')
    const resolved = await sendScripted(servicenow, buildRequest('servicenow', { event: 'resolve', ticket: TICKET }), recordIn('7'))
    expect(resolved.outcome).to.have.property('note').that.includes('INC0010017 is closed')
  })

  it('creates none for an incident that is resolved by now, and looks for the one that may be there', async () => {
    const late = buildRequest('servicenow', { mayBeThere: true, content: { status: 'resolved' } })
    const none = await sendScripted(servicenow, late, NOTHING)
    expect(none.outcome).to.include({ kind: 'delivered' }).and.have.property('note').that.includes('left out')
    expect((await sendScripted(servicenow, late, FOUND)).outcome).to.have.nested.property('ticket.externalId')
  })

  it('does not take a resolved record back when it is acknowledged', async () => {
    const { body } = await sendScripted(
      servicenow,
      buildRequest('servicenow', { event: 'acknowledge', ticket: TICKET }),
      recordIn('6'),
      changedTo('6'),
    )
    expect(body(1)).to.not.have.property('state')
  })

  it('writes no work note twice', async () => {
    const request = buildRequest('servicenow', { event: 'comment', ticket: TICKET })
    const first = await sendScripted(servicenow, request, recordIn('1'), resetAfterSending())
    expect(first.outcome).to.include({ isAmbiguous: true })
    const shown = (value: string) => ({ value, display_value: value })
    const work_notes = { value: '', display_value: `2026-11-21 03:10:00 - bot (Work notes)\n${textAt(first.body(1), 'work_notes')}` }
    const record = { sys_id: shown('abc123'), number: shown('INC0010017'), state: shown('1'), work_notes }
    const second = await sendScripted(servicenow, { ...request, mayBeThere: true }, { status: 200, body: { result: [record] } })
    expect(second.outbound.calls).to.deep.equal([LOOK.replace('state&', 'state,work_notes&sysparm_display_value=all&')])
    expect(second.outcome).to.include({ kind: 'delivered' })
  })

  it('keeps to 160 characters of short_description, 100 of correlation_id and 4,000 of description', async () => {
    const content = { title: '日'.repeat(300), nextAction: 'x'.repeat(9_000) }
    const { body } = await sendScripted(servicenow, buildRequest('servicenow', { content, ticketKey: 'a'.repeat(200) }), CREATED)
    expect([...textAt(body(0), 'short_description')!]).to.have.length(160)
    expect([...textAt(body(0), 'description')!]).to.have.length(4_000)
    expect(textAt(body(0), 'correlation_id')).to.match(/^[0-9a-f]{64}$/)
  })

  it('leaves no [code] of log text, which its journal would show as HTML', async () => {
    const { body } = await sendScripted(servicenow, buildRequest('servicenow', { content: HOSTILE_INCIDENT }), CREATED)
    expect(textAt(body(0), 'description')).to.include('(code)<b>x</b>(/code)')
  })

  it('says that a record was deleted, which leaves the target as it is', async () => {
    const comment = buildRequest('servicenow', { event: 'comment', ticket: TICKET })
    const { outcome } = await sendScripted(servicenow, comment, NOTHING, { status: 404 })
    expect(outcome).to.include({ kind: 'rejected' }).and.not.have.property('isTargetBroken')
  })

  it('makes a new record where the old one was deleted and people are asked for again', async () => {
    for (const event of ['reopen', 'escalate'] as const) {
      const request = buildRequest('servicenow', { event, ticket: TICKET })
      const made = { status: 201, body: { result: { sys_id: 'def456', number: 'INC0010018' } } }
      const { outcome } = await sendScripted(servicenow, request, NOTHING, { status: 404 }, made)
      expect(textAt(outcome, 'ticket', 'externalId'), event).to.equal('INC0010018')
      expect(textAt(outcome, 'note'), event).to.match(/no record INC0010017 any more.*: a new one takes its place/)
      const found = { status: 200, body: { result: [{ sys_id: 'def456', number: 'INC0010018', state: '1' }] } }
      const again = await sendScripted(servicenow, { ...request, mayBeThere: true }, NOTHING, { status: 404 }, found)
      expect(textAt(again.outcome, 'ticket', 'externalId'), event).to.equal('INC0010018')
    }
  })

  it('takes the state of its own record, where a closed one has the same correlation_id', async () => {
    const both = [
      { sys_id: 'old999', number: 'INC0010001', state: '7' },
      { sys_id: 'abc123', number: 'INC0010017', state: '2' },
    ]
    const resolve = buildRequest('servicenow', { event: 'resolve', ticket: TICKET })
    const { body } = await sendScripted(servicenow, resolve, { status: 200, body: { result: both } }, changedTo('6'))
    expect(body(1)).to.include({ state: '6' })
  })

  it('is tested by a look at the table, and at the close codes where it may', async () => {
    const choices = { status: 200, body: { result: [{ value: 'Solution provided' }, { value: 'Duplicate' }] } }
    const fine = await testScripted(servicenow, buildRequest('servicenow'), NOTHING, choices)
    expect(fine.result).to.deep.equal({
      ok: true,
      message: 'ServiceNow answers and shows its incidents; the close code is “Solution provided”',
    })
    const unknown = await testScripted(servicenow, buildRequest('servicenow', { fields: { closeCode: 'Done' } }), NOTHING, choices)
    expect(unknown.result).to.have.property('message').that.includes('set closeCode to one of Solution provided, Duplicate')
    expect((await testScripted(servicenow, buildRequest('servicenow'), NOTHING, { status: 403 })).result).to.include({ ok: true })
    expect((await testScripted(servicenow, buildRequest('servicenow'), HTML)).result).to.include({ ok: false })
  })
})
