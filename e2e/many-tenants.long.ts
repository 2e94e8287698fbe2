import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Standalone, startStandalone } from './testing/standalone-process.ts'

const MAX_WAIT_MS = 5_000
const NAMES = 15_000
const FATAL_NAMES = 4_000

interface Given {
  readonly tenant: string
  readonly text: string
  readonly severity?: string
}

function request(records: readonly Given[]): string {
  const nowMs = Date.now()
  const resourceLogs = records.map(({ tenant, text, severity = 'INFO' }, i) => ({
    resource: {
      attributes: [
        { key: 'tenant_id', value: { stringValue: tenant } },
        { key: 'service.name', value: { stringValue: 'checkout' } },
      ],
    },
    scopeLogs: [
      { logRecords: [{ timeUnixNano: `${nowMs}${String(i).padStart(6, '0')}`, severityText: severity, body: { stringValue: text } }] },
    ],
  }))
  return JSON.stringify({ resourceLogs })
}

describe('many new tenants cost their sender, not the others', function () {
  this.timeout(120_000)
  let standalone: Standalone
  before(async () => {
    standalone = await startStandalone()
  })
  after(() => standalone.remove())

  const send = async (records: readonly Given[]) => {
    const answer = await fetch(`${standalone.collector}/v1/logs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: request(records),
    })
    expect(answer.status).to.equal(200)
  }
  const count = async (index: string, query: object = { match_all: {} }): Promise<number> => {
    const answer = await fetch(`${standalone.search}/${index}/_search?ignore_unavailable=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ size: 0, track_total_hits: true, query }),
    })
    return ((await answer.json()) as { hits: { total: { value: number } } }).hits.total.value
  }
  const eventually = async (what: string, test: () => Promise<boolean>, withinMs: number) => {
    const startMs = Date.now()
    while (!(await test())) {
      if (Date.now() - startMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    return Date.now() - startMs
  }
  let probes = 0
  /** How long a record of a known tenant takes until it is found through the tenant's alias. */
  const probe = async () => {
    const text = `probe ${++probes}`
    await send([{ tenant: 'shop', text }])
    return eventually(text, async () => (await count('service-logs-shop', { match_phrase: { message: text } })) === 1, MAX_WAIT_MS)
  }
  const incidentsOfShop = async () => {
    const answer = await fetch(`${standalone.ticketing}/api/incidents?limit=100`, { headers: { 'x-service-tenant-id': 'shop' } })
    return ((await answer.json()) as { service: string; anomalyCount: number }[]).reduce((sum, { anomalyCount }) => sum + anomalyCount, 0)
  }

  it('a request that names 15,000 of them delays nobody', async () => {
    await eventually('the first record', async () => (await probe().catch(() => MAX_WAIT_MS)) < MAX_WAIT_MS, 30_000)
    const records = Array.from({ length: NAMES }, (_, i) => ({ tenant: `flood-${i}`, text: 'x' }))
    const sending = send(records)
    const waits: number[] = []
    for (let i = 0; i < 20; i++) waits.push(await probe())
    await sending
    await eventually('every record', async () => (await count('service-logs-*', { match: { message: 'x' } })) === NAMES, 30_000)
    expect(Math.max(...waits)).to.be.below(MAX_WAIT_MS)
  })

  it('FATAL records of 4,000 of them keep no incident of the others back, and none of their anomalies is lost', async () => {
    const fatal = (tenant: string): Given => ({ tenant, text: 'it broke', severity: 'FATAL' })
    await send([fatal('shop'), fatal('shop'), fatal('shop')])
    await eventually('an incident', async () => (await incidentsOfShop()) === 3, 10_000)
    const sending = send(Array.from({ length: FATAL_NAMES }, (_, i) => fatal(`broken-${i}`)))
    for (let i = 1; i <= 5; i++) {
      await send([fatal('shop')])
      await eventually('an anomaly of shop', async () => (await incidentsOfShop()) === 3 + i, MAX_WAIT_MS)
      await probe()
    }
    await sending
    const broken = { prefix: { tenant_id: 'broken-' } }
    await eventually('every anomaly', async () => (await count('service-anomalies-*', broken)) >= FATAL_NAMES, 30_000)
    const metrics = await (await fetch(`${standalone.bridge}/metrics`)).text()
    const delayed = Number(/^logpipeline_tenant_anomalies_delayed_total (\d+)$/m.exec(metrics)?.[1])
    expect(delayed).to.be.within(FATAL_NAMES / 2, FATAL_NAMES)
    expect(await count('service-anomalies-default', broken)).to.be.above(0)
  })
})
