import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { RoleName } from '../../contract/roles.ts'
import { freezeBroker, isKafkaUp, restartBroker, stopBroker, thawBroker } from '../../testing/real/kafka-server.ts'
import { skipBecause } from '../../testing/skip-because.ts'
import { isAnomalous, type RecordFlow, startFlow } from './testing/record-flow.ts'
import { type RoleProcess, startRole } from './testing/role-process.ts'

export const needs = ['kafka-3']

const BROKERS = [1, 2, 3] as const
/** Longer than Kafka waits for a broker that does not answer. */
const FROZEN_MS = 30_000
/** Long enough to ask a broker that is alone who leads; too short for the others to be given up. */
const ALONE_MS = 6_000

/** A broker that was killed while it recovered may end itself once more as it starts: the file of its metadata is closed under it. */
async function restartAtLast(id: number): Promise<void> {
  try {
    await restartBroker('kafka-3', id)
  } catch {
    await restartBroker('kafka-3', id)
  }
}

describe('stream jobs on three brokers', function () {
  this.timeout(600_000)
  let flow: RecordFlow
  const started: RoleProcess[] = []
  beforeEach(async function () {
    if (!(await isKafkaUp('kafka-3'))) skipBecause(this, 'this Kafka was not started by hack/backends')
    flow = await startFlow('kafka-3')
    for (const role of ['stream etl', 'stream score'] satisfies RoleName[]) started.push(await startRole(role, flow.settings))
  })
  afterEach(async () => {
    for (const process of started.splice(0)) await process.kill()
    await flow?.close()
  })

  const expectEachOnce = (given: number) => {
    expect(
      [...flow.enriched].filter(([, times]) => times !== 1),
      'records in enriched-logs more than once',
    ).to.deep.equal([])
    expect(flow.enriched.size, 'records in enriched-logs').to.equal(given)
    const anomalies = Array.from({ length: given }, (_, record) => record).filter(isAnomalous)
    expect(
      [...flow.anomalies].filter(([, times]) => times !== 1),
      'anomalies more than once',
    ).to.deep.equal([])
    expect([...flow.anomalies.keys()].sort((a, b) => a - b)).to.deep.equal(anomalies)
  }

  it('show every record once although each broker, and with it coordinators of groups and transactions, is killed, and again while it recovers', async () => {
    const stopPouring = flow.pour(1_000)
    await sleep(2_000)
    for (const id of BROKERS) {
      await stopBroker('kafka-3', id, 'SIGKILL')
      await sleep(2_000)
      await restartBroker('kafka-3', id)
      await stopBroker('kafka-3', id, 'SIGKILL')
      await restartAtLast(id)
      await sleep(4_000)
    }
    const given = await stopPouring()
    await flow.untilThrough(180_000)
    expectEachOnce(given)
  })

  it('show every record once although a broker hangs, in the middle of transactions, and is the only one to answer afterwards: it still says that it leads', async () => {
    const stopPouring = flow.pour(1_000)
    await sleep(2_000)
    const [id, ...others] = BROKERS
    await freezeBroker('kafka-3', id)
    const before = flow.enriched.size
    try {
      await sleep(FROZEN_MS)
      expect(flow.enriched.size, `records while broker ${id} hangs`).to.be.above(before)
      for (const other of others) await freezeBroker('kafka-3', other)
      thawBroker('kafka-3', id)
      await sleep(ALONE_MS)
    } finally {
      for (const each of BROKERS) thawBroker('kafka-3', each)
    }
    await sleep(5_000)
    const given = await stopPouring()
    await flow.untilThrough(180_000)
    expectEachOnce(given)
  })
})
