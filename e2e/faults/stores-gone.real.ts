import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type RedisProcess, startRedis } from '../../dataplane/adapters/online-store/redis/testing/redis-process.ts'
import { type FaultyProxy, startFaultyProxy } from '../../dataplane/testing/faulty-proxy.ts'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import { backendAddress } from '../../hack/real/address.ts'
import { freezeOpenSearch, isOpenSearchUp, killOpenSearch, restartOpenSearch, thawOpenSearch } from '../../hack/real/opensearch-server.ts'
import { postJson, scanLogs } from '../api.ts'
import { eventually } from '../standalone-process.ts'
import { type Chain, useChain } from './chain.ts'
import { startTraffic, type Traffic } from './traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './undisturbed.ts'

export const needs = ['kafka', 'opensearch']

const ROLES = ['collector', 'bridge', 'stream etl', 'stream score'] as const

describe('a store goes away under load', function () {
  this.timeout(180_000)

  const expectNothingRefused = (traffic: Traffic) => expect([...traffic.answers.keys()], 'answers of the collector').to.deep.equal([200])

  describe('the search store', () => {
    const search = backendAddress('opensearch')
    let door: FaultyProxy
    before(async function () {
      if (!(await isOpenSearchUp())) skipBecause(this, 'this OpenSearch was not started by hack/backends')
      door = await startFaultyProxy(search)
    })
    after(() => door?.stop())
    const useOwn = useChain(() => ({ env: { SEARCH_ENDPOINT: door.url } }))

    it('answers 429 and 503, loses answers, is slow, full, hangs, is killed in the middle of bulks: everything is stored once', async () => {
      const chain = useOwn()
      await Promise.all(ROLES.map(role => chain.start(role)))
      const traffic = startTraffic(chain.collectors, 300)
      await chain.writeGarbage(6)
      await sleep(3_000)

      let bulks = 0
      const faults = [undefined, { status: 429 }, 'lost', { delayMs: 1_500 }, { status: 503 }, 'cut'] as const
      door.decide(({ path }) => (path.startsWith('/_bulk') ? faults[bulks++ % faults.length] : undefined))
      while (bulks < 4 * faults.length) await sleep(100)
      door.decide(() => undefined)

      await block(true)
      await sleep(4_000)
      await block(false)

      await freezeOpenSearch()
      await sleep(4_000)
      thawOpenSearch()
      await sleep(2_000)

      await killOpenSearch()
      await sleep(2_000)
      await restartOpenSearch()
      await sleep(3_000)
      await traffic.stop()
      await expectUndisturbed(chain, traffic.records, 60_000)
      await expectGarbageAlone(chain, 6)
      expectNothingRefused(traffic)
    })

    /** As at the flood stage of the disk. */
    const block = async (isBlocked: boolean) => {
      const answer = await fetch(`${search}/service-logs-*/_settings`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ 'index.blocks.read_only_allow_delete': isBlocked ? true : null }),
      })
      expect(answer.status).to.equal(200)
    }
  })

  describe('the feature store', () => {
    let redis: RedisProcess
    before(async function () {
      redis = await startRedis(this)
    })
    after(() => redis?.kill())
    const useOwn = useChain(() => ({ env: { ONLINE_STORE_URL: redis.url } }))

    it('Redis is killed, and hangs: records pass with zeros and enriched: false, each once', async () => {
      const chain = useOwn()
      const features = await chain.start('features')
      await Promise.all(ROLES.map(role => chain.start(role)))
      const push = () =>
        postJson(`${features.url}/push`, {
          push_source_name: 'service_stats',
          df: { tenant_id: [chain.tenant], service: ['checkout'], ml_request_rate_1h: [7] },
        })
      await push()
      const traffic = startTraffic(chain.collectors, 200)
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
      expectNothingRefused(traffic)
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
})
