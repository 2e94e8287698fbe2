import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { RoleName } from '../../dataplane/contract/roles.ts'
import type { RoleProcess } from '../../dataplane/roles/stream/testing/role-process.ts'
import { postJson } from '../testing/api.ts'
import { eventually } from '../testing/standalone-process.ts'
import { useChain } from './testing/chain.ts'
import { startTraffic } from './testing/traffic.ts'
import { expectGarbageAlone, expectUndisturbed } from './testing/undisturbed.ts'

export const needs = ['kafka', 'opensearch']

/** Every role of a chain on Kafka and OpenSearch. */
const KILLED = [
  'collector',
  'features',
  'stream etl',
  'scheduler',
  'bridge',
  'agent',
  'stream score',
  'ticketing',
] as const satisfies readonly RoleName[]
/** Each role twice. */
const KILLS = 2 * KILLED.length

describe('every role is killed in turn under load', function () {
  this.timeout(420_000)
  const useOwn = useChain()

  it('what was acknowledged is there exactly once; anomalies, incidents and dead letters are those of an undisturbed run', async () => {
    const chain = useOwn()
    const processes = new Map<RoleName, Promise<RoleProcess>>()
    // These two keep the embedded online store of theirs, as on one machine.
    const env: Partial<Record<RoleName, Record<string, string>>> = {
      features: { DATA_DIR: join(chain.directory, 'features') },
      scheduler: { DATA_DIR: join(chain.directory, 'scheduler') },
    }
    const start = (role: RoleName) => {
      const starting = chain.start(role, env[role])
      starting.catch(() => undefined) // seen when it is waited for
      processes.set(role, starting)
    }
    const urlOf = async (role: RoleName) => (await processes.get(role)!).url
    for (const role of KILLED) start(role)
    await Promise.all(processes.values())
    const runs = [await triggerRun(await urlOf('scheduler'))]
    const traffic = startTraffic(chain, 300)
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(2_000 + 2_000 * Math.random())
      const role = KILLED[kill % KILLED.length]!
      const victim = await processes.get(role)!
      if (role === 'features') await pushFeatures(victim.url, chain.tenant, kill)
      await chain.kill(victim)
      await chain.writeGarbage(5)
      start(role)
      if (role === 'scheduler') runs.push(await triggerRun(await urlOf(role)))
    }
    await Promise.all(processes.values())
    await sleep(2_000)
    await traffic.stop()
    await expectUndisturbed(chain, traffic.records, 90_000)
    await expectGarbageAlone(chain, 5 * KILLS)
    expect(traffic.answers.get('none'), 'requests that a killed collector left without an answer').to.be.above(0)
    await expectFeatures(await urlOf('features'), chain.tenant, KILLED.indexOf('features') + KILLED.length)
    for (const run of runs) await eventually(async () => expect(await stateOf(await urlOf('scheduler'), run)).to.equal('success'))
    const { status } = await fetch(`${await urlOf('agent')}/ready`)
    expect(status, 'readiness of the agent').to.equal(200)
  })
})

const RUNS = '/api/v1/dags/feature_compute/dagRuns'

/** Resolves to the id of the run, once the scheduler has taken it on. */
async function triggerRun(scheduler: string): Promise<string> {
  const id = `manual__killed-roles-${randomUUID()}`
  const { dag_run_id } = (await postJson(`${scheduler}${RUNS}`, { dag_run_id: id })) as { readonly dag_run_id: string }
  return dag_run_id
}

async function stateOf(scheduler: string, run: string): Promise<string> {
  return ((await (await fetch(`${scheduler}${RUNS}/${run}`)).json()) as { readonly state: string }).state
}

async function pushFeatures(features: string, tenant: string, rate: number): Promise<void> {
  const df = { tenant_id: [tenant], service: ['ledger'], ml_request_rate_1h: [rate] }
  const body = JSON.stringify({ push_source_name: 'service_stats', df })
  const { status } = await fetch(`${features}/push`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(status, 'answer to a push').to.equal(200)
}

/** The features acknowledged last before a kill are still answered. */
async function expectFeatures(features: string, tenant: string, rate: number): Promise<void> {
  const answer = await postJson(`${features}/get-online-features`, {
    features: ['service_stats:ml_request_rate_1h'],
    entities: { tenant_id: [tenant], service: ['ledger'] },
  })
  const { metadata, results } = answer as {
    readonly metadata: { readonly feature_names: readonly string[] }
    readonly results: readonly { readonly values: readonly unknown[] }[]
  }
  expect(results[metadata.feature_names.indexOf('ml_request_rate_1h')]?.values).to.deep.equal([rate])
}
