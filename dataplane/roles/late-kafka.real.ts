import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, afterEach, describe, it } from 'mocha'
import { systemClock } from '../adapters/clock/system-clock.ts'
import { loadSettings } from '../config/environment.ts'
import type { Running } from '../process/running.ts'
import { type Log, SILENT } from '../telemetry/log.ts'
import { freePort } from '../testing/free-port.ts'
import { backendAddress } from '../testing/real/address.ts'
import { start as startBridge } from './bridge/index.ts'
import { start as startCollector } from './collector/index.ts'
import { start as startStreamEtl } from './stream/etl.ts'

export const needs = ['kafka']

/** Longest wait between two attempts, the attempt, and making the topics. */
const READY_WITHIN_MS = 30_000

describe('a Kafka that comes after the roles', function () {
  this.timeout(90_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-late-kafka-'))
  const own = Math.random().toString(36).slice(2)
  const sockets = new Set<Socket>()
  let relay: Server | undefined
  let running: Running | undefined
  let ports: Record<string, number>
  const note = (fields: object) => void Object.assign(ports, fields)
  const log: Log = { ...SILENT, info: note, child: () => log }
  afterEach(async () => {
    await running?.stop()
    for (const socket of sockets) socket.destroy()
    relay?.close()
  })
  after(() => rmSync(directory, { recursive: true }))

  const environment = (port: number, client: string) => ({
    ...{
      HOST: '127.0.0.1',
      DATA_DIR: directory,
      BUS_BROKERS: `127.0.0.1:${port}`,
      BUS_CLIENT: client,
      SEARCH_ENDPOINT: 'http://127.0.0.1:1',
    },
    ...{ OTLP_GRPC_PORT: '0', OTLP_HTTP_PORT: '0', HEALTH_PORT: '0', BRIDGE_PORT: '0', PORT: '0' },
    ...Object.fromEntries(
      ['RAW', 'ENRICHED', 'ANOMALY', 'DEAD_LETTER'].map(name => [`${name}_TOPIC`, `late-${own}-${name.toLowerCase()}`]),
    ),
  })
  /** From now on the Kafka answers at the port. */
  const open = async (port: number) => {
    const [host, brokerPort] = backendAddress('kafka').split(':') as [string, string]
    relay = createServer(socket => {
      const broker = connect(Number(brokerPort), host)
      for (const one of [socket, broker]) sockets.add(one.on('error', () => undefined))
      socket.pipe(broker).pipe(socket)
    }).listen(port, '127.0.0.1')
  }
  const until = async (isTrue: () => Promise<boolean>) => {
    const startedMs = performance.now()
    while (!(await isTrue())) {
      expect(performance.now() - startedMs).to.be.below(READY_WITHIN_MS)
      await sleep(100)
    }
  }

  for (const client of ['platformatic', 'kafkajs'])
    it(`${client}: the collector gets ready by itself, and takes records in`, async () => {
      const port = await freePort()
      ports = {}
      running = await startCollector({ settings: loadSettings('collector', environment(port, client)), log, clock: systemClock })
      const statusOf = async (name: string, path: string, init?: RequestInit) =>
        (await fetch(`http://127.0.0.1:${ports[name]}${path}`, init)).status
      expect(await statusOf('healthPort', '/')).to.equal(503)
      await open(port)
      await until(async () => (await statusOf('healthPort', '/')) === 200)
      const body = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}'
      expect(await statusOf('httpPort', '/v1/logs', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).to.equal(
        200,
      )
    })

  for (const [name, start] of [
    ['the bridge', (env: Record<string, string>) => startBridge({ settings: loadSettings('bridge', env), log, clock: systemClock })],
    [
      'a stream job',
      (env: Record<string, string>) => startStreamEtl({ settings: loadSettings('stream etl', env), log, clock: systemClock }),
    ],
  ] as const)
    it(`${name} begins its work`, async () => {
      const port = await freePort()
      ports = {}
      running = await start(environment(port, 'platformatic'))
      const health = async () => (await (await fetch(`http://127.0.0.1:${ports['port']}/health`)).json()) as Record<string, unknown>
      expect((await health())['bus']).to.equal('disconnected')
      await open(port)
      await until(async () => {
        const { bus, state, threads } = await health()
        return bus === 'connected' && (state ?? (threads as Record<string, string>)['etl']) === 'running'
      })
    })
})
