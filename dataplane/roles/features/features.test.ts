import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { HttpServer } from '../../http/server.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { createMemoryOnlineStore, type MemoryOnlineStore } from '../../testing/memory-online-store.ts'
import { startFeatures } from './features.ts'

const NOW = Date.UTC(2026, 10, 21, 17)

describe('the online feature server', () => {
  let server: HttpServer
  let store: MemoryOnlineStore
  beforeEach(async () => {
    store = createMemoryOnlineStore()
    server = await startFeatures({ store, clock: createFakeClock(NOW), log: SILENT, host: '127.0.0.1', port: 0 })
  })
  afterEach(() => server.stop(0))

  const post = async (path: string, body: unknown, tenant?: string) => {
    const headers = {
      'content-type': 'application/json',
      connection: 'close',
      ...(tenant !== undefined && { 'x-service-tenant-id': tenant }),
    }
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as any }
  }
  const push = (df: object, tenant?: string) => post('/push', { push_source_name: 'service_stats', df }, tenant)
  const get = (entities: object, tenant?: string, features = ['service_stats:ml_error_rate_1h']) =>
    post('/get-online-features', { features, entities }, tenant)
  const CHECKOUT = { tenant_id: ['acme'], service: ['checkout'] }

  it('GET /health is ok while the store answers', async () => {
    const health = () => fetch(`http://127.0.0.1:${server.port}/health`, { headers: { connection: 'close' } })
    expect(await (await health()).json()).to.deep.equal({ status: 'ok', store: 'connected' })
    store.unavailable = true
    expect((await health()).status).to.equal(503)
  })

  it('GET /metrics counts rows', async () => {
    await push({ ...CHECKOUT, ml_error_rate_1h: [0.3] })
    await get(CHECKOUT)
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { connection: 'close' } })).text()
    expect(text)
      .to.match(/^service_features_rows_written_total 1$/m)
      .and.to.match(/^service_features_rows_read_total 1$/m)
  })

  it('what is pushed is answered, column-wise in the order of metadata.feature_names', async () => {
    const all = { ml_error_rate_1h: [0.3], ml_p99_latency_1h: [2_500.5], ml_request_rate_1h: [1.25], ml_anomaly_history_count: [4] }
    expect(await push({ ...CHECKOUT, ...all, event_timestamp: ['2026-11-21 16:00:00'] })).to.deep.equal({ status: 200, body: undefined })
    const names = ['ml_anomaly_history_count', 'ml_request_rate_1h', 'ml_p99_latency_1h', 'ml_error_rate_1h']
    const { body } = await get(
      { service: ['checkout', 'cart'], tenant_id: ['acme', 'acme'] },
      undefined,
      names.map(name => `service_stats:${name}`),
    )
    expect(body.metadata.feature_names).to.deep.equal(['service', 'tenant_id', ...names])
    const column = (value: unknown) => ({
      values: [value, null],
      statuses: ['PRESENT', 'NOT_FOUND'],
      event_timestamps: ['2026-11-21T16:00:00Z', '1970-01-01T00:00:00Z'],
    })
    expect(body.results.slice(2)).to.deep.equal([4, 1.25, 2_500.5, 0.3].map(column))
  })

  it('a push may speak of a time up to a day ahead', async () => {
    expect((await push({ ...CHECKOUT, ml_error_rate_1h: [0.3], event_timestamp: ['2026-11-22 17:00:00'] })).status).to.equal(200)
    expect(store.rows()[0]?.eventMs).to.equal(NOW + 86_400_000)
  })

  it('a push may leave features out, which keep what they were, and the time, which is now then', async () => {
    await push({ ...CHECKOUT, ml_error_rate_1h: [0.3], ml_p99_latency_1h: [10] })
    await push({ ...CHECKOUT, ml_error_rate_1h: [0.5] })
    const row = { tenant: 'acme', service: 'checkout', eventMs: NOW, writtenMs: NOW }
    expect(store.rows()).to.deep.equal([{ ...row, values: { ml_error_rate_1h: 0.5, ml_p99_latency_1h: 10 } }])
  })

  it('a caller with a tenant sees and writes that tenant alone, and need not name it', async () => {
    await push({ ...CHECKOUT, ml_error_rate_1h: [0.3] })
    expect((await get(CHECKOUT, 'globex')).body.results[2]).to.deep.include({ values: [null], statuses: ['NOT_FOUND'] })
    expect((await get({ service: ['checkout'] }, 'acme')).body.results[1]).to.deep.include({ values: [0.3] })
    expect((await push({ ...CHECKOUT, ml_error_rate_1h: [0] }, 'globex')).status).to.equal(403)
    await push({ service: ['checkout'], ml_error_rate_1h: [0.9] }, 'globex')
    expect(store.rows().map(({ tenant, values }) => [tenant, values.ml_error_rate_1h])).to.deep.equal([
      ['acme', 0.3],
      ['globex', 0.9],
    ])
  })

  const many = (tenant: string, rows: number) => ({
    tenant_id: Array(rows).fill(tenant),
    service: Array.from({ length: rows }, (_none, at) => `service ${at}`),
  })

  it('a request of many rows is worked on in portions, and all of it is answered, and written', async () => {
    const sizes: number[] = []
    const { read, write } = store
    store.read = keys => {
      sizes.push(keys.length)
      return read(keys)
    }
    store.write = rows => {
      sizes.push(rows.length)
      return write(rows)
    }
    const rates = Array.from({ length: 5_000 }, (_none, at) => at)
    expect((await push({ ...many('acme', 5_000), ml_error_rate_1h: rates })).status).to.equal(200)
    expect((await get(many('acme', 5_000))).body.results[2].values).to.deep.equal(rates)
    expect(sizes).to.deep.equal([...Array(5).fill(1_000), ...Array(20).fill(250)])
  })

  it('requests of many rows wait for each other; one of few rows does not wait', async () => {
    const { read } = store
    let letGo = () => {}
    const held = new Promise<void>(resolve => {
      letGo = resolve
    })
    const order: string[] = []
    store.read = async keys => {
      order.push(keys[0]!.tenant)
      if (keys.length > 1) await held
      return read(keys)
    }
    const large = Array.from({ length: 10 }, () => get(many('acme', 300)))
    while (order.length < 2) await new Promise(setImmediate)
    expect((await get({ tenant_id: ['initech'], service: ['checkout'] })).status).to.equal(200)
    letGo()
    expect((await Promise.all(large)).map(({ status }) => status)).to.deep.equal(Array(10).fill(200))
    expect(order.filter(tenant => tenant === 'acme')).to.have.lengthOf(20)
    expect(order.slice(0, 3)).to.deep.equal(['acme', 'acme', 'initech'])
  })

  it('503 with Retry-After while the store cannot be reached', async () => {
    store.unavailable = true
    const response = await fetch(`http://127.0.0.1:${server.port}/get-online-features`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ features: ['service_stats:ml_error_rate_1h'], entities: CHECKOUT }),
    })
    expect([response.status, response.headers.get('retry-after')]).to.deep.equal([503, '1'])
    expect((await push({ ...CHECKOUT, ml_error_rate_1h: [0.3] })).status).to.equal(503)
  })

  const refused: readonly { name: string; send: () => ReturnType<typeof post>; status?: number; error: RegExp }[] = [
    {
      name: 'an unknown view',
      send: () => get(CHECKOUT, undefined, ['other:ml_error_rate_1h']),
      status: 404,
      error: /service_stats, seen "other"/,
    },
    {
      name: 'an unknown feature',
      send: () => get(CHECKOUT, undefined, ['service_stats:rate']),
      error: /features: expected one of ml_.*, seen "rate"/,
    },
    { name: 'no features', send: () => get(CHECKOUT, undefined, []), error: /^features: expected some of service_stats:ml_/ },
    {
      name: 'columns of different length',
      send: () => get({ tenant_id: ['a', 'b'], service: ['c'] }),
      error: /^entities: .* 2 in tenant_id and 1 in service/,
    },
    {
      name: 'more rows than a request may have',
      send: () => get(many('acme', 5_001)),
      error: /^entities: expected at most 5000 rows, seen 5001$/,
    },
    {
      name: 'more rows to write than a request may have',
      send: () => push({ ...many('acme', 5_001), ml_error_rate_1h: Array(5_001).fill(1) }),
      error: /^df: expected at most 5000 rows, seen 5001$/,
    },
    {
      name: 'a name that is no text',
      send: () => get({ tenant_id: ['acme'], service: [null] }),
      error: /^entities\.service\.0: expected text, seen null/,
    },
    {
      name: 'no entities',
      send: () => post('/get-online-features', { features: ['ml_error_rate_1h'] }),
      error: /^entities: expected record/,
    },
    {
      name: 'an unknown push source',
      send: () => post('/push', { push_source_name: 'x', df: {} }),
      status: 404,
      error: /push_source_name: expected service_stats/,
    },
    { name: 'a push without columns', send: () => push({ ml_x: [1] }), error: /^df.tenant_id: .*; df.service: .*; df: expected a column/ },
    {
      name: 'a push of text',
      send: () => push({ ...CHECKOUT, ml_error_rate_1h: ['0.3'] }),
      error: /^df.ml_error_rate_1h.0: expected a number or null, seen "0.3"/,
    },
    {
      name: 'a count with a fraction',
      send: () => push({ ...CHECKOUT, ml_anomaly_history_count: [1.5] }),
      error: /expected an integer or null, seen 1.5/,
    },
    {
      name: 'a time that is none',
      send: () => push({ ...CHECKOUT, ml_error_rate_1h: [0], event_timestamp: ['soon'] }),
      error: /^df.event_timestamp.0: .*"soon"/,
    },
    {
      name: 'a time that is no date',
      send: () => push({ ...CHECKOUT, ml_error_rate_1h: [0], event_timestamp: [1e300] }),
      error: /^df.event_timestamp.0: expected a time such as/,
    },
    {
      name: 'a time more than a day ahead, which would stay until then',
      send: () => push({ ...CHECKOUT, ml_error_rate_1h: [0], event_timestamp: ['2026-11-22 17:00:00.001'] }),
      error: /^df.event_timestamp.0: expected a time at most one day ahead, seen "2026-11-22 17:00:00.001"/,
    },
    {
      name: 'a tenant id that is none',
      send: () => push({ tenant_id: ['A/b'], service: ['c'], ml_error_rate_1h: [0] }),
      error: /^df.tenant_id.0: expected a tenant id/,
    },
  ]
  for (const { name, send, status = 400, error } of refused)
    it(`${status} for ${name}`, async () => {
      const answer = await send()
      expect(answer.body).to.have.all.keys('error', 'status')
      expect(answer.body.error).to.match(error)
      expect([answer.status, answer.body.status]).to.deep.equal([status, status])
    })
})
