import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { BRIDGE_COUNTERS } from '../../contract/counters.ts'
import type { RoleName } from '../../contract/roles.ts'
import { ServiceWindows } from '../../domain/anomalies/zscore.ts'
import { isAnomalous, type RecordFlow, serviceOf, startFlow } from './testing/record-flow.ts'
import { type RoleProcess, startRole } from './testing/role-process.ts'
import { expectStoredOnce } from './testing/stored-once.ts'

export const needs = ['kafka']

const RECEIVED = BRIDGE_COUNTERS.etlRecordsReceived.name
const DETECTED = BRIDGE_COUNTERS.anomaliesDetected.name

describe('bridge and stream jobs side by side', function () {
  this.timeout(120_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-stand-by-'))
  const started: RoleProcess[] = []
  let flow: RecordFlow
  let search: RoleProcess
  let bridge: RoleProcess
  let jobs: RoleProcess[] = []
  const start = async (role: RoleName, more: Readonly<Record<string, string>> = {}) => {
    const process = await startRole(role, { ...flow.settings, DATA_DIR: join(directory, role), ...more })
    started.push(process)
    return process
  }
  const startJobs = async () => {
    jobs = [await start('stream etl'), await start('stream score')]
  }
  before(async () => {
    flow = await startFlow()
    search = await start('search')
    bridge = await start('bridge', { SEARCH_ENDPOINT: search.url })
  })
  after(async () => {
    for (const process of started) await process.kill()
    await flow.close()
    rmSync(directory, { recursive: true })
  })

  /** Records flow while `change` happens; resolves once all are through. */
  const during = async (change: () => Promise<unknown>) => {
    const stopPouring = flow.pour(500)
    await sleep(1_000)
    await change()
    await sleep(2_000)
    const given = await stopPouring()
    await flow.untilThrough(60_000)
    return given
  }
  const sum = async (counter: string, of: readonly RoleProcess[]) => {
    const counts = await Promise.all(of.map(process => process.counter(counter)))
    return counts.reduce((total, count) => total + (Number.isNaN(count) ? 0 : count), 0)
  }

  it('the bridge works alone', async () => {
    const given = await during(async () => undefined)
    expect(await bridge.counter(RECEIVED)).to.equal(given)
    expect(await bridge.counter(DETECTED)).to.equal(expectedByZscore(given))
  })

  it('the stream jobs take over: each record counts once, in one window', async () => {
    const given = await during(startJobs)
    const before = await bridge.counter(RECEIVED)
    expect(await sum(RECEIVED, [bridge, ...jobs])).to.equal(given)
    expect(await sum(DETECTED, [bridge, ...jobs])).to.equal(expectedByZscore(given))
    const all = await during(async () => undefined)
    expect(await bridge.counter(RECEIVED), 'the bridge stands by').to.equal(before)
    expect(await sum(DETECTED, [bridge, ...jobs])).to.equal(expectedByZscore(all))
    const health = await (await fetch(`${bridge.url}/health`)).json()
    expect(health).to.deep.include({ status: 'ok', streamJobs: { etl: 'running', score: 'running' } })
  })

  const agentReports = async (addresses: Readonly<Record<string, string>>) => {
    const agent = await start('agent', { SERVICE_TENANT_ID: 'default', SEARCH_ENDPOINT: search.url, ...addresses })
    const { stream } = (await (await fetch(`${agent.url}/metrics`)).json()) as {
      stream: { status: string; jobs: { name: string; state: string; taskManagers: number }[] }
    }
    expect(stream.status).to.equal('healthy')
    expect(stream.jobs.map(({ name, state, taskManagers }) => ({ name, state, taskManagers }))).to.deep.equal(
      ['etl', 'enrich', 'score'].map(name => ({ name, state: 'RUNNING', taskManagers: 1 })),
    )
    await agent.stop()
  }
  it('the agent reports etl, enrich and score where it is told their addresses', () =>
    agentReports({ STREAM_ETL_ENDPOINT: jobs[0]!.url, STREAM_SCORE_ENDPOINT: jobs[1]!.url }))
  it('the agent finds them without', () => agentReports({}))

  it('the bridge takes over when they are told to end', async () => {
    const countsBefore = { received: await bridge.counter(RECEIVED), detected: await bridge.counter(DETECTED) }
    const ended = { received: 0, detected: 0 }
    const before = flow.enriched.size
    const given = await during(async () => {
      expect(await Promise.all(jobs.map(job => job.stop()))).to.deep.equal([0, 0])
      ended.received = await bridge.counter(RECEIVED)
      ended.detected = await bridge.counter(DETECTED)
    })
    const after = { received: await bridge.counter(RECEIVED), detected: await bridge.counter(DETECTED) }
    expect(after.received - countsBefore.received).to.be.within(1, given - before)
    expect(after.detected).to.be.greaterThan(ended.detected)
    const all = await during(async () => undefined)
    expect((await bridge.counter(RECEIVED)) - after.received).to.equal(all - given)
    expect((await bridge.counter(DETECTED)) - after.detected).to.equal(expectedByZscore(all) - expectedByZscore(given))
  })

  it('the bridge takes over when they are killed', async () => {
    await during(startJobs)
    const before = await bridge.counter(RECEIVED)
    await during(async () => {
      for (const job of jobs) await job.kill()
    })
    expect(await bridge.counter(RECEIVED)).to.be.greaterThan(before)
    const health = await (await fetch(`${bridge.url}/health`)).json()
    expect(health).to.deep.include({ streamJobs: { etl: 'none', score: 'none' } })
  })

  it('nothing is doubled: records, anomalies, documents, incidents', async () => {
    const given = flow.enriched.size
    expect(
      [...flow.enriched.values()].filter(times => times !== 1),
      'in enriched-logs',
    ).to.deep.equal([])
    expect(
      [...flow.anomalies.values()].filter(times => times !== 1),
      'in anomaly-events',
    ).to.deep.equal([])
    expect(flow.anomalies.size).to.equal([...flow.enriched.keys()].filter(isAnomalous).length)
    await expectStoredOnce(search.url, given)
  })
})

/** How many of the first records one engine finds that sees each once. */
function expectedByZscore(given: number): number {
  const windows = new ServiceWindows({ anomalyThreshold: 2.5, windowSize: 50 }, 100)
  let found = 0
  for (let record = 0; record < given; record++) if (windows.observe(serviceOf(record), isAnomalous(record) ? 0.5 : 0) > 0) found++
  return found
}
