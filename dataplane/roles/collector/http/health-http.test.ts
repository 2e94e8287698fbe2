import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createFakeClock, type FakeClock } from '../../../testing/fake-clock.ts'
import { type Harness, startHarness } from '../testing/collector-harness.ts'
import { buildJson } from '../testing/requests.ts'

describe("the collector's health check", () => {
  let harness: Harness
  let clock: FakeClock
  beforeEach(async () => {
    clock = createFakeClock(Date.UTC(2026, 0, 1))
    harness = await startHarness({}, clock)
  })
  afterEach(() => harness.collector.stop())
  const get = async (path: string) => {
    const answer = await fetch(harness.healthUrl + path)
    return { status: answer.status, text: await answer.text() }
  }

  it('GET / answers status, upSince and uptime', async () => {
    clock.advance(3_723_400)
    const { status, text } = await get('/')
    expect([status, JSON.parse(text)]).to.deep.equal([
      200,
      { status: 'Server available', upSince: '2026-01-01T00:00:00.000Z', uptime: '1h2m3.4s' },
    ])
  })

  it('its uptime goes on when the clock is set back', async () => {
    clock.advance(5_000)
    clock.shiftTimeOfDay(-3_600_000)
    expect(JSON.parse((await get('/')).text)).to.include({ upSince: '2026-01-01T00:00:00.000Z', uptime: '5s' })
  })

  it('503 "Server not available" while the message bus refuses, and for a while after', async () => {
    harness.bus.failWith('full')
    await harness.post(buildJson({ messages: ['a'] }))
    const { status, text } = await get('/')
    expect([status, JSON.parse(text).status]).to.deep.equal([503, 'Server not available'])
    harness.bus.failWith(undefined)
    clock.advance(10_000)
    expect((await get('/')).status).to.equal(200)
  })

  it('GET /health answers {"status":"ok"}', async () => {
    expect(await get('/health')).to.deep.equal({ status: 200, text: '{"status":"ok"}' })
  })

  it('GET /metrics counts requests, records and refusals by transport', async () => {
    await harness.post(buildJson({ messages: ['a', 'b'] }))
    await harness.post('{')
    const { text } = await get('/metrics')
    expect(text).to.contain('service_collector_http_json_requests_total 2')
    expect(text).to.contain('service_collector_http_json_records_accepted_total 2')
    expect(text).to.contain('service_collector_http_json_refused_malformed_total 1')
    expect(text).to.contain('service_collector_grpc_requests_total 0')
  })

  it('404 for another path, 405 for another method', async () => {
    expect((await get('/other')).status).to.equal(404)
    expect((await fetch(harness.healthUrl, { method: 'POST' })).status).to.equal(405)
  })
})
