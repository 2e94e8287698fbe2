import { expect } from 'chai'
import { describe, it } from 'mocha'
import { at, textAt } from './json-at.ts'
import { opsgenie } from './opsgenie.ts'
import { buildRequest, ESCALATION } from './testing/checkout-incident.ts'
import { resetAfterSending } from './testing/scripted-outbound.ts'
import { sendScripted, testScripted } from './testing/send-scripted.ts'

const ALERTS = 'https://opsgenie.example.com/v2/alerts'
const ALERT = `${ALERTS}/lp-7c1f9a52`
const TAKEN = { status: 202, body: { result: 'Request will be processed', took: 0.3, requestId: 'r1' } }
const UNKNOWN = { status: 404, body: { message: 'Request not found. It might not be processed, yet.' } }
const DONE = { status: 200, body: { data: { success: true, isSuccess: true, action: 'Create', status: 'Created alert', alertId: 'a1' } } }
const failed = (status: string) => ({ status: 200, body: { data: { success: false, isSuccess: false, status } } })
const TICKET = { externalId: 'lp-7c1f9a52', memory: { severity: 'medium' } }

describe('Opsgenie', () => {
  it('creates an alert with the key of the incident as alias and asks what became of it', async () => {
    const { outcome, outbound, body } = await sendScripted(opsgenie, buildRequest('opsgenie'), TAKEN, UNKNOWN, DONE)
    expect(outbound.calls).to.deep.equal([`POST ${ALERTS}`, `GET ${ALERTS}/requests/r1`, `GET ${ALERTS}/requests/r1`])
    expect(outbound.requests[0]!.headers).to.include({ authorization: 'GenieKey opsgenie-secret-key' })
    expect(body(0)).to.deep.include({
      alias: 'lp-7c1f9a52',
      priority: 'P1',
      entity: 'checkout',
      tags: ['logpipeline', 'critical', 'checkout', 'payment', 'orders'],
    })
    expect(outcome).to.deep.equal({ kind: 'delivered', ticket: { externalId: 'lp-7c1f9a52', memory: { severity: 'critical' } } })
  })

  it('makes no alert of an incident that is resolved by now', async () => {
    const resolved = { content: { status: 'resolved' }, mayBeThere: true } as const
    for (const event of ['open', 'reopen'] as const) {
      const { outcome, outbound } = await sendScripted(opsgenie, buildRequest('opsgenie', { event, ...resolved }))
      expect(outbound.calls).to.deep.equal([])
      expect(outcome).to.include({ kind: 'delivered' }).and.have.property('note').that.includes('left out')
    }
    const NOTES = { status: 200, body: { data: [] } }
    const update = buildRequest('opsgenie', {
      event: 'update',
      ticket: { externalId: 'lp-7c1f9a52', memory: { severity: 'critical' } },
      ...resolved,
    })
    const { outcome, outbound } = await sendScripted(opsgenie, update, NOTES, TAKEN, failed('Alert does not exist'))
    expect(outbound.calls).to.not.include(`POST ${ALERTS}`)
    expect(outcome).to.include({ kind: 'delivered' })
  })

  it('tells the page of the alert where that is known', async () => {
    const { outcome, outbound } = await sendScripted(
      opsgenie,
      buildRequest('opsgenie', { fields: { apiBaseUrl: 'https://api.eu.opsgenie.com' } }),
      TAKEN,
      DONE,
    )
    expect(outbound.calls[0]).to.equal('POST https://api.eu.opsgenie.com/v2/alerts')
    expect(textAt(outcome, 'ticket', 'url')).to.equal('https://app.eu.opsgenie.com/alert/detail/a1/details')
  })

  it('works with Jira Service Management as well', async () => {
    const fields = { apiBaseUrl: 'https://api.atlassian.com/jsm/ops/integration/' }
    const { outbound } = await sendScripted(opsgenie, buildRequest('opsgenie', { fields }), TAKEN, DONE)
    expect(outbound.calls[0]).to.equal('POST https://api.atlassian.com/jsm/ops/integration/v2/alerts')
  })

  it('tries again when the alert was taken and not made', async () => {
    const { outcome } = await sendScripted(opsgenie, buildRequest('opsgenie'), TAKEN, failed('Could not create'))
    expect(outcome).to.include({ kind: 'retryable', reason: 'Opsgenie took the alert and did not make it: Could not create' })
  })

  it('is content with an alert that nobody confirms', async () => {
    const { outcome, waitedMs } = await sendScripted(opsgenie, buildRequest('opsgenie'), TAKEN, UNKNOWN, { status: 503 }, UNKNOWN, UNKNOWN)
    expect(outcome)
      .to.include({ kind: 'delivered' })
      .and.have.property('note')
      .that.matches(/^accepted, unconfirmed/)
    expect(waitedMs).to.equal(5_500)
  })

  it('has an alert that was taken, whatever the looks at it are answered', async () => {
    const looks = [{ status: 405 }, resetAfterSending(), { status: 302 }, { status: 200, body: '<html>' }]
    const { outcome } = await sendScripted(opsgenie, buildRequest('opsgenie'), TAKEN, ...looks)
    expect(outcome).to.include({ kind: 'delivered' }).and.have.property('note').that.includes('unconfirmed')
  })

  const actions = [
    { event: 'acknowledge', path: '/acknowledge?identifierType=alias' },
    { event: 'resolve', path: '/close?identifierType=alias' },
    { event: 'comment', path: '/notes?identifierType=alias' },
  ] as const
  for (const { event, path } of actions)
    it(`${event}: POST ${path}`, async () => {
      const content = { change: { actor: 'alice', at: '2026-11-21T03:20:00.000Z' }, news: ['x'] }
      const { outbound, outcome } = await sendScripted(opsgenie, buildRequest('opsgenie', { event, ticket: TICKET, content }), TAKEN, DONE)
      expect(outbound.calls[0]).to.equal(`POST ${ALERT}${path}`)
      expect(outcome).to.include({ kind: 'delivered' }).and.not.have.property('note')
    })

  it('says when there is nothing to close', async () => {
    const { outcome } = await sendScripted(
      opsgenie,
      buildRequest('opsgenie', { event: 'resolve', ticket: TICKET }),
      TAKEN,
      failed('Alert does not exist'),
    )
    expect(outcome).to.include({ kind: 'delivered', note: 'Opsgenie has nothing to close: Alert does not exist' })
  })

  it('escalates by priority and note, and to a configured escalation', async () => {
    const request = buildRequest('opsgenie', {
      event: 'escalate',
      ticket: TICKET,
      content: { severity: 'medium' },
      fields: { escalation: 'Night' },
    })
    const { outbound, body } = await sendScripted(opsgenie, request, TAKEN, DONE, TAKEN, DONE, TAKEN)
    expect(outbound.calls.filter(call => !call.startsWith('GET'))).to.deep.equal([
      `PUT ${ALERT}/priority?identifierType=alias`,
      `POST ${ALERT}/notes?identifierType=alias`,
      `POST ${ALERT}/escalate?identifierType=alias`,
    ])
    expect(body(0)).to.deep.equal({ priority: 'P1' })
    expect(body(4)).to.deep.include({ escalation: { name: 'Night' } })
  })

  it('escalates an alert that an escalation makes', async () => {
    const request = buildRequest('opsgenie', { content: { change: ESCALATION }, fields: { escalation: 'Night' } })
    const { outcome, outbound, body } = await sendScripted(opsgenie, request, TAKEN, DONE, {
      status: 422,
      body: { message: 'no such escalation' },
    })
    expect(outbound.calls.filter(call => !call.startsWith('GET'))).to.deep.equal([
      `POST ${ALERTS}`,
      `POST ${ALERT}/escalate?identifierType=alias`,
    ])
    expect(body(2)).to.deep.include({ escalation: { name: 'Night' } })
    expect(outcome).to.include({ kind: 'delivered' })
    expect(outcome)
      .to.have.property('note')
      .that.matches(/^not escalated to Night: /)
  })

  it('makes a new alert for what calls people, where somebody closed the alert there', async () => {
    const gone = { status: 200, body: { data: { isSuccess: false, status: 'Alert does not exist' } } }
    const ticket = { ...TICKET, memory: { severity: 'critical' } }
    for (const event of ['escalate', 'update'] as const) {
      const request = buildRequest('opsgenie', { event, ticket, content: { news: ['cart is affected, too.'] } })
      const { outcome, outbound } = await sendScripted(opsgenie, request, TAKEN, gone, TAKEN, DONE)
      const changes = outbound.calls.filter(call => !call.startsWith('GET'))
      expect(changes, event).to.deep.equal([`POST ${ALERT}/notes?identifierType=alias`, `POST ${ALERTS}`])
      expect(outcome).to.include({ kind: 'delivered' }).and.not.have.property('note')
    }
    const comment = await sendScripted(opsgenie, buildRequest('opsgenie', { event: 'comment', ticket }), TAKEN, gone)
    expect(comment.outcome).to.have.property('note', 'Opsgenie has no open alert for the note: Alert does not exist')
  })

  it('escalates the new alert, too, where somebody closed the alert there, or there never was one', async () => {
    const gone = { status: 200, body: { data: { isSuccess: false, status: 'Alert does not exist' } } }
    const escalate = { event: 'escalate', fields: { escalation: 'Night' } } as const
    for (const [ticket, ...answers] of [
      [{ ticket: { ...TICKET, memory: { severity: 'critical' } } }, TAKEN, gone],
      [{ ticket: { ...TICKET, memory: { severity: 'low' } } }, TAKEN, gone],
      [{}],
    ] as const) {
      const request = buildRequest('opsgenie', { ...escalate, ...ticket })
      const { outbound } = await sendScripted(opsgenie, request, ...answers, TAKEN, DONE, TAKEN)
      expect(outbound.calls.filter(call => call.startsWith('POST')).slice(-2)).to.deep.equal([
        `POST ${ALERTS}`,
        `POST ${ALERT}/escalate?identifierType=alias`,
      ])
    }
  })

  it('opens a new alert under the same alias for an incident that is opened again', async () => {
    const { outbound, body } = await sendScripted(opsgenie, buildRequest('opsgenie', { event: 'reopen', ticket: TICKET }), TAKEN, DONE)
    expect(outbound.calls[0]).to.equal(`POST ${ALERTS}`)
    expect(body(0)).to.deep.include({ alias: 'lp-7c1f9a52' })
  })

  it('writes no note twice', async () => {
    const request = buildRequest('opsgenie', { event: 'comment', ticket: TICKET, content: { news: ['x'] } })
    const { body } = await sendScripted(opsgenie, request, TAKEN, DONE)
    const notes = { status: 200, body: { data: [{ note: textAt(body(0), 'note') }] } }
    const again = await sendScripted(opsgenie, { ...request, mayBeThere: true }, notes)
    expect(again.outbound.calls).to.deep.equal([`GET ${ALERT}/notes?identifierType=alias&limit=20&order=desc`])
    const page = { status: 200, body: '<html>maintenance</html>' }
    const unknown = await sendScripted(opsgenie, { ...request, mayBeThere: true }, page, TAKEN, DONE)
    expect(unknown.outcome).to.include({ kind: 'retryable', isTargetDown: true })
    expect(unknown.outbound.calls).to.have.length(1)
  })

  it('keeps to the limits of message, description, tags and details', async () => {
    const content = {
      title: '🚲'.repeat(200),
      nextAction: 'x'.repeat(20_000),
      affectedServices: Array.from({ length: 40 }, (_, n) => `${'日'.repeat(60)}${n}`).map(name => name.slice(-60)),
      service: 's'.repeat(600),
      link: `https://example.com/${'x'.repeat(9_000)}`,
    }
    const { body } = await sendScripted(opsgenie, buildRequest('opsgenie', { content }), TAKEN, DONE)
    expect([...textAt(body(0), 'message')!]).to.have.length(130)
    expect([...textAt(body(0), 'description')!]).to.have.length.at.most(15_000)
    expect([...textAt(body(0), 'entity')!]).to.have.length(512)
    const tags = at(body(0), 'tags') as readonly string[]
    expect(tags).to.have.length.at.most(20)
    for (const tag of tags) expect([...tag]).to.have.length.at.most(50)
    const details = Object.entries(at(body(0), 'details') as Record<string, string>)
    expect(details.flat().join('')).to.have.length.at.most(8_000)
  })

  it('names responders', async () => {
    const { body } = await sendScripted(
      opsgenie,
      buildRequest('opsgenie', { fields: { responders: 'payments, user:a@example.com' } }),
      TAKEN,
      DONE,
    )
    expect(at(body(0), 'responders')).to.deep.equal([
      { type: 'team', name: 'payments' },
      { type: 'user', username: 'a@example.com' },
    ])
  })

  const refusals = [
    { status: 401, expected: { kind: 'rejected', isTargetBroken: true } },
    { status: 402, expected: { kind: 'rejected', isTargetBroken: true } },
    { status: 422, expected: { kind: 'rejected' } },
    { status: 429, expected: { kind: 'retryable', isTargetDown: true } },
  ]
  for (const { status, expected } of refusals)
    it(`${status}: ${JSON.stringify(expected)}`, async () => {
      const { reason: _, ...outcome } = (await sendScripted(opsgenie, buildRequest('opsgenie'), { status, body: { message: 'no' } }))
        .outcome as { reason: string }
      expect(outcome).to.deep.equal(expected)
    })

  it('is tested by a look at the alerts', async () => {
    expect((await testScripted(opsgenie, buildRequest('opsgenie'), { status: 200, body: { data: [] } })).result).to.include({ ok: true })
    expect((await testScripted(opsgenie, buildRequest('opsgenie'), { status: 200, body: '<html></html>' })).result).to.include({
      ok: false,
    })
  })
})
