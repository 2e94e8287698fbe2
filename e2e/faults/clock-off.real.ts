import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, describe, it } from 'mocha'
import type { RoleName } from '../../dataplane/contract/roles.ts'
import { formatDay } from '../../dataplane/domain/records/timestamp.ts'
import { type Chain, useChain } from './testing/chain.ts'
import { startTraffic } from './testing/traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './testing/undisturbed.ts'

export const needs = ['kafka', 'opensearch']

/** A little more, as Kafka takes records from up to an hour ahead unless it is told otherwise. */
const HOUR_MS = 61 * 60_000
const DAY_MS = 86_400_000
const TEN_YEARS_MS = 3650 * DAY_MS
const SHIFTED_CLOCK = resolve(import.meta.dirname, 'testing/shifted-clock.ts')

/** `shifts`: how far each role's clock is off, ms, until the middle of the run and from then on. */
const CASES: readonly { readonly name: string; readonly shifts: Readonly<Partial<Record<RoleName, readonly [number, number]>>> }[] = [
  {
    name: 'the collector is an hour ahead, the bridge an hour behind',
    shifts: { collector: [HOUR_MS, HOUR_MS], bridge: [-HOUR_MS, -HOUR_MS] },
  },
  {
    name: 'the collector is an hour behind, the stream jobs an hour ahead; then all are set right',
    shifts: { collector: [-HOUR_MS, 0], 'stream etl': [HOUR_MS, 0], 'stream score': [HOUR_MS, 0], bridge: [0, 0] },
  },
  {
    name: 'the bridge is right, then set an hour back, the collector an hour ahead',
    shifts: { collector: [0, HOUR_MS], bridge: [0, -HOUR_MS] },
  },
  {
    name: 'the bridge is ten years ahead',
    shifts: { collector: [0, 0], bridge: [TEN_YEARS_MS, TEN_YEARS_MS] },
  },
  {
    name: 'the stream jobs are ten years ahead, the bridge is ten years behind',
    shifts: {
      collector: [0, 0],
      'stream etl': [TEN_YEARS_MS, TEN_YEARS_MS],
      'stream score': [TEN_YEARS_MS, TEN_YEARS_MS],
      bridge: [-TEN_YEARS_MS, -TEN_YEARS_MS],
    },
  },
  {
    name: 'the bridge is set forty days ahead, then right',
    shifts: { collector: [0, 0], bridge: [40 * DAY_MS, 0] },
  },
]

/** A document of twenty days ago, which no clock but one that is ahead takes for past retention; its URL. */
async function putOlderLogs({ search, tenant }: Chain): Promise<string> {
  const at = Date.now() - 20 * DAY_MS
  const url = `${search}/service-logs-${formatDay(at)}/_doc/${tenant}`
  const body = JSON.stringify({ timestamp: new Date(at).toISOString(), tenant_id: `${tenant}-older`, message: 'older' })
  expect((await fetch(url, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })).status).to.equal(201)
  return url
}

describe('a clock that is off', function () {
  this.timeout(420_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-clocks-'))
  const useOwn = useChain()
  after(() => rmSync(directory, { recursive: true }))

  const clockFile = (role: RoleName) => join(directory, role.replace(' ', '-'))
  const setClock = (role: RoleName, shiftMs: number) => writeFileSync(clockFile(role), String(shiftMs))
  const start = (chain: Chain, role: RoleName) =>
    chain.start(role, { NODE_OPTIONS: `--require=${SHIFTED_CLOCK}`, SHIFTED_CLOCK_FILE: clockFile(role) })

  for (const { name, shifts } of CASES)
    it(`${name}: records are searchable once, anomalies and incidents are those of right clocks`, async () => {
      const chain = useOwn()
      const roles = Object.keys(shifts) as readonly RoleName[]
      for (const role of roles) setClock(role, shifts[role]![0])
      const older = await putOlderLogs(chain)
      const processes = await Promise.all(roles.map(role => start(chain, role)))
      const traffic = startTraffic(chain, 300)
      await chain.writeGarbage(3)
      await sleep(5_000)
      for (const role of roles) setClock(role, shifts[role]![1])
      await sleep(5_000)
      await traffic.stop()
      await expectUndisturbed(chain, traffic.records, 40_000)
      await expectGarbageAlone(chain, 3)
      expect((await fetch(older, { method: 'DELETE' })).status, 'logs of twenty days ago').to.equal(200)
      expect([...traffic.answers.keys()], 'answers').to.deep.equal([200])
      for (const process of processes) expect((await fetch(`${process.url}/health`)).status, 'health').to.equal(200)
      expect(await Promise.all(processes.map(chain.stop)), 'exit codes').to.deep.equal(roles.map(() => 0))
    })
})
