import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
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
