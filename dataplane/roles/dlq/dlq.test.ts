import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { startCommandSocket } from '../../command-socket/command-socket.ts'
import { loadSettings } from '../../config/environment.ts'
import { collectDeadLetters, type DeadLetterStage, receivedAtMs } from '../../pipeline/dead-letters/dead-letter.ts'
import { createEtl } from '../../pipeline/steps/flatten/etl.ts'
import type { Bus, ConsumedRecord } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createFakeClock } from '../../testing/fake-clock.ts'
import { openBus } from '../backends.ts'
import { createDlqHandler } from './dlq-handler.ts'
import { runDlq } from './index.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const HOUR_MS = 3_600_000
/** Five seconds, and what a busy machine adds. */
const MAX_UNREACHABLE_MS = 10_000

/** OTLP JSON of one record without any time: its time is that of its arrival. */
const TIMELESS = JSON.stringify({
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'cart' } }] },
      scopeLogs: [{ logRecords: [{ severityText: 'ERROR', body: { stringValue: 'no time' } }] }],
    },
  ],
})

interface Given {
  readonly stage: DeadLetterStage
  readonly topic: string
  readonly key: string
  readonly value: string
  readonly reason: string
  readonly hoursAgo: number
}

const LETTERS: readonly Given[] = [
  { stage: 'etl', topic: 'raw-logs', key: 'shop/cart', value: TIMELESS, reason: 'message: not JSON', hoursAgo: 50 },
  { stage: 'indexer', topic: 'enriched-logs', key: 'shop/cart', value: '{"flat":1}', reason: '400 mapping conflict', hoursAgo: 10 },
  { stage: 'indexer', topic: 'enriched-logs', key: 'shop/cart', value: '{"flat":1}', reason: '400 mapping conflict', hoursAgo: 9 },
  { stage: 'lifecycle', topic: 'anomaly-events', key: 'bank/pay', value: '{"id":2}', reason: 'anomaly event: cannot be read', hoursAgo: 2 },
  { stage: 'etl', topic: 'of-old', key: 'bank/pay', value: 'lost', reason: 'message: \u001b[2J not JSON', hoursAgo: 1 },
]

describe('logpipeline dlq', () => {
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-dlq-'))
  const environment = { DATA_DIR: directory }
  const clock = createFakeClock(NOW_MS)
  const withBus = async <T>(use: (bus: Bus) => Promise<T>): Promise<T> => {
    const bus = await openBus(loadSettings('bridge', environment), systemClock, SILENT)
    try {
      return await use(bus)
    } finally {
      await bus.stop()
    }
  }
  const serve = (dataDir: string, bus: Bus) => {
    const handler = createDlqHandler({ bus, settings: loadSettings('bridge', environment), clock })
    return startCommandSocket({ dataDir, commands: new Map([['dlq', handler]]), log: SILENT })
  }
  const dlq = async (...args: string[]) => {
    let out = ''
    let err = ''
    const print = async (text: string) => {
      out += text
      return true
    }
    const deps = { print, stderr: { write: (text: string) => (err += text) } }
    const code = await runDlq(args, { ...deps, clock, environment })
    return { code, out, err, lines: out.split('\n').filter(line => line !== '') }
  }
  /** Kafka that is not there, one that takes connections and says nothing, and one whose name nobody knows. */
  it('says soon which address of which setting Kafka does not answer at', async function () {
    this.timeout(30_000)
    const silent = createServer(socket => void sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    const sockets: Socket[] = []
    await new Promise(done => silent.once('listening', done))
    const { port } = silent.address() as AddressInfo
    const cases = ['127.0.0.1:1', `127.0.0.1:${port}`, 'kafka.invalid:9092'].flatMap(brokers =>
      ['platformatic', 'kafkajs'].map(async client => {
        let err = ''
        const startedMs = performance.now()
        const deps = { print: async () => true, stderr: { write: (text: string) => (err += text) }, clock: systemClock }
        const code = await runDlq(['list'], { ...deps, environment: { ...environment, BUS_BROKERS: brokers, BUS_CLIENT: client } })
        expect(code).to.equal(1)
        expect(err).to.match(new RegExp(`^logpipeline dlq: BUS_BROKERS ${brokers}: the message bus failed \\(unavailable\\): .+\\n$`))
        expect(performance.now() - startedMs).to.be.below(MAX_UNREACHABLE_MS)
      }),
    )
    try {
      await Promise.all(cases)
    } finally {
      silent.close()
      for (const socket of sockets) socket.destroy()
    }
  })

  const endOffsets = () =>
    withBus(async bus => {
      const ends: Record<string, number> = {}
      for (const { topic, endOffset } of (await bus.describe()).partitions) ends[topic] = (ends[topic] ?? 0) + endOffset
      return ends
    })

  before(() =>
    withBus(async bus => {
      for (const [offset, { stage, topic, key, value, reason, hoursAgo }] of LETTERS.entries()) {
        const at = createFakeClock(NOW_MS - hoursAgo * HOUR_MS)
        const dead = collectDeadLetters({ bus, topic: 'dead-letter-queue', stage, clock: at, log: SILENT })
        dead.add({ topic, partition: 0, offset, timestampMs: at.nowMs(), key, value: Buffer.from(value), headers: {} }, reason)
        await dead.send()
      }
      await bus.send('dead-letter-queue', [{ key: 'x', value: Buffer.from('somebody else wrote this') }])
    }),
  )
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('list shows each letter with its time, stage, origin, key and reason, oldest first', async () => {
    const { code, lines, err } = await dlq('list')
    expect(code).to.equal(0)
    expect(lines).to.have.length(LETTERS.length + 1)
    expect(lines[1]).to.match(/^2026-11-19T10:00:00\.000Z {2}0\/0 .* etl .* raw-logs\/0\/0 .* shop\/cart .* message: not JSON$/)
    expect(lines[5]).not.to.contain('\u001b')
    expect(err).to.equal('5 letters\n')
  })

  it('list --json gives the original bytes', async () => {
    const { lines } = await dlq('list', '--json', '--stage', 'lifecycle')
    expect(lines.map(line => JSON.parse(line))).to.deep.equal([
      {
        id: '0/3',
        time: '2026-11-21T10:00:00.000Z',
        stage: 'lifecycle',
        reason: 'anomaly event: cannot be read',
        topic: 'anomaly-events',
        origin: '0/3',
        tenant: 'bank',
        key: 'bank/pay',
        value: '{"id":2}',
      },
    ])
  })

  const filters: readonly { readonly args: readonly string[]; readonly finds: readonly string[] }[] = [
    { args: ['--tenant', 'bank'], finds: ['0/3', '0/4'] },
    { args: ['--stage', 'indexer'], finds: ['0/1', '0/2'] },
    { args: ['--reason', 'NOT json'], finds: ['0/0', '0/4'] },
    { args: ['--topic', 'raw-logs'], finds: ['0/0'] },
    { args: ['--since', '10h'], finds: ['0/1', '0/2', '0/3', '0/4'] },
    { args: ['--until', '2026-11-21T03:00:00Z'], finds: ['0/0', '0/1'] },
    { args: ['--since', '10h', '--until', '9h', '--tenant', 'shop'], finds: ['0/1'] },
    { args: ['--limit', '2'], finds: ['0/0', '0/1'] },
    { args: ['--tenant', 'nobody'], finds: [] },
  ]
  for (const { args, finds } of filters)
    it(`list ${args.join(' ')} finds ${finds.length}`, async () => {
      const { lines } = await dlq('list', '--json', ...args)
      expect(lines.map(line => JSON.parse(line).id)).to.deep.equal(finds)
    })

  it('list and replay that find no letter of an unknown topic name the topics', async () => {
    const named = '--topic: letters come from raw-logs, enriched-logs, anomaly-events, seen "raw-log"\n'
    expect((await dlq('list', '--topic', 'raw-log')).err).to.equal(`0 letters\n${named}`)
    expect((await dlq('replay', '--topic', 'raw-log')).err).to.equal(named)
    expect((await dlq('list', '--topic', 'of-old')).err).to.equal('1 letter\n')
    expect((await dlq('list', '--topic', 'raw-logs', '--tenant', 'nobody')).err).to.equal('0 letters\n')
  })

  it('replay --dry-run says what would be sent where and sends nothing', async () => {
    const before = await endOffsets()
    const { code, lines } = await dlq('replay', '--dry-run')
    expect(code).to.equal(0)
    expect(lines).to.deep.equal([
      'would replay 3 letters: 1 to raw-logs, 1 to enriched-logs, 1 to anomaly-events',
      'not sent: 1 letter with the same bytes as one before',
      'not sent: 1 letter from of-old: the settings name no such topic (RAW_TOPIC, ENRICHED_TOPIC, ANOMALY_TOPIC)',
    ])
    expect(await endOffsets()).to.deep.equal(before)
  })

  it('replay sends the original bytes to the topic they came from; a second replay gives the same documents', async () => {
    const first = await dlq('replay')
    const second = await dlq('replay', '--stage', 'etl')
    expect([first.code, second.code]).to.deep.equal([0, 0])
    expect(first.lines[0]).to.equal('replayed 3 letters: 1 to raw-logs, 1 to enriched-logs, 1 to anomaly-events')
    const raw = await withBus(bus => readAll(bus, 'raw-logs'))
    expect(raw.map(({ key, value }) => `${key} ${Buffer.from(value)}`)).to.deep.equal([`shop/cart ${TIMELESS}`, `shop/cart ${TIMELESS}`])
    const ids = raw.map(record => {
      const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
      const { records } = etl.process(record.value, receivedAtMs(record))
      return JSON.parse(Buffer.from(records[0]!.value).toString()).document_id
    })
    expect(ids[0]).to.be.a('string').that.equals(ids[1])
  })

  it('refuses a directory in use, and says what to do', async () => {
    await withBus(async () => {
      const { code, err } = await dlq('replay')
      expect(code).to.equal(1)
      expect(err).to.match(/is in use by process \d+: stop it first.*start it again/)
    })
  })

  it('goes through the standalone that runs there, by a socket that its owner alone can open', async () => {
    await withBus(async bus => {
      const service = await serve(directory, bus)
      try {
        expect(statSync(join(directory, 'command.sock')).mode & 0o777).to.equal(0o600)
        const { code, lines, err } = await dlq('list', '--json', '--tenant', 'bank')
        expect([code, lines.map(line => JSON.parse(line).id), err]).to.deep.equal([0, ['0/3', '0/4'], '2 letters\n'])
        expect((await dlq('replay', '--stage', 'lifecycle')).lines).to.deep.equal(['replayed 1 letter: 1 to anomaly-events'])
        expect(await dlq('purge', '--tenant', 'bank')).to.include({ code: 64 })
        const manyAtOnce = await Promise.all(Array.from({ length: 4 }, () => dlq('list')))
        for (const { lines: all } of manyAtOnce) expect(all).to.have.length(LETTERS.length + 1)
      } finally {
        await service.stop()
      }
    })
    expect(await dlq('list')).to.include({ code: 0 })
  })

  it('reaches a standalone in a directory with a path longer than a socket can have, too', async function () {
    if (process.platform !== 'linux') this.skip()
    const deep = join(mkdtempSync(join(tmpdir(), 'logpipeline-dlq-')), 'd'.repeat(120))
    mkdirSync(deep)
    const bus = { describe: async () => ({ brokers: 1, partitions: [] }) } as unknown as Bus
    const service = await serve(deep, bus)
    let err = ''
    const deps = { print: async () => true, stderr: { write: (text: string) => (err += text) }, clock, environment: { DATA_DIR: deep } }
    expect([await runDlq(['list'], deps), err]).to.deep.equal([0, '0 letters\n'])
    await service.stop()
    rmSync(join(deep, '..'), { recursive: true })
  })

  it('list says of a letter that it was replayed and came back, and of one that is cut', async () => {
    await withBus(async bus => {
      const dead = collectDeadLetters({ bus, topic: 'dead-letter-queue', stage: 'etl', clock, log: SILENT })
      const place = { topic: 'raw-logs', partition: 0, offset: 9, timestampMs: NOW_MS, key: 'late/x' }
      dead.add({ ...place, value: Buffer.from('again'), headers: { 'dlq.replayed': '2026-11-21T11:00:00.000Z' } }, 'still wrong')
      dead.add({ ...place, value: Buffer.alloc(1_000_000, 'x'), headers: {} }, 'large')
      await dead.send()
    })
    const { lines } = await dlq('list', '--tenant', 'late')
    expect(lines[1]).to.match(/\[replayed 2026-11-21T11:00:00\.000Z and came back\] still wrong$/)
    expect(lines[2]).to.match(/962560 {2}\[cut, the original had 1000000 bytes\] large$/)
    const json = (await dlq('list', '--json', '--tenant', 'late')).lines.map(line => JSON.parse(line))
    expect(json.map(({ replayed, wholeBytes }) => [replayed, wholeBytes])).to.deep.equal([
      ['2026-11-21T11:00:00.000Z', undefined],
      [undefined, 1_000_000],
    ])
    expect((await dlq('replay', '--dry-run', '--tenant', 'late')).lines).to.deep.equal([
      'would replay 1 letter: 1 to raw-logs',
      'not sent: 1 letter cut to the beginning of the original',
    ])
  })

  it('purge deletes all letters, and none that comes later', async () => {
    const letters = (await dlq('list')).lines.length - 1
    expect((await dlq('purge', '--dry-run')).out).to.equal(`would purge ${letters + 1} letters\n`)
    expect((await dlq('purge')).out).to.equal(`purged ${letters + 1} letters\n`)
    expect(await dlq('list')).to.include({ code: 0, out: '', err: '0 letters\n' })
    await withBus(bus =>
      bus.send('dead-letter-queue', [{ key: 'a/b', value: Buffer.from('x'), headers: { 'dlq.topic': 't', 'dlq.stage': 's' } }]),
    )
    expect(await dlq('list')).to.include({ code: 0, err: '1 letter\n' })
  })

  it('makes no bus where there is none', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'logpipeline-dlq-'))
    let err = ''
    const deps = { print: async () => true, stderr: { write: (text: string) => (err += text) }, clock }
    expect(await runDlq(['list'], { ...deps, environment: { DATA_DIR: empty } })).to.equal(1)
    expect(err).to.contain('DATA_DIR: expected a directory that logpipeline has worked in')
    expect(readdirSync(empty)).to.deep.equal([])
    rmSync(empty, { recursive: true })
  })

  it('names every problem of the command line', async () => {
    const { code, err } = await dlq('drop', '--tenant', 'A B', '--since', 'noon', '--limit', '0')
    expect(code).to.equal(64)
    expect(err.match(/expected/g)).to.have.length(4)
    expect((await dlq('replay', '--stage', 'typo')).err).to.equal(
      'logpipeline dlq: --stage: expected one of etl, anomaly, indexer, lifecycle, seen "typo"\n',
    )
    expect((await dlq('replay', '--json')).err).to.contain('--json: goes with list alone')
  })
})

async function readAll(bus: Bus, topic: string): Promise<readonly ConsumedRecord[]> {
  const subscription = await bus.subscribe({ groupId: 'test', topics: [topic] })
  const all: ConsumedRecord[] = []
  for (;;) {
    const records = await subscription.poll({ maxRecords: 100, maxBytes: 1_000_000, waitMs: 100 })
    if (records.length === 0) break
    all.push(...records)
  }
  await subscription.close()
  return all
}
