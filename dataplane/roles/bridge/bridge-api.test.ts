import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { BRIDGE_COUNTERS, BRIDGE_METRICS, type BridgeMetric, TENANT_COUNTERS } from '../../contract/counters.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createSharedCounters } from '../../telemetry/shared-counters.ts'
import { createBridgeApi } from './bridge-api.ts'
import { createRuntimeConfig } from './runtime-config.ts'

const FIXED = { busBrokers: 'embedded', rawTopic: 'raw-logs', enrichedTopic: 'enriched-logs', searchEndpoint: 'http://127.0.0.1:9200' }

describe("the bridge's control API", () => {
  let address: string
  let close: () => Promise<void>
  const states = { etl: 'running', search: 'connected' }
  const counters = createSharedCounters(Object.keys(BRIDGE_METRICS) as BridgeMetric[])

  beforeEach(async () => {
    Object.assign(states, { etl: 'running', search: 'connected' })
    const api = createBridgeApi({
      fixedConfig: FIXED,
      config: createRuntimeConfig({ anomalyThreshold: 2.5, windowSize: 50 }),
      counters,
      metrics: createMetrics(),
      threadState: thread => (thread === 'etl' ? states.etl : 'running'),
      streamJobs: () => ({ etl: 'running', score: 'none' }),
      busState: async () => 'connected',
      searchState: async () => states.search,
      log: SILENT,
    })
    const server = api.listen(0, '127.0.0.1')
    await new Promise(listening => server.once('listening', listening))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    close = () => new Promise(closed => server.close(() => closed()))
  })
  afterEach(() => close())

  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(address + path, { headers: { 'content-type': 'application/json', connection: 'close' }, ...init })
    return { status: response.status, body: (await response.json()) as unknown }
  }

  it("GET /health returns status, threads, bus, search, and which stream jobs do a thread's work", async () => {
    expect(await call('/health')).to.deep.equal({
      status: 200,
      body: {
        status: 'ok',
        threads: { etl: 'running', anomaly: 'running', indexer: 'running', lifecycle: 'running' },
        streamJobs: { etl: 'running', score: 'none' },
        bus: 'connected',
        search: 'connected',
      },
    })
  })

  it('is in error while a thread does not run or the search store is away', async () => {
    states.etl = 'restarting'
    states.search = 'disconnected'
    const { status, body } = await call('/health')
    expect(status).to.equal(503)
    expect(body).to.deep.include({ status: 'error', search: 'disconnected' })
  })

  it("GET /metrics shows exactly the specification's six counters and those of new tenants, without labels", async () => {
    counters.add('etlConsumed', 3)
    const text = await (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
    const samples = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
    const names = Object.values({ ...BRIDGE_COUNTERS, ...TENANT_COUNTERS }).map(({ name }) => name)
    expect(samples).to.deep.equal(names.map(name => `${name} ${name.includes('consumed') ? 3 : 0}`))
  })

  it('GET /config returns the bridge configuration', async () => {
    expect((await call('/config')).body).to.deep.equal({ anomalyThreshold: 2.5, windowSize: 50, ...FIXED })
  })

  it('PATCH /config changes what it names, at once', async () => {
    const answer = await call('/config', { method: 'PATCH', body: '{"anomalyThreshold":3.5}' })
    expect(answer).to.deep.equal({ status: 200, body: { status: 'ok', config: { anomalyThreshold: 3.5, windowSize: 50 } } })
    expect((await call('/config')).body).to.include({ anomalyThreshold: 3.5, windowSize: 50 })
  })

  for (const body of [
    '{"anomalyThreshold":0}',
    '{"anomalyThreshold":100.1}',
    '{"windowSize":9}',
    '{"windowSize":100001}',
    '{"windowSize":10.5}',
  ]) {
    it(`PATCH /config answers ${body} with 400 and changes nothing`, async () => {
      const answer = await call('/config', { method: 'PATCH', body })
      expect(answer.status).to.equal(400)
      expect((await call('/config')).body).to.include({ anomalyThreshold: 2.5, windowSize: 50 })
    })
  }

  it('PATCH /config names every unknown field and wrong type', async () => {
    const { status, body } = await call('/config', { method: 'PATCH', body: '{"windowSize":"50","rawTopic":"x"}' })
    expect(status).to.equal(400)
    expect((body as { error: string }).error)
      .to.contain('windowSize')
      .and.to.contain('rawTopic')
  })
})
