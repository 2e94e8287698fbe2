import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { RoleName } from '../../dataplane/contract/roles.ts'
import type { RoleProcess } from '../../dataplane/roles/stream/testing/role-process.ts'
import { useChain } from './chain.ts'
import { startTraffic } from './traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './undisturbed.ts'

export const needs = ['kafka', 'opensearch']

const KILLED = ['collector', 'stream etl', 'bridge', 'stream score', 'ticketing'] as const satisfies readonly RoleName[]
const KILLS = 10

describe('every role is killed in turn under load, ten times', function () {
  this.timeout(420_000)
  const useOwn = useChain()

  it('what was acknowledged is searchable exactly once; anomalies, incidents and dead letters are those of an undisturbed run', async () => {
    const chain = useOwn()
    const processes = new Map<RoleName, Promise<RoleProcess>>()
    const start = (role: RoleName) => {
      const starting = chain.start(role)
      starting.catch(() => undefined) // seen when it is waited for
      processes.set(role, starting)
    }
    for (const role of KILLED) start(role)
    await Promise.all(processes.values())
    const traffic = startTraffic(chain, 300)
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(2_000 + 2_000 * Math.random())
      const role = KILLED[kill % KILLED.length]!
      await chain.kill(await processes.get(role)!)
      await chain.writeGarbage(5)
      start(role)
    }
    await Promise.all(processes.values())
    await sleep(2_000)
    await traffic.stop()
    await expectUndisturbed(chain, traffic.records, 90_000)
    await expectGarbageAlone(chain, 5 * KILLS)
    expect(traffic.answers.get('none'), 'requests that a killed collector left without an answer').to.be.above(0)
  })
})
