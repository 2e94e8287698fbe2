import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { BRIDGE_COUNTERS } from '../../contract/counters.ts'
import type { RoleName } from '../../contract/roles.ts'
import { type RecordFlow, startFlow } from './testing/record-flow.ts'
import { type RoleProcess, startRole } from './testing/role-process.ts'
import { expectStoredOnce } from './testing/stored-once.ts'

export const needs = ['kafka']

const SHARED = [BRIDGE_COUNTERS.etlRecordsReceived, BRIDGE_COUNTERS.anomaliesDetected, BRIDGE_COUNTERS.indexed]

describe('two bridges on one Kafka', function () {
  this.timeout(180_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-bridges-'))
  const started: RoleProcess[] = []
  let flow: RecordFlow
  let search: RoleProcess
  const start = async (role: RoleName, more: Readonly<Record<string, string>> = {}) => {
    const process = await startRole(role, { ...flow.settings, DATA_DIR: join(directory, String(started.length)), ...more })
    started.push(process)
    return process
  }
  const startBridge = () => start('bridge', { SEARCH_ENDPOINT: search.url })
  before(async () => {
    flow = await startFlow()
    search = await start('search')
  })
  after(async () => {
    for (const process of started) await process.kill()
    await flow.close()
    rmSync(directory, { recursive: true })
  })

  it('share the work; one comes, one is told to end, one is killed: documents and incidents are those of one bridge', async () => {
    const first = await startBridge()
    const stopPouring = flow.pour(500)
    await sleep(2_000)
    const second = await startBridge()
    for (const bridge of [first, second]) while (!(await takesPart(bridge))) await sleep(200)
    expect(await first.stop()).to.equal(0)
    await sleep(3_000)
    const third = await startBridge()
    await sleep(4_000)
    await second.kill()
    await sleep(2_000)
    const given = await stopPouring()
    await flow.untilThrough(90_000)
    await expectStoredOnce(search.url, given)
    expect(await third.stop()).to.equal(0)
  })
})

async function takesPart(bridge: RoleProcess): Promise<boolean> {
  const counts = await Promise.all(SHARED.map(({ name }) => bridge.counter(name)))
  return counts.every(count => count > 0)
}
