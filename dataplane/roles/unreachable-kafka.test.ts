import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { loadSettings } from '../config/environment.ts'
import { portSettings } from '../contract/env.ts'
import type { Running } from '../process/running.ts'
import { type Log, SILENT } from '../telemetry/log.ts'
import { start as startBridge } from './bridge/index.ts'
import { start as startCollector } from './collector/index.ts'
import { start as startStandalone } from './standalone/index.ts'
import { start as startStreamEtl } from './stream/etl.ts'

const CLIENTS = ['platformatic', 'kafkajs'] as const
/** Two seconds, and what a busy machine adds. */
const MAX_START_MS = 6_000

describe('a Kafka that cannot be reached', function () {
  this.timeout(30_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-no-kafka-'))
  const sockets: Socket[] = []
  let silent: Server
  let addresses: Readonly<Record<string, string>>
  let running: Running | undefined
  let lines: { readonly message: string; readonly [name: string]: unknown }[]
  const log: Log = {
    ...SILENT,
    info: (fields, message) => void lines.push({ ...fields, message }),
    warn: (fields, message) => void lines.push({ ...fields, message, isWarning: true }),
    child: () => log,
  }
  before(async () => {
    silent = createServer(socket => void sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await new Promise(done => silent.once('listening', done))
    addresses = {
      'is not there': '127.0.0.1:1',
      'takes connections and says nothing': `127.0.0.1:${(silent.address() as AddressInfo).port}`,
    }
  })
  afterEach(async () => {
    await running?.stop()
    running = undefined
  })
  after(() => {
    silent.close()
    for (const socket of sockets) socket.destroy()
    rmSync(directory, { recursive: true })
  })

  const environment = (brokers: string, client: string) => ({
    ...{ HOST: '127.0.0.1', DATA_DIR: directory, BUS_BROKERS: brokers, BUS_CLIENT: client, SEARCH_ENDPOINT: 'http://127.0.0.1:1' },
    ...{ OTLP_GRPC_PORT: '0', OTLP_HTTP_PORT: '0', HEALTH_PORT: '0', BRIDGE_PORT: '0', PORT: '0' },
  })
  const portIn = (message: string, name = 'port') => lines.find(line => line.message === message)![name] as number
  const start = async (role: () => Promise<Running>, brokers: string) => {
    lines = []
    const startedMs = performance.now()
    running = await role()
    expect(performance.now() - startedMs).to.be.below(MAX_START_MS)
    expect(lines[0]!.message).to.equal(`bus: Kafka at ${brokers}`)
    const warnings = lines.filter(line => line['isWarning'] && line['busBrokers'] !== undefined)
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include({
      busBrokers: brokers,
      remedy: 'start it, or correct BUS_BROKERS',
      message: 'the Kafka that BUS_BROKERS names cannot be used yet; trying again',
    })
  }

  for (const client of CLIENTS)
    for (const which of ['is not there', 'takes connections and says nothing'])
      it(`${client}, ${which}: the collector says so, stays, and refuses for now`, async () => {
        const brokers = addresses[which]!
        await start(
          () => startCollector({ settings: loadSettings('collector', environment(brokers, client)), log, clock: systemClock }),
          brokers,
        )
        const health = await fetch(`http://127.0.0.1:${portIn('collector listens', 'healthPort')}/`)
        expect(health.status).to.equal(503)
        expect(await health.json()).to.include({ status: 'Server not available' })
        const answer = await fetch(`http://127.0.0.1:${portIn('collector listens', 'httpPort')}/v1/logs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}',
        })
        expect([answer.status, Number(answer.headers.get('retry-after'))]).to.deep.equal([503, 2])
      })

  it('the bridge says so and is not ready', async () => {
    const brokers = addresses['is not there']!
    const settings = loadSettings('bridge', environment(brokers, 'platformatic'))
    await start(() => startBridge({ settings, log, clock: systemClock }), brokers)
    const health = await fetch(`http://127.0.0.1:${portIn('bridge listens')}/health`)
    expect(health.status).to.equal(503)
    expect(await health.json()).to.include({ status: 'error', bus: 'disconnected' })
  })

  it('a stream job says so and is not ready', async () => {
    const brokers = addresses['is not there']!
    const settings = loadSettings('stream etl', environment(brokers, 'platformatic'))
    await start(() => startStreamEtl({ settings, log, clock: systemClock }), brokers)
    const health = await fetch(`http://127.0.0.1:${portIn('stream job listens')}/health`)
    expect(health.status).to.equal(503)
    expect(await health.json()).to.include({ status: 'error', bus: 'disconnected' })
  })

  it('a standalone says so where it says that it is up, which it does not wait with, and prints no stacks', async () => {
    const brokers = addresses['is not there']!
    const { SEARCH_ENDPOINT: _none, ...own } = environment(brokers, 'platformatic')
    const ports = Object.fromEntries(portSettings('standalone').map(name => [name, '0']))
    const settings = loadSettings('standalone', { ...own, ...ports })
    lines = []
    running = await startStandalone({ settings, log, clock: systemClock })
    const up = lines.find(({ message }) => message === 'logpipeline is up, waiting for brokers: nothing is taken in yet')!
    expect(up).to.include({ missingBrokers: brokers })
    expect(up['starting']).to.have.length(4)
    const health = await fetch(`${up['health'] as string}/`)
    expect(health.status).to.equal(503)
    for (const { error } of lines) expect(error).to.equal(undefined)
  })

  it('the embedded bus is named, too', async () => {
    const { BUS_BROKERS: _none, ...embedded } = environment('', 'platformatic')
    lines = []
    running = await startCollector({ settings: loadSettings('collector', embedded), log, clock: systemClock })
    expect(lines[0]!.message).to.equal(`bus: embedded, DATA_DIR ${directory} (for this process alone)`)
  })
})
