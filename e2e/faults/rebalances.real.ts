import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { BRIDGE_COUNTERS } from '../../dataplane/contract/counters.ts'
import type { RoleProcess } from '../../dataplane/roles/stream/testing/role-process.ts'
import { eventually } from '../testing/standalone-process.ts'
import { useChain } from './testing/chain.ts'
import { startTraffic, TRAFFIC_SERVICES } from './testing/traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './testing/undisturbed.ts'

export const needs = ['kafka', 'opensearch']

/** The bridge's share of the work, by what each of its threads counts. */
const SHARES = [BRIDGE_COUNTERS.etlRecordsReceived, BRIDGE_COUNTERS.anomaliesDetected, BRIDGE_COUNTERS.indexed] as const
const SHARE_WITHIN_MS = 90_000

describe('three collectors and two bridges at once', function () {
  this.timeout(420_000)
  const useOwn = useChain(() => ({ services: TRAFFIC_SERVICES }))

  it('they come, are told to end, and are killed under load: documents, anomalies and incidents are those of one of each', async () => {
    const chain = useOwn()
    const [one, two, , first] = await Promise.all([
      chain.start('collector'),
      chain.start('collector'),
      chain.start('collector'),
      chain.start('bridge'),
    ])
    const traffic = startTraffic(chain, 300)
    await chain.writeGarbage(4)
    await sleep(3_000)
    const second = await chain.start('bridge')
    await expectShare('the second bridge', second)

    expect(await chain.stop(one), 'exit code of a collector under load').to.equal(0)
    expect(await chain.stop(first), 'exit code of a bridge under load').to.equal(0)
    const third = await chain.start('bridge')
    await chain.kill(two)
    await chain.start('collector')
    await expectShare('the third bridge', third)

    await chain.kill(second)
    const etl = await chain.start('stream etl')
    const score = await chain.start('stream score')
    await sleep(4_000)
    await chain.writeGarbage(4)
    expect(await Promise.all([chain.stop(etl), chain.stop(score)]), 'exit codes of the stream jobs').to.deep.equal([0, 0])
    const fourth = await chain.start('bridge')
    await sleep(4_000)
    await traffic.stop()

    await expectUndisturbed(chain, traffic.records, 60_000)
    await expectGarbageAlone(chain, 8)
    expect([...traffic.answers.keys()].filter(status => status !== 200 && status !== 503 && status !== 'none')).to.deep.equal([])
    expect(await Promise.all([chain.stop(third), chain.stop(fourth)])).to.deep.equal([0, 0])
  })
})

/** Every thread of a bridge does some of the work. */
async function expectShare(bridge: string, { counter }: RoleProcess): Promise<void> {
  await eventually(
    async () => {
      const counts = await Promise.all(SHARES.map(async ({ name }) => [name, await counter(name)] as const))
      const missing = counts.filter(([, count]) => !(count > 0)).map(([name]) => name)
      expect(missing, `counters of ${bridge} that are still 0`).to.deep.equal([])
    },
    { timeoutMs: SHARE_WITHIN_MS, pauseMs: 200 },
  )
}
