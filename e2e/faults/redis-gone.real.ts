import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type RedisProcess, startRedis } from '../../dataplane/adapters/online-store/redis/testing/redis-process.ts'
import { scanLogs } from '../testing/api.ts'
import { eventually } from '../testing/standalone-process.ts'
import { type Chain, useChain } from './testing/chain.ts'
import { startTraffic } from './testing/traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './testing/undisturbed.ts'

export const needs = ['kafka', 'opensearch']

const ROLES = ['collector', 'bridge', 'stream etl', 'stream score'] as const

describe('Redis goes away under load', function () {
  this.timeout(420_000)
  let redis: RedisProcess
  before(async function () {
    redis = await startRedis(this)
  })
  after(() => redis?.kill())
  const useOwn = useChain(() => ({ env: { ONLINE_STORE_URL: redis.url } }))

  it('it is killed, and hangs: records pass with zeros and enriched: false, each once', async () => {
    const chain = useOwn()
    const features = await chain.start('features')
    await Promise.all(ROLES.map(role => chain.start(role)))
    const push = async () => {
      const df = { tenant_id: [chain.tenant], service: ['checkout'], ml_request_rate_1h: [7] }
      const body = JSON.stringify({ push_source_name: 'service_stats', df })
      const headers = { 'content-type': 'application/json' }
      expect((await fetch(`${features.url}/push`, { method: 'POST', headers, body })).status).to.equal(200)
    }
    await push()
    const traffic = startTraffic(chain, 200)
    await untilPass(chain, { enriched: true, ml_request_rate_1h: 7 })

    await redis.kill()
    await untilPass(chain, { enriched: false, ml_request_rate_1h: 0 })
    await redis.restart()
    await untilPass(chain, { enriched: true, ml_request_rate_1h: 0 })
    await eventually(push)
    await untilPass(chain, { enriched: true, ml_request_rate_1h: 7 })

    redis.pause()
    await untilPass(chain, { enriched: false, ml_request_rate_1h: 0 })
    redis.resume()
    await untilPass(chain, { enriched: true, ml_request_rate_1h: 7 })
    await traffic.stop()
    await expectUndisturbed(chain, traffic.records, 40_000)
    await expectGarbageAlone(chain, 0)
    expect([...traffic.answers.keys()], 'answers of the collector').to.deep.equal([200])
  })

  /** Resolves once records that were sent after the call pass like this. */
  const untilPass = async ({ search, tenant }: Chain, expected: Readonly<Record<string, unknown>>) => {
    const since = new Date().toISOString()
    const sent = {
      bool: { filter: [{ term: { tenant_id: tenant } }, { term: { service: 'checkout' } }, { range: { timestamp: { gte: since } } }] },
    }
    await eventually(
      async () => {
        await (await fetch(`${search}/service-logs-*/_refresh`, { method: 'POST' })).text()
        expect((await scanLogs(search, sent)).at(-1)).to.include(expected)
      },
      { timeoutMs: 40_000, pauseMs: 500 },
    )
  }
})
