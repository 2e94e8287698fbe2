/** Incidents become tickets on stub platforms: the whole life of one, and faults that pass within seconds. Longer ones: `tickets-faults.real.ts`. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { FaultInput } from '../dataplane/demo/platforms/faults.ts'
import { eventually } from './testing/standalone-process.ts'
import {
  incidentOf,
  makeIncident,
  oneOnEach,
  PLATFORMS,
  type Platform,
  startTicketFixture,
  type TicketFixture,
  ticketCounts,
  ticketsOf,
  untilDispatched,
} from './testing/ticket-fixture.ts'

/** Platforms whose tickets have a state. */
const WITH_STATE = ['pagerduty', 'jira', 'servicenow', 'opsgenie'] as const

describe('tickets on all six platforms', function () {
  this.timeout(80_000)
  let at: TicketFixture
  before(async () => {
    at = await startTicketFixture({ env: { PUBLIC_URL: 'https://logs.example.com' } })
    // At once: each takes two seconds to be told of.
    for (const service of ['one', 'life', 'grows', 'strict', 'hidden']) await makeIncident(at, `checkout-${service}`)
  })
  after(() => at?.stop())

  const ticket = (platform: Platform, service: string) => ticketsOf(at, platform, service)[0]!
  const act = async (id: string, action: string, body: object = { actor: 'kim', note: 'a note of kim' }) => {
    const answer = await at.api.send('POST', `/api/incidents/${id}/${action}`, body)
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200)
    return answer.body
  }
  const untilTold = (service: string, status: string, messages: number) =>
    eventually(
      async () => {
        for (const platform of WITH_STATE) expect(ticket(platform, service).status, platform).to.equal(status)
        for (const platform of ['slack', 'email'] as const) expect(ticket(platform, service).log, platform).to.have.length(messages)
      },
      { timeoutMs: 20_000, pauseMs: 200 },
    )

  it('an incident becomes one ticket on each, which says what happened, why, where to look, and what to do', async () => {
    const incident = await untilDispatched(at, 'checkout-one')
    expect(incident.platforms).to.have.members(PLATFORMS)
    expect(ticketCounts(at, 'checkout-one')).to.deep.equal(oneOnEach())
    expect(incident.rootCause).to.include({ mode: 'rules', fallback: false })
    for (const platform of PLATFORMS) {
      const whole = JSON.stringify(ticket(platform, 'checkout-one').whole)
      expect(whole, `${platform}: what happened`).to.contain('connection refused')
      expect(whole, `${platform}: the service`).to.contain('checkout-one')
      expect(whole, `${platform}: the way back`).to.contain(`https://logs.example.com/incidents/${incident.id}`)
      const { status, externalId, attempts } = incident.dispatches![platform]!
      expect({ status, attempts }, platform).to.deep.equal({ status: 'sent', attempts: 1 })
      expect(externalId, platform).to.be.a('string').that.is.not.empty
    }
    expect(incident.dispatches!['jira']!.url).to.equal(`${at.stubs.addresses.jira}/browse/${incident.dispatches!['jira']!.externalId}`)
  })

  it('acknowledged, resolved, reopened and escalated here is so there, in this order, on the same ticket', async () => {
    const service = 'checkout-life'
    const { id } = await untilDispatched(at, service)
    await act(id, 'acknowledge')
    await untilTold(service, 'acknowledged', 2)
    await act(id, 'resolve')
    await untilTold(service, 'resolved', 3)
    for (const platform of WITH_STATE) expect(ticketsOf(at, platform, service), platform).to.have.length(1)
    for (const platform of ['jira', 'servicenow', 'opsgenie', 'slack'] as const)
      expect(JSON.stringify(ticket(platform, service).whole), platform).to.contain('a note of kim')

    await act(id, 'reopen')
    await eventually(
      async () => {
        for (const platform of ['pagerduty', 'opsgenie'] as const) {
          const statuses = ticketsOf(at, platform, service).map(({ status }) => status)
          // These open a new one for the same key once it was closed.
          expect(statuses, platform).to.deep.equal(['open', 'resolved'])
        }
        for (const platform of ['jira', 'servicenow'] as const) {
          expect(ticketsOf(at, platform, service), platform).to.have.length(1)
          expect(ticket(platform, service).status, platform).not.to.equal('resolved')
        }
        expect(ticket('slack', service).log).to.have.length(4)
        expect(ticket('email', service).log).to.have.length(4)
      },
      { timeoutMs: 20_000 },
    )

    const { escalatedTo } = (await act(id, 'escalate')) as { escalatedTo: readonly string[] }
    expect(escalatedTo).to.have.members(PLATFORMS)
    await eventually(
      async () => {
        const whole = (platform: Platform) => ticket(platform, service).whole as unknown
        expect((whole('pagerduty') as { payload: { severity: string } }).payload.severity).to.equal('critical')
        expect((whole('jira') as { fields: { priority: object } }).fields.priority).to.deep.equal({ name: 'Highest' })
        expect((whole('servicenow') as { priority: string }).priority).to.equal('1')
        expect((whole('opsgenie') as { priority: string }).priority).to.equal('P1')
        expect(ticket('slack', service).log).to.have.length(5)
        expect(ticket('email', service).log).to.have.length(5)
      },
      { timeoutMs: 20_000 },
    )
    expect(ticketsOf(at, 'email', service), 'one thread').to.have.length(1)
  })

  it('a rise in severity or a new affected service tells again; mere counts do not', async () => {
    const service = 'checkout-grows'
    await untilDispatched(at, service)
    await makeIncident(at, service)
    await eventually(async () => expect(((await incidentOf(at, service)) as unknown as { anomalyCount: number }).anomalyCount).to.equal(6))
    await makeIncident(at, service, 'critical')
    await eventually(
      async () => {
        expect(ticket('slack', service).log).to.have.length(2)
        expect((ticket('opsgenie', service).whole as { priority: string }).priority).to.equal('P1')
        expect((ticket('jira', service).whole as { fields: { priority: object } }).fields.priority).to.deep.equal({ name: 'Highest' })
      },
      { timeoutMs: 20_000 },
    )
    expect(ticketCounts(at, service)).to.deep.equal(oneOnEach())
  })

  const QUICK_FAULTS: Readonly<Record<string, readonly (readonly [Platform, FaultInput])[]>> = {
    'requests that are refused for now: 429 with seconds, a date, nothing; 500': [
      ['pagerduty', { kind: 'rate-limit', retryAfter: 'absent' }],
      ['jira', { kind: 'rate-limit', retryAfter: 'date', seconds: 2, on: 'POST /rest/api/3/issue' }],
      ['servicenow', { kind: 'rate-limit', retryAfter: 'seconds', seconds: 1 }],
      ['opsgenie', { kind: 'status', status: 500 }],
      ['slack', { kind: 'rate-limit', retryAfter: 'seconds', seconds: 1 }],
      ['email', { kind: 'status', status: 451 }],
    ],
    // Jira is in tickets-faults.real.ts: its adapter looks for half a minute for an issue that may be there.
    'connections that break before anything was accepted': PLATFORMS.filter(platform => platform !== 'jira').map(
      platform => [platform, { kind: 'reset' }] as const,
    ),
    'answers that are lost after the request was accepted': [
      ['pagerduty', { kind: 'reset', afterAccepting: true }],
      ['jira', { kind: 'reset', afterAccepting: true, on: 'POST /rest/api/3/issue' }],
      ['servicenow', { kind: 'status', status: 500, afterAccepting: true, on: 'POST /api/now/table/incident' }],
      ['opsgenie', { kind: 'reset', afterAccepting: true, on: 'POST /v2/alerts' }],
      ['email', { kind: 'reset', afterAccepting: true }],
    ],
    'answers that lie: ServiceNow with a page, Opsgenie failing after 202': [
      ['servicenow', { kind: 'html' }],
      ['opsgenie', { kind: 'own', name: 'fails-later' }],
    ],
  }
  for (const [name, faults] of Object.entries(QUICK_FAULTS))
    it(`one ticket on each in spite of ${name}`, async () => {
      const service = `faulty-${Object.keys(QUICK_FAULTS).indexOf(name)}`
      for (const [platform, fault] of faults) at.stubs.fault(platform, fault)
      await makeIncident(at, service)
      // Jira is asked for half a minute whether the issue is there after all.
      await untilDispatched(at, service, { timeoutMs: 60_000 })
      for (const [platform, { kind }] of faults) if (kind !== 'own') expect(at.stubs.state(platform)['faults'], platform).to.deep.equal([])
      expect(ticketCounts(at, service)).to.deep.equal(oneOnEach())
      for (const platform of ['slack', 'email'] as const) expect(ticket(platform, service).log, platform).to.have.length(1)
    })

  it('a workflow without the wanted transition gets a comment instead', async () => {
    const service = 'checkout-strict'
    const { id } = await untilDispatched(at, service)
    at.stubs.fault('jira', { kind: 'own', name: 'missing-transition', value: 'done' })
    await act(id, 'resolve')
    await eventually(async () => expect(ticket('servicenow', service).status).to.equal('resolved'))
    const incident = await untilDispatched(at, service)
    expect(incident.dispatches!['jira']!.status).to.equal('sent')
    expect(ticket('jira', service)).to.have.property('status', 'open')
    expect(ticket('jira', service).log.join('\n')).to.contain('a note of kim')
  })

  it('killed while platforms are at its requests, it has one ticket on each soon after the start', async () => {
    const service = 'checkout-killed'
    const stalled = ['servicenow', 'opsgenie'] as const
    for (const platform of stalled) at.stubs.fault(platform, { kind: 'stall', ms: 5_000, afterAccepting: true })
    await makeIncident(at, service)
    await eventually(async () => {
      for (const platform of stalled) expect(ticketsOf(at, platform, service), platform).to.have.length(1)
    })
    await at.app.kill()
    await at.app.restart()
    await untilDispatched(at, service, { timeoutMs: 15_000 })
    for (const platform of stalled) expect(ticketsOf(at, platform, service), platform).to.have.length(1)
  })

  it('an issue whose status is not shown is moved all the same', async () => {
    const service = 'checkout-hidden'
    const { id } = await untilDispatched(at, service)
    at.stubs.fault('jira', { kind: 'status', status: 404, on: 'GET /rest/api/3/issue/:key' })
    await act(id, 'resolve')
    await eventually(async () => expect(ticket('jira', service).status).to.equal('resolved'))
    expect(at.stubs.state('jira')['faults']).to.deep.equal([])
  })
})
