import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { attachEmbeddedBus, type EmbeddedBus, openEmbeddedBus } from '../../adapters/bus/embedded/embedded-bus.ts'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import type { Bus, ConsumedRecord } from '../../ports/bus.ts'
import { SILENT } from '../../telemetry/log.ts'
import { createEtlWork } from '../work/etl-work.ts'
import { runAtLeastOnce } from './at-least-once.ts'
import { runExactlyOnce } from './exactly-once.ts'
import type { Work } from './work.ts'

const LIMITS = { maxRecords: 7, maxBytes: 1 << 20, waitMs: 5 }
const HOUR_MS = 3_600_000
const textOf = ({ value }: ConsumedRecord) => Buffer.from(value).toString()
const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `record ${from + i}`)

describe('the exactly-once runner', () => {
  let directory: string
  let bus: EmbeddedBus
  const clients: Bus[] = []
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'logpipeline-runner-'))
    const topics = ['in', 'out'].map(name => ({ name, partitions: 3, retentionMs: HOUR_MS }))
    bus = await openEmbeddedBus({ dir: directory, topics, clock: systemClock })
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.stop()
    await bus.stop()
    rmSync(directory, { recursive: true })
  })

  const client = () => {
    const attached = attachEmbeddedBus(bus.share())
    clients.push(attached)
    return attached
  }
  const give = (values: readonly string[]) =>
    bus.send(
      'in',
      values.map((text, i) => ({ key: `key ${i % 5}`, value: Buffer.from(text) })),
    )
  /** Copies records; `atBatch` is called before the output of each batch is sent. */
  const copying = (part: Partial<Work> & { readonly atBatch?: (batch: number) => void } = {}): Work => {
    const { atBatch, ...rest } = part
    let batches = 0
    return {
      subscription: { groupId: 'g', topics: ['in'] },
      limits: LIMITS,
      async handle(records, output) {
        const half = Math.ceil(records.length / 2)
        const copies = records.map(({ key, value }) => ({ key, value: Uint8Array.from(value) }))
        await output.send('out', copies.slice(0, half))
        atBatch?.(batches++)
        await output.send('out', copies.slice(half))
        return undefined
      },
      ...rest,
    }
  }
  const readOutput = async (count: number) => {
    const subscription = await bus.subscribe({ groupId: 'reader', topics: ['out'] })
    const found: string[] = []
    for (let idle = 0; idle < (found.length < count ? 200 : 2); ) {
      const records = await subscription.poll({ ...LIMITS, maxRecords: 1000 })
      if (records.length === 0) idle++
      found.push(...records.map(textOf))
    }
    await subscription.close()
    return found.sort()
  }
  const committedRecords = async () => (await bus.committedOffsets('g')).reduce((sum, { offset }) => sum + offset, 0)
  const untilCommitted = async (count: number) => {
    for (let i = 0; i < 1000 && (await committedRecords()) < count; i++) await systemClock.sleep(5)
    expect(await committedRecords()).to.equal(count)
  }

  it('commits output and offsets together, and finishes what it holds when it is stopped', async () => {
    await give(texts(0, 40))
    const stop = new AbortController()
    const running = runExactlyOnce({
      bus: client(),
      clock: systemClock,
      work: copying({ atBatch: () => stop.abort() }),
      signal: stop.signal,
    })
    await running
    const handled = await readOutput(1)
    expect(handled).to.have.length(await committedRecords())
    expect(handled.length).to.be.greaterThan(0)
  })

  it('writes the flat records of ETL as they were made, those of several tenants in one batch', async () => {
    const message = (tenant: string, from: number, count: number) => {
      const logRecords = texts(from, from + count).map(text => ({ timeUnixNano: '1700000000000000001', body: { stringValue: text } }))
      return { key: `${tenant}/checkout`, value: Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })) }
    }
    // So many bytes that the tenant with few of them goes before the other.
    await bus.send('in', [message('small', 0, 50), ...Array.from({ length: 8 }, (_, i) => message('large', 50 + i * 500, 500))])
    const settings = { RAW_TOPIC: 'in', ENRICHED_TOPIC: 'out', DEAD_LETTER_TOPIC: 'out', RETENTION_DAYS: 30, DEFAULT_TENANT: 'default' }
    const features = { lookup: () => undefined, ready: async () => undefined, fresh: async () => undefined }
    const stop = new AbortController()
    const work = createEtlWork({ settings, features, standsBy: false, count: () => stop.abort(), clock: systemClock, log: SILENT })
    const running = runExactlyOnce({ bus: client(), clock: systemClock, work, signal: stop.signal })
    const found = (await readOutput(4_050)).map(text => (JSON.parse(text) as { readonly message: string }).message)
    await running
    const seen = new Set(found)
    const missing = texts(0, 4_050).filter(text => !seen.has(text))
    expect([found.length, missing.slice(0, 3)]).to.deep.equal([4_050, []])
  })

  it('leaves neither output nor offsets of a batch that failed, and none of those behind it', async () => {
    await give(texts(0, 40))
    const work = copying({
      atBatch(batch) {
        if (batch === 2) throw new Error('output failed')
      },
    })
    const outcome = await runExactlyOnce({ bus: client(), clock: systemClock, work, signal: new AbortController().signal }).catch(
      (error: Error) => error.message,
    )
    expect(outcome).to.equal('output failed')
    expect(await committedRecords()).to.equal(14)
    expect(await readOutput(14)).to.have.length(14)
  })

  it('starts again from the committed offsets after any failure, with nothing doubled', async () => {
    await give(texts(0, 100))
    for (let run = 0; run < 6; run++) {
      const work = copying({
        atBatch(batch) {
          if (batch === run % 3) throw new Error('again')
        },
      })
      await runExactlyOnce({ bus: client(), clock: systemClock, work, signal: new AbortController().signal }).catch(() => undefined)
    }
    const stop = new AbortController()
    const last = runExactlyOnce({ bus: client(), clock: systemClock, work: copying(), signal: stop.signal })
    await untilCommitted(100)
    stop.abort()
    await last
    expect(await readOutput(100)).to.deep.equal(texts(0, 100).sort())
  })

  it('takes over from a runner that stands by, and gives back to it, each record once and in one memory', async () => {
    const stops = { standby: new AbortController(), active: new AbortController() }
    const seen = { standby: new Set<string>(), active: new Set<string>() }
    const work = (name: 'standby' | 'active'): Work => {
      const own = seen[name]
      const base = copying({ subscription: { groupId: 'g', topics: ['in'], standsBy: name === 'standby' } })
      const remember = (records: readonly ConsumedRecord[]) => {
        for (const record of records) own.add(textOf(record))
      }
      return {
        ...base,
        memory: {
          records: 1000,
          reset: () => own.clear(),
          async restore(records) {
            remember(records)
          },
        },
        handle(records, output) {
          remember(records)
          return base.handle(records, output)
        },
      }
    }
    const standby = runAtLeastOnce({ bus: client(), clock: systemClock, work: work('standby'), signal: stops.standby.signal })
    await give(texts(0, 50))
    await untilCommitted(50)
    const active = runExactlyOnce({ bus: client(), clock: systemClock, work: work('active'), signal: stops.active.signal })
    await give(texts(50, 100))
    await untilCommitted(100)
    for (let i = 0; i < 1000 && seen.active.size < 100; i++) await systemClock.sleep(5)
    expect([...seen.active].sort()).to.deep.equal(texts(0, 100).sort())
    await give(texts(100, 150))
    stops.active.abort()
    await active
    await give(texts(150, 200))
    await untilCommitted(200)
    stops.standby.abort()
    await standby
    expect(seen.standby.size).to.equal(200)
    expect(await readOutput(200)).to.deep.equal(texts(0, 200).sort())
  })
})
