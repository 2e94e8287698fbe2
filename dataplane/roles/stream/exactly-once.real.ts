import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { RoleName } from '../../contract/roles.ts'
import { restartBroker, stopBroker } from '../../testing/real/kafka-server.ts'
import { isAnomalous, type RecordFlow, startFlow } from './testing/record-flow.ts'
import { type RoleProcess, startRole } from './testing/role-process.ts'

export const needs = ['kafka']

/** Longer than a job that does not answer stays a member of its group. */
const OVER_SESSION_MS = 16_000

describe('stream jobs on Kafka', function () {
  this.timeout(240_000)
  let flow: RecordFlow
  const started: RoleProcess[] = []
  beforeEach(async () => {
    flow = await startFlow()
  })
  afterEach(async () => {
    for (const process of started.splice(0)) await process.kill()
    await flow.close()
  })

  const start = async (role: RoleName) => {
    const process = await startRole(role, flow.settings)
    started.push(process)
    return process
  }
  const expectEachOnce = (given: number) => {
    const often = [...flow.enriched].filter(([, times]) => times !== 1)
    expect(often, 'records in enriched-logs more than once').to.deep.equal([])
    expect(flow.enriched.size, 'records in enriched-logs').to.equal(given)
    const anomalies = Array.from({ length: given }, (_, record) => record).filter(isAnomalous)
    expect(
      [...flow.anomalies].filter(([, times]) => times !== 1),
      'anomalies more than once',
    ).to.deep.equal([])
    expect([...flow.anomalies.keys()].sort((a, b) => a - b)).to.deep.equal(anomalies)
  }

  it('show every record once although they are killed in the middle, several times', async () => {
    const jobs = [await start('stream etl'), await start('stream score')]
    const stopPouring = flow.pour(2_000)
    for (let round = 0; round < 4; round++) {
      await sleep(3_000)
      const victim = round % jobs.length
      await jobs[victim]!.kill()
      jobs[victim] = await start(victim === 0 ? 'stream etl' : 'stream score')
    }
    await sleep(2_000)
    const given = await stopPouring()
    await flow.untilThrough(120_000)
    expectEachOnce(given)
  })

  it('keep a zombie out: one that was stopped for longer than its session commits nothing of what it held', async () => {
    const [zombie] = [await start('stream etl'), await start('stream etl'), await start('stream score')]
    const given = await flow.give(100_000)
    while (flow.enriched.size < 5_000) await sleep(10)
    zombie.signal('SIGSTOP')
    expect(flow.enriched.size, 'stopped in the middle').to.be.lessThan(given)
    await sleep(OVER_SESSION_MS)
    zombie.signal('SIGCONT')
    await flow.untilThrough(120_000)
    expectEachOnce(given)
  })

  it('go on from where they were when the broker was killed in the middle', async () => {
    for (const role of ['stream etl', 'stream score'] as const) await start(role)
    const given = await flow.give(100_000)
    while (flow.enriched.size < 5_000) await sleep(10)
    await stopBroker('kafka', 1, 'SIGKILL')
    expect(flow.enriched.size, 'killed in the middle').to.be.lessThan(given)
    await sleep(2_000)
    await restartBroker('kafka', 1)
    await flow.untilThrough(120_000)
    expectEachOnce(given)
  })

  it('hand over in order when one more comes and when one is told to end', async () => {
    const first = await start('stream etl')
    const score = await start('stream score')
    const stopPouring = flow.pour(2_000)
    await sleep(2_000)
    const second = await start('stream etl')
    const otherScore = await start('stream score')
    await sleep(4_000)
    const counts = [await first.counter('service_bridge_etl_records_received_total')]
    expect(await first.stop()).to.equal(0)
    expect(await score.stop()).to.equal(0)
    await sleep(3_000)
    const given = await stopPouring()
    await flow.untilThrough(60_000)
    expectEachOnce(given)
    counts.push(await second.counter('service_bridge_etl_records_received_total'))
    for (const count of counts) expect(count).to.be.greaterThan(0)
    expect(await otherScore.stop()).to.equal(0)
    for (const process of started) expect(process.output()).not.to.contain('is started again')
  })
})
