import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
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

interface Port {
  readonly setting: string
  /** In the container. */
  readonly within: string
  /** On this machine. */
  readonly port: number
}

/** One role of compose.yaml as a process of this machine. */
interface Running {
  readonly child: ChildProcess
  /** Base URL by the port that it has in its container. */
  readonly at: ReadonlyMap<string, string>
  readonly healthUrl: string
  output: string
}

/** `${NAME:-default}` as Compose reads it where no variable is set. */
const withoutVariables = (value: string) => value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')

describe('the stack of compose.yaml, each role a process of its own', function () {
  this.timeout(120_000)
  const id = randomUUID().slice(0, 8)
  const running = new Map<string, Running>()
  const search = backendAddress('opensearch')
  const addresses: Record<string, string> = {
    'kafka:9092': backendAddress('kafka'),
    'http://opensearch:9200': search,
    'redis://valkey:6379': backendAddress('redis'),
  }
  /** Topics of this suite alone, so that nobody else's records come along. */
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
    const own = Object.entries(services).filter(([, { image }]) => image === 'logpipeline')
    const ports = new Map<string, readonly Port[]>()
    for (const [name, { command }] of own) ports.set(name, await choosePorts(name, command.join(' ') as RoleName))
    for (const [name, service] of own) running.set(name, start(service, ports.get(name)!))
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

  /** Free ones, under which the other roles find it by the address that it has among containers. */
  async function choosePorts(service: string, role: RoleName): Promise<readonly Port[]> {
    const chosen: Port[] = []
    for (const { setting } of ROLES[role].listens) {
      const within = defaultOf((SETTINGS as Readonly<Record<string, Setting>>)[setting]!, role)!
      const port = await freePort()
      chosen.push({ setting, within, port })
      addresses[`http://${service}:${within}`] = `http://127.0.0.1:${port}`
    }
    return chosen
  }

  function start({ command, environment, healthcheck }: Service, ports: readonly Port[]): Running {
    const given = Object.entries(environment).map(([name, value]) => [name, addresses[value] ?? withoutVariables(value)])
    const settings = Object.fromEntries(ports.map(({ setting, port }) => [setting, String(port)]))
    const own = { ...Object.fromEntries(given), ...topics, ...settings, HOST: '127.0.0.1' }
    const child = spawn(resolve(PROJECT, 'hack/logpipeline'), command, {
      env: { PATH: process.env['PATH'], ...own },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const at = new Map(ports.map(({ within, port }) => [within, `http://127.0.0.1:${port}`]))
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

  it('shows its page on port 3000, where all back ends are connected', async () => {
    const dashboard = running.get('dashboard')!.at.get('3000')!
    expect((await fetch(dashboard)).status).to.equal(200)
    await eventually(async () => {
      const { backends } = (await (await fetch(`${dashboard}/health`)).json()) as { backends: Readonly<Record<string, string>> }
      expect(new Set(Object.values(backends)), JSON.stringify(backends)).to.deep.equal(new Set(['connected']))
    })
  })

  it('takes a record in on port 8443, over TLS and with a key', async () => {
    const made = await fetch(`${running.get('dashboard')!.at.get('3000')}/api/admin/api-keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: id }),
    })
    const { key } = (await made.json()) as { key: string }
    const { port } = new URL(running.get('gateway')!.at.get('8443')!)
    const post = (headers: Readonly<Record<string, string>>) =>
      new Promise<number>((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/v1/logs', method: 'POST', rejectUnauthorized: false }
        const sent = request({ ...options, headers: { 'content-type': 'application/json', ...headers } }, answer => {
          answer.resume()
          resolve(answer.statusCode!)
        })
        sent.on('error', reject).end('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"by key"}}]}]}]}')
      })
    expect([await post({}), await post({ 'x-service-api-key': key })]).to.deep.equal([401, 200])
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
