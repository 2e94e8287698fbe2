import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isKafkaUp, restartBroker, stopBroker } from '../../dataplane/testing/real/kafka-server.ts'
import { skipBecause } from '../../dataplane/testing/skip-because.ts'
import { useChain } from './testing/chain.ts'
import { startTraffic, type Traffic } from './testing/traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './testing/undisturbed.ts'

export const needs = ['kafka', 'opensearch']

const DOWN_MS = 30_000
const OTHERS = ['bridge', 'stream etl', 'stream score'] as const

describe('Kafka goes away under load', function () {
  this.timeout(420_000)
  const useOwn = useChain(async context => {
    if (!(await isKafkaUp('kafka'))) skipBecause(context, 'this Kafka was not started by hack/backends')
    return {}
  })

  const answered = (traffic: Traffic, status: number | 'none') => traffic.answers.get(status) ?? 0

  it('no broker for 30 s: the collector answers 503 with Retry-After, then all goes on by itself, and nothing is lost or doubled', async () => {
    const chain = useOwn()
    const [collector] = await Promise.all([chain.start('collector'), ...OTHERS.map(role => chain.start(role))])
    const traffic = startTraffic(chain, 300)
    await chain.writeGarbage(7)
    await sleep(4_000)

    const before = { refused: answered(traffic, 503), acknowledged: traffic.acknowledged }
    const downMs = Date.now()
    await stopBroker('kafka', 1, 'SIGKILL')
    try {
      await sleep(DOWN_MS - (Date.now() - downMs))
      expect(answered(traffic, 503) - before.refused, 'answers 503').to.be.above(0)
      expect(traffic.withoutRetryAfter, 'refusals without Retry-After').to.equal(0)
      expect((await fetch(`${collector.url}/`)).status, 'the collector is not ready').to.equal(503)
    } finally {
      await restartBroker('kafka', 1)
    }
    while (traffic.acknowledged < before.acknowledged + 500) await sleep(100)
    await sleep(4_000)
    await chain.writeGarbage(7)
    await traffic.stop()
    await expectUndisturbed(chain, traffic.records, 60_000)
    await expectGarbageAlone(chain, 14)
    expect(
      [...traffic.answers.keys()].filter(status => status !== 200 && status !== 503),
      'other answers',
    ).to.deep.equal([])
    expect((await fetch(`${collector.url}/`)).status, 'the collector is ready').to.equal(200)
  })
})
