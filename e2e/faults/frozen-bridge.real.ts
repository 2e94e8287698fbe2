import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { useChain } from './testing/chain.ts'
import { startTraffic, TRAFFIC_SERVICES } from './testing/traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './testing/undisturbed.ts'

export const needs = ['kafka', 'opensearch']

/** Longer than the session of a member of a group, and than any request waits. */
const FROZEN_MS = 60_000

describe('a process that is frozen for a minute, and goes on', function () {
  this.timeout(600_000)
  const useOwn = useChain(() => ({ services: TRAFFIC_SERVICES }))

  it('a bridge of two, under load: documents, anomalies and incidents are those of one that nothing disturbed', async () => {
    const chain = useOwn()
    const [, one, two] = await Promise.all([chain.start('collector'), chain.start('bridge'), chain.start('bridge')])
    const traffic = startTraffic(chain, 200)
    await chain.writeGarbage(4)
    await sleep(10_000)
    one!.signal('SIGSTOP')
    await sleep(FROZEN_MS)
    one!.signal('SIGCONT')
    await sleep(10_000)
    two!.signal('SIGSTOP')
    await sleep(FROZEN_MS / 3)
    two!.signal('SIGCONT')
    await sleep(5_000)
    await traffic.stop()
    await expectUndisturbed(chain, traffic.records, 90_000)
    await expectGarbageAlone(chain, 4)
    expect([...traffic.answers.keys()], 'answers').to.deep.equal([200])
    expect(await Promise.all([chain.stop(one!), chain.stop(two!)]), 'exit codes').to.deep.equal([0, 0])
  })

  it('the stream jobs beside a bridge, while bridges come and go: nothing is lost, nothing is there twice', async () => {
    const chain = useOwn()
    const [, bridge, etl, score] = await Promise.all([
      chain.start('collector'),
      chain.start('bridge'),
      chain.start('stream etl'),
      chain.start('stream score'),
    ])
    const traffic = startTraffic(chain, 200)
    await sleep(10_000)
    etl!.signal('SIGSTOP')
    score!.signal('SIGSTOP')
    for (const endMs = Date.now() + FROZEN_MS; Date.now() < endMs; ) {
      const guest = await chain.start('bridge')
      await sleep(3_000)
      expect(await chain.stop(guest), 'exit code of a bridge that came and went').to.equal(0)
    }
    etl!.signal('SIGCONT')
    score!.signal('SIGCONT')
    await sleep(10_000)
    await traffic.stop()
    await expectUndisturbed(chain, traffic.records, 90_000)
    await expectGarbageAlone(chain, 0)
    expect(await Promise.all([bridge!, etl!, score!].map(chain.stop)), 'exit codes').to.deep.equal([0, 0, 0])
  })
})
