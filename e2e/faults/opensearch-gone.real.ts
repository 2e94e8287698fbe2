import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { anomaliesIndex, incidentsIndex } from '../../dataplane/contract/indices.ts'
import { type FaultyProxy, startFaultyProxy } from '../../dataplane/testing/faulty-proxy.ts'
import { backendAddress } from '../../dataplane/testing/real/address.ts'
import {
  freezeOpenSearch,
  isOpenSearchUp,
  killOpenSearch,
  restartOpenSearch,
  thawOpenSearch,
} from '../../dataplane/testing/real/opensearch-server.ts'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import { countDocuments, scanLogs } from '../testing/api.ts'
import { eventually } from '../testing/standalone-process.ts'
import { useChain } from './testing/chain.ts'
import { startTraffic } from './testing/traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './testing/undisturbed.ts'

export const needs = ['kafka', 'opensearch']

const ROLES = ['collector', 'bridge', 'stream etl', 'stream score'] as const

describe('OpenSearch goes away under load', function () {
  this.timeout(420_000)
  const search = backendAddress('opensearch')
  let door: FaultyProxy
  before(async function () {
    if (!(await isOpenSearchUp())) skipBecause(this, 'this OpenSearch was not started by hack/backends')
    door = await startFaultyProxy(search)
  })
  after(() => door?.stop())
  const useOwn = useChain(() => ({ env: { SEARCH_ENDPOINT: door.url } }))

  it('it answers 429 and 503, loses answers, is slow, full, hangs, is killed in the middle of bulks: everything is stored once', async () => {
    const chain = useOwn()
    await Promise.all(ROLES.map(role => chain.start(role)))
    const traffic = startTraffic(chain, 300)
    await chain.writeGarbage(6)
    await sleep(3_000)

    let bulks = 0
    const faults = [undefined, { status: 429 }, 'lost', { delayMs: 1_000 }, { status: 503 }, 'cut'] as const
    door.decide(({ path }) => (path.startsWith('/_bulk') ? faults[bulks++ % faults.length] : undefined))
    while (bulks < 2 * faults.length) await sleep(100)
    door.decide(() => undefined)

    await block(true)
    await sleep(4_000)
    await block(false)

    await freezeOpenSearch()
    await sleep(4_000)
    await thawOpenSearch()
    await sleep(2_000)

    await killOpenSearch()
    await sleep(2_000)
    await restartOpenSearch()
    await sleep(3_000)
    await traffic.stop()
    await expectUndisturbed(chain, traffic.records, 120_000)
    await expectGarbageAlone(chain, 6)
    expect([...traffic.answers.keys()], 'answers of the collector').to.deep.equal([200])
  })

  it('it comes back empty: what comes from then on is stored with the fields and aliases of any other day, and makes incidents', async () => {
    const chain = useOwn()
    const [, bridge] = await Promise.all(['collector' as const, 'bridge' as const].map(role => chain.start(role)))
    const traffic = startTraffic(chain, 300)
    await eventually(async () => expect(await countDocuments(search, incidentsIndex(chain.tenant))).to.be.above(0), { timeoutMs: 120_000 })

    door.decide(() => 'cut')
    await sleep(2_000)
    const ask = async (path: string, method = 'GET') => {
      const answer = await fetch(`${search}/${path}`, { method })
      expect(answer.status, path).to.equal(200)
      return (await answer.json()) as Readonly<Record<string, unknown>>
    }
    await ask('service-*', 'DELETE')
    await ask('_index_template/service-*', 'DELETE')
    const emptied = traffic.records.length
    door.decide(() => undefined)
    await sleep(8_000)
    await traffic.stop()

    const later = traffic.records.slice(emptied)
    const days = new Set(later.map(({ timeUnixNano }) => new Date(Number(BigInt(timeUnixNano) / 1_000_000n)).toISOString().slice(0, 10)))
    await eventually(
      async () => {
        await ask('service-*/_refresh', 'POST')
        const stored = new Set((await scanLogs(search, { term: { tenant_id: chain.tenant } })).map(document => document['record.id']))
        expect(
          later.filter(({ id }) => !stored.has(id)).map(({ id }) => id),
          'records without a document',
        ).to.deep.equal([])
        expect(await countDocuments(search, `service-logs-${chain.tenant}`), 'documents by the alias').to.be.at.least(later.length)
        const open = { bool: { filter: [{ term: { status: 'open' } }, { term: { service: 'checkout' } }] } }
        expect(await countDocuments(search, incidentsIndex(chain.tenant), open), 'incidents of checkout').to.equal(1)
      },
      { timeoutMs: 120_000, pauseMs: 1_000 },
    )
    for (const index of [
      ...[...days].map(day => `service-logs-${day.replaceAll('-', '.')}`),
      incidentsIndex(chain.tenant),
      anomaliesIndex(chain.tenant),
    ]) {
      const { mappings } = (await ask(`${index}/_mapping`))[index] as {
        readonly mappings: { readonly properties: Readonly<Record<string, object>> }
      }
      expect(mappings.properties['service'], index).to.deep.include({ type: 'keyword' })
    }
    expect((await fetch(`${bridge!.url}/health`)).status).to.equal(200)
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
