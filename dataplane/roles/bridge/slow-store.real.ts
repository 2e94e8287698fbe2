import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openKafkaBus } from '../../adapters/bus/kafka/kafka-bus.ts'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { BRIDGE_COUNTERS } from '../../contract/counters.ts'
import { TOPICS } from '../../contract/topics.ts'
import type { Bus } from '../../ports/bus.ts'
import { type FaultyProxy, startFaultyProxy } from '../../testing/faulty-proxy.ts'
import { backendAddress } from '../../testing/real/address.ts'
import { type RoleProcess, startRole } from '../stream/testing/role-process.ts'

export const needs = ['kafka', 'opensearch']

const RECORDS = 100_000
const RECORDS_PER_MESSAGE = 50
const TEXT = 'the quick brown fox jumps over the lazy dog, as it was told to. '.repeat(10)
const MIB = 1 << 20
/** On a quiet machine all are through in half of this. */
const WATCHED_MS = 90_000
/** Seen: 790 to 900, with a quick store and a slow one alike; what is read ahead, batches under way and the heaps of three threads. */
const MOST_MIB = 1_200
/** Growth in the second half, when caches are filled, over the first. */
const MOST_GROWTH = 1.25

/** OTLP JSON of records of about 1 KB. */
function message(first: number) {
  const logRecords = Array.from({ length: RECORDS_PER_MESSAGE }, (_, i) => ({
    timeUnixNano: `${BigInt(Date.now()) * 1_000_000n + BigInt(first + i)}`,
    severityText: 'INFO',
    body: { stringValue: `${first + i} ${TEXT}` },
    attributes: Array.from({ length: 8 }, (_, at) => ({ key: `attribute.${at}`, value: { stringValue: `value ${(first + i) % 997}` } })),
  }))
  const service = `service-${(first / RECORDS_PER_MESSAGE) % 20}`
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
  return { key: `default/${service}`, value: Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })) }
}

describe('a bridge whose search store takes one to two seconds for each bulk', function () {
  this.timeout(300_000)
  const directory = mkdtempSync(join(tmpdir(), 'logpipeline-slow-store-'))
  const id = randomUUID().slice(0, 8)
  const topics = Object.values(TOPICS).map(({ setting, partitions, retentionMs }) => ({
    setting,
    name: `${setting.toLowerCase()}-${id}`,
    partitions,
    retentionMs,
  }))
  const settings = Object.fromEntries(topics.map(({ setting, name }) => [setting, name]))
  let bus: Bus
  let proxy: FaultyProxy
  let bridge: RoleProcess | undefined

  before(async () => {
    bus = await openKafkaBus({ brokers: backendAddress('kafka').split(','), clock: systemClock, topics })
    for (let first = 0; first < RECORDS; first += 5_000)
      await bus.send(
        settings['RAW_TOPIC']!,
        Array.from({ length: 5_000 / RECORDS_PER_MESSAGE }, (_, i) => message(first + i * RECORDS_PER_MESSAGE)),
      )
    proxy = await startFaultyProxy(backendAddress('opensearch'))
    proxy.decide(({ path, bytes }) => (path.startsWith('/_bulk') ? { delayMs: 1_000 + (bytes % 1_000) } : undefined))
  })
  after(async () => {
    await bridge?.kill()
    await Promise.all([bus?.stop(), proxy?.stop()])
    await fetch(`${backendAddress('opensearch')}/service-logs-*`, { method: 'DELETE' })
    rmSync(directory, { recursive: true, force: true })
  })

  it(`${RECORDS} records that wait are indexed in memory that does not grow with them`, async function () {
    const start = { BUS_BROKERS: backendAddress('kafka'), SEARCH_ENDPOINT: proxy.url, DATA_DIR: directory, ...settings }
    bridge = await startRole('bridge', start)
    const residentMib: number[] = []
    let indexed = 0
    for (const deadlineMs = Date.now() + WATCHED_MS; indexed < RECORDS && Date.now() < deadlineMs; await sleep(250)) {
      indexed = await bridge.counter(BRIDGE_COUNTERS.indexed.name)
      if (indexed > 0) residentMib.push(residentMemory(bridge.pid) / MIB)
    }
    const half = Math.ceil(residentMib.length / 2)
    const [early, late] = [Math.max(...residentMib.slice(0, half)), Math.max(...residentMib.slice(half))]
    this.test!.title += ` (${indexed} in ${residentMib.length / 4} s; ${early.toFixed()} MiB at most, then ${late.toFixed()})`
    expect(indexed).to.be.above(RECORDS / 20)
    expect(Math.max(early, late), 'MiB at most').to.be.below(MOST_MIB)
    expect(late / early, 'growth').to.be.below(MOST_GROWTH)
  })
})

/** Bytes. */
function residentMemory(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
}
