/** One tenant's services fail in thousands: another tenant's incident and its ticket come all the same, and every incident comes in the end. */
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { countDocuments, exportRecords } from './testing/api.ts'
import { eventually } from './testing/standalone-process.ts'
import { faultRecords, incidentOf, type ShownIncident, startTicketFixture, type TicketFixture } from './testing/ticket-fixture.ts'

/** `FLOOD_SERVICES` asks for more of them. */
const SERVICES = Number(process.env['FLOOD_SERVICES'] ?? 1_500)
const INCIDENT_MS = 10_000
const TICKET_MS = 20_000

describe('an incident while thousands of services of another tenant fail', function () {
  this.timeout(180_000)
  let at: TicketFixture
  before(async () => {
    at = await startTicketFixture({ routing: Object.fromEntries(SEVERITIES.map(severity => [severity, ['pagerduty']])) })
    for (const tenant of ['loud', 'quiet']) await send(tenant, ['known'])
    for (const tenant of ['loud', 'quiet']) await eventually(() => sentTicket(tenant, 'known'), { timeoutMs: 30_000, pauseMs: 100 })
  })
  after(() => at?.stop())

  const send = async (tenant: string, services: readonly string[]) => {
    const records = services.flatMap(service => faultRecords(service))
    const answer = await exportRecords(at.app.collector, records, { tenant_id: tenant })
    expect(answer.status, await answer.text()).to.equal(200)
  }
  const sentTicket = async (tenant: string, service: string): Promise<ShownIncident> => {
    const { id } = await incidentOf(at, service, tenant)
    const incident = (await at.api.get(`/api/incidents/${id}`, tenant)).body as ShownIncident
    expect(incident.dispatches?.['pagerduty']?.status).to.equal('sent')
    return incident
  }
  const incidents = (tenant: string) => countDocuments(at.app.search, `service-incidents-${tenant}`)

  it('comes within seconds, and so does its ticket', async () => {
    const loud = Array.from({ length: SERVICES }, (_, i) => `service-${i}`)
    for (let from = 0; from < SERVICES; from += 2_000) await send('loud', loud.slice(from, from + 2_000))
    await send('quiet', ['checkout'])
    const startMs = Date.now()
    await incidentOf(at, 'checkout', 'quiet')
    const incidentMs = Date.now() - startMs
    await eventually(() => sentTicket('quiet', 'checkout'), { timeoutMs: TICKET_MS, pauseMs: 50 })
    const ticketMs = Date.now() - startMs
    if (process.env['FLOOD_SERVICES'] !== undefined) process.stdout.write(`incident ${incidentMs} ms, ticket ${ticketMs} ms\n`)
    expect(incidentMs).to.be.below(INCIDENT_MS)
    expect(ticketMs).to.be.below(TICKET_MS)
  })

  it('every incident of the other tenant comes as well, each once', async () => {
    await eventually(async () => expect(await incidents('loud')).to.equal(SERVICES + 1), { timeoutMs: 120_000, pauseMs: 500 })
    expect(await incidents('quiet')).to.equal(2)
  })
})

const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
