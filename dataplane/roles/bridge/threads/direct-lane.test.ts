import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { areFlagsWritten, decodeAnomalyEvent } from '../../../pipeline/anomaly-event.ts'
import { DEAD_LETTER_HEADERS } from '../../../pipeline/dead-letters/dead-letter.ts'
import type { Work } from '../../../pipeline/runners/work.ts'
import type { LogAliases } from '../../../pipeline/sinks/aliases/log-aliases.ts'
import { BulkUnfinished } from '../../../pipeline/sinks/bulk-writer.ts'
import type { ConsumedRecord } from '../../../ports/bus.ts'
import type { BulkOperation, BulkOutcome, SearchStore } from '../../../ports/search-store.ts'
import { SILENT } from '../../../telemetry/log.ts'
import { createMemorySearchStore, type MemorySearchStore } from '../../../testing/memory-search-store.ts'
import { packedBulkBy } from '../../../testing/packed-bulk-store.ts'
import { createRecordingBus, type RecordingBus } from '../../../testing/recording-bus.ts'
import { createDirectLane } from './direct-lane.ts'
import { createDocumentWriter } from './document-writer.ts'
import type { ThreadDeps } from './thread-deps.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)
const INDEX = 'service-logs-2026.11.21'
const SETTINGS = {
  RAW_TOPIC: 'raw-logs',
  ENRICHED_TOPIC: 'enriched-logs',
  ANOMALY_TOPIC: 'anomaly-events',
  DEAD_LETTER_TOPIC: 'dead-letter-queue',
  RETENTION_DAYS: 30,
  DEFAULT_TENANT: 'default',
}
const NO_ALIASES: LogAliases = { note() {}, start() {}, knownSinceMs: () => undefined }
const FAILED = { severityText: 'ERROR', text: 'request to payment timed out' }
const turn = () => new Promise(setImmediate)

interface Given {
  readonly text: string
  readonly severityText?: string
}

let offset = 0
let times = 0

function message(records: readonly Given[], tenant = 'acme'): ConsumedRecord {
  const resource = { attributes: [attribute('tenant_id', tenant), attribute('service.name', 'cart')] }
  const logRecords = records.map(({ text, severityText = 'INFO' }) => ({
    timeUnixNano: `${NOW_MS}${String(times++).padStart(6, '0')}`,
    severityText,
    body: { stringValue: text },
  }))
  return {
    topic: 'raw-logs',
    partition: 2,
    offset: offset++,
    timestampMs: NOW_MS,
    key: `${tenant}/cart`,
    value: Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] })),
    headers: {},
  }
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const ordinary = (count: number): readonly Given[] => Array.from({ length: count }, (_, i) => ({ text: `order ${i} shipped` }))

for (const way of ['objects', 'packed bulks'] as const)
  describe(`the direct lane with ${way}`, () => {
    let bus: RecordingBus
    let store: MemorySearchStore
    let counted: Record<string, number>
    beforeEach(() => {
      bus = createRecordingBus()
      store = createMemorySearchStore()
      counted = {}
    })

    const newLane = (bulk: SearchStore['bulk'] = operations => store.bulk(operations), signal = new AbortController().signal): Work => {
      const add = (counter: string, amount: number) => {
        counted[counter] = (counted[counter] ?? 0) + amount
      }
      const deps = {
        settings: SETTINGS,
        bus,
        config: { read: () => ({ anomalyThreshold: 2.5, windowSize: 50 }) },
        count: add,
        countDeadLetters: (stage: string, _tenant: string, letters: number) => add(`letters of ${stage}`, letters),
        log: SILENT,
        clock: { nowMs: () => NOW_MS, sleep: async () => undefined },
        signal,
      } as unknown as ThreadDeps
      const writer = createDocumentWriter({
        ...deps,
        store: { ...store, bulk, ...(way === 'packed bulks' && { bulkPacked: packedBulkBy(bulk) }) },
        aliases: NO_ALIASES,
      })
      return createDirectLane({
        ...deps,
        writer,
        features: { lookup: () => undefined, ready: async () => undefined, fresh: async () => undefined },
      })
    }
    const sentTo = (topic: string) => bus.sent.filter(sent => sent.topic === topic).map(({ record }) => record)
    const events = () => sentTo('anomaly-events').map(({ key, value, headers = {} }) => ({ key, value, headers }))
    const documents = () => [...store.documents(INDEX).values()] as readonly Record<string, unknown>[]
    const documentOf = (text: string) => documents().find(({ message }) => message === text)

    it('makes documents and anomaly events, and writes nothing in between', async () => {
      const afterCommit = await newLane().handle([message([...ordinary(3), FAILED])], bus)
      expect(documents()).to.have.length(4)
      expect(documentOf('order 0 shipped')).to.include({
        tenant_id: 'acme',
        service: 'cart',
        level: 'INFO',
        is_anomaly: false,
        enriched: true,
      })
      expect(sentTo('enriched-logs')).to.have.length(0)
      expect(events().map(event => decodeAnomalyEvent(event)!.anomaly)).to.have.length(1)
      expect(decodeAnomalyEvent(events()[0]!)!.anomaly).to.include({ message: FAILED.text, tenant_id: 'acme', service: 'cart' })
      afterCommit!()
      expect(counted).to.deep.include({ etlConsumed: 1, etlRecordsReceived: 4, etlProduced: 4, indexed: 4 })
    })

    it('writes the flags of an anomaly with its document, and says so on the event', async () => {
      await newLane().handle([message([FAILED])], bus)
      const { anomaly } = decodeAnomalyEvent(events()[0]!)!
      expect(documentOf(FAILED.text)).to.include({ is_anomaly: true, rule_score: anomaly.score, anomaly_score: anomaly.anomaly_score ?? 0 })
      expect(events().map(areFlagsWritten)).to.deep.equal([true])
    })

    it('leaves the flags to the indexer where the document was there before: it may have come without them', async () => {
      const replayed = message([FAILED])
      await newLane().handle([replayed], bus)
      await newLane().handle([replayed], bus)
      expect(documents()).to.have.length(1)
      expect(events().map(areFlagsWritten)).to.deep.equal([true, false])
    })

    it('sends an event once its document is written, and ends when both are durable', async () => {
      let answer = () => {}
      const lane = newLane(operations => new Promise(resolve => (answer = () => resolve(store.bulk(operations)))))
      let isDone = false
      const handled = lane.handle([message([FAILED])], bus).then(() => {
        isDone = true
      })
      await turn()
      expect(events()).to.have.length(0)
      const release = bus.hold()
      answer()
      await turn()
      expect(isDone).to.equal(false)
      release()
      await handled
      expect(events()).to.have.length(1)
    })

    it('fails with a store that takes nothing, and sends no event: the batch comes again', async () => {
      store.unavailable = true
      const failure = await newLane()
        .handle([message([FAILED])], bus)
        .catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(BulkUnfinished)
      expect(events()).to.have.length(0)
      store.unavailable = false
      await newLane().handle([message([FAILED])], bus)
      expect(events()).to.have.length(1)
    })

    it('gives up a record that the store takes in no form, as the log record that it was', async () => {
      const refusing = async (operations: readonly BulkOperation[]): Promise<readonly BulkOutcome[]> =>
        operations.map(({ body }) =>
          Buffer.from(body as Uint8Array).includes('poison')
            ? { status: 'refused', reason: 'poisoned' }
            : { status: 'done', created: true },
        )
      const afterCommit = await newLane(refusing).handle(
        [message(ordinary(2)), message([...ordinary(2), { text: 'poison' }, ...ordinary(1)])],
        bus,
      )
      const [letter, ...others] = sentTo('dead-letter-queue')
      expect(others).to.have.length(0)
      expect(letter!.headers).to.include({
        [DEAD_LETTER_HEADERS.stage]: 'indexer',
        [DEAD_LETTER_HEADERS.reason]: 'poisoned',
        [DEAD_LETTER_HEADERS.topic]: 'raw-logs',
        [DEAD_LETTER_HEADERS.partition]: '2',
        [DEAD_LETTER_HEADERS.offset]: String(offset - 1),
      })
      const [{ scopeLogs }] = JSON.parse(Buffer.from(letter!.value).toString()).resourceLogs
      expect(scopeLogs[0].logRecords.map((record: { body: { stringValue: string } }) => record.body.stringValue)).to.deep.equal(['poison'])
      afterCommit!()
      expect(counted).to.deep.include({ 'letters of indexer': 1 })
    })

    it('remembers the windows of a service from messages that it reads again', async () => {
      const before = message(ordinary(30))
      const burst = message([{ text: 'cannot allocate memory, out of memory', severityText: 'ERROR' }])
      const lasting = newLane()
      await lasting.handle([before], bus)
      await lasting.handle([burst], bus)
      const expected = events().at(-1)
      bus.forget()
      store = createMemorySearchStore()
      const restarted = newLane()
      restarted.memory!.reset()
      await restarted.memory!.restore([before])
      expect(documents()).to.have.length(0)
      expect(events()).to.have.length(0)
      await restarted.handle([burst], bus)
      expect(decodeAnomalyEvent(events()[0]!)!.anomaly).to.deep.equal(decodeAnomalyEvent(expected!)!.anomaly)
      expect(decodeAnomalyEvent(expected!)!.anomaly.detectors).to.include('zscore')
    })

    it('knows how many log records a message holds', () => {
      expect(newLane().memory!.weigh!(message(ordinary(7)))).to.equal(7)
    })

    it('writes what light tenants bring while those that bring much wait for the store', async () => {
      const writes: { readonly tenant: string; answer(): void }[] = []
      const lane = newLane(
        operations =>
          new Promise(resolve => {
            const { tenant_id: tenant } = JSON.parse(Buffer.from(operations[0]!.body as Uint8Array).toString())
            writes.push({ tenant, answer: () => resolve(operations.map(() => ({ status: 'done', created: true }) as const)) })
          }),
      )
      const loud = () => message([{ text: 'x'.repeat(200_000) }], 'loud')
      const handled = Array.from({ length: lane.maxInFlight! }, (_, i) =>
        lane.handle([i < lane.maxInFlight! - 1 ? loud() : message(ordinary(2))], bus),
      )
      for (let i = 0; i < 5; i++) await turn()
      expect(writes.map(({ tenant }) => tenant)).to.deep.equal(['loud', 'loud', 'loud', 'acme'])
      for (let at = 0; at < lane.maxInFlight!; at++) {
        writes[at]!.answer()
        await turn()
      }
      await Promise.all(handled)
    })
  })
