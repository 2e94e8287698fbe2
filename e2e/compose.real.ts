import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parse } from 'yaml'
import { defaultOf, SETTINGS } from '../dataplane/contract/env.ts'
import { ROLES, type RoleName } from '../dataplane/contract/roles.ts'
import type { Setting } from '../dataplane/contract/setting.ts'
import { freePort } from '../dataplane/testing/free-port.ts'
import { backendAddress } from '../dataplane/testing/real/address.ts'
import { countDocuments, postRecords } from './testing/api.ts'
import { eventually } from './testing/standalone-process.ts'

export const needs = ['kafka', 'opensearch', 'redis']

const PROJECT = resolve(import.meta.dirname, '..')

interface Service {
  readonly image: string
  /** The words of a role. */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly healthcheck: { readonly test: readonly string[] }
}

/** One role of compose.yaml as a process of this machine. */
interface Running {
  readonly child: ChildProcess
  /** Base URL by the port that it has in its container. */
  readonly at: ReadonlyMap<string, string>
  readonly healthUrl: string
  output: string
}

describe('the stack of compose.yaml, each role a process of its own', function () {
  this.timeout(120_000)
  const id = randomUUID().slice(0, 8)
  const running = new Map<string, Running>()
  const search = backendAddress('opensearch')
  const addresses: Readonly<Record<string, string>> = {
    'kafka:9092': backendAddress('kafka'),
    'http://opensearch:9200': search,
    'redis://valkey:6379': backendAddress('redis'),
  }
  /** Of its own, so that nobody else's records come along. */
  const topics = {
    RAW_TOPIC: `raw-${id}`,
    ENRICHED_TOPIC: `enriched-${id}`,
    ANOMALY_TOPIC: `anomaly-${id}`,
    DEAD_LETTER_TOPIC: `dead-${id}`,
  }

  before(async () => {
    const { services } = parse(readFileSync(resolve(PROJECT, 'compose.yaml'), 'utf8'), { merge: true }) as {
      readonly services: Readonly<Record<string, Service>>
    }
    for (const [name, service] of Object.entries(services)) if (service.image === 'logpipeline') running.set(name, await start(service))
    for (const [name, { child, healthUrl, ...role }] of running)
      await eventually(
        async () => {
          expect(child.exitCode, `${name} ended:\n${role.output}`).to.equal(null)
          expect((await fetch(healthUrl)).status, name).to.equal(200)
        },
        { timeoutMs: 60_000 },
      )
  })
  after(() => {
    for (const { child } of running.values()) child.kill('SIGKILL')
  })

  async function start({ command, environment, healthcheck }: Service): Promise<Running> {
    const role = command.join(' ') as RoleName
    const given = Object.entries(environment).map(([name, value]) => [name, addresses[value] ?? value])
    const ports = await Promise.all(ROLES[role].listens.map(async ({ setting }) => [setting, String(await freePort())] as const))
    const own = { ...Object.fromEntries(given), ...topics, ...Object.fromEntries(ports), HOST: '127.0.0.1' }
    const child = spawn(resolve(PROJECT, 'hack/logpipeline'), command, {
      env: { PATH: process.env['PATH'], ...own },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const at = new Map(
      ports.map(([name, port]) => [defaultOf((SETTINGS as Readonly<Record<string, Setting>>)[name]!, role)!, `http://127.0.0.1:${port}`]),
    )
    const probe = new URL(healthcheck.test.at(-1)!)
    const started: Running = { child, at, healthUrl: `${at.get(probe.port)}${probe.pathname}`, output: '' }
    const collect = (chunk: Buffer) => {
      started.output = (started.output + chunk).slice(-5_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    return started
  }

  it('takes a record in, and finds it in OpenSearch', async () => {
    const record = {
      id,
      service: `cart-${id}`,
      severityText: 'ERROR',
      body: `compose ${id}`,
      attempt: 1,
      timeUnixNano: `${Date.now()}000000`,
    }
    expect(await postRecords(running.get('collector')!.at.get('4318')!, [record])).to.equal(200)
    await eventually(
      async () => {
        await fetch(`${search}/service-logs-*/_refresh`, { method: 'POST' })
        expect(await countDocuments(search, 'service-logs-*', { term: { service: `cart-${id}` } })).to.equal(1)
      },
      { timeoutMs: 30_000, pauseMs: 500 },
    )
  })

  it('is ready and healthy in the eyes of the agent', async () => {
    const agent = running.get('agent')!.at.get('8080')!
    await eventually(async () => expect((await fetch(`${agent}/ready`)).status).to.equal(200))
    await eventually(async () => {
      const { bus, search: store } = (await (await fetch(`${agent}/metrics`)).json()) as {
        bus: { status: string; topics: Record<string, { consumerLag: number }> }
        search: { status: string }
      }
      expect(bus.status).to.equal('healthy')
      expect(Object.values(bus.topics).map(({ consumerLag }) => consumerLag)).to.deep.equal([0, 0, 0, 0])
      expect(store.status).to.be.oneOf(['green', 'yellow'])
    })
  })

  it('every role drains on SIGTERM, and exits 0 within 25 s', async () => {
    const startedMs = Date.now()
    const codes = [...running].map(async ([name, { child }]) => {
      child.kill('SIGTERM')
      return [name, child.exitCode ?? (await new Promise(done => child.once('exit', done)))]
    })
    expect(Object.fromEntries(await Promise.all(codes))).to.deep.equal(Object.fromEntries([...running.keys()].map(name => [name, 0])))
    expect(Date.now() - startedMs).to.be.below(25_000)
  })
})
