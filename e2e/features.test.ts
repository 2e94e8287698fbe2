import { expect } from 'chai'
import { describe, it } from 'mocha'
import { eventually } from './testing/standalone-process.ts'
import { useUsualStandalone } from './testing/usual-standalone.ts'

const HOUR_MS = 3_600_000

interface Found {
  readonly hits: { readonly hits: readonly { readonly _source: Readonly<Record<string, unknown>> }[] }
}

describe('ML features', () => {
  const at = useUsualStandalone()

  const post = async (url: string, body: unknown) => {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    expect(response.status, url).to.equal(200)
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
    return (text === '' ? undefined : JSON.parse(text)) as any
  }
  const send = (service: string, logRecords: readonly object[]) =>
    post(`${at.app.collector}/v1/logs`, {
      resourceLogs: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] }, scopeLogs: [{ logRecords }] }],
    })
  const record = (ms: number, severityText: string, message: string, attributes: readonly object[] = []) => ({
    timeUnixNano: `${ms}000000`,
    severityText,
    body: { stringValue: message },
    attributes,
  })
  const find = async (message: string) => {
    const found = (await (await fetch(`${at.app.search}/service-logs-*/_search?q=message:${message}`)).json()) as Found
    expect(found.hits.hits).to.have.length(1)
    return found.hits.hits[0]!._source
  }

  it('an ERROR record with no pattern and ml_error_rate_1h = 0.30 is emitted as an anomaly', async () => {
    const df = { tenant_id: ['default'], service: ['payments'], ml_error_rate_1h: [0.3], ml_anomaly_history_count: [1] }
    await post(`${at.app.features}/push`, { push_source_name: 'service_stats', df })
    let attempt = 0
    await eventually(async () => {
      const message = `unexplained${attempt++}`
      await send('payments', [record(Date.now(), 'ERROR', message)])
      const log = await eventually(() => find(message))
      expect(log).to.include({
        ml_error_rate_1h: 0.3,
        ml_p99_latency_1h: 0,
        ml_request_rate_1h: 0,
        ml_anomaly_history_count: 1,
        enriched: true,
      })
      await eventually(async () => expect(await find(message)).to.include({ is_anomaly: true }))
    })
  }).timeout(40_000)

  it('feature_compute, triggered by hand, computes the last full hour for the feature server', async () => {
    const hourMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS
    const took = (ms: number) => [{ key: 'duration_ms', value: { doubleValue: ms } }]
    const records = Array.from({ length: 36 }, (_, i) =>
      record(hourMs + i, i < 9 ? 'ERROR' : 'INFO', 'worked', took(i === 35 ? 2_500.5 : 3)),
    )
    await send('orders', [...records, record(hourMs, 'INFO', 'lastofthem')])
    await eventually(() => find('lastofthem'))
    const runs = `${at.app.scheduler}/api/v2/dags/feature_compute/dagRuns`
    const [start, end] = [hourMs, hourMs + HOUR_MS].map(ms => new Date(ms).toISOString())
    const { dag_run_id: id } = await post(runs, { data_interval_start: start, data_interval_end: end })
    await eventually(async () => {
      const run = (await (await fetch(`${runs}/${encodeURIComponent(id)}`)).json()) as { state: string }
      expect(run.state).to.equal('success')
    })
    const names = ['ml_error_rate_1h', 'ml_p99_latency_1h', 'ml_request_rate_1h', 'ml_anomaly_history_count']
    const { results } = await post(`${at.app.features}/get-online-features`, {
      features: names.map(name => `service_stats:${name}`),
      entities: { tenant_id: ['default'], service: ['orders'] },
    })
    const values = results.slice(2).map((column: { values: unknown[] }) => column.values[0])
    expect(values).to.deep.equal([9 / 37, 2_500.5, 37 / 3_600, 0])
  }).timeout(40_000)
})
