/** The bridge's threads on a store whose connections break, each second bulk of them: what is counted, grouped and given up must be exact. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { withBulkPort } from '../../../adapters/search/bulk-port-client.ts'
import { createSearchStore } from '../../../adapters/search/search-store.ts'
import { anomaliesIndex, incidentsIndex } from '../../../contract/indices.ts'
import type { Anomaly } from '../../../domain/anomalies/anomaly.ts'
import type { Incident } from '../../../domain/incidents/incident-fields.ts'
import { encodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { createEtl } from '../../../pipeline/steps/flatten/etl.ts'
import type { BusRecord, ConsumedRecord } from '../../../ports/bus.ts'
import { type SearchStore, SearchStoreUnavailable } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { type EmbeddedSearchStore, startEmbeddedSearchStore } from '../../../testing/embedded-search-store.ts'
import { type Fault, type FaultyProxy, startFaultyProxy } from '../../../testing/faulty-proxy.ts'
import { createRecordingBus, type RecordingBus } from '../../../testing/recording-bus.ts'
import { installIndexTemplates } from '../install-index-templates.ts'
import { createDirectLane } from './direct-lane.ts'
import { createDocumentWriter } from './document-writer.ts'
import { createIndexerWork } from './indexer.ts'
import { createLifecycleWork } from './lifecycle.ts'
import type { ThreadDeps } from './thread-deps.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const LOGS_INDEX = 'service-logs-2026.11.21'
const BATCHES = 6
const LOGS = 30
const DEAD_LETTER_TOPIC = 'dead-letter-queue'
const settings = {
  RAW_TOPIC: 'raw-logs',
  DEFAULT_TENANT: 'default',
  ENRICHED_TOPIC: 'enriched-logs',
  ANOMALY_TOPIC: 'anomaly-events',
  DEAD_LETTER_TOPIC,
  RETENTION_DAYS: 30,
}

const NO_ALIASES = { note() {}, start() {}, knownSinceMs: () => undefined }

const consumed = (topic: string, offset: number, { key, value, headers = {} }: BusRecord): ConsumedRecord => ({
  ...{ topic, partition: 0, offset, timestampMs: NOW_MS, key: key ?? '', headers },
  value: Buffer.from(value),
})

function exportOf(batch: number): Buffer {
  const logRecords = Array.from({ length: LOGS + 1 }, (_, i) => ({
    timeUnixNano: `${NOW_MS}${String(batch * 100 + i).padStart(6, '0')}`,
    body: { stringValue: `order ${batch}-${i}` },
  }))
  return Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
}

const rawOf = (batch: number) => consumed('raw-logs', batch, { key: 'default/shop', value: exportOf(batch) })

/** Logs of one batch; no index takes the last. */
function logsOf(batch: number): readonly ConsumedRecord[] {
  const etl = createEtl({ defaultTenant: 'default', retentionDays: 30, lookupFeatures: () => undefined })
  const { records } = etl.process(exportOf(batch), NOW_MS)
  const logs = records.map((record, i) => consumed(settings.ENRICHED_TOPIC, batch * 100 + i, record))
  const last = logs.pop()!
  return [...logs, { ...last, value: Buffer.from(Buffer.from(last.value).toString().replace('2026-11-21T', '2026-99-99T')) }]
}

interface FlatRecord {
  readonly document_id: string
  readonly log_id: string
  readonly '@timestamp': string
}

function eventsOf(batch: number, logs: readonly ConsumedRecord[]): readonly ConsumedRecord[] {
  return logs.slice(0, 3).map((log, i) => {
    const { document_id, log_id, '@timestamp': timestamp } = JSON.parse(Buffer.from(log.value).toString()) as FlatRecord
    const anomaly: Anomaly = {
      ...{ id: `a-${batch}-${i}`, log_id, document_id, timestamp, tenant_id: 'default', service: 'checkout', level: 'FATAL' },
      ...{
        message: 'failed',
        pattern_id: '0000000000000001',
        pattern: 'failed',
        score: 0.5,
        anomaly_score: 0,
        detectors: ['rule'],
        reasons: [],
      },
    }
    return consumed(settings.ANOMALY_TOPIC, batch * 10 + i, encodeAnomalyEvent(anomaly, log))
  })
}

const batches = Array.from({ length: BATCHES }, (_, batch) => {
  const logs = logsOf(batch)
  return { logs, events: eventsOf(batch, logs) }
})

describe('the bridge on a store whose connections break', function () {
  this.timeout(30_000)
  let embedded: EmbeddedSearchStore
  let proxy: FaultyProxy
  let store: SearchStore
  let bus: RecordingBus
  let counts: Record<string, number>
  let faults: number
  let pauses: number

  beforeEach(async () => {
    embedded = await startEmbeddedSearchStore()
    proxy = await startFaultyProxy(embedded.endpoint)
    store = createSearchStore({ endpoint: proxy.url })
    bus = createRecordingBus()
    counts = {}
    faults = 0
    pauses = 0
    await installIndexTemplates(embedded.store, { ...settings, SEARCH_REPLICAS: 0, SEARCH_SHARDS: 1 })
  })
  afterEach(async () => {
    await store.close()
    await proxy.stop()
    await embedded.stop()
  })

  const deps = () =>
    ({
      ...{ settings, bus, log: SILENT, signal: new AbortController().signal, countDeadLetters: () => undefined },
      count: (counter: string, amount: number) => {
        counts[counter] = (counts[counter] ?? 0) + amount
      },
      clock: { nowMs: () => NOW_MS, sleep: async () => void pauses++ },
    }) as unknown as ThreadDeps

  const breakEachSecondBulk = (fault: Fault) => {
    let bulks = 0
    proxy.decide(({ path }) => {
      if (!path.startsWith('/_bulk') || bulks++ % 2 === 0) return undefined
      faults++
      return fault
    })
  }
  const documents = async <T>(index: string) => {
    await embedded.store.refresh(index)
    return (await embedded.store.search<T>({ index, body: { size: 1_000, sort: ['_doc'] } })).hits
  }
  /** Offsets of the records that became dead letters. */
  const letters = () => bus.sent.map(({ record }) => Number(record.headers?.['dlq.offset']))

  const index = async () => {
    const work = createIndexerWork(deps(), createDocumentWriter({ ...deps(), store, aliases: NO_ALIASES }))
    for (const { logs, events } of batches) for (const some of [logs, events]) (await work.handle(some, bus))?.()
  }
  /** As the thread does: started again when it fails. */
  const group = async () => {
    for (const { events } of batches)
      for (let tries = 0; ; tries++) {
        const error = await createLifecycleWork(deps(), store)
          .handle(events, bus)
          .then(() => undefined)
          .catch((reason: unknown) => reason)
        if (error === undefined) break
        expect(error).to.be.instanceOf(SearchStoreUnavailable)
        expect(tries).to.be.below(5)
      }
  }

  for (const fault of ['unread', 'cut', 'lost', 'halved'] as const) {
    it(`counts each document once, and gives up those alone that the store refuses (${fault})`, async () => {
      breakEachSecondBulk(fault)
      await index()
      expect(faults).to.be.at.least(BATCHES)
      expect(counts['indexed']).to.equal(BATCHES * LOGS)
      expect(await documents(LOGS_INDEX)).to.have.length(BATCHES * LOGS)
      expect(letters()).to.deep.equal(batches.map((_, batch) => batch * 100 + LOGS))
      // Refused as it is and folded: two errors each. An answer that breaks off is an error of all that it was for.
      if (fault !== 'halved') expect([counts['indexErrors'], pauses]).to.deep.equal([2 * BATCHES, 0])
      else expect(pauses).to.equal(faults)
    })

    it(`groups each document once (${fault})`, async () => {
      breakEachSecondBulk(fault)
      await group()
      expect(faults).to.be.above(0)
      const ids = batches.flatMap(({ events }) => events).length
      expect(counts['indexed']).to.equal(ids)
      const anomalies = await documents<Anomaly>(anomaliesIndex('default'))
      const [incident, ...others] = await documents<Incident>(incidentsIndex('default'))
      expect(others).to.deep.equal([])
      expect(incident!.source.anomalyCount).to.equal(ids)
      expect(anomalies.map(({ source }) => source.incident_id)).to.deep.equal(Array(ids).fill(incident!.id))
      expect(letters()).to.deep.equal([])
    })
  }

  it('counts each document once where the port of the embedded store closes with an answer on its way', async () => {
    const { port, isClosed } = losingAnswer(embedded.connect(), 3)
    const withPort = withBulkPort(store, port)
    expect(withPort.bulkPacked).not.to.equal(undefined)
    const writer = createDocumentWriter({ ...deps(), store: withPort, aliases: NO_ALIASES })
    const features = { lookup: () => undefined, ready: async () => undefined, fresh: async () => undefined }
    const config = { read: () => ({ anomalyThreshold: 2.5, windowSize: 50 }) }
    const lane = createDirectLane({ ...deps(), config, features, writer } as unknown as Parameters<typeof createDirectLane>[0])
    for (let batch = 0; batch < BATCHES; batch++) (await lane.handle([rawOf(batch)], bus))?.()
    expect(isClosed()).to.equal(true)
    expect(counts['indexed']).to.equal(BATCHES * (LOGS + 1))
    expect(await documents(LOGS_INDEX)).to.have.length(BATCHES * (LOGS + 1))
    expect(letters()).to.deep.equal([])
  })
})

/** A port to `other` that closes instead of an answer, the one of this number. */
function losingAnswer(other: MessagePort, lost: number): { readonly port: MessagePort; readonly isClosed: () => boolean } {
  const { port1, port2 } = new MessageChannel()
  let answers = 0
  port1.on('message', (request: { readonly bytes: ArrayBuffer }) => other.postMessage(request, [request.bytes]))
  port1.on('close', () => other.close())
  other.on('message', answer => {
    if (++answers < lost) port1.postMessage(answer)
    else port1.close()
  })
  return { port: port2, isClosed: () => answers >= lost }
}
