import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { DEAD_LETTER_HEADERS } from '../../../pipeline/dead-letters/dead-letter.ts'
import type { LogAliases } from '../../../pipeline/sinks/aliases/log-aliases.ts'
import { createIndexOutages, type IndexOutages } from '../../../pipeline/sinks/index-outages.ts'
import { createEtl } from '../../../pipeline/steps/flatten/etl.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { createRecordingBus, type RecordingBus } from '../../../testing/recording-bus.ts'
import { createDocumentWriter } from './document-writer.ts'
import { createIndexerWork } from './indexer.ts'
import type { ThreadDeps } from './thread-deps.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const DAY_MS = 86_400_000
const RED = 'service-logs-2026.11.20'
const TENANT = 'shop'
const NO_ALIASES: LogAliases = { note() {}, start() {}, knownSinceMs: () => undefined }

describe('records for a day whose index cannot be opened', function () {
  this.timeout(30_000)
  let embedded: EmbeddedSearchStore
  let bus: RecordingBus
  let outages: IndexOutages
  let nowMs: number
  let offset: number

  beforeEach(async () => {
    embedded = await startEmbeddedSearchStore()
    bus = createRecordingBus()
    nowMs = NOW_MS
    offset = 0
    outages = createIndexOutages({ ...deps(), store: embedded.store })
  })
  afterEach(() => embedded.stop())

  const deps = () =>
    ({
      settings: { ENRICHED_TOPIC: 'enriched', ANOMALY_TOPIC: 'anomaly', DEAD_LETTER_TOPIC: 'dead' },
      bus,
      count: () => {},
      log: SILENT,
      clock: {
        nowMs: () => nowMs,
        sleep: async (ms: number) => {
          nowMs += ms
        },
      },
      signal: new AbortController().signal,
    }) as unknown as ThreadDeps

  /** A record of each text, of today or `daysAgo`. */
  const records = (daysAgo: number, texts: readonly string[]): readonly ConsumedRecord[] => {
    const logRecords = texts.map((text, i) => ({
      timeUnixNano: `${NOW_MS - daysAgo * DAY_MS + i}000000`,
      body: { stringValue: text },
    }))
    const message = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
    const etl = createEtl({ defaultTenant: TENANT, retentionDays: 30, lookupFeatures: () => undefined })
    return etl.process(message, NOW_MS).records.map(({ key, value, headers }) => consumed(key, Buffer.from(value), headers ?? {}))
  }
  const consumed = (key: string, value: Uint8Array, headers: ConsumedRecord['headers']): ConsumedRecord => ({
    topic: 'enriched',
    partition: 0,
    offset: offset++,
    timestampMs: NOW_MS,
    key,
    value,
    headers,
  })
  /** As the thread does, which is started again when it fails: resolves to how often that was. */
  const handle = async (batch: readonly ConsumedRecord[], lives = 10) => {
    for (let failed = 0; ; failed++) {
      const writer = createDocumentWriter({ ...deps(), store: embedded.store, aliases: NO_ALIASES, outages })
      const work = createIndexerWork(deps(), writer)
      try {
        await work.handle(batch, bus)
        return failed
      } catch (error) {
        if (failed === lives) throw error
        nowMs += 200
      }
    }
  }
  const stored = async () => {
    await embedded.store.refresh('service-logs-*')
    const { hits } = await embedded.store.search<{ message: string }>({ index: 'service-logs-*', body: { size: 100 }, takesPart: true })
    return hits.map(({ source }) => source.message).sort()
  }
  const letters = () => bus.sent.filter(({ topic }) => topic === 'dead').map(({ record }) => record)
  const stateFile = () => {
    const indices = join(embedded.dir, 'indices')
    const folders = readdirSync(indices).map(name => join(indices, name, 'index.json'))
    return folders.find(path => readFileSync(path, 'utf8').includes(redUuid))!
  }
  let redUuid = ''
  const breakDay = async () => {
    const before = new Set(readdirSync(join(embedded.dir, 'indices')))
    await handle(records(1, ['old']))
    redUuid = readdirSync(join(embedded.dir, 'indices')).find(name => !before.has(name))!
    const path = stateFile()
    const whole = readFileSync(path)
    await embedded.restart(() => writeFileSync(path, whole.subarray(0, 20)))
    return () => embedded.restart(() => writeFileSync(path, whole))
  }

  it('become dead letters with the reason after two minutes; their neighbours go on, and a replay brings them in after the repair', async () => {
    await handle(records(0, ['first']))
    const repair = await breakDay()
    const mixed = [...records(1, ['red 1', 'red 2']), ...records(0, ['today 1'])]
    await handle(mixed)
    expect(nowMs - NOW_MS).to.be.within(120_000, 150_000)
    expect(await stored()).to.deep.equal(['first', 'today 1'])
    expect(letters()).to.have.length(2)
    for (const { headers } of letters()) {
      expect(headers![DEAD_LETTER_HEADERS.reason]).to.match(
        /^503 unavailable_shards_exception: index \[service-logs-2026\.11\.20\] is not available/,
      )
      expect(headers![DEAD_LETTER_HEADERS.stage]).to.equal('indexer')
    }

    // From then on nobody waits.
    const atMs = nowMs
    for (let n = 0; n < 10; n++) await handle([...records(1, [`later ${n}`]), ...records(0, [`today later ${n}`])], 0)
    expect(nowMs).to.equal(atMs)
    expect(letters()).to.have.length(12)
    expect((await stored()).filter(text => text.startsWith('today later'))).to.have.length(10)

    await repair()
    nowMs += 31_000
    const replayed = letters().map(({ key, value, headers }) => consumed(key, value, headers ?? {}))
    expect(await handle([...replayed, ...mixed], 0)).to.equal(0)
    expect(letters()).to.have.length(12)
    const all = await stored()
    expect(all).to.have.length(1 + 2 + 2 + 20)
    expect(new Set(all).size).to.equal(all.length)
  })

  it('wait, as all others do, while the whole store is away', async () => {
    await handle(records(0, ['first']))
    await breakDay()
    await embedded.restart(async () => {
      const batch = [...records(1, ['red']), ...records(0, ['today'])]
      const failed = await handle(batch, 6).catch((error: Error) => error)
      expect(failed).to.be.instanceOf(Error)
      expect(nowMs - NOW_MS).to.be.above(300_000)
    })
    expect(letters()).to.deep.equal([])
  })

  it('wait while no other index works, or some are on their way', async () => {
    await handle(records(0, ['first']))
    await breakDay()
    const { store } = embedded
    const { indexHealth } = store
    const batch = records(1, ['red'])
    for (const other of [
      { isRed: true, isStarting: false },
      { isRed: true, isStarting: true },
    ]) {
      store.indexHealth = async () => new Map([...(await indexHealth())].map(([name, health]) => [name, name === RED ? health : other]))
      expect(await handle(batch, 6).catch((error: Error) => error)).to.be.instanceOf(Error)
    }
    expect(letters()).to.deep.equal([])
    store.indexHealth = indexHealth
    await handle(batch)
    expect(letters()).to.have.length(1)
  })
})
