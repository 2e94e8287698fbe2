import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type RedisProcess, startRedis } from '../dataplane/adapters/online-store/redis/testing/redis-process.ts'
import { eventually, type Standalone, startStandalone } from './testing/standalone-process.ts'

describe('a feature store that is gone stalls nothing', () => {
  let redis: RedisProcess | undefined
  let app: Standalone | undefined
  let sent = 0
  before(async function () {
    this.timeout(60_000)
    redis = await startRedis(this)
    app = await startStandalone({ ONLINE_STORE_URL: redis.url })
  })
  after(async () => {
    await app?.remove()
    await redis?.kill()
  })

  const post = (url: string, body: unknown) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const push = async () => {
    const df = { tenant_id: ['default'], service: ['checkout'], ml_error_rate_1h: [0.3] }
    expect((await post(`${app!.features}/push`, { push_source_name: 'service_stats', df })).status).to.equal(200)
  }
  /** A record from its sending to its document: at most two seconds, also while the store is away. */
  const pass = async () => {
    const message = `record${sent++}`
    const attributes = [{ key: 'service.name', value: { stringValue: 'checkout' } }]
    const logRecords = [{ timeUnixNano: `${Date.now()}000000`, body: { stringValue: message } }]
    expect(
      (await post(`${app!.collector}/v1/logs`, { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] })).status,
    ).to.equal(200)
    const found = await eventually(
      async () => {
        const answer = (await (await fetch(`${app!.search}/service-logs-*/_search?q=message:${message}`)).json()) as {
          readonly hits: { readonly hits: readonly { readonly _source: Readonly<Record<string, unknown>> }[] }
        }
        expect(answer.hits.hits).to.have.length(1)
        return answer.hits.hits[0]!._source
      },
      { timeoutMs: 2_000 },
    )
    return { errorRate: found['ml_error_rate_1h'], enriched: found['enriched'] }
  }
  const until = (expected: { errorRate: number; enriched: boolean }) =>
    eventually(async () => expect(await pass()).to.deep.equal(expected), { timeoutMs: 20_000, pauseMs: 250 })

  it('records are enriched while it answers', async () => {
    await push()
    await until({ errorRate: 0.3, enriched: true })
  }).timeout(30_000)

  it('killed: records pass as fast, soon with zeros and enriched: false; started again they are enriched again', async () => {
    await redis!.kill()
    await until({ errorRate: 0, enriched: false })
    expect((await fetch(`${app!.features}/health`)).status).to.equal(503)
    await redis!.restart()
    await until({ errorRate: 0, enriched: true })
    await push()
    await until({ errorRate: 0.3, enriched: true })
  }).timeout(60_000)

  it('hanging: records pass as fast, soon with zeros and enriched: false; answering again they are enriched again', async () => {
    redis!.pause()
    await until({ errorRate: 0, enriched: false })
    redis!.resume()
    await until({ errorRate: 0.3, enriched: true })
  }).timeout(60_000)
})
